//! The thread pool of the example `pool`: results and panics, scopes, a full queue, its end, and who is woken.

#[path = "../common/mod.rs"]
mod common;
mod endings;
#[path = "../../examples/pool/thread_pool/mod.rs"]
mod thread_pool;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use common::threads::{Activity, current_id, sleepers_are_known};
use common::{Gate, jitter, rounds, spawn, stay_awake_until, watchdog};
use thread_pool::{Handle, Scope, ThreadPool};
use waitline::oneshot::RecvTimeoutError;
use waitline::{Barrier, Deadline, Latch};

const SOON: Duration = Duration::from_millis(2);
/// As many threads as the pools of these tests never have workers.
const CROWD: usize = 64;

fn pool(workers: usize, capacity: usize) -> ThreadPool {
    ThreadPool::new(workers, capacity).unwrap()
}

struct Unlucky(usize);

/// A panic that nobody prints.
fn unlucky(number: usize) -> ! {
    resume_unwind(Box::new(Unlucky(number)))
}

/// With which number it panicked.
#[track_caller]
fn panic_of<T>(body: impl FnOnce() -> T) -> usize {
    let Err(panic) = catch_unwind(AssertUnwindSafe(body)) else { panic!("it did not panic") };
    panic.downcast::<Unlucky>().unwrap_or_else(|panic| resume_unwind(panic)).0
}

/// Has all workers wait until it is opened.
struct Stop(Arc<Latch>);

impl Stop {
    fn all(pool: &ThreadPool, workers: usize) -> Stop {
        let (open, begun) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(workers)));
        for _ in 0..workers {
            let (open, begun) = (Arc::clone(&open), Arc::clone(&begun));
            let job = move || {
                begun.count_down();
                open.wait();
            };
            pool.spawn_until(job, Deadline::NEVER).unwrap();
        }
        begun.wait();
        Stop(open)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.count_down();
    }
}

#[test]
fn results_and_panics_come_to_who_joins() {
    watchdog("results and panics", || {
        let pool = pool(2, 16);
        let handles: Vec<Handle<usize>> = (0..1000)
            .map(|number| pool.spawn(move || if number % 3 == 0 { unlucky(number) } else { number }).unwrap())
            .collect();
        for (number, handle) in handles.into_iter().enumerate() {
            match (number % 3, number % 2) {
                (0, 0) => assert_eq!(panic_of(|| handle.join()), number),
                (0, _) => assert_eq!(panic_of(|| handle.join_until(Deadline::NEVER)), number),
                (_, 0) => assert_eq!(handle.join(), Ok(number)),
                _ => assert_eq!(handle.join_until(Deadline::NEVER), Ok(number)),
            }
        }
    });
}

#[test]
fn a_deadline_beats_a_job_that_takes_longer() {
    watchdog("a job that takes longer", || {
        let pool = pool(1, 1);
        let stop = Stop::all(&pool, 1);
        let handle = pool.spawn(|| 5).unwrap();
        assert_eq!(handle.join_until(Deadline::PASSED), Err(RecvTimeoutError::Timeout));
        assert_eq!(handle.join_until(Deadline::after(SOON)), Err(RecvTimeoutError::Timeout));
        assert!(!handle.is_finished());
        drop(stop);
        assert_eq!(handle.join_until(Deadline::NEVER), Ok(5));
    });
}

#[test]
fn a_worker_outlives_results_that_panic_when_dropped() {
    struct PanicsAtItsEnd;
    impl Drop for PanicsAtItsEnd {
        fn drop(&mut self) {
            resume_unwind(Box::new(PanicsAtItsEnd));
        }
    }
    watchdog("results that panic when dropped", || {
        let pool = pool(1, 4);
        let stop = Stop::all(&pool, 1);
        drop(pool.spawn(|| PanicsAtItsEnd).unwrap());
        drop(stop);
        assert_eq!(pool.spawn(|| 5).unwrap().join_until(Deadline::NEVER), Ok(5));
    });
}

/// Each job joins one that is queued behind it, on a pool whose one worker is taken.
#[test]
fn jobs_that_join_jobs_need_no_other_worker() {
    fn descend(pool: &Arc<ThreadPool>, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let below = Arc::clone(pool);
        1 + pool.spawn(move || descend(&below, depth - 1)).unwrap().join().unwrap()
    }
    watchdog("jobs that join jobs", || {
        for (workers, capacity) in [(1, 1), (1, 100), (2, 1), (2, 100)] {
            let pool = Arc::new(pool(workers, capacity));
            let top = Arc::clone(&pool);
            let handle = pool.spawn(move || descend(&top, 50)).unwrap();
            assert_eq!(handle.join_until(Deadline::NEVER), Ok(50));
        }
    });
}

/// Counts the leaves of a binary tree, by a job a child in one scope.
fn leaves<'scope>(scope: &'scope Scope<'scope, '_>, depth: u32, count: &'scope AtomicUsize) {
    if depth == 0 {
        count.fetch_add(1, Relaxed);
        return;
    }
    for _ in 0..2 {
        scope.spawn(move || leaves(scope, depth - 1, count));
    }
}

/// The same by a scope a node.
fn nested_leaves(pool: &ThreadPool, depth: u32) -> usize {
    if depth == 0 {
        return 1;
    }
    let mut below = [0, 0];
    pool.scope(|scope| {
        for leaves in &mut below {
            scope.spawn(|| *leaves = nested_leaves(pool, depth - 1));
        }
    });
    below.iter().sum()
}

