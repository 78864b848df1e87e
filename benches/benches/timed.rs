//! Calls with time limits: `cargo bench -p waitline-bench --bench timed`.

mod common;

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};
use std::time::{Duration, Instant, SystemTime};

use criterion::Criterion;
use waitline_bench::clock::Clock;
use waitline_bench::contenders::barrier::{Arrived, Barrier};
use waitline_bench::contenders::latch::Latch;
#[cfg(libstdcxx)]
use waitline_bench::contenders::oneshot::Libstdcxx as Promise;
use waitline_bench::contenders::oneshot::{Awaited, Mpsc, OneshotCrate, Ours, Settled, Shared};
#[cfg(libstdcxx)]
use waitline_bench::contenders::semaphore::Libstdcxx;
use waitline_bench::contenders::semaphore::{BinarySemaphore, Glibc, Many, ParkingLotCondvar, Semaphore, StdCondvar};
use waitline_bench::floor;
use waitline_bench::scenarios;

use self::common::{add, add_each};

/// A group of the floor and everybody who can do it, for each kind.
macro_rules! add_groups {
    ($criterion:expr, $name:expr, $floor:expr, |$this:ident, $times:ident| $scenario:expr) => {
        add_group!($criterion, "semaphore", $name, $floor, |$this, $times| $scenario;
            Semaphore, Many, BinarySemaphore, StdCondvar, ParkingLotCondvar, Glibc, #[cfg(libstdcxx)] Libstdcxx);
        add_group!($criterion, "oneshot", $name, $floor, |$this, $times| $scenario;
            Awaited<Ours>, Settled, Shared, Awaited<OneshotCrate>, Awaited<Mpsc>, #[cfg(libstdcxx)] Awaited<Promise>);
        add_group!($criterion, "barrier", $name, $floor, |$this, $times| $scenario; Barrier, Arrived);
        add_group!($criterion, "latch", $name, $floor, |$this, $times| $scenario; Latch);
        add_group!($criterion, "atomic", $name, $floor, |$this, $times| $scenario;
            AtomicU8, AtomicU16, AtomicU32, AtomicU64);
    };
}

macro_rules! add_group {
    ($criterion:expr, $kind:literal, $name:expr, $floor:expr, |$this:ident, $times:ident| $scenario:expr; $($list:tt)*) => {{
        let group = &mut $criterion.benchmark_group(format!("{}/{}", $kind, $name));
        add(group, "floor", $floor);
        add_each!(group, |$this, $times| $scenario; $($list)*);
    }};
}

fn zero_timeout(criterion: &mut Criterion) {
    add_groups!(criterion, "expired_deadline/zero", floor::load, |This, times| scenarios::zero_timeout::<This>(times));
}

fn expired_deadline(criterion: &mut Criterion) {
    expired_deadline_on::<Instant>(criterion, "just_passed", Instant::now);
    expired_deadline_on::<SystemTime>(criterion, "just_passed", SystemTime::now);
    expired_deadline_on::<Instant>(criterion, "50_ms_ago", Instant::a_while_ago);
    expired_deadline_on::<SystemTime>(criterion, "50_ms_ago", SystemTime::a_while_ago);
    expired_deadline_on::<SystemTime>(criterion, "epoch", || SystemTime::UNIX_EPOCH);
}

fn expired_deadline_on<C: Clock>(criterion: &mut Criterion, when: &str, deadline: fn() -> C) {
    let name = format!("expired_deadline/{when}/{}", C::name());
    add_groups!(criterion, name, floor::instant_now, |This, times| scenarios::expired_deadline::<C, This>(
        deadline, times
    ));
}

fn mixed_deadlines(criterion: &mut Criterion) {
    add_groups!(criterion, "expired_deadline/mixed", floor::instant_now, |This, times| {
        scenarios::mixed_deadlines::<Instant, This>(times)
    });
}

fn one_nanosecond(criterion: &mut Criterion) {
    add_groups!(criterion, "one_nanosecond", floor::instant_now, |This, times| {
        scenarios::one_nanosecond::<This>(times)
    });
}

fn timed_success(criterion: &mut Criterion) {
    timed_success_on::<Instant>(criterion);
    timed_success_on::<SystemTime>(criterion);
}

fn timed_success_on<C: Clock>(criterion: &mut Criterion) {
    let name = format!("timed_success/{}", C::name());
    add_group!(criterion, "semaphore", name, floor::fetch_add_and_compare_exchange, |This, times| {
        scenarios::timed_success::<C, This>(times)
    }; Semaphore, Many, BinarySemaphore, StdCondvar, ParkingLotCondvar, Glibc, #[cfg(libstdcxx)] Libstdcxx);
}

fn lateness(criterion: &mut Criterion) {
    const TIMEOUT: Duration = Duration::from_micros(10);
    let floor = |times| floor::futex_lateness(TIMEOUT, times);
    add_groups!(criterion, "lateness", floor, |This, times| scenarios::lateness::<This>(TIMEOUT, times));
}

fn main() {
    let criterion = &mut Criterion::default().configure_from_args();
    for scenario in [zero_timeout, expired_deadline, mixed_deadlines, one_nanosecond, timed_success, lateness] {
        scenario(criterion);
    }
    criterion.final_summary();
}
