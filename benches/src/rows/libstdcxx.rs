//! Waits for the values of atomics, beside those of C++.

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use super::atomics::{ALONE, SLEEPS, TURNS};
use super::{BATCH, Row};
use crate::contenders::atomic::Ours;
use crate::contenders::semaphore::Libstdcxx as Semaphore;
use crate::race::{Batch, Runner, Sample};
use crate::scenarios::{self, Herd};
use crate::threads::{Placement, processors};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    rows.extend(rows_of::<AtomicU8>());
    rows.extend(rows_of::<AtomicU16>());
    rows.extend(rows_of::<AtomicU32>());
    rows.extend(rows_of::<AtomicU64>());
    rows.extend(herd());
    rows
}

fn rows_of<A: Ours>() -> Vec<Row> {
    let mut rows = notifications::<A>();
    rows.extend(waits::<A>());
    if processors() > 1 {
        rows.extend(two_threads::<A>());
    }
    rows
}

fn beside<A: Ours>(
    operation: &str,
    target: impl Into<Option<f64>>,
    batch: Batch,
    ours: fn(u64) -> Sample,
    theirs: fn(u64) -> Sample,
) -> Row {
    Row {
        floors: vec![Runner::new("libstdc++", theirs)],
        batch,
        ..Row::new(format!("{}: {operation}, beside libstdc++", A::name()), target, Runner::new(A::name(), ours))
    }
}

/// Without targets. Theirs has no fence for 32 bits, which a notification after a store that is not SeqCst needs. For other
/// widths it changes a word that atomics share, which is as dear as a fence while no other thread does the same.
fn notifications<A: Ours>() -> Vec<Row> {
    vec![
        beside::<A>(
            "notify_one, nobody is waiting",
            None,
            BATCH,
            |times| {
                scenarios::make_somebody_wait();
                scenarios::notify_one::<A>(times)
            },
            scenarios::notify_one::<A::Libstdcxx>,
        ),
        beside::<A>(
            "notify_all, nobody is waiting",
            None,
            BATCH,
            |times| {
                scenarios::make_somebody_wait();
                scenarios::notify_all::<A>(times)
            },
            scenarios::notify_all::<A::Libstdcxx>,
        ),
    ]
}

fn waits<A: Ours>() -> Vec<Row> {
    vec![
        beside::<A>(
            "wait on a changed value",
            1.0,
            BATCH,
            scenarios::changed_value::<A>,
            scenarios::changed_value::<A::Libstdcxx>,
        ),
        one_nanosecond::<A>(),
        // Most of it is the kernel's work, which is the same for both.
        beside::<A>(
            "wait, ended while asleep",
            None,
            SLEEPS,
            |times| ALONE.latency_per_notify::<A>(times),
            |times| ALONE.latency_per_notify::<A::Libstdcxx>(times),
        ),
    ]
}

fn two_threads<A: Ours>() -> Vec<Row> {
    let theirs_has_a_fence = size_of::<A>() != size_of::<u32>();
    vec![
        beside::<A>(
            "two running threads take turns, pinned",
            1.0,
            TURNS,
            |times| scenarios::turns_on_one_atomic::<A>(Placement::Pinned, times),
            |times| scenarios::turns_on_one_atomic::<A::Libstdcxx>(Placement::Pinned, times),
        ),
        beside::<A>(
            "notify_one by two threads, an atomic each, nobody is waiting",
            theirs_has_a_fence.then_some(1.0),
            TURNS,
            |times| {
                scenarios::make_somebody_wait();
                scenarios::notify_one_side_by_side::<A>(times)
            },
            scenarios::notify_one_side_by_side::<A::Libstdcxx>,
        ),
    ]
}

/// Atomics of C++ can't be waited for with a time limit. Its semaphores can.
fn one_nanosecond<A: Ours>() -> Row {
    Row {
        floors: vec![Runner::new("libstdc++ semaphore", scenarios::one_nanosecond::<Semaphore>)],
        ..Row::new(
            format!("{}: wait_for(1 ns), beside libstdc++'s semaphore", A::name()),
            1.0,
            Runner::new(A::name(), scenarios::one_nanosecond::<A>),
        )
    }
}

/// More threads than processors, and each has a cache line, as one does: all of them fall into one slot of theirs.
fn herd() -> Vec<Row> {
    type Theirs = <AtomicBool as Ours>::Libstdcxx;
    const HERD: Herd = Herd { atomics: 17, distance: 64, placement: Placement::Free };
    let beside = |what: &str, target, ours, theirs| {
        let operation = format!("17 threads, a flag each, notified in turn: {what}");
        beside::<AtomicBool>(&operation, target, SLEEPS, ours, theirs)
    };
    vec![
        beside(
            "CPU",
            0.5,
            |times| HERD.cpu_per_notify::<AtomicBool>(times),
            |times| HERD.cpu_per_notify::<Theirs>(times),
        ),
        beside(
            "latency",
            1.0,
            |times| HERD.latency_per_notify::<AtomicBool>(times),
            |times| HERD.latency_per_notify::<Theirs>(times),
        ),
    ]
}
