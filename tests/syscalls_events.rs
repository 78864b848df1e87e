//! Calls that have nothing to wait for and nobody to wake make no system call, and allocate nothing but a channel: latch,
//! barrier and one-shot. Half of their scenarios come after threads have slept and gone.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "raw counts down")]

mod common;

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, SystemTime};

use common::quiet::{
    Watched, allocations, assert_caught, assert_quiet, forbid_system_calls, passed_deadlines, sleep_once, step,
};
use common::spawn;
use common::threads::until_all_asleep;
use waitline::oneshot::{Receiver, RecvError, RecvTimeoutError, Sender, TryRecvError, channel};
use waitline::{Barrier, Deadline, Latch};

#[global_allocator]
static ALLOCATOR: Watched = Watched;

const ROUNDS: usize = 2_000;
const SOON: Duration = Duration::from_millis(1);
const ENOUGH: Duration = Duration::from_secs(60);

/// Every way to have a moment, with what is to be said about it.
fn deadlines(round: usize) -> impl Iterator<Item = (&'static str, Deadline)> {
    passed_deadlines(round as u64).into_iter().chain([("never", Deadline::NEVER)])
}

// Latches.

#[test]
fn a_latch_is_looked_at_and_counted_without_a_system_call() {
    assert_quiet("a_latch_is_looked_at_and_counted_without_a_system_call", || {
        forbid_system_calls();
        count_down_with_nobody_there();
    });
}

/// Those who slept timed out, or were let go by the one that opened it.
#[test]
fn a_latch_that_had_sleepers_is_as_quiet() {
    assert_quiet("a_latch_that_had_sleepers_is_as_quiet", || {
        let (closed, open) = (Latch::new(1), Latch::new(1));
        assert!(closed.wait_for(SOON).is_err() && closed.wait_until(SystemTime::now() + SOON).is_err());
        thread::scope(|scope| {
            let waiters = [(); 4].map(|()| spawn(scope, "waits for the latch", || open.wait()));
            until_all_asleep(&waiters);
            assert!(open.count_down());
        });
        forbid_system_calls();
        step("a latch that is open");
        open.wait();
        assert!(open.try_wait() && open.wait_for(Duration::ZERO).is_ok());
        step("a latch whose waiters have timed out");
        for (kind, deadline) in passed_deadlines(0) {
            step(kind);
            assert!(closed.wait_until(deadline).is_err());
        }
        closed.count_up(2);
        assert!(!closed.count_down_by(2) && closed.wait_for(Duration::ZERO).is_err());
    });
}

fn count_down_with_nobody_there() {
    for round in 0..ROUNDS {
        let latch = Latch::new(5);
        step("a latch that is closed");
        assert!(!latch.try_wait() && latch.wait_for(Duration::ZERO).is_err());
        for (kind, deadline) in passed_deadlines(round as u64) {
            step(kind);
            assert!(latch.wait_until(deadline).is_err());
        }
        step("counting");
        latch.count_up(3);
        assert!(!latch.count_down() && !latch.count_down_by(4));
        // SAFETY: the latch outlives the call.
        assert!(!unsafe { Latch::count_down_raw(&latch, 2) });
        latch.arrive_and_wait();
        step("a latch that is open");
        latch.wait();
        assert!(latch.try_wait() && latch.wait_for(Duration::ZERO).is_ok() && latch.wait_for(ENOUGH).is_ok());
        for (kind, deadline) in deadlines(round) {
            step(kind);
            assert!(latch.wait_until(deadline).is_ok());
        }
        step("opening");
        assert!(Latch::new(2).count_down_by(2));
        let latch = Latch::new(1);
        // SAFETY: as above.
        assert!(unsafe { Latch::count_down_raw(&latch, 1) });
    }
}

// Barriers.

#[test]
fn a_lone_party_makes_no_system_call() {
    assert_quiet("a_lone_party_makes_no_system_call", || {
        let (calls, none) = (AtomicUsize::new(0), Barrier::new(0));
        let one = Barrier::new(1);
        let completed = Barrier::with_completion(1, || _ = calls.fetch_add(1, Relaxed));
        forbid_system_calls();
        lone_party(&none);
        lone_party(&one);
        lone_party(&completed);
        assert!(calls.load(Relaxed) > ROUNDS);
    });
}

fn lone_party<F: FnMut()>(barrier: &Barrier<F>) {
    for round in 0..ROUNDS {
        step("a lone party");
        assert!(barrier.wait().is_leader());
        assert!(barrier.wait_for(Duration::ZERO).is_ok() && barrier.wait_for(ENOUGH).is_ok());
        assert!(barrier.arrive().is_complete() && barrier.arrive().wait().is_leader());
        assert!(barrier.arrive().withdraw().is_err() && barrier.arrive().wait_for(ENOUGH).is_ok());
        for (kind, deadline) in deadlines(round) {
            step(kind);
            assert!(barrier.wait_until(deadline).is_ok() && barrier.arrive().wait_until(deadline).is_ok());
        }
    }
    step("a lone party leaves");
    assert!(barrier.arrive_and_drop().is_leader());
}

