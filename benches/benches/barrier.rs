//! Barriers without time limits: `cargo bench -p waitline-bench --bench barrier`.

mod common;

use criterion::Criterion;
#[cfg(libstdcxx)]
use waitline_bench::contenders::barrier::Libstdcxx;
use waitline_bench::contenders::barrier::{Barrier, Glibc, Std, Tokio};
use waitline_bench::scenarios;

use self::common::add_each;

fn rounds(criterion: &mut Criterion) {
    for parties in [1, 2, 4, 8, 16] {
        let group = &mut criterion.benchmark_group(format!("barrier/{parties}"));
        add_each!(group, |This, times| scenarios::rounds::<This>(parties, times);
            Barrier, Std, Glibc, Tokio, #[cfg(libstdcxx)] Libstdcxx);
    }
}

fn main() {
    let criterion = &mut Criterion::default().configure_from_args();
    rounds(criterion);
    criterion.final_summary();
}
