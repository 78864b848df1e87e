//! The pool that steals work: results, panics, scopes, who is woken, and its end.

#[path = "../../tests/common/mod.rs"]
mod common;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use common::threads::{Activity, current_id, sleepers_are_known};
use common::{Gate, jitter, out_of_the_way_until, rounds, spawn, watchdog};
use waitline::Barrier;
use waitline_embeddings::stealing::{Pool, Scope};

const SIZES: [usize; 4] = [1, 2, 5, 32];

fn pool(workers: usize) -> Pool {
    Pool::new(workers).unwrap()
}

fn fib(pool: &Pool, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (first, second) = pool.join(|| fib(pool, n - 1), || fib(pool, n - 2));
    first + second
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

#[test]
fn what_is_forked_is_joined() {
    watchdog("forks and joins", || {
        for workers in SIZES {
            let pool = pool(workers);
            assert_eq!(fib(&pool, 16), 987, "from outside, where each fork is installed");
            assert_eq!(pool.install(|| fib(&pool, 16)), 987);
            let words = ["one", "two"].map(String::from);
            assert_eq!(pool.join(|| words[0].clone(), || words[1].len()), (words[0].clone(), 3), "they may borrow");
        }
    });
}

/// All workers have to be there at once, again and again, after long sleeps and short ones.
#[test]
fn no_worker_sleeps_while_there_is_work_for_it() {
    watchdog("workers that are all needed", || {
        for workers in SIZES {
            let pool = pool(workers);
            let all = Barrier::new(workers);
            for round in 0..rounds(300) {
                pool.scope(|scope| {
                    for number in 0..workers {
                        let all = &all;
                        scope.spawn(move || _ = all.wait());
                        jitter(round.wrapping_mul(number as u32));
                    }
                });
                if round % 32 == 0 {
                    thread::sleep(Duration::from_millis(2)); // lets them fall asleep, or not
                }
            }
            // The same where each forks the next.
            fn descend(pool: &Pool, depth: usize, all: &Barrier) {
                if depth > 1 {
                    pool.join(|| descend(pool, depth - 1, all), || all.wait());
                } else {
                    all.wait();
                }
            }
            for _ in 0..rounds(100) {
                pool.install(|| descend(&pool, workers, &all));
            }
        }
    });
}

#[test]
fn workers_without_work_sleep() {
    const WORKERS: usize = 4;
    if !sleepers_are_known() {
        return;
    }
    watchdog("workers without work", || {
        let pool = pool(WORKERS);
        let (ids, all) = (Mutex::new(Vec::new()), Barrier::new(WORKERS));
        pool.scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    all.wait();
                    ids.lock().unwrap().push(current_id());
                });
            }
        });
        let ids = ids.into_inner().unwrap();
        let activities = || -> Vec<Activity> { ids.iter().map(|&id| Activity::of(id).unwrap()).collect() };
        let mut before = activities();
        out_of_the_way_until(|| {
            let now = activities();
            let asleep = now == before && now.iter().all(Activity::sleeps);
            before = now;
            asleep
        });
        assert_eq!(pool.install(|| fib(&pool, 10)), 55);
    });
}

#[test]
fn panics_come_to_who_joins_when_both_have_ended() {
    watchdog("forks that panic", || {
        for workers in SIZES {
            let pool = pool(workers);
            assert_eq!(panic_of(|| pool.install(|| -> () { unlucky(1) })), 1);
            for round in 0..rounds(50) {
                let ended = AtomicUsize::new(0);
                let end = |number: usize, panics: bool| {
                    jitter(round.wrapping_mul(number as u32));
                    ended.fetch_add(1, Relaxed);
                    if panics {
                        unlucky(number);
                    }
                };
                assert_eq!(panic_of(|| pool.join(|| end(1, true), || end(2, true))), 1);
                assert!((1..=2).contains(&ended.swap(0, Relaxed)));
                assert_eq!(panic_of(|| pool.join(|| end(1, true), || end(2, false))), 1);
                assert!((1..=2).contains(&ended.swap(0, Relaxed)));
                assert_eq!(panic_of(|| pool.join(|| end(1, false), || end(2, true))), 2);
                assert_eq!(ended.swap(0, Relaxed), 2);
            }
        }
    });
}

#[test]
fn a_scope_that_panics_waits_for_its_jobs_first() {
    watchdog("scopes that panic", || {
        for workers in SIZES {
            let pool = pool(workers);
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
        }
    });
}

/// A binary tree, by a job a child.
fn leaves<'scope>(scope: &'scope Scope<'scope, '_>, depth: u32, count: &'scope AtomicUsize) {
    if depth == 0 {
        count.fetch_add(1, Relaxed);
        return;
    }
    for _ in 0..2 {
        scope.spawn(move || leaves(scope, depth - 1, count));
    }
}

/// The same by scopes and forks in turn.
fn nested_leaves(pool: &Pool, depth: u32) -> usize {
    if depth == 0 {
        return 1;
    }
    let mut below = [0, 0];
    if depth % 2 == 0 {
        pool.scope(|scope| {
            for leaves in &mut below {
                scope.spawn(|| *leaves = nested_leaves(pool, depth - 1));
            }
        });
    } else {
        let (first, second) = pool.join(|| nested_leaves(pool, depth - 1), || nested_leaves(pool, depth - 1));
        below = [first, second];
    }
    below.iter().sum()
}

#[test]
fn scopes_nest() {
    watchdog("scopes nest", || {
        for workers in SIZES {
            let pool = pool(workers);
            let count = AtomicUsize::new(0);
            pool.scope(|scope| leaves(scope, 10, &count));
            assert_eq!(count.into_inner(), 1024);
            assert_eq!(nested_leaves(&pool, 10), 1024);
        }
    });
}

#[test]
fn jobs_come_from_threads_that_are_no_workers() {
    watchdog("jobs from elsewhere", || {
        let pool = pool(2);
        for _ in 0..rounds(50) {
            let count = AtomicUsize::new(0);
            pool.scope(|scope| {
                thread::scope(|threads| {
                    for number in 0..4 {
                        let count = &count;
                        spawn(threads, format!("spawner {number}"), move || {
                            scope.spawn(|| _ = count.fetch_add(1, Relaxed));
                        });
                    }
                });
            });
            assert_eq!(count.into_inner(), 4);
        }
    });
}

#[test]
fn many_threads_share_a_pool() {
    const CROWD: usize = 64;
    watchdog("many threads in one pool", || {
        let pool = pool(2);
        let gate = Gate::new(CROWD);
        thread::scope(|scope| {
            for number in 0..CROWD {
                let (pool, gate) = (&pool, &gate);
                spawn(scope, format!("user {number}"), move || {
                    gate.pass();
                    for round in 0..rounds(30) {
                        // The frame is left as soon as the last job is counted down, and the next one is put in its place.
                        let mut slots = [0; 3];
                        pool.scope(|scope| {
                            for slot in &mut slots {
                                scope.spawn(move || *slot = number);
                            }
                            jitter(round);
                        });
                        assert_eq!(slots, [number; 3]);
                        assert_eq!(fib(pool, 4), 3);
                    }
                });
            }
        });
    });
}

#[test]
fn a_pool_ends_whatever_its_workers_are_about() {
    watchdog("pools that end", || {
        for round in 0..rounds(200) {
            let pool = pool(4);
            jitter(round);
            if round % 2 == 0 {
                assert_eq!(pool.install(|| fib(&pool, 6)), 8);
                jitter(round.wrapping_mul(3));
            }
        }
    });
}
