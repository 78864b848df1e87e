//! What becomes of jobs, of those who wait and of the workers when a pool is shut down or dropped.

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;

use waitline::oneshot::RecvTimeoutError;
use waitline::{Deadline, Latch, TimedOut};

use super::common::threads::{sleepers_are_known, until_all_asleep};
use super::common::{Gate, jitter, rounds, spawn, watchdog};
use super::thread_pool::{Discarded, Handle};
use super::{CROWD, SOON, Stop, leaves, pool};

#[test]
fn what_is_queued_is_done_before_the_pool_is_shut_down() {
    watchdog("a shutdown with jobs queued", || {
        for workers in [1, 2, CROWD] {
            let pool = pool(workers, 1000);
            let done = Arc::new(AtomicUsize::new(0));
            let stop = Stop::all(&pool, workers);
            for _ in 0..1000 {
                let done = Arc::clone(&done);
                pool.spawn(move || done.fetch_add(1, Relaxed)).unwrap();
            }
            assert_eq!(Arc::strong_count(&done), 1001);
            drop(stop);
            assert_eq!(pool.shut_down(Deadline::NEVER), Ok(()));
            assert_eq!((done.load(Relaxed), Arc::strong_count(&done)), (1000, 1));
            assert!(pool.spawn(|| ()).is_err() && pool.spawn_until(|| (), Deadline::NEVER).is_err());
            assert_eq!(pool.shut_down(Deadline::PASSED), Ok(()));
        }
    });
}

#[test]
fn what_is_queued_at_the_deadline_is_discarded() {
    watchdog("a shutdown that takes too long", || {
        for deadline in [Deadline::PASSED, Deadline::after(SOON)] {
            let pool = pool(1, 8);
            let stop = Stop::all(&pool, 1);
            let captured = Arc::new(());
            let handles: Vec<_> = (0..8)
                .map(|_| {
                    let captured = Arc::clone(&captured);
                    pool.spawn(move || drop(captured)).unwrap()
                })
                .collect();
            assert_eq!(pool.shut_down(deadline), Err(TimedOut));
            assert_eq!(Arc::strong_count(&captured), 1);
            for (number, handle) in handles.into_iter().enumerate() {
                assert!(handle.is_finished());
                if number % 2 == 0 {
                    assert_eq!(handle.join(), Err(Discarded));
                } else {
                    assert_eq!(handle.join_until(Deadline::NEVER), Err(RecvTimeoutError::Disconnected));
                }
            }
            drop(stop);
            assert_eq!(pool.shut_down(Deadline::NEVER), Ok(()));
        }
    });
}

#[test]
fn a_drop_discards_what_is_queued_and_waits_for_what_runs() {
    watchdog("a drop with jobs queued", || {
        let pool = pool(2, 8);
        let (open, begun) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(2)));
        let ended = Arc::new(AtomicUsize::new(0));
        for _ in 0..2 {
            let (open, begun, ended) = (Arc::clone(&open), Arc::clone(&begun), Arc::clone(&ended));
            let job = move || {
                begun.count_down();
                open.wait();
                ended.fetch_add(1, Relaxed);
            };
            pool.spawn(job).unwrap();
        }
        begun.wait();
        let queued: Vec<_> = (0..8).map(|number| pool.spawn(move || number).unwrap()).collect();
        thread::scope(|scope| {
            let drops = spawn(scope, "the drop of a pool", || drop(pool));
            assert!(queued.into_iter().all(|handle| handle.join_until(Deadline::NEVER).is_err()));
            assert!(!drops.has_ended());
            open.count_down();
            drops.join();
        });
        assert_eq!(ended.load(Relaxed), 2);
    });
}

#[test]
fn the_last_owner_of_a_pool_may_be_its_job() {
    watchdog("a job that drops its pool", || {
        for _ in 0..rounds(100) {
            let pool = Arc::new(pool(2, 8));
            let owner = Arc::clone(&pool);
            let handle = pool.spawn(move || drop(owner)).unwrap();
            drop(pool);
            assert_eq!(handle.join_until(Deadline::NEVER), Ok(()));
        }
    });
}

/// Whoever waits for room learns of it, though no room comes.
#[test]
fn a_shutdown_is_told_to_those_who_wait_for_room() {
    watchdog("room in a pool that is shut down", || {
        let pool = pool(1, 1);
        let stop = Stop::all(&pool, 1);
        pool.spawn(|| ()).unwrap();
        thread::scope(|scope| {
            let waiters: Vec<_> = (0..8)
                .map(|number| {
                    let pool = &pool;
                    spawn(scope, format!("room, waiter {number}"), || pool.spawn_until(|| (), Deadline::NEVER).is_err())
                })
                .collect();
            until_all_asleep(&waiters);
            let shuts_down = spawn(scope, "a shutdown", || pool.shut_down(Deadline::NEVER));
            assert!(waiters.into_iter().all(|waiter| waiter.join()));
            assert!(!shuts_down.has_ended());
            drop(stop);
            assert_eq!(shuts_down.join(), Ok(()));
        });
    });
}