#[test]
fn nobody_sleeps_at_a_barrier_that_all_reach_by_arriving() {
    assert_quiet("nobody_sleeps_at_a_barrier_that_all_reach_by_arriving", || {
        let barrier = Barrier::new(3);
        forbid_system_calls();
        arrive_in_turn(&barrier);
    });
}

/// Those who slept timed out, took their arrivals back, or were let go in an earlier phase.
#[test]
fn a_barrier_that_had_sleepers_is_as_quiet() {
    assert_quiet("a_barrier_that_had_sleepers_is_as_quiet", || {
        let barrier = Barrier::new(3);
        thread::scope(|scope| {
            let waiters = [(); 2].map(|()| spawn(scope, "waits at the barrier", || barrier.wait()));
            until_all_asleep(&waiters);
            assert!(barrier.wait().is_leader());
        });
        assert!(barrier.wait_for(SOON).is_err() && barrier.wait_until(SystemTime::now() + SOON).is_err());
        forbid_system_calls();
        arrive_in_turn(&barrier);
    });
}

/// Phases of three, who wait only once it is over.
fn arrive_in_turn(barrier: &Barrier) {
    for round in 0..ROUNDS {
        for (kind, deadline) in passed_deadlines(round as u64) {
            step(kind);
            assert!(barrier.wait_until(deadline).is_err());
            let token = barrier.arrive();
            assert!(!token.is_complete() && token.wait_until(deadline).is_err());
            assert!(token.wait_for(Duration::ZERO).is_err() && token.withdraw().is_ok());
        }
        step("the last arrival");
        let (first, second) = (barrier.arrive(), barrier.arrive());
        assert!(barrier.wait_for(Duration::ZERO).is_ok());
        assert!(first.wait_for(ENOUGH).is_ok() && !second.wait().is_leader());
        drop((barrier.arrive(), barrier.arrive()));
        assert!(barrier.wait().is_leader());
    }
    step("parties leave");
    assert!(!barrier.arrive_and_drop().is_leader() && !barrier.arrive_and_drop().is_leader());
    assert!(barrier.arrive_and_drop().is_leader());
}

// Channels. What allocates is made before.

type Ends = (Sender<usize>, Receiver<usize>);

fn ends() -> Vec<Ends> {
    (0..ROUNDS).map(|_| channel()).collect()
}

#[test]
fn nothing_is_received_without_a_system_call() {
    assert_quiet("nothing_is_received_without_a_system_call", || {
        let (_sender, receiver) = channel::<usize>();
        let (_another, shared) = channel::<usize>();
        let shared = shared.share();
        forbid_system_calls();
        for round in 0..ROUNDS {
            step("nothing there");
            assert_eq!((receiver.is_ready(), receiver.try_recv()), (false, Err(TryRecvError::Empty)));
            assert_eq!(receiver.recv_for(Duration::ZERO), Err(RecvTimeoutError::Timeout));
            assert!(receiver.wait_for(Duration::ZERO).is_err());
            assert!(shared.get().is_err() && shared.clone().wait_for(Duration::ZERO).is_err());
            for (kind, deadline) in passed_deadlines(round as u64) {
                step(kind);
                assert_eq!(receiver.recv_until(deadline), Err(RecvTimeoutError::Timeout));
                assert!(receiver.wait_until(deadline).is_err() && shared.wait_until(deadline).is_err());
            }
        }
    });
}

