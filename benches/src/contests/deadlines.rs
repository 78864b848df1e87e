//! Nobody comes in time, or what is waited for is there.

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};
use std::time::{Instant, SystemTime};

use super::{Contest, runners};
use crate::catalogue::{Kind, Scenario};
use crate::clock::Clock;
use crate::contenders::barrier::{Arrived, Barrier};
use crate::contenders::latch::Latch;
use crate::contenders::oneshot::{Awaited, Ours, Settled, Shared, each_timed_receiver};
#[cfg(libstdcxx)]
use crate::contenders::semaphore::Libstdcxx;
use crate::contenders::semaphore::{BinarySemaphore, Many, Semaphore, each_timed_semaphore};
use crate::contenders::signal;
use crate::contenders::signal::each_timed_signal;
use crate::figure::Base;
use crate::floor;
use crate::scenarios;

pub(super) fn contests() -> Vec<Contest> {
    let mut contests = zero();
    contests.extend(passed::<Instant>("just passed", Passed::JustNow, Instant::now));
    contests.extend(passed::<SystemTime>("just passed", Passed::JustNow, SystemTime::now));
    contests.extend(passed::<Instant>("passed 50 ms ago", Passed::LongAgo, Instant::a_while_ago));
    contests.extend(passed::<SystemTime>("passed 50 ms ago", Passed::LongAgo, SystemTime::a_while_ago));
    contests.extend(passed::<SystemTime>("at the epoch", Passed::LongAgo, || SystemTime::UNIX_EPOCH));
    contests.extend(in_turn());
    contests.extend(one_nanosecond());
    contests.extend([timed_success::<Instant>(), timed_success::<SystemTime>()]);
    for objects in [1, 16, 128, 1024] {
        contests.extend(polling(objects));
    }
    contests
}

/// A contest for each kind: the same calls, with the same floor.
///
/// No other barrier, latch or atomic can be waited for with a time limit. What comes next to an atomic in C++ is a semaphore.
macro_rules! each_kind {
    ($new:expr, |$this:ident, $times:ident| $batch:expr) => {{
        let new = $new;
        Vec::from([
            new(Kind::Semaphore)
                .ours(runners![|$this, $times| $batch; Semaphore, Many, BinarySemaphore])
                .peers(each_timed_semaphore!(runners!(|$this, $times| $batch))),
            new(Kind::Signal)
                .ours(runners![|$this, $times| $batch; signal::Awaited<signal::Ours>])
                .peers(each_timed_signal!(runners!(|$this, $times| $batch))),
            new(Kind::Oneshot)
                .ours(runners![|$this, $times| $batch; Awaited<Ours>, Settled, Shared])
                .peers(each_timed_receiver!(runners!(|$this, $times| $batch))),
            new(Kind::Barrier).ours(runners![|$this, $times| $batch; Barrier, Arrived]),
            new(Kind::Latch).ours(runners![|$this, $times| $batch; Latch]),
            new(Kind::Atomic)
                .ours(runners![|$this, $times| $batch; AtomicU8, AtomicU16, AtomicU32, AtomicU64])
                .peers(runners![|$this, $times| $batch; #[cfg(libstdcxx)] Libstdcxx]),
        ])
    }};
}

fn zero() -> Vec<Contest> {
    let new = |kind| {
        Contest::new(Scenario::PassedDeadline, kind, "for no time")
            .floor("load", floor::load)
            .target(2.0, Base::Floor)
            .readme("any `…_for(Duration::ZERO)` in vain")
    };
    each_kind!(new, |This, times| scenarios::zero_timeout::<This>(times))
}

/// When a deadline passed.
#[derive(Clone, Copy)]
enum Passed {
    JustNow,
    /// Longer ago than any coarse clock stands still.
    LongAgo,
}

fn passed<C: Clock>(when: &str, passed: Passed, deadline: fn() -> C) -> Vec<Contest> {
    let new = |kind| {
        let contest = Contest::new(Scenario::PassedDeadline, kind, format!("{when}, {}", C::name()))
            .floor("Instant::now()", floor::instant_now)
            .explain("crossbeam", TWO_CLOCKS)
            .explain("oneshot crate", TWO_CLOCKS);
        match passed {
            Passed::JustNow => contest.target(1.4, Base::Floor).readme("any deadline passed just now, either clock"),
            Passed::LongAgo => {
                contest.target(0.7, Base::Floor).readme("any deadline passed 50 ms ago or more, either clock")
            }
        }
    };
    each_kind!(new, |This, times| scenarios::expired_deadline::<C, This>(deadline, times))
}

const TWO_CLOCKS: &str = "It asks the precise clock. Ours asks the coarse one first, which proves of a deadline that passed a few milliseconds ago \
     or more that it has, at half the price; for one that has just passed it must then ask the precise one as well.";

fn in_turn() -> Vec<Contest> {
    let new = |kind| {
        Contest::new(Scenario::PassedDeadline, kind, "just passed and passed 50 ms ago in turn, Instant")
            .floor("Instant::now()", floor::instant_now)
            .explain("crossbeam", TWO_CLOCKS)
            .explain("oneshot crate", TWO_CLOCKS)
    };
    each_kind!(new, |This, times| scenarios::mixed_deadlines::<Instant, This>(times))
}

fn one_nanosecond() -> Vec<Contest> {
    let new = |kind| {
        let contest = Contest::new(Scenario::OneNanosecond, kind, "").floor("Instant::now()", floor::instant_now);
        match kind {
            Kind::Semaphore | Kind::Signal | Kind::Atomic => {
                contest.target(2.5, Base::Floor).readme("one nanosecond, in vain")
            }
            _ => contest,
        }
    };
    each_kind!(new, |This, times| scenarios::one_nanosecond::<This>(times))
}

fn timed_success<C: Clock>() -> Contest {
    Contest::new(Scenario::TimedSuccess, Kind::Semaphore, C::name())
        .floor("fetch_add + compare_exchange", floor::fetch_add_and_compare_exchange)
        .ours(runners![|This, times| scenarios::timed_success::<C, This>(times); Semaphore, Many, BinarySemaphore])
        .peers(each_timed_semaphore!(runners!(|Peer, times| scenarios::timed_success::<C, Peer>(times))))
}

fn polling(objects: usize) -> Vec<Contest> {
    let semaphores = Contest::new(Scenario::Polling, Kind::Semaphore, "a deadline for each round")
        .size(objects, "objects")
        .floor("Instant::now()", floor::instant_now)
        .ours(runners![|This, times| scenarios::polling::<This>(objects, times); Semaphore])
        .peers(each_timed_semaphore!(runners!(|Peer, times| scenarios::polling::<Peer>(objects, times))));
    let receivers = Contest::new(Scenario::Polling, Kind::Oneshot, "a deadline for each round")
        .size(objects, "objects")
        .floor("Instant::now()", floor::instant_now)
        .ours(runners![|This, times| scenarios::polling::<This>(objects, times); Awaited<Ours>])
        .peers(each_timed_receiver!(runners!(|Peer, times| scenarios::polling::<Peer>(objects, times))));
    let without_time = Contest::new(Scenario::Polling, Kind::Oneshot, "for no time")
        .size(objects, "objects")
        .floor("load", move |times| floor::loads(objects, times))
        .ours(runners![|This, times| scenarios::polling_without_time::<This>(objects, times); Awaited<Ours>])
        .peers(each_timed_receiver!(runners!(|Peer, times| scenarios::polling_without_time::<Peer>(objects, times))));
    vec![semaphores, receivers, without_time]
}