#[test]
fn a_scope_outlives_the_shutdown() {
    watchdog("a scope in a pool that is shut down", || {
        for deadline in [Deadline::PASSED, Deadline::NEVER] {
            let pool = pool(2, 8);
            let count = AtomicUsize::new(0);
            pool.scope(|scope| {
                leaves(scope, 3, &count);
                // Jobs of the scope may be queued, running, or not yet spawned.
                let _ = pool.shut_down(deadline);
                leaves(scope, 3, &count);
            });
            assert_eq!(count.into_inner(), 16);
        }
    });
}

/// A job of a scope adds another one when whoever opened the scope sleeps already, and nobody but the worker is there to run it.
fn a_late_job(shut_down: bool) {
    watchdog("a job that comes when the owner of its scope sleeps", || {
        let pool = pool(1, 8);
        let (begun, owner_sleeps) = (Latch::new(1), Latch::new(1));
        let is_done = AtomicBool::new(false);
        thread::scope(|threads| {
            let owner = spawn(threads, "opens the scope", || {
                pool.scope(|scope| {
                    scope.spawn(|| {
                        begun.count_down();
                        owner_sleeps.wait();
                        scope.spawn(|| is_done.store(true, Relaxed));
                        if shut_down {
                            assert_eq!(pool.shut_down(Deadline::PASSED), Err(TimedOut));
                        }
                    });
                    begun.wait();
                });
            });
            begun.wait();
            if sleepers_are_known() {
                owner.until_asleep();
            }
            owner_sleeps.count_down();
            owner.join();
        });
        assert!(is_done.into_inner());
    });
}

#[test]
fn a_late_job_of_a_scope_is_run() {
    a_late_job(false);
}

#[test]
fn a_late_job_of_a_scope_is_run_after_a_shutdown() {
    a_late_job(true);
}

/// As before, and the only other worker waits for what waits for the scope.
#[test]
fn a_late_job_needs_no_other_worker() {
    watchdog("a worker that waits for the owner of a scope", || {
        let pool = Arc::new(pool(2, 8));
        let (begun, may_go_on) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
        let opens_scope = {
            let (pool, begun, may_go_on) = (Arc::clone(&pool), Arc::clone(&begun), Arc::clone(&may_go_on));
            move || {
                pool.scope(|scope| {
                    let runs = Arc::new(Latch::new(1));
                    let job = {
                        let runs = Arc::clone(&runs);
                        move || {
                            runs.count_down();
                            begun.count_down();
                            may_go_on.wait();
                            scope.spawn(|| ());
                        }
                    };
                    scope.spawn(job);
                    // Else this thread would run it.
                    runs.wait();
                });
            }
        };
        let scope = pool.spawn(opens_scope).unwrap();
        begun.wait();
        let joins = pool.spawn(move || scope.join()).unwrap();
        may_go_on.count_down();
        assert_eq!(joins.join_until(Deadline::NEVER), Ok(Ok(())));
    });
}

/// Each job is run, refused, or discarded, and never two of these.
#[test]
fn no_job_is_lost_in_a_shutdown() {
    const SPAWNERS: usize = 4;
    watchdog("a shutdown among spawns", || {
        for round in 0..rounds(200) {
            let pool = pool(2, 4);
            let (run, refused, discarded) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            let ran = Arc::new(AtomicUsize::new(0));
            let shut = AtomicBool::new(false);
            let gate = Gate::new(SPAWNERS + 1);
            thread::scope(|scope| {
                for number in 0..SPAWNERS {
                    let (pool, gate, shut, ran) = (&pool, &gate, &shut, &ran);
                    let (run, refused, discarded) = (&run, &refused, &discarded);
                    spawn(scope, format!("spawner {number}"), move || {
                        gate.pass();
                        while !shut.load(Acquire) {
                            let ran = Arc::clone(ran);
                            let job = move || {
                                ran.fetch_add(1, Relaxed);
                            };
                            let spawned = match number {
                                0 => pool.spawn_until(job, Deadline::NEVER),
                                1 => pool.spawn_until(job, Deadline::after(SOON)),
                                _ => pool.spawn(job),
                            };
                            let outcome = match spawned.map(Handle::join) {
                                Ok(Ok(())) => run,
                                Ok(Err(Discarded)) => discarded,
                                Err(_) => refused,
                            };
                            outcome.fetch_add(1, Relaxed);
                        }
                    });
                }
                gate.pass();
                jitter(round);
                let deadline = if round % 2 == 0 { Deadline::NEVER } else { Deadline::PASSED };
                let outcome = pool.shut_down(deadline);
                shut.store(true, Release);
                assert!(round % 2 == 1 || outcome.is_ok());
            });
            assert_eq!(pool.shut_down(Deadline::NEVER), Ok(()));
            assert_eq!(ran.load(Relaxed), run.into_inner());
            assert_eq!(Arc::strong_count(&ran), 1);
        }
    });
}
