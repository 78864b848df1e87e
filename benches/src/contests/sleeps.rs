//! Threads that sleep, and what it takes to put them to sleep and to wake them.

use std::time::Duration;

use super::{Contest, MICROSECONDS, runners};
use crate::catalogue::{Kind, Scenario};
use crate::contenders::atomic::AtomicWaitCrate;
#[cfg(libstdcxx)]
use crate::contenders::atomic::Libstdcxx;
use crate::contenders::latch::{Latch, each_shared_latch};
use crate::contenders::oneshot::{Awaited, Ours, each_timed_receiver};
use crate::contenders::semaphore::{BinarySemaphore, Semaphore, each_dependable_semaphore, each_timed_semaphore};
use crate::contenders::signal;
use crate::contenders::signal::each_timed_signal;
use crate::figure::Base;
use crate::floor;
use crate::race::Batch;
use crate::scenarios;
use core::sync::atomic::AtomicU32;

pub(super) fn contests() -> Vec<Contest> {
    let mut contests = vec![wake_ups()];
    for sleepers in [1, 8, 64, 256] {
        contests.extend([burst_of_permits(sleepers), burst_through_latch(sleepers), burst_on_atomic(sleepers)]);
    }
    for (micros, times) in [(10, 25), (100, 10), (1_000, 5), (10_000, 1)] {
        contests.extend([
            lateness(micros, times),
            lateness_of_receivers(micros, times),
            lateness_of_signals(micros, times),
        ]);
    }
    for timeout in [SHORT, LONG] {
        contests.extend([cost_of_sleep(timeout), cost_of_sleep_of_receivers(timeout)]);
    }
    contests
}

/// Without those that may sleep on with a permit there, since here no other thread would come and wake them.
fn wake_ups() -> Contest {
    Contest::new(Scenario::WakeUps, Kind::Semaphore, "8 sleepers")
        .counts("wake-ups")
        .ours(runners![|This, times| scenarios::wake_ups_per_permit::<This>(times); Semaphore, BinarySemaphore])
        .peers(each_dependable_semaphore!(runners!(|Peer, times| scenarios::wake_ups_per_permit::<Peer>(times))))
        .batch(Batch::Of(50))
        .target(1.1, Base::One)
        .readme("wake-ups per permit released, 8 sleepers")
}

/// Nor here.
fn burst_of_permits(sleepers: usize) -> Contest {
    burst(Kind::Semaphore, sleepers)
        .ours(runners![|This, times| scenarios::burst_wake::<This>(sleepers, times); Semaphore])
        .peers(each_dependable_semaphore!(runners!(|Peer, times| scenarios::burst_wake::<Peer>(sleepers, times))))
}

fn burst_through_latch(sleepers: usize) -> Contest {
    burst(Kind::Latch, sleepers)
        .ours(runners![|This, times| scenarios::burst_through_latch::<This>(sleepers, times); Latch])
        .peers(each_shared_latch!(runners!(|Peer, times| scenarios::burst_through_latch::<Peer>(sleepers, times))))
}

fn burst_on_atomic(sleepers: usize) -> Contest {
    burst(Kind::Atomic, sleepers)
        .ours(runners![|This, times| scenarios::burst_on_atomic::<This>(sleepers, times); AtomicU32])
        .peers(runners![
            |Peer, times| scenarios::burst_on_atomic::<Peer>(sleepers, times);
            AtomicWaitCrate,
            #[cfg(libstdcxx)]
            Libstdcxx<AtomicU32>
        ])
        .explain("atomic-wait, 32 bits", ONE_CALL)
        .explain("libstdc++", ONE_CALL)
}

const ONE_CALL: &str = "It wakes all by one call of the kernel, since its threads sleep on the 32 bits of the atomic itself. Ours sleep on a \
     word of their own each, so that atomics of any width can be waited on and nobody is woken for another atomic; each takes a call.";

fn burst(kind: Kind, sleepers: usize) -> Contest {
    Contest::new(Scenario::BurstWake, kind, "")
        .size(sleepers, "sleepers")
        .floor("futex(2), waking all", move |times| scenarios::burst_on_atomic::<AtomicWaitCrate>(sleepers, times))
        .batch(Batch::Of(3))
}

