//! Counting semaphores: E1 of `src/semaphore/counting.rs`, with its pieces in `many.rs`. Binary ones: E1 of `binary.rs`.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use crate::common::plain::Plain;
use crate::common::{Form, Gate, Held, Pool, Wait, drain, jitter, pools, rounds, spawn, stay_awake_until, watchdog};

/// How a writer releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Give {
    /// In one call.
    Once(usize),
    /// By a call for each permit.
    OneByOne(usize),
    Raw(usize),
    /// What a call of the kind under test has taken before: by a guard's drop, where that is what it returns.
    Back,
}

impl Give {
    fn prepare(self, pool: &dyn Pool) -> Option<Held<'_>> {
        (self == Give::Back).then(|| {
            pool.give(pool.size(), true);
            pool.take(Wait::Untimed).expect("it was just given")
        })
    }

    fn give<'a>(self, pool: &'a dyn Pool, held: Option<Held<'a>>) {
        match self {
            Give::Once(permits) => drop(pool.give(permits, true)),
            Give::OneByOne(permits) => drop(pool.give(permits, false)),
            Give::Raw(permits) => drop(pool.give_raw(permits)),
            Give::Back => drop(held.map(Held::give_back)),
        }
    }
}

/// Each writer writes and releases, each in a thread; the reader acquires and reads in this one.
fn pass_messages(pool: &dyn Pool, writers: &[Give], read: &dyn Fn(&AtomicUsize)) {
    let cells: Vec<_> = writers.iter().map(|_| Plain::new(0)).collect();
    let gate = Gate::new(writers.len() + 1);
    let released = AtomicUsize::new(0);
    // Of the counting one there is a pool for each of eight calls.
    let rounds = rounds(if counts(pool) { 20 } else { 80 });
    thread::scope(|scope| {
        for (number, (cell, &give)) in cells.iter().zip(writers).enumerate() {
            let (gate, released) = (&gate, &released);
            spawn(scope, format!("{}: writer {number}, {give:?}", pool.name()), move || {
                for round in 1..=rounds {
                    let held = give.prepare(pool);
                    gate.pass();
                    jitter(round.wrapping_mul(number as u32 + 1));
                    cell.set(round);
                    give.give(pool, held);
                    released.fetch_add(1, Relaxed);
                    gate.pass();
                }
            });
        }
        for round in 1..=rounds {
            gate.pass();
            jitter(round);
            read(&released);
            for cell in &cells {
                assert_eq!(cell.get(), round, "{}, {writers:?}", pool.name());
            }
            released.store(0, Relaxed);
            drain(pool);
            gate.pass();
        }
    });
}

/// Whether it can hold permits for several.
fn counts(pool: &dyn Pool) -> bool {
    pool.others().len() > 1
}

/// The untimed form, and the others until they succeed.
fn take_by_all_means(pool: &dyn Pool, form: Form) {
    while !pool.wait(form.start()) {
        thread::yield_now();
    }
}

/// iceoryx2-pal's semaphore had acquire and release swapped. Through every form of acquire, from a release, from single
/// releases that add up, from a raw release, and from the drop of what a writer held.
#[test]
fn e1_what_was_written_before_a_release_is_there_after_the_acquire() {
    watchdog("message passing", || {
        for pool in pools() {
            let size = pool.size();
            for form in Form::all() {
                let read = |_: &_| take_by_all_means(&*pool, form);
                for give in [Give::Once(size), Give::OneByOne(size), Give::Raw(size), Give::Back] {
                    pass_messages(&*pool, &[give], &read);
                }
                // A piece from each.
                if size > 1 {
                    let mut pieces = vec![Give::Once(1); size];
                    pieces[size - 1] = Give::Raw(1);
                    pass_messages(&*pool, &pieces, &read);
                }
            }
        }
    });
}

/// An acquire comes after *every* release before it, also after one whose permit somebody else will have, or that found
/// the permit there already.
#[test]
fn e1_an_acquire_sees_all_releases_before_it() {
    watchdog("an acquire sees all releases", || {
        for pool in pools() {
            for form in Form::all() {
                let read = |released: &AtomicUsize| {
                    stay_awake_until(|| released.load(Relaxed) == 2);
                    take_by_all_means(&*pool, form);
                };
                pass_messages(&*pool, &[Give::Once(pool.size()), Give::Raw(pool.size())], &read);
            }
        }
    });
}

/// A release of more than the fast path takes, where permits add up.
#[test]
fn e1_a_large_release_is_one_too() {
    const LARGE: usize = 1000;

    watchdog("a large release", || {
        for pool in pools().into_iter().filter(|pool| counts(&**pool)) {
            for form in Form::all() {
                pass_messages(&*pool, &[Give::Once(LARGE)], &|_| take_by_all_means(&*pool, form));
            }
        }
    });
}

/// What threads do while they hold a permit excludes each other, through every call that takes and every way to give
/// back, guards' drops included.
#[test]
fn e1_permits_exclude() {
    watchdog("permits exclude", || {
        for pool in pools() {
            let counter = Plain::new(0);
            let rounds = rounds(200);
            pool.satisfy();
            thread::scope(|scope| {
                for number in 0..Wait::TIMED + 2 {
                    let (pool, counter) = (&*pool, &counter);
                    let form = Form::all().nth(number).unwrap();
                    spawn(scope, format!("{}, {form:?}: counts", pool.name()), move || {
                        for _ in 0..rounds {
                            let held = loop {
                                match pool.take(form.start()) {
                                    Some(held) => break held,
                                    None => thread::yield_now(),
                                }
                            };
                            counter.set(counter.get() + 1);
                            assert_eq!(held.give_back(), pool.size());
                        }
                    });
                }
            });
            assert_eq!(counter.get(), rounds * (Wait::TIMED as u32 + 2), "{}", pool.name());
            assert_eq!(drain(&*pool), pool.size(), "{}", pool.name());
        }
    });
}
