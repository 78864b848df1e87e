//! Whether contenders do what they are measured for.

use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed,
};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::atomic::{AnyAtomic, AtomicWaitCrate, Ours};
use super::barrier::{self, AnyBarrier, each_barrier};
use super::latch::{self, AnyLatch, each_latch, each_shared_latch};
use super::oneshot::{self, AnyOneshot, Awaited, each_oneshot, each_polled_receiver, each_timed_receiver};
use super::pool::{self, AnyPool, each_pool};
use super::semaphore::{self, AnySemaphore, each_semaphore, each_timed_semaphore};
use super::signal::{self, AnySignal, each_signal, each_timed_signal};
use super::{Contender, TimedFor, TimedUntil, TryNow};
use crate::clock::Clock;

macro_rules! test_each {
    ($test:ident; $($(#[$attribute:meta])* $contender:ty),* $(,)?) => {$(
        $(#[$attribute])*
        unless_it_hangs::<$contender>($test::<$contender>);
    )*};
}

/// Fails if the test is not over after a while that no machine needs.
fn unless_it_hangs<T: Contender>(test: fn()) {
    const A_WHILE: Duration = Duration::from_secs(60);
    let (over, is_over) = mpsc::channel();
    let thread = thread::spawn(move || {
        test();
        over.send(()).expect("somebody waits for that");
    });
    match is_over.recv_timeout(A_WHILE) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{} hangs", T::name()),
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
            assert!(thread.join().is_ok(), "{} fails", T::name());
        }
    }
}

#[test]
fn semaphores_give_as_many_permits_as_they_got() {
    fn test<S: AnySemaphore>() {
        let semaphore = S::new(true);
        assert!(semaphore.try_acquire());
        assert!(!semaphore.try_acquire());
        thread::scope(|scope| {
            scope.spawn(|| semaphore.acquire());
            semaphore.release();
        });
        assert!(!semaphore.try_acquire());
    }
    test_each!(test; semaphore::Semaphore, semaphore::Many, semaphore::BinarySemaphore);
    each_semaphore!(test_each!(test));
}

#[test]
fn atomics_let_nobody_go_before_they_change() {
    const TIMES: u64 = 200;
    fn test<A: AnyAtomic>() {
        let (atomic, changes) = (A::new(), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| {
                atomic.wait(false);
                assert_eq!(changes.fetch_add(1, Relaxed), 1);
                atomic.store(false);
                atomic.notify_all();
            });
            changes.store(1, Relaxed);
            atomic.store(true);
            atomic.notify_one();
            atomic.wait(true);
            assert_eq!(changes.load(Relaxed), 2);
            scope.spawn(|| atomic.reply_times(TIMES));
            atomic.serve_times(TIMES);
        });
        atomic.wait_times(true, TIMES);
        atomic.notify_one_times(TIMES);
        atomic.notify_all_times(TIMES);
    }
    fn test_both<A: Ours>() {
        test::<A>();
        #[cfg(libstdcxx)]
        test::<A::Libstdcxx>();
    }
    test_each!(test; AtomicWaitCrate);
    test_each!(test_both;
        AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, AtomicPtr<()>);
}

#[test]
fn barriers_let_nobody_through_before_all_have_arrived() {
    const PARTIES: usize = 3;
    const ROUNDS: usize = 200;
    fn test<B: AnyBarrier>() {
        let (barrier, arrivals) = (B::new(PARTIES), AtomicUsize::new(0));
        let party = || {
            for round in 1..=ROUNDS {
                arrivals.fetch_add(1, Relaxed);
                barrier.wait();
                assert!(arrivals.load(Relaxed) >= round * PARTIES);
            }
            barrier.wait_times(ROUNDS as u64);
        };
        thread::scope(|scope| {
            for _ in 0..PARTIES {
                scope.spawn(party);
            }
        });
    }
    test_each!(test; barrier::Barrier);
    each_barrier!(test_each!(test));
}

