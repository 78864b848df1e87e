//! Waits within rayon's pool, mostly one of a single thread: whatever they wait for is done by that thread.

#[path = "../../tests/common/mod.rs"]
mod common;

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use common::{spawn, watchdog};
use rayon::{ThreadPool, ThreadPoolBuilder};
use waitline::oneshot::{self, RecvTimeoutError};
use waitline::{Deadline, Latch, Semaphore};
use waitline_embeddings::in_rayon::{wait, wait_until};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

/// The value, or `None` for a sender that is gone.
fn recv<T>(receiver: &oneshot::Receiver<T>) -> Option<T> {
    wait(|deadline| match receiver.recv_until(deadline) {
        Ok(value) => Some(Some(value)),
        Err(RecvTimeoutError::Disconnected) => Some(None),
        Err(RecvTimeoutError::Timeout) => None,
    })
}

#[test]
fn a_thread_that_waits_does_what_it_waits_for() {
    watchdog("a pool of one thread", || {
        let pool = pool(1);
        let value = pool.install(|| {
            let (sender, receiver) = oneshot::channel();
            pool.spawn(move || sender.send(5).unwrap());
            recv(&receiver)
        });
        assert_eq!(value, Some(5));
    });
}

#[test]
fn waits_nest() {
    fn descend(pool: &ThreadPool, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        pool.in_place_scope(|scope| {
            let (sender, receiver) = oneshot::channel();
            scope.spawn(move |_| sender.send(1 + descend(pool, depth - 1)).unwrap());
            recv(&receiver).unwrap()
        })
    }
    watchdog("waits in waits", || {
        for threads in [1, 2, 4] {
            let pool = pool(threads);
            assert_eq!(pool.install(|| descend(&pool, 20)), 20);
        }
    });
}

#[test]
fn every_kind_of_wait_can_be_had() {
    const JOBS: usize = 100;
    watchdog("semaphores and latches", || {
        let pool = pool(1);
        let (items, done) = (Semaphore::new(0), Latch::new(JOBS));
        pool.in_place_scope(|scope| {
            let (items, done) = (&items, &done);
            scope.spawn(move |scope| {
                for _ in 0..JOBS {
                    scope.spawn(|_| {
                        items.release();
                        done.count_down();
                    });
                }
                for _ in 0..JOBS {
                    wait(|deadline| items.try_acquire_until(deadline).then_some(()));
                }
                wait(|deadline| done.wait_until(deadline).ok());
            });
        });
        assert_eq!(items.available_permits(), 0);
    });
}

/// What comes from elsewhere ends the wait, whether rayon's threads have anything to do or not.
#[test]
fn others_may_end_the_wait() {
    watchdog("a wait that others end", || {
        let pool = pool(1);
        let (go, came) = (Latch::new(1), Latch::new(1));
        thread::scope(|scope| {
            let waits = spawn(scope, "a worker of rayon's", || {
                pool.install(|| {
                    go.count_down();
                    wait(|deadline| came.wait_until(deadline).ok());
                })
            });
            go.wait();
            // The worker is there for others meanwhile.
            assert_eq!(pool.install(|| 5), 5);
            assert!(!waits.has_ended());
            came.count_down();
            waits.join();
        });
    });
}

#[test]
fn outside_of_a_pool_it_just_waits() {
    watchdog("a wait outside of a pool", || {
        thread::scope(|scope| {
            let (sender, receiver) = oneshot::channel();
            let waits = spawn(scope, "a one-shot", move || recv(&receiver));
            waits.until_asleep();
            sender.send(5).unwrap();
            assert_eq!(waits.join(), Some(5));
        });
    });
}

#[test]
fn a_deadline_ends_the_wait_and_not_before() {
    const SOON: Duration = Duration::from_millis(5);
    watchdog("waits with deadlines", || {
        let pool = pool(1);
        let items = Semaphore::new(0);
        let take = |deadline: Deadline| wait_until(deadline, |slice| items.try_acquire_until(slice).then_some(()));
        let check = || {
            assert_eq!(take(Deadline::PASSED), None);
            let deadline = Instant::now() + SOON;
            assert_eq!(take(deadline.into()), None);
            assert!(Instant::now() >= deadline);
            let deadline = SystemTime::now() + SOON;
            assert_eq!(take(deadline.into()), None);
            // What is there beats a deadline that has passed.
            items.release();
            assert_eq!(take(Deadline::PASSED), Some(()));
        };
        pool.install(check);
        check();
    });
}

#[test]
fn a_sender_that_is_gone_is_told() {
    watchdog("a sender that is gone", || {
        let pool = pool(1);
        let value = pool.install(|| {
            let (sender, receiver) = oneshot::channel::<u32>();
            pool.spawn(move || drop(sender));
            recv(&receiver)
        });
        assert_eq!(value, None);
    });
}
