//! Semaphores with time limits: `cargo bench -p waitline-bench --bench timed`.

use std::time::{Duration, Instant, SystemTime};

use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use waitline_bench::contenders::{
    BinarySemaphore, Contender, Glibc, Many, ParkingLotCondvar, Semaphore, StdCondvar, TimedUntil,
};
use waitline_bench::floor;
use waitline_bench::race::Sample;
use waitline_bench::scenarios::{self, Clock};

type Group<'a> = BenchmarkGroup<'a, WallTime>;

fn add(group: &mut Group<'_>, name: &str, mut scenario: impl FnMut(u64) -> Sample) {
    group.bench_function(name, |bencher| bencher.iter_custom(|times| scenario(times).elapsed_for(times)));
}

macro_rules! add_each {
    ($group:expr, |$this:ident, $times:ident| $scenario:expr) => {
        add_each!($group, |$this, $times| $scenario;
            Semaphore, Many, BinarySemaphore, StdCondvar, ParkingLotCondvar, Glibc)
    };
    ($group:expr, |$this:ident, $times:ident| $scenario:expr; $($contender:ty),*) => {$({
        type $this = $contender;
        add($group, $this::name(), |$times| $scenario);
    })*};
}

fn zero_timeout(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("expired_deadline/zero");
    add(group, "floor", floor::load);
    add_each!(group, |This, times| scenarios::zero_timeout::<This>(times));
}

fn expired_deadline(criterion: &mut Criterion) {
    expired_deadline_on::<Instant>(criterion, "just_passed", Instant::now);
    expired_deadline_on::<SystemTime>(criterion, "just_passed", SystemTime::now);
    expired_deadline_on::<Instant>(criterion, "50_ms_ago", Instant::a_while_ago);
    expired_deadline_on::<SystemTime>(criterion, "50_ms_ago", SystemTime::a_while_ago);
    expired_deadline_on::<SystemTime>(criterion, "epoch", || SystemTime::UNIX_EPOCH);
}

fn expired_deadline_on<C: Clock + 'static>(criterion: &mut Criterion, when: &str, deadline: fn() -> C)
where
    Semaphore: TimedUntil<C>,
    Many: TimedUntil<C>,
    BinarySemaphore: TimedUntil<C>,
    StdCondvar: TimedUntil<C>,
    ParkingLotCondvar: TimedUntil<C>,
    Glibc: TimedUntil<C>,
{
    let group = &mut criterion.benchmark_group(format!("expired_deadline/{when}/{}", C::name()));
    add(group, "floor", floor::instant_now);
    add_each!(group, |This, times| scenarios::expired_deadline::<C, This>(deadline, times));
}

fn mixed_deadlines(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("expired_deadline/mixed");
    add(group, "floor", floor::instant_now);
    add_each!(group, |This, times| scenarios::mixed_deadlines::<Instant, This>(times));
}

fn one_nanosecond(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("one_nanosecond");
    add(group, "floor", floor::instant_now);
    add_each!(group, |This, times| scenarios::one_nanosecond::<This>(times));
}

fn timed_success(criterion: &mut Criterion) {
    timed_success_on::<Instant>(criterion);
    timed_success_on::<SystemTime>(criterion);
}

fn timed_success_on<C: Clock>(criterion: &mut Criterion)
where
    Semaphore: TimedUntil<C>,
    Many: TimedUntil<C>,
    BinarySemaphore: TimedUntil<C>,
    StdCondvar: TimedUntil<C>,
    ParkingLotCondvar: TimedUntil<C>,
    Glibc: TimedUntil<C>,
{
    let group = &mut criterion.benchmark_group(format!("timed_success/{}", C::name()));
    add(group, "floor", floor::fetch_add_and_compare_exchange);
    add_each!(group, |This, times| scenarios::timed_success::<C, This>(times));
}

fn lateness(criterion: &mut Criterion) {
    const TIMEOUT: Duration = Duration::from_micros(10);
    let group = &mut criterion.benchmark_group("lateness");
    add(group, "floor", |times| floor::futex_lateness(TIMEOUT, times));
    add_each!(group, |This, times| scenarios::lateness::<This>(TIMEOUT, times));
}

fn main() {
    let criterion = &mut Criterion::default().configure_from_args();
    for scenario in [zero_timeout, expired_deadline, mixed_deadlines, one_nanosecond, timed_success, lateness] {
        scenario(criterion);
    }
    criterion.final_summary();
}