#[test]
fn latches_open_once_counted_down() {
    const COUNT: usize = 2;
    fn test<L: AnyLatch>() {
        let (latch, counted) = (L::new(COUNT), AtomicUsize::new(0));
        let tickets: Vec<_> = (0..COUNT).map(|_| latch.ticket()).collect();
        thread::scope(|scope| {
            scope.spawn(|| {
                latch.wait();
                assert_eq!(counted.load(Relaxed), COUNT);
            });
            for ticket in tickets {
                counted.fetch_add(1, Relaxed);
                L::count_down(ticket);
            }
        });
        L::count_down_and_wait();
    }
    test_each!(test; latch::Latch);
    each_latch!(test_each!(test));
}

#[test]
fn latches_that_are_shared_let_everybody_through() {
    fn test<L: AnyLatch>() {
        let latch = L::new(1);
        thread::scope(|scope| {
            scope.spawn(|| latch.wait());
            scope.spawn(|| latch.wait());
            L::count_down(latch.ticket());
        });
        latch.wait();
    }
    test_each!(test; latch::Latch);
    each_shared_latch!(test_each!(test));
}

#[test]
fn signals_are_there_or_not() {
    fn test<S: AnySignal>() {
        let (giver, waiter) = S::pair();
        S::give(&giver);
        S::give(&giver);
        S::wait(&waiter);
        thread::scope(|scope| {
            scope.spawn(move || S::wait(&waiter));
            S::give(&giver);
        });
    }
    test_each!(test; signal::Ours);
    each_signal!(test_each!(test));
}

#[test]
fn pools_do_every_job() {
    const JOBS: usize = 100;
    fn test<P: AnyPool>() {
        let (pool, (doing, done)) = (P::new(2), mpsc::channel());
        for number in 0..JOBS {
            let doing = doing.clone();
            pool.submit(Box::new(move || doing.send(number).expect("somebody counts")));
        }
        let mut numbers: Vec<_> = done.iter().take(JOBS).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..JOBS));
    }
    test_each!(test; pool::OnSemaphore, pool::OneByOne);
    each_pool!(test_each!(test));
}

#[test]
fn one_shots_hand_the_value_over() {
    fn test<O: AnyOneshot>() {
        let (sender, receiver) = O::channel();
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(O::recv(receiver), 7));
            O::send(sender, 7);
        });
        assert_eq!(O::send_and_recv(8), 8);
        O::drop_both();
    }
    test_each!(test; oneshot::Ours);
    each_oneshot!(test_each!(test));
}

#[test]
fn timed_calls_wait_as_long_as_told() {
    const TIMEOUT: Duration = Duration::from_millis(2);
    fn test<T: TimedFor + TimedUntil<Instant> + TimedUntil<SystemTime>>() {
        let contender = T::pending();
        let start = Instant::now();
        assert!(!contender.wait_for(TIMEOUT));
        assert!(start.elapsed() >= TIMEOUT);
        test_on(&contender, Instant::now() + TIMEOUT);
        test_on(&contender, SystemTime::now() + TIMEOUT);
        drop(contender);
        assert!(!T::pending().wait_for(Duration::ZERO));
    }
    /// Short of what the wall clock may be slewed by meanwhile, where a wait is really on the other one.
    fn test_on<C: Clock, T: TimedUntil<C>>(contender: &T, deadline: C) {
        const APART: Duration = Duration::from_millis(1);
        assert!(!contender.wait_until(T::deadline(deadline)));
        assert!(deadline.left() <= APART);
    }
    test_each!(test;
        semaphore::Semaphore, semaphore::Many, semaphore::BinarySemaphore, signal::Awaited<signal::Ours>,
        barrier::Barrier, barrier::Arrived, latch::Latch, Awaited<oneshot::Ours>, oneshot::Settled, oneshot::Shared,
        AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, AtomicPtr<()>);
    each_timed_semaphore!(test_each!(test));
    each_timed_signal!(test_each!(test));
    each_timed_receiver!(test_each!(test));
}

#[test]
fn nothing_is_there_at_once() {
    fn test<T: TryNow>() {
        assert!(!T::pending().try_now());
    }
    test_each!(test; semaphore::Semaphore, latch::Latch, Awaited<oneshot::Ours>);
    each_semaphore!(test_each!(test));
    each_polled_receiver!(test_each!(test));
}
