//! Waits for the values of atomics, beside raw operations.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};
use std::time::Duration;

use super::{BATCH, Row};
use crate::contenders::Contender;
use crate::contenders::atomic::{AtomicWaitCrate, Ours};
use crate::floor;
use crate::race::{Batch, Runner, Sample};
use crate::scenarios::{self, Herd};
use crate::threads::{Placement, processors};

/// A row for each width.
macro_rules! each_width {
    ($row:ident($($argument:expr),*)) => {
        [
            $row::<AtomicBool>($($argument),*),
            $row::<AtomicU8>($($argument),*),
            $row::<AtomicU16>($($argument),*),
            $row::<AtomicU32>($($argument),*),
            $row::<AtomicU64>($($argument),*),
            $row::<AtomicUsize>($($argument),*),
            $row::<AtomicPtr<()>>($($argument),*),
        ]
    };
}

/// To be taken before all others: what notifications cost changes when somebody waits for the first time in a process.
pub(super) fn rows_of_the_untouched() -> Vec<Row> {
    let rows = [each_width!(notify_one(Since::TheStart)), each_width!(notify_all(Since::TheStart))];
    rows.into_iter().flatten().collect()
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    rows.extend(each_width!(notify_one(Since::SomeWait)));
    rows.extend(each_width!(notify_all(Since::SomeWait)));
    rows.extend(each_width!(changed_value()));
    rows.extend(long_ones_beside_short_ones());
    for atomics in [17, 64] {
        rows.extend([1, 64, 4096].map(|distance| herd(1.5, Herd { atomics, distance, placement: Placement::Pinned })));
    }
    rows.push(herd(2.0, Herd { atomics: 1024, distance: 64, placement: Placement::Pinned }));
    rows
}

/// For how long nobody has waited.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Since {
    TheStart,
    SomeWait,
}

impl Since {
    fn words(self) -> &'static str {
        match self {
            Since::TheStart => "nobody has ever waited",
            Since::SomeWait => "nobody is waiting",
        }
    }

    fn runner<A: Ours>(self, batch: fn(u64) -> Sample) -> Runner {
        Runner::new(A::name(), move |times| {
            if self == Since::SomeWait {
                scenarios::make_somebody_wait();
            }
            batch(times)
        })
    }
}

fn notify_one<A: Ours>(since: Since) -> Row {
    Row {
        floors: vec![fence_and_load()],
        peers: Vec::from([
            #[cfg(libstdcxx)]
            Runner::new("libstdc++", scenarios::notify_one::<A::Libstdcxx>),
            Runner::new(AtomicWaitCrate::name(), scenarios::notify_one::<AtomicWaitCrate>),
        ]),
        ..Row::new(
            format!("{}: notify_one, {}", A::name(), since.words()),
            1.4,
            since.runner::<A>(scenarios::notify_one::<A>),
        )
    }
}

fn notify_all<A: Ours>(since: Since) -> Row {
    Row {
        floors: vec![fence_and_load()],
        peers: Vec::from([
            #[cfg(libstdcxx)]
            Runner::new("libstdc++", scenarios::notify_all::<A::Libstdcxx>),
            Runner::new(AtomicWaitCrate::name(), scenarios::notify_all::<AtomicWaitCrate>),
        ]),
        ..Row::new(
            format!("{}: notify_all, {}", A::name(), since.words()),
            1.4,
            since.runner::<A>(scenarios::notify_all::<A>),
        )
    }
}

fn fence_and_load() -> Runner {
    Runner::new("fence + load", floor::fence_and_load)
}

fn changed_value<A: Ours>() -> Row {
    Row {
        floors: vec![Runner::new("load", floor::load)],
        peers: Vec::from([
            #[cfg(libstdcxx)]
            Runner::new("libstdc++", scenarios::changed_value::<A::Libstdcxx>),
        ]),
        ..Row::new(
            format!("{}: wait on a changed value", A::name()),
            2.5,
            Runner::new(A::name(), scenarios::changed_value::<A>),
        )
    }
}

/// The kernel waits on 32 bits only, and nobody shall notice.
fn long_ones_beside_short_ones() -> Vec<Row> {
    let beside = |operation: &str, batch, short: fn(u64) -> _, long: fn(u64) -> _| Row {
        floors: vec![Runner::new("AtomicU32", short)],
        batch,
        ..Row::new(format!("AtomicU64: {operation}, beside AtomicU32"), 1.2, Runner::new("AtomicU64", long))
    };
    let mut rows = vec![
        beside("notify_one", BATCH, scenarios::notify_one::<AtomicU32>, scenarios::notify_one::<AtomicU64>),
        beside(
            "wait, ended while asleep",
            SLEEPS,
            |times| ALONE.latency_per_notify::<AtomicU32>(times),
            |times| ALONE.latency_per_notify::<AtomicU64>(times),
        ),
    ];
    if processors() > 1 {
        rows.push(beside(
            "two running threads take turns, pinned",
            TURNS,
            |times| scenarios::turns_on_one_atomic::<AtomicU32>(Placement::Pinned, times),
            |times| scenarios::turns_on_one_atomic::<AtomicU64>(Placement::Pinned, times),
        ));
    }
    rows
}

pub(super) const ALONE: Herd = Herd { atomics: 1, distance: 1, placement: Placement::Pinned };
pub(super) const SLEEPS: Batch = Batch::Of(200);
pub(super) const TURNS: Batch = Batch::Lasting(Duration::from_millis(1));

/// With many threads asleep beside two: only the one that is meant gets up.
///
/// More threads need more of the processor's caches, whatever they wait on. How much that is shows in the plain calls of the
/// platform, which know of no other waiters.
fn herd(target: f64, herd: Herd) -> Row {
    let two = Herd { atomics: 2, ..herd };
    let Herd { atomics, distance, .. } = herd;
    Row {
        floors: vec![Runner::new("2", move |times| two.cpu_per_notify::<AtomicBool>(times))],
        peers: Vec::from([
            Runner::new("atomic-wait, 2", move |times| two.cpu_per_notify::<AtomicWaitCrate>(times)),
            Runner::new(format!("atomic-wait, {atomics}"), move |times| herd.cpu_per_notify::<AtomicWaitCrate>(times)),
            #[cfg(libstdcxx)]
            libstdcxx(two),
            // It grows without end.
            #[cfg(libstdcxx)]
            libstdcxx(Herd { atomics: atomics.min(17), ..herd }),
        ]),
        batch: Batch::Of(200.max(atomics as u64)),
        ..Row::new(
            format!("CPU per notify: {atomics} flags, {distance} bytes apart, beside 2"),
            target,
            Runner::new("AtomicBool", move |times| herd.cpu_per_notify::<AtomicBool>(times)),
        )
    }
}

#[cfg(libstdcxx)]
fn libstdcxx(herd: Herd) -> Runner {
    Runner::new(format!("libstdc++, {}", herd.atomics), move |times| {
        herd.cpu_per_notify::<<AtomicBool as Ours>::Libstdcxx>(times)
    })
}
