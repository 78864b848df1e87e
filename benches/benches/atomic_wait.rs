//! Waits for the values of atomics, without time limits: `cargo bench -p waitline-bench --bench atomic_wait`.

mod common;

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};

use criterion::Criterion;
use waitline_bench::contenders::atomic::AtomicWaitCrate;
#[cfg(libstdcxx)]
use waitline_bench::contenders::atomic::Libstdcxx;
use waitline_bench::floor;
use waitline_bench::scenarios::{self, Herd};
use waitline_bench::threads::Placement;

use self::common::{Group, add, add_each};

/// The widths of ours; and of theirs, one of each way in which they wait.
macro_rules! add_each_width {
    ($group:expr, |$this:ident, $times:ident| $scenario:expr) => {{
        let group: &mut Group<'_> = $group;
        add_each!(group, |$this, $times| $scenario;
            AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, AtomicPtr<()>, AtomicWaitCrate);
        #[cfg(libstdcxx)]
        {
            type $this = Libstdcxx<AtomicU32>;
            add(group, "libstdc++, 32 bits", |$times| $scenario);
        }
        #[cfg(libstdcxx)]
        {
            type $this = Libstdcxx<AtomicU64>;
            add(group, "libstdc++, 64 bits", |$times| $scenario);
        }
    }};
}

/// To be called first, with nobody ever having waited.
fn notify_untouched(criterion: &mut Criterion) {
    notify_one(criterion, "nobody_ever_waited");
    notify_all(criterion, "nobody_ever_waited");
}

fn notify_after_a_wait(criterion: &mut Criterion) {
    scenarios::make_somebody_wait();
    notify_one(criterion, "nobody_waiting");
    notify_all(criterion, "nobody_waiting");
}

fn notify_one(criterion: &mut Criterion, since: &str) {
    let group = &mut criterion.benchmark_group(format!("atomic/notify_one/{since}"));
    add(group, "floor", floor::fence_and_load);
    add_each_width!(group, |This, times| scenarios::notify_one::<This>(times));
}

fn notify_all(criterion: &mut Criterion, since: &str) {
    let group = &mut criterion.benchmark_group(format!("atomic/notify_all/{since}"));
    add(group, "floor", floor::fence_and_load);
    add_each_width!(group, |This, times| scenarios::notify_all::<This>(times));
}

fn changed_value(criterion: &mut Criterion) {
    let group = &mut criterion.benchmark_group("atomic/changed_value");
    add(group, "floor", floor::load);
    add_each_width!(group, |This, times| scenarios::changed_value::<This>(times));
}

fn turns(criterion: &mut Criterion) {
    for (name, placement) in [("pinned", Placement::Pinned), ("free", Placement::Free)] {
        let group = &mut criterion.benchmark_group(format!("atomic/turns/{name}"));
        add(group, "floor", |times| floor::spinning_ping_pong(placement, times));
        add_each_width!(group, |This, times| scenarios::turns_on_one_atomic::<This>(placement, times));
    }
}

fn asleep(criterion: &mut Criterion) {
    let alone = Herd { atomics: 1, distance: 1, placement: Placement::Pinned };
    let group = &mut criterion.benchmark_group("atomic/asleep");
    add_each_width!(group, |This, times| alone.latency_per_notify::<This>(times));
}

const HERDS: [Herd; 4] = [
    Herd { atomics: 2, distance: 64, placement: Placement::Free },
    Herd { atomics: 17, distance: 1, placement: Placement::Free },
    Herd { atomics: 17, distance: 64, placement: Placement::Free },
    Herd { atomics: 17, distance: 4096, placement: Placement::Free },
];

fn cpu_per_notify(criterion: &mut Criterion) {
    for herd in HERDS {
        let group = &mut herd_group(criterion, "cpu_per_notify", herd);
        add_each!(group, |This, times| herd.cpu_per_notify::<This>(times);
            AtomicBool, AtomicWaitCrate, #[cfg(libstdcxx)] Libstdcxx<AtomicBool>);
    }
}

fn latency_per_notify(criterion: &mut Criterion) {
    for herd in HERDS {
        let group = &mut herd_group(criterion, "latency_per_notify", herd);
        add_each!(group, |This, times| herd.latency_per_notify::<This>(times);
            AtomicBool, AtomicWaitCrate, #[cfg(libstdcxx)] Libstdcxx<AtomicBool>);
    }
}

fn herd_group<'a>(criterion: &'a mut Criterion, what: &str, herd: Herd) -> Group<'a> {
    criterion.benchmark_group(format!("atomic/{what}/{}_flags_{}_apart", herd.atomics, herd.distance))
}

fn main() {
    let criterion = &mut Criterion::default().configure_from_args();
    for scenario in
        [notify_untouched, notify_after_a_wait, changed_value, turns, asleep, cpu_per_notify, latency_per_notify]
    {
        scenario(criterion);
    }
    criterion.final_summary();
}
