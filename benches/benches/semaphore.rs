//! Semaphores without time limits: `cargo bench -p waitline-bench --bench semaphore`.

mod common;

use criterion::Criterion;
#[cfg(libstdcxx)]
use waitline_bench::contenders::semaphore::Libstdcxx;
use waitline_bench::contenders::semaphore::{
    BinarySemaphore, Glibc, Many, ParkingLotCondvar, Semaphore, StdCondvar, Tokio,
};
use waitline_bench::floor;
use waitline_bench::scenarios;
use waitline_bench::threads::Placement;

use self::common::{add, add_each};

fn uncontended(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("semaphore/uncontended");
    add(group, "floor", floor::fetch_add_and_compare_exchange);
    add_each!(group, |This, times| scenarios::uncontended::<This>(times);
        Semaphore, Many, BinarySemaphore, StdCondvar, ParkingLotCondvar, Tokio, Glibc, #[cfg(libstdcxx)] Libstdcxx);
}

fn failed_try(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("semaphore/failed_try");
    add(group, "floor", floor::load);
    add_each!(group, |This, times| scenarios::failed_try::<This>(times);
        Semaphore, Many, BinarySemaphore, StdCondvar, ParkingLotCondvar, Tokio, Glibc, #[cfg(libstdcxx)] Libstdcxx);
}

fn ping_pong(criterion: &mut Criterion) {
    for (name, placement) in
        [("semaphore/ping_pong/pinned", Placement::Pinned), ("semaphore/ping_pong/free", Placement::Free)]
    {
        let group = &mut criterion.benchmark_group(name);
        add(group, "floor", |times| floor::spinning_ping_pong(placement, times));
        add_each!(group, |This, times| scenarios::ping_pong::<This>(placement, times);
            Semaphore, BinarySemaphore, StdCondvar, ParkingLotCondvar, Tokio, Glibc, #[cfg(libstdcxx)] Libstdcxx);
    }
}

fn contended(criterion: &mut Criterion) {
    for threads in [2, 4, 8] {
        let group = &mut criterion.benchmark_group(format!("semaphore/contended/{threads}"));
        add(group, "std Mutex", |times| scenarios::mutex_contended(threads, times));
        add(group, "parking_lot Mutex", |times| scenarios::parking_lot_mutex_contended(threads, times));
        add_each!(group, |This, times| scenarios::contended::<This>(threads, times);
            Semaphore, BinarySemaphore, StdCondvar, ParkingLotCondvar, Tokio, Glibc, #[cfg(libstdcxx)] Libstdcxx);
    }
}

fn burst_wake(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("semaphore/burst_wake");
    add_each!(group, |This, times| scenarios::burst_wake::<This>(times);
        Semaphore, StdCondvar, ParkingLotCondvar, Tokio, Glibc);
}

fn main() {
    let criterion = &mut Criterion::default().configure_from_args();
    for scenario in [uncontended, failed_try, ping_pong, contended, burst_wake] {
        scenario(criterion);
    }
    criterion.final_summary();
}
