//! One-shot channels without time limits: `cargo bench -p waitline-bench --bench oneshot`.

mod common;

use criterion::Criterion;
#[cfg(libstdcxx)]
use waitline_bench::contenders::oneshot::Libstdcxx;
use waitline_bench::contenders::oneshot::{Futures, Mpsc, OneshotCrate, Ours, Tokio};
use waitline_bench::floor;
use waitline_bench::scenarios;
use waitline_bench::threads::Placement;

use self::common::{add, add_each};

fn uncontended(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("oneshot/uncontended");
    add_each!(group, |This, times| scenarios::oneshot_life::<This>(times);
        Ours, OneshotCrate, Mpsc, Tokio, Futures, #[cfg(libstdcxx)] Libstdcxx);
}

fn unused(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("oneshot/unused");
    add_each!(group, |This, times| scenarios::oneshot_unused::<This>(times);
        Ours, OneshotCrate, Mpsc, Tokio, Futures, #[cfg(libstdcxx)] Libstdcxx);
}

fn round_trip(criterion: &mut Criterion) {
    for (name, placement) in [("pinned", Placement::Pinned), ("free", Placement::Free)] {
        let group = &mut criterion.benchmark_group(format!("oneshot/round_trip/{name}"));
        add(group, "floor", |times| floor::spinning_ping_pong(placement, times));
        add_each!(group, |This, times| scenarios::oneshot_round_trip::<This>(placement, times);
            Ours, OneshotCrate, Mpsc, Tokio, Futures, #[cfg(libstdcxx)] Libstdcxx);
    }
}

fn main() {
    let criterion = &mut Criterion::default().configure_from_args();
    for scenario in [uncontended, unused, round_trip] {
        scenario(criterion);
    }
    criterion.final_summary();
}
