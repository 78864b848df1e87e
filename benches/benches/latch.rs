//! Latches without time limits: `cargo bench -p waitline-bench --bench latch`.

mod common;

use criterion::Criterion;
#[cfg(libstdcxx)]
use waitline_bench::contenders::latch::Libstdcxx;
use waitline_bench::contenders::latch::{Latch, StdCondvar};
use waitline_bench::floor;
use waitline_bench::scenarios;
use waitline_bench::threads::Placement;

use self::common::{add, add_each};

fn uncontended(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("latch/uncontended");
    add(group, "floor", floor::fetch_add_and_compare_exchange);
    add_each!(group, |This, times| scenarios::latch_life::<This>(times);
        Latch, StdCondvar, #[cfg(libstdcxx)] Libstdcxx);
}

fn round_trip(criterion: &mut Criterion) {
    for (name, placement) in [("pinned", Placement::Pinned), ("free", Placement::Free)] {
        let group = &mut criterion.benchmark_group(format!("latch/round_trip/{name}"));
        add(group, "floor", |times| floor::spinning_ping_pong(placement, times));
        add_each!(group, |This, times| scenarios::latch_round_trip::<This>(placement, times);
            Latch, StdCondvar, #[cfg(libstdcxx)] Libstdcxx);
    }
}

fn main() {
    let criterion = &mut Criterion::default().configure_from_args();
    for scenario in [uncontended, round_trip] {
        scenario(criterion);
    }
    criterion.final_summary();
}
