//! Waits for the values of atomics.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};
use std::time::Duration;

use super::{Contest, runners};
use crate::catalogue::{Kind, Scenario};
use crate::contenders::atomic::AtomicWaitCrate;
#[cfg(libstdcxx)]
use crate::contenders::atomic::Libstdcxx;
use crate::figure::Base;
use crate::floor;
use crate::race::Batch;
use crate::scenarios::{self, Herd};
use crate::threads::{Placement, processors};

/// A contest for each width, beside the same width of C++, and beside the crate that knows 32 bits only.
macro_rules! each_width {
    ($new:expr, |$this:ident, $times:ident| $ours:expr, $theirs:expr) => {{
        let new = $new;
        [
            new("8 bits")
                .ours(runners![|$this, $times| $ours; AtomicU8, AtomicBool])
                .peers(runners![|$this, $times| $theirs; #[cfg(libstdcxx)] Libstdcxx<AtomicU8>]),
            new("16 bits")
                .ours(runners![|$this, $times| $ours; AtomicU16])
                .peers(runners![|$this, $times| $theirs; #[cfg(libstdcxx)] Libstdcxx<AtomicU16>]),
            new("32 bits")
                .ours(runners![|$this, $times| $ours; AtomicU32])
                .peers(runners![|$this, $times| $theirs; #[cfg(libstdcxx)] Libstdcxx<AtomicU32>, AtomicWaitCrate]),
            new("64 bits")
                .ours(runners![|$this, $times| $ours; AtomicU64, AtomicUsize, AtomicPtr<()>])
                .peers(runners![|$this, $times| $theirs; #[cfg(libstdcxx)] Libstdcxx<AtomicU64>]),
        ]
    }};
    ($new:expr, |$this:ident, $times:ident| $batch:expr) => {
        each_width!($new, |$this, $times| $batch, $batch)
    };
}

/// To be taken before all others: what notifications cost changes when somebody waits for the first time in a process.
pub(super) fn untouched() -> Vec<Contest> {
    let one = each_width!(|width| notification("notify_one, nobody has ever waited", width), |This, times| {
        scenarios::notify_one::<This>(times)
    });
    let all = each_width!(|width| notification("notify_all, nobody has ever waited", width), |This, times| {
        scenarios::notify_all::<This>(times)
    });
    one.into_iter().chain(all).collect()
}

pub(super) fn contests() -> Vec<Contest> {
    let mut contests = Vec::new();
    contests.extend(each_width!(
        |width| notification("notify_one, nobody is waiting", width).readme("notify, nobody waiting, every width"),
        |This, times| {
            scenarios::make_somebody_wait();
            scenarios::notify_one::<This>(times)
        }
    ));
    contests.extend(each_width!(
        |width| notification("notify_all, nobody is waiting", width).readme("notify, nobody waiting, every width"),
        |This, times| {
            scenarios::make_somebody_wait();
            scenarios::notify_all::<This>(times)
        }
    ));
    contests.extend(each_width!(changed_value, |This, times| scenarios::changed_value::<This>(times)));
    if processors() > 1 {
        contests.extend(each_width!(turns_running, |This, times| {
            scenarios::turns_on_one_atomic::<This>(Placement::Pinned, times)
        }));
        contests.extend(each_width!(side_by_side, |This, times| {
            scenarios::make_somebody_wait();
            scenarios::notify_one_side_by_side::<This>(times)
        }));
    }
    contests.extend(each_width!(turns_asleep, |This, times| {
        scenarios::turns_on_one_atomic::<This>(Placement::Together, times)
    }));
    contests.extend(herds());
    contests
}

fn notification(what: &str, width: &str) -> Contest {
    let contest = Contest::new(Scenario::Uncontended, Kind::Atomic, format!("{what}, {width}"))
        .floor("fence + load", floor::fence_and_load)
        .target(1.4, Base::Floor);
    match width {
        "32 bits" => contest.explain("libstdc++", NO_FENCE),
        _ => contest.explain("libstdc++", SHARED_COUNT),
    }
}

const NO_FENCE: &str = "libstdc++ looks whether anybody waits without the full fence before it. If the value was stored by anything \
     weaker than SeqCst, the look may come before the store, and a thread that falls asleep just then sleeps on. Ours pays for \
     the fence, so that a notification after a Release store never gets lost.";
const SHARED_COUNT: &str = "libstdc++ changes a word that atomics share, which is as dear as our fence while no other thread does the \
     same; side by side shows what it is when one does.";

fn changed_value(width: &str) -> Contest {
    Contest::new(Scenario::Uncontended, Kind::Atomic, format!("wait on a changed value, {width}"))
        .floor("load", floor::load)
        .target(2.5, Base::Floor)
        .readme("wait on a changed value, every width")
}

fn turns_running(width: &str) -> Contest {
    Contest::new(Scenario::PingPong, Kind::Atomic, format!("running, pinned, {width}"))
        .floor("spinning on a flag", |times| floor::spinning_ping_pong(Placement::Pinned, times))
        .batch(Batch::Lasting(Duration::from_millis(1)))
}

fn turns_asleep(width: &str) -> Contest {
    Contest::new(Scenario::PingPong, Kind::Atomic, format!("asleep, {width}"))
        .floor("futex(2)", |times| floor::futex_ping_pong(Placement::Together, times))
        .batch(Batch::Lasting(Duration::from_millis(5)))
}

fn side_by_side(width: &str) -> Contest {
    let contest = Contest::new(Scenario::SideBySide, Kind::Atomic, format!("notify_one, nobody is waiting, {width}"))
        .floor("fence + load", floor::fence_and_load)
        .batch(Batch::Lasting(Duration::from_millis(1)));
    match width {
        "32 bits" => contest.explain("libstdc++", NO_FENCE),
        _ => contest,
    }
}

/// What a notification costs with many threads asleep beside two: only the one that is meant gets up. Then, as users have it,
/// with threads wherever the scheduler puts them, beside the peers.
fn herds() -> Vec<Contest> {
    let mut contests = Vec::new();
    for atomics in [17, 64] {
        contests.extend([1, 64, 4096].map(|distance| beside_two(1.5, atomics, distance)));
    }
    contests.push(beside_two(2.0, 1024, 64).readme("processor time of a notify, 1024 flags"));
    contests.extend([2, 17, 64, 256, 1024].map(cpu));
    contests.extend([2, 17, 64, 256].map(latency));
    contests
}

/// More threads need more of the processor's caches, whatever they wait on. How much that is shows in the plain calls of the
/// platform, which know of no other waiters.
fn beside_two(target: f64, atomics: usize, distance: usize) -> Contest {
    let herd = Herd { atomics, distance, placement: Placement::Pinned };
    let two = Herd { atomics: 2, ..herd };
    Contest::new(Scenario::Herd, Kind::Atomic, format!("processor time, {distance} bytes apart, pinned"))
        .size(atomics, "flags")
        .counts("ns of a processor")
        .floor("2 flags", move |times| two.cpu_per_notify::<AtomicBool>(times))
        .floor("2 flags, futex(2)", move |times| two.cpu_per_notify::<AtomicWaitCrate>(times))
        .ours(runners![|This, times| herd.cpu_per_notify::<This>(times); AtomicBool])
        .peers(runners![|Peer, times| herd.cpu_per_notify::<Peer>(times); AtomicWaitCrate])
        .batch(Batch::Of(200.max(atomics as u64)))
        .target(target, Base::Floor)
        .explain("atomic-wait, 32 bits", ONLY_32_BITS)
}

/// What libstdc++'s herds take grows with the square of their number, so that greater ones would take most of the run.
macro_rules! small_herds_of_cpp {
    ($herd:expr, |$this:ident, $times:ident| $batch:expr) => {
        match $herd.atomics {
            ..=64 => runners![|$this, $times| $batch; #[cfg(libstdcxx)] Libstdcxx<AtomicBool>],
            _ => Vec::new(),
        }
    };
}

fn cpu(atomics: usize) -> Contest {
    let herd = Herd { atomics, distance: 64, placement: Placement::Free };
    let contest = beside_peers(atomics, "processor time")
        .counts("ns of a processor")
        .floor("futex(2)", move |times| herd.cpu_per_notify::<AtomicWaitCrate>(times))
        .ours(runners![|This, times| herd.cpu_per_notify::<This>(times); AtomicBool])
        .peers(small_herds_of_cpp!(herd, |Peer, times| herd.cpu_per_notify::<Peer>(times)));
    match atomics {
        17 => contest
            .target(0.5, Base::Peer("libstdc++".into()))
            .readme("processor time of a notify, 17 threads with a flag each"),
        _ => contest,
    }
}

fn latency(atomics: usize) -> Contest {
    let herd = Herd { atomics, distance: 64, placement: Placement::Free };
    let contest = beside_peers(atomics, "latency")
        .floor("futex(2)", move |times| herd.latency_per_notify::<AtomicWaitCrate>(times))
        .ours(runners![|This, times| herd.latency_per_notify::<This>(times); AtomicBool])
        .peers(small_herds_of_cpp!(herd, |Peer, times| herd.latency_per_notify::<Peer>(times)));
    match atomics {
        17 => contest.readme("latency of a notify, 17 threads with a flag each"),
        _ => contest,
    }
}

fn beside_peers(atomics: usize, what: &str) -> Contest {
    Contest::new(Scenario::Herd, Kind::Atomic, format!("{what}, 64 bytes apart"))
        .size(atomics, "flags")
        .batch(Batch::Of(100.max(atomics as u64)))
}

const ONLY_32_BITS: &str = "These are the platform's own calls, which know 32 bits only. Ours keeps a list of who waits on which address, \
     so that any width can be waited on.";