fn lateness(micros: u64, times: u64) -> Contest {
    let timeout = Duration::from_micros(micros);
    let contest = lateness_beside_futex(Kind::Semaphore, micros, times)
        .ours(runners![|This, times| scenarios::lateness::<This>(timeout, times); Semaphore, BinarySemaphore])
        .peers(each_timed_semaphore!(runners!(|Peer, times| scenarios::lateness::<Peer>(timeout, times))));
    match micros {
        10 => contest.target(0.4, Base::Floor).readme("lateness of a 10 µs wait"),
        _ => contest,
    }
}

fn lateness_of_receivers(micros: u64, times: u64) -> Contest {
    let timeout = Duration::from_micros(micros);
    lateness_beside_futex(Kind::Oneshot, micros, times)
        .ours(runners![|This, times| scenarios::lateness::<This>(timeout, times); Awaited<Ours>])
        .peers(each_timed_receiver!(runners!(|Peer, times| scenarios::lateness::<Peer>(timeout, times))))
}

fn lateness_of_signals(micros: u64, times: u64) -> Contest {
    let timeout = Duration::from_micros(micros);
    lateness_beside_futex(Kind::Signal, micros, times)
        .ours(runners![|This, times| scenarios::lateness::<This>(timeout, times); signal::Awaited<signal::Ours>])
        .peers(each_timed_signal!(runners!(|Peer, times| scenarios::lateness::<Peer>(timeout, times))))
}

fn lateness_beside_futex(kind: Kind, micros: u64, times: u64) -> Contest {
    let timeout = Duration::from_micros(micros);
    Contest::new(Scenario::Lateness, kind, "")
        .size(micros as usize, MICROSECONDS)
        .floor("futex(2)", move |times| floor::futex_lateness(timeout, times))
        .batch(Batch::Of(times))
}

/// Long enough to sleep.
const SHORT: Duration = Duration::from_millis(1);
/// Long enough to offer the processor to others before, too.
const LONG: Duration = Duration::from_millis(110);

/// In nanoseconds: what is spun before a sleep that comes all the same.
const SPIN: f64 = 4000.0;

const YIELDS: &str = "It sleeps at once. Ours offers the processor to others before: with a third fewer offers, threads that share a permit take \
     two to three times as long.";

const NO_SLACK: &str = "It sleeps in futex(2), which ends up to 50 µs late, together with other timers. Ours takes a timer of its own in \
     futex_waitv, which ends in time.";

fn cost_of_sleep(timeout: Duration) -> Contest {
    cost(Kind::Semaphore, timeout)
        .ours(runners![|This, times| scenarios::cpu_per_sleep::<This>(timeout, times); Semaphore])
        .peers(each_timed_semaphore!(runners!(|Peer, times| scenarios::cpu_per_sleep::<Peer>(timeout, times))))
}

fn cost_of_sleep_of_receivers(timeout: Duration) -> Contest {
    cost(Kind::Oneshot, timeout)
        .ours(runners![|This, times| scenarios::cpu_per_sleep::<This>(timeout, times); Awaited<Ours>])
        .peers(each_timed_receiver!(runners!(|Peer, times| scenarios::cpu_per_sleep::<Peer>(timeout, times))))
}

fn cost(kind: Kind, timeout: Duration) -> Contest {
    let mut contest = Contest::new(Scenario::CostOfSleep, kind, "")
        .size(timeout.as_micros() as usize, MICROSECONDS)
        .counts("ns of a processor")
        .batch(Batch::Of(if timeout < LONG { 5 } else { 1 }));
    if timeout < LONG {
        contest = contest.target(SPIN, Base::AboveFloor);
    }
    if let Some(futex_waitv_cpu) = floor::futex_waitv_cpu() {
        contest = contest.floor("futex_waitv(2)", move |times| futex_waitv_cpu(timeout, times));
    }
    for peer in
        ["std Mutex + Condvar", "parking_lot Mutex + Condvar", "glibc sem_t", "std mpsc", "libstdc++", "oneshot crate"]
    {
        contest = contest.explain(peer, if timeout < LONG { NO_SLACK } else { YIELDS });
    }
    contest.floor("futex(2)", move |times| floor::futex_cpu(timeout, times))
}