#[test]
fn a_value_is_sent_and_received_without_a_system_call() {
    assert_quiet("a_value_is_sent_and_received_without_a_system_call", || {
        let [mut plain, mut timed, mut lent, mut awaited] = [(); 4].map(|()| ends());
        // What is freed may be given back to the kernel, which is the allocator's affair: so nothing is.
        let mut kept = Vec::with_capacity(2 * ROUNDS);
        let mut kept_shared = Vec::with_capacity(ROUNDS);
        let mut kept_futures = Vec::with_capacity(ROUNDS);
        forbid_system_calls();
        for (round, (sender, receiver)) in plain.drain(..).enumerate() {
            step("send, recv");
            assert!(!sender.is_closed() && sender.send(round).is_ok() && receiver.is_ready());
            receiver.wait();
            assert_eq!((receiver.recv(), receiver.recv()), (Ok(round), Err(RecvError)));
            kept.push(receiver);
        }
        for (round, (sender, receiver)) in timed.drain(..).enumerate() {
            step("send, timed recv");
            assert!(sender.send(round).is_ok() && receiver.wait_for(ENOUGH).is_ok());
            let outcome = match round % 4 {
                0 => receiver.recv_for(Duration::ZERO),
                1 => receiver.recv_for(ENOUGH),
                2 => receiver.recv_until(Deadline::NEVER),
                _ => receiver.recv_until(passed_deadlines(round as u64)[round % 8].1),
            };
            assert_eq!((outcome, receiver.try_recv()), (Ok(round), Err(TryRecvError::Disconnected)));
            kept.push(receiver);
        }
        for (round, (sender, receiver)) in lent.drain(..).enumerate() {
            step("send, borrow");
            let shared = receiver.share();
            let another = shared.clone();
            assert!(sender.send(round).is_ok() && another.wait() == Ok(&round) && shared.get() == Ok(&round));
            drop(another);
            kept_shared.push(shared);
        }
        for (round, (sender, receiver)) in awaited.drain(..).enumerate() {
            step("poll, send, poll");
            let (mut future, mut context) = (receiver.into_future(), Context::from_waker(Waker::noop()));
            assert!(Pin::new(&mut future).poll(&mut context).is_pending());
            if round % 2 == 0 {
                assert!(sender.send(round).is_ok());
                assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Ready(Ok(round)));
            } else {
                drop(sender);
                assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Ready(Err(RecvError)));
            }
            kept_futures.push(future);
        }
        std::mem::forget((plain, timed, lent, awaited));
        std::mem::forget((kept, kept_shared, kept_futures));
    });
}

/// The receiver has slept, and left its mark in vain.
#[test]
fn an_end_that_nobody_hears_of_is_as_quiet() {
    assert_quiet("an_end_that_nobody_hears_of_is_as_quiet", || {
        let (first, second, third) = (channel::<usize>(), channel::<usize>(), channel::<usize>());
        for receiver in [&first.1, &second.1] {
            assert!(receiver.recv_for(SOON).is_err() && receiver.wait_until(SystemTime::now() + SOON).is_err());
        }
        forbid_system_calls();
        step("send to one that has timed out");
        assert!(first.0.send(5).is_ok() && first.1.try_recv() == Ok(5));
        step("leave one that has timed out");
        drop(second.0);
        assert_eq!(second.1.recv(), Err(RecvError));
        step("leave one that has never waited");
        drop(third.0);
        assert_eq!(third.1.recv_for(ENOUGH), Err(RecvTimeoutError::Disconnected));
        std::mem::forget((first.1, second.1, third.1));
    });
}

/// Whatever is done with it, and whichever side leaves last, it is allocated once and freed once.
#[test]
fn a_channel_is_one_allocation() {
    type Use = fn(Sender<[u64; 20]>, Receiver<[u64; 20]>);
    const VALUE: [u64; 20] = [7; 20];
    let uses: [Use; 9] = [
        |sender, receiver| drop((sender, receiver)),
        |sender, receiver| drop((receiver, sender)),
        |sender, receiver| assert!(sender.send(VALUE).is_ok() && receiver.recv() == Ok(VALUE)),
        |sender, receiver| {
            drop(receiver);
            assert!(sender.send(VALUE).unwrap_err().into_inner() == VALUE);
        },
        |sender, receiver| drop((sender.send(VALUE), receiver)),
        |sender, receiver| {
            assert!(receiver.recv_for(Duration::from_micros(100)).is_err() && receiver.wait_for(SOON).is_err());
            drop((sender, receiver));
        },
        |sender, receiver| {
            let mut future = receiver.into_future();
            assert!(Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert!(sender.send(VALUE).is_ok());
            assert!(future.into_receiver().recv() == Ok(VALUE));
        },
        |sender, receiver| {
            let mut future = receiver.into_future();
            assert!(Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            drop((future, sender));
        },
        |sender, receiver| {
            let (shared, _held) = (receiver.share(), sender.send(VALUE));
            assert!(shared.clone().wait() == Ok(&VALUE) && shared.get() == Ok(&VALUE));
        },
    ];
    sleep_once();
    for (number, use_it) in uses.into_iter().enumerate() {
        let before = allocations();
        let (sender, receiver) = channel();
        use_it(sender, receiver);
        let after = allocations();
        assert_eq!((after.0 - before.0, after.1 - before.1), (1, 1), "use {number}");
    }
}

/// The control: what a channel takes of the allocator would be seen, had it more than that.
#[test]
fn the_allocator_catches_a_channel() {
    assert_caught("the_allocator_catches_a_channel", "an allocation", || {
        sleep_once();
        forbid_system_calls();
        step("the channel");
        drop(channel::<usize>());
    });
}
