//! Two threads that take turns.

use core::hint::spin_loop;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
};
use std::thread;

use crossbeam_utils::CachePadded;

use crate::contenders::atomic::AnyAtomic;
use crate::contenders::latch::AnyLatch;
use crate::contenders::oneshot::AnyOneshot;
use crate::contenders::semaphore::AnySemaphore;
use crate::contenders::signal::AnySignal;
use crate::race::Sample;
use crate::threads::{Disturbance, Meter, Placement};

/// Two threads hand a permit to and fro through two semaphores. One time is both ways.
pub fn ping_pong<S: AnySemaphore>(placement: Placement, times: u64) -> Sample {
    let [ping, pong] = [(); 2].map(|()| CachePadded::new(S::new(false)));
    two_threads(
        placement,
        times,
        || {
            ping.release();
            pong.acquire();
        },
        || {
            ping.acquire();
            pong.release();
        },
    )
}

/// Two threads give each other a signal. One time is both ways.
pub fn signal_ping_pong<S: AnySignal>(placement: Placement, times: u64) -> Sample {
    let ((ping, pinged), (pong, ponged)) = (S::pair(), S::pair());
    two_threads(
        placement,
        times,
        move || {
            S::give(&ping);
            S::wait(&ponged);
        },
        move || {
            S::wait(&pinged);
            S::give(&pong);
        },
    )
}

/// Two threads set and clear one atomic in turn. One time is both.
pub fn turns_on_one_atomic<A: AnyAtomic>(placement: Placement, times: u64) -> Sample {
    let atomic = CachePadded::new(A::new());
    two_threads_in_loops(placement, times, |times| atomic.serve_times(times), |times| atomic.reply_times(times))
}

/// Two threads notify those who wait on an atomic of theirs, and nobody waits.
pub fn notify_one_side_by_side<A: AnyAtomic>(times: u64) -> Sample {
    let [mine, theirs] = [(); 2].map(|()| CachePadded::new(A::new()));
    let notify = |atomic: &A, times| atomic.notify_one_times(times);
    two_threads_in_loops(Placement::Pinned, times, |times| notify(&mine, times), |times| notify(&theirs, times))
}

/// A value goes there through one channel, and back through another: two for each time, all made before.
pub fn oneshot_round_trip<O: AnyOneshot>(placement: Placement, times: u64) -> Sample {
    let turns = turns(times);
    let (mut pings, mut ping_receivers): (Vec<_>, Vec<_>) = (0..turns).map(|_| O::channel()).unzip();
    let (mut pongs, mut pong_receivers): (Vec<_>, Vec<_>) = (0..turns).map(|_| O::channel()).unzip();
    two_threads(
        placement,
        times,
        || {
            O::send(next(&mut pings), 1);
            O::recv(next(&mut pong_receivers));
        },
        || {
            O::recv(next(&mut ping_receivers));
            O::send(next(&mut pongs), 1);
        },
    )
}

/// One latch tells the other thread, and one tells this one: two for each time, all made before.
pub fn latch_round_trip<L: AnyLatch>(placement: Placement, times: u64) -> Sample {
    let latches = || (0..turns(times)).map(|_| CachePadded::new(L::new(1))).collect::<Vec<_>>();
    let (pings, pongs) = (latches(), latches());
    let mut to_ping: Vec<_> = pings.iter().rev().map(|latch| latch.ticket()).collect();
    let mut to_pong: Vec<_> = pongs.iter().rev().map(|latch| latch.ticket()).collect();
    let (mut pinged, mut ponged) = (pings.iter(), pongs.iter());
    two_threads(
        placement,
        times,
        || {
            L::count_down(next(&mut to_ping));
            ponged.next().expect("there is one for each turn").wait();
        },
        || {
            pinged.next().expect("there is one for each turn").wait();
            L::count_down(next(&mut to_pong));
        },
    )
}

#[inline]
fn next<T>(items: &mut Vec<T>) -> T {
    items.pop().expect("there is one for each turn")
}

/// How many turns [`two_threads`] takes in all.
fn turns(times: u64) -> u64 {
    turns_before(times) + times
}

fn turns_before(times: u64) -> u64 {
    const MOST_BEFORE: u64 = 100;
    times.min(MOST_BEFORE)
}

/// Times how often `serve` and `reply`, which wait for each other, take their turns on two threads.
///
/// Both take some turns before that, and then wait for each other without sleeping, so that both threads are running
/// when the clock starts, if they have a processor each. What becomes of them then is up to whoever is measured.
#[inline(always)]
pub fn two_threads(
    placement: Placement,
    times: u64,
    mut serve: impl FnMut() + Send,
    mut reply: impl FnMut() + Send,
) -> Sample {
    let serve = |times| {
        for _ in 0..times {
            serve();
        }
    };
    let reply = |times| {
        for _ in 0..times {
            reply();
        }
    };
    two_threads_in_loops(placement, times, serve, reply)
}

/// As [`two_threads`], for loops that contenders make themselves.
#[inline(always)]
pub(super) fn two_threads_in_loops(
    placement: Placement,
    times: u64,
    mut serve: impl FnMut(u64) + Send,
    mut reply: impl FnMut(u64) + Send,
) -> Sample {
    let before = turns_before(times);
    let running = AtomicU32::new(0);
    let wait_until_both_run = || {
        running.fetch_add(1, Release);
        while running.load(Acquire) < 2 {
            match placement {
                Placement::Together => thread::yield_now(),
                Placement::Free | Placement::Pinned => spin_loop(),
            }
        }
    };
    thread::scope(|scope| {
        let replier = scope.spawn(move || {
            placement.apply(1);
            reply(before);
            let disturbance = Disturbance::watch();
            wait_until_both_run();
            reply(times);
            disturbance.happened()
        });
        let server = scope.spawn(move || {
            placement.apply(0);
            serve(before);
            let disturbance = Disturbance::watch();
            wait_until_both_run();
            let meter = Meter::start();
            serve(times);
            meter.stop(times, disturbance.happened())
        });
        let mut sample = server.join().expect("the server does not panic");
        sample.disturbed |= replier.join().expect("the replier does not panic");
        // On one processor they take it away from each other.
        sample.disturbed &= placement != Placement::Together;
        sample
    })
}
