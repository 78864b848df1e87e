//! Nobody comes in time.

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};
use std::time::{Duration, Instant, SystemTime};

use super::{Row, runners};
use crate::clock::Clock;
use crate::contenders::barrier::{Arrived, Barrier};
use crate::contenders::latch::Latch;
#[cfg(libstdcxx)]
use crate::contenders::oneshot::Libstdcxx as Promise;
use crate::contenders::oneshot::{Awaited, Mpsc, OneshotCrate, Ours, Settled, Shared};
#[cfg(libstdcxx)]
use crate::contenders::semaphore::Libstdcxx;
use crate::contenders::semaphore::{BinarySemaphore, Glibc, Many, ParkingLotCondvar, Semaphore, StdCondvar};
use crate::contenders::{Contender, TimedFor, TimedUntil};
use crate::floor;
use crate::race::{Batch, Runner};
use crate::scenarios;

pub(super) fn rows() -> Vec<Row> {
    let mut rows = each_of_ours!(|This, call, kind| zero::<This>(call, kind));
    for when in [Passed::JustNow, Passed::AWhileAgo] {
        rows.extend(each_of_ours!(|This, call, kind| expired::<Instant, This>(call, kind, when)));
        rows.extend(each_of_ours!(|This, call, kind| expired::<SystemTime, This>(call, kind, when)));
    }
    rows.extend(each_of_ours!(|This, call, kind| one_nanosecond::<This>(call, kind);
        Semaphore, "Semaphore: try_acquire", Kind::Semaphore;
        Many, "Semaphore, many: try_acquire", Kind::Semaphore;
        BinarySemaphore, "BinarySemaphore: try_acquire", Kind::Semaphore;
        AtomicU8, "AtomicU8: wait", Kind::Atomic;
        AtomicU64, "AtomicU64: wait", Kind::Atomic;
    ));
    rows.push(lateness());
    rows
}

/// Who has peers in common.
#[derive(Clone, Copy)]
enum Kind {
    Semaphore,
    Oneshot,
    /// No other barrier or latch can be waited for with a time limit.
    BarrierOrLatch,
    /// Nor an atomic. What comes next to it in C++ is a semaphore.
    Atomic,
}

/// A row for each timed call of ours.
macro_rules! each_of_ours {
    (|$this:ident, $call:ident, $kind:ident| $row:expr) => {
        each_of_ours!(|$this, $call, $kind| $row;
            Semaphore, "Semaphore: try_acquire", Kind::Semaphore;
            Many, "Semaphore, many: try_acquire", Kind::Semaphore;
            BinarySemaphore, "BinarySemaphore: try_acquire", Kind::Semaphore;
            Awaited<Ours>, "oneshot: recv", Kind::Oneshot;
            Settled, "oneshot: wait", Kind::Oneshot;
            Shared, "oneshot, shared: wait", Kind::Oneshot;
            Barrier, "Barrier: wait", Kind::BarrierOrLatch;
            Arrived, "Arrival: wait", Kind::BarrierOrLatch;
            Latch, "Latch: wait", Kind::BarrierOrLatch;
            AtomicU8, "AtomicU8: wait", Kind::Atomic;
            AtomicU16, "AtomicU16: wait", Kind::Atomic;
            AtomicU32, "AtomicU32: wait", Kind::Atomic;
            AtomicU64, "AtomicU64: wait", Kind::Atomic;
        )
    };
    (|$this:ident, $call:ident, $kind:ident| $row:expr; $($ours:ty, $name:literal, $of:expr;)*) => {
        vec![$({
            type $this = $ours;
            let ($call, $kind) = ($name, $of);
            $row
        }),*]
    };
}
use each_of_ours;

macro_rules! peers {
    ($kind:expr, |$this:ident, $times:ident| $batch:expr) => {
        match $kind {
            Kind::Semaphore => runners![
                |$this, $times| $batch;
                StdCondvar, ParkingLotCondvar, Glibc, #[cfg(libstdcxx)] Libstdcxx
            ],
            Kind::Oneshot => runners![
                |$this, $times| $batch;
                Awaited<OneshotCrate>, Awaited<Mpsc>, #[cfg(libstdcxx)] Awaited<Promise>
            ],
            Kind::BarrierOrLatch => Vec::new(),
            Kind::Atomic => Vec::from([
                #[cfg(libstdcxx)]
                {
                    type $this = Libstdcxx;
                    Runner::new("libstdc++ semaphore", move |$times| $batch)
                },
            ]),
        }
    };
}

fn zero<T: TimedFor>(call: &str, kind: Kind) -> Row {
    let ours = Runner::new(T::name(), scenarios::zero_timeout::<T>);
    Row {
        floors: vec![Runner::new("load", floor::load)],
        peers: peers!(kind, |Peer, times| scenarios::zero_timeout::<Peer>(times)),
        ..Row::new(format!("{call}_for(ZERO)"), 2.0, ours)
    }
}

/// When a deadline passed.
#[derive(Clone, Copy)]
enum Passed {
    JustNow,
    AWhileAgo,
}

impl Passed {
    fn words(self) -> &'static str {
        match self {
            Passed::JustNow => "just passed",
            Passed::AWhileAgo => "passed 50 ms ago",
        }
    }

    fn target(self) -> f64 {
        match self {
            Passed::JustNow => 1.4,
            Passed::AWhileAgo => 0.7,
        }
    }

    fn deadline<C: Clock>(self) -> fn() -> C {
        match self {
            Passed::JustNow => C::now,
            Passed::AWhileAgo => C::a_while_ago,
        }
    }
}

fn expired<C: Clock, T: TimedUntil<C>>(call: &str, kind: Kind, passed: Passed) -> Row {
    let deadline = passed.deadline();
    let ours = Runner::new(T::name(), move |times| scenarios::expired_deadline::<C, T>(deadline, times));
    Row {
        floors: vec![Runner::new("Instant::now()", floor::instant_now)],
        peers: peers!(kind, |Peer, times| scenarios::expired_deadline::<C, Peer>(deadline, times)),
        ..Row::new(format!("{call}_until({}, {})", C::name(), passed.words()), passed.target(), ours)
    }
}

fn one_nanosecond<T: TimedFor>(call: &str, kind: Kind) -> Row {
    let ours = Runner::new(T::name(), scenarios::one_nanosecond::<T>);
    Row {
        floors: vec![Runner::new("Instant::now()", floor::instant_now)],
        peers: peers!(kind, |Peer, times| scenarios::one_nanosecond::<Peer>(times)),
        ..Row::new(format!("{call}_for(1 ns)"), 2.5, ours)
    }
}

fn lateness() -> Row {
    const TIMEOUT: Duration = Duration::from_micros(10);
    let ours = Runner::new(Semaphore::name(), |times| scenarios::lateness::<Semaphore>(TIMEOUT, times));
    let mut peers = runners![|Peer, times| scenarios::lateness::<Peer>(TIMEOUT, times); BinarySemaphore];
    peers.extend(peers!(Kind::Semaphore, |Peer, times| scenarios::lateness::<Peer>(TIMEOUT, times)));
    Row {
        floors: vec![Runner::new("futex wait", |times| floor::futex_lateness(TIMEOUT, times))],
        peers,
        batch: Batch::Of(25),
        ..Row::new("lateness of a 10 µs wait", 0.4, ours)
    }
}