#[test]
fn scopes_nest() {
    watchdog("scopes nest", || {
        for (workers, capacity) in [(1, 1), (1, 1000), (2, 3), (2, 1000), (CROWD, 7)] {
            let pool = Arc::new(pool(workers, capacity));
            let count = AtomicUsize::new(0);
            pool.scope(|scope| leaves(scope, 8, &count));
            assert_eq!(count.into_inner(), 256);
            assert_eq!(nested_leaves(&pool, 8), 256);
            // Where every worker has a job that opens scopes.
            let handles: Vec<_> = (0..workers)
                .map(|_| {
                    let within = Arc::clone(&pool);
                    pool.spawn(move || nested_leaves(&within, 5)).unwrap()
                })
                .collect();
            assert!(handles.into_iter().all(|handle| handle.join_until(Deadline::NEVER) == Ok(32)));
        }
    });
}

#[test]
fn scopes_of_many_threads_may_die_as_soon_as_they_are_over() {
    watchdog("many threads with scopes", || {
        let pool = pool(2, 8);
        let gate = Gate::new(CROWD);
        thread::scope(|scope| {
            for number in 0..CROWD {
                let (pool, gate) = (&pool, &gate);
                spawn(scope, format!("scope {number}"), move || {
                    gate.pass();
                    for round in 0..rounds(50) {
                        // The frame is left as soon as its last job is counted down, and the next one is put in its place.
                        let mut slots = [0; 3];
                        pool.scope(|scope| {
                            for slot in &mut slots {
                                scope.spawn(move || *slot = number);
                            }
                            jitter(round);
                        });
                        assert_eq!(slots, [number; 3]);
                    }
                });
            }
        });
    });
}

#[test]
fn a_scope_that_panics_waits_for_its_jobs_first() {
    watchdog("scopes that panic", || {
        let pool = pool(2, 8);
        for body_panics in [false, true] {
            let ended = AtomicUsize::new(0);
            let number = panic_of(|| {
                pool.scope(|scope| {
                    for number in 1..=6 {
                        let ended = &ended;
                        scope.spawn(move || {
                            ended.fetch_add(1, Relaxed);
                            if number % 2 == 0 {
                                unlucky(number);
                            }
                        });
                    }
                    if body_panics {
                        unlucky(100);
                    }
                })
            });
            assert!(if body_panics { number == 100 } else { [2, 4, 6].contains(&number) }, "{number}");
            assert_eq!(ended.into_inner(), 6);
        }
    });
}

#[test]
fn a_full_queue_is_the_callers_affair() {
    watchdog("a full queue", || {
        let pool = pool(1, 2);
        let stop = Stop::all(&pool, 1);
        let here = thread::current().id();
        let queued: Vec<_> = (0..2).map(|_| pool.spawn(|| thread::current().id()).unwrap()).collect();
        assert!(queued.iter().all(|handle| !handle.is_finished()));
        let run_by_the_caller = pool.spawn(|| thread::current().id()).unwrap();
        assert!(run_by_the_caller.is_finished() && run_by_the_caller.join() == Ok(here));
        assert_eq!(panic_of(|| pool.spawn(|| unlucky(7)).unwrap().join()), 7);
        assert_eq!(pool.spawn_until(|| 5, Deadline::PASSED).unwrap_err().0(), 5);
        assert_eq!(pool.spawn_until(|| 5, Deadline::after(SOON)).unwrap_err().0(), 5);
        thread::scope(|scope| {
            let waits = spawn(scope, "room in the queue", || pool.spawn_until(|| 5, Deadline::NEVER).unwrap());
            waits.until_asleep();
            drop(stop);
            assert_eq!(waits.join().join(), Ok(5));
        });
        assert!(queued.into_iter().all(|handle| handle.join_until(Deadline::NEVER).unwrap() != here));
    });
}

/// Of workers that sleep, a job wakes one.
#[test]
fn a_job_wakes_one_worker() {
    const WORKERS: usize = 8;
    if !sleepers_are_known() {
        return;
    }
    watchdog("workers that sleep", || {
        let pool = pool(WORKERS, WORKERS);
        // Who they are: one job for each, since none ends before all have begun.
        let all = Arc::new(Barrier::new(WORKERS));
        let workers: Vec<Handle<i32>> = (0..WORKERS)
            .map(|_| {
                let all = Arc::clone(&all);
                let job = move || {
                    all.wait();
                    current_id()
                };
                pool.spawn_until(job, Deadline::NEVER).unwrap()
            })
            .collect();
        let workers: Vec<i32> = workers.into_iter().map(|worker| worker.join_until(Deadline::NEVER).unwrap()).collect();
        let activities = || -> Vec<Activity> { workers.iter().map(|&id| Activity::of(id).unwrap()).collect() };
        let settled = || {
            let seen = Mutex::new(activities());
            stay_awake_until(|| {
                let (mut seen, now) = (seen.lock().unwrap(), activities());
                let same = *seen == now && now.iter().all(Activity::sleeps);
                *seen = now;
                same
            });
            seen.into_inner().unwrap()
        };
        for jobs in [1, 2, 5] {
            let before = settled();
            for _ in 0..jobs {
                pool.spawn(|| ()).unwrap().join_until(Deadline::NEVER).unwrap();
            }
            let after = settled();
            let woken = before.iter().zip(&after).map(|(before, after)| after.sleeps_so_far - before.sleeps_so_far);
            assert!(woken.sum::<u64>() <= jobs, "{jobs} jobs: {before:?}, {after:?}");
        }
    });
}
