//! The counting semaphore: what each call promises, and calls for many permits among themselves.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use common::panics::{self, panic_of};
use common::threads::until_all_asleep;
use common::{Call, Counting, Held, Pool, Subject, Wait, rounds, spawn, stay_awake_until, watchdog};
use proptest::prelude::*;
use waitline::{Deadline, Semaphore};

const MAX: usize = Semaphore::MAX_PERMITS;

/// Asserts that the call panics about a semaphore's limit.
macro_rules! assert_refused {
    ($call:expr) => {
        panics::assert_refused!($call, "semaphore", "2^31 - 1");
    };
}

#[test]
fn it_counts() {
    let semaphore = Semaphore::new(3);
    assert_eq!(semaphore.available_permits(), 3);
    assert!(semaphore.try_acquire());
    semaphore.acquire();
    semaphore.acquire_many(1);
    assert_eq!(semaphore.available_permits(), 0);
    assert!(!semaphore.try_acquire());
    semaphore.release();
    semaphore.release_many(4);
    assert_eq!(semaphore.available_permits(), 5);
    assert!(!semaphore.try_acquire_many(6));
    assert!(semaphore.try_acquire_many(5));
    assert_eq!(semaphore.available_permits(), 0);
    assert_eq!(Semaphore::default().available_permits(), 0);
    assert_eq!(format!("{:?}", Semaphore::new(7)), "Semaphore { available_permits: 7, .. }");
}

/// once_cell#243: a `const` semaphore is a new one at each use; a `static` one is one.
#[test]
fn a_static_is_one_semaphore() {
    static ONE: Semaphore = Semaphore::new(1);
    #[allow(clippy::declare_interior_mutable_const, reason = "the point")]
    const MANY: Semaphore = Semaphore::new(1);

    assert!(thread::spawn(|| ONE.try_acquire()).join().unwrap());
    assert!(!ONE.try_acquire());
    #[allow(clippy::borrow_interior_mutable_const, reason = "the point")]
    for _ in 0..2 {
        assert!(MANY.try_acquire());
    }
}

/// Go #80183: odd counts corrupted the state. None is a no-op, whatever there is and whenever the deadline was.
#[test]
fn none_is_a_no_op_that_succeeds() {
    for permits in [0, 1, MAX] {
        let none = |call| Counting { semaphore: Arc::new(Semaphore::new(permits)), call };
        for pool in [Call::Many(0), Call::Permits(0), Call::Owned(0)].map(none) {
            for wait in Wait::passed().into_iter().chain(Wait::endless()) {
                assert!(pool.wait(wait), "{pool}, {wait:?}");
                assert_eq!(pool.take(wait).map(Held::give_back), Some(0), "{pool}, {wait:?}");
            }
            pool.semaphore.release_many(0);
            assert_eq!(pool.available(), permits, "{pool}");
        }
    }
}

/// tokio#3644, #3188, #8548, iceoryx#2477; rsevents-extra panics after it has changed the count, async-lock wraps to 0.
#[test]
fn a_release_beyond_the_maximum_panics_and_changes_nothing() {
    let check = |available: usize, released: usize| {
        let semaphore = Semaphore::new(available);
        assert_refused!(semaphore.release_many(released));
        assert_eq!(semaphore.available_permits(), available);
        assert!(available == 0 || semaphore.try_acquire_many(available));
        semaphore.release();
        assert!(semaphore.try_acquire());
    };
    // Small and large releases, and counts near the maximum and at no permits.
    for (available, released) in [(MAX, 1), (MAX, 64), (MAX - 5, 6), (MAX - 64, 65), (1, MAX), (MAX, MAX)] {
        check(available, released);
    }
    for released in [MAX + 1, u32::MAX as usize, (u32::MAX as usize).saturating_add(2), usize::MAX / 2 + 1, usize::MAX]
    {
        check(0, released);
        check(3, released);
    }
    let full = Semaphore::new(MAX);
    assert_refused!(full.release());
    assert_eq!(full.available_permits(), MAX);
    assert_refused!(Semaphore::new(MAX + 1));
    assert_refused!(Semaphore::new(usize::MAX));
}

/// As many as there may be can be released, held and given back, also in the last step to the maximum.
#[test]
fn the_maximum_is_within_reach() {
    for start in [0, 1, MAX - 1] {
        let semaphore = Semaphore::new(start);
        semaphore.release_many(MAX - 1 - start);
        semaphore.release();
        assert_eq!(semaphore.available_permits(), MAX);
        assert!(semaphore.try_acquire_many(MAX));
        assert!(!semaphore.try_acquire());
        semaphore.release_many(MAX);
        drop(semaphore.acquire_permits(MAX));
        assert_eq!(semaphore.available_permits(), MAX);
    }
}

/// Every form refuses more than there can ever be, at once, however it waits, and leaves waiters and permits alone.
#[test]
fn more_than_the_maximum_is_refused_by_every_form() {
    watchdog("more than the maximum", || {
        for too_many in [MAX + 1, (u32::MAX as usize).saturating_add(2), usize::MAX] {
            let semaphore = Arc::new(Semaphore::new(2));
            thread::scope(|scope| {
                let waiter = spawn(scope, "acquire_many(3), beside refused calls", || semaphore.acquire_many(3));
                waiter.until_asleep();
                let s = &semaphore;
                let (hour, passed) = (Duration::from_secs(3600), Deadline::PASSED);
                let (instant, time) = (Instant::now() + hour, SystemTime::now() + hour);
                assert_refused!(s.acquire_many(too_many));
                assert_refused!(s.try_acquire_many(too_many));
                assert_refused!(s.try_acquire_many_for(too_many, hour));
                assert_refused!(s.try_acquire_many_until(too_many, instant));
                assert_refused!(s.acquire_permits(too_many));
                assert_refused!(s.try_acquire_permits(too_many));
                assert_refused!(s.try_acquire_permits_for(too_many, Duration::ZERO));
                assert_refused!(s.try_acquire_permits_until(too_many, passed));
                assert_refused!(s.acquire_owned(too_many));
                assert_refused!(s.try_acquire_owned(too_many));
                assert_refused!(s.try_acquire_owned_for(too_many, Duration::MAX));
                assert_refused!(s.try_acquire_owned_until(too_many, time));
                assert_refused!(s.release_many(too_many));
                assert!(!waiter.has_ended());
                semaphore.release();
                waiter.join();
            });
            assert_eq!(semaphore.available_permits(), 0);
        }
    });
}

/// Calls that do not wait take all or none, and never a part: neither do those whose time is up.
#[test]
fn all_or_none() {
    for call in [Call::Many(3), Call::Permits(3), Call::Owned(3)] {
        let pool = Counting::new(2, call);
        for wait in Wait::passed() {
            assert!(!pool.wait(wait), "{pool}, {wait:?}");
            assert_eq!(pool.available(), 2, "{pool}, {wait:?}");
        }
    }
}

/// folly db6d0a1, marusama/semaphore #3 and #4: a release for several woke only one of those that want many, and many
/// small releases none.
#[test]
fn many_are_fed_by_any_releases() {
    watchdog("many are fed by any releases", || {
        for (wanted, releases) in [
            (vec![2, 2], vec![4]),
            (vec![3], vec![1, 1, 1]),
            (vec![3, 3], vec![1, 1, 1, 1, 1, 1]),
            (vec![1, 2, 3, 4], vec![5, 5]),
            (vec![5, 1, 1], vec![2, 2, 3]),
            (vec![2, 64, 7], vec![65, 8]),
        ] {
            for _ in 0..rounds(30) {
                let semaphore = Semaphore::new(0);
                thread::scope(|scope| {
                    let name = |n| format!("acquire_many({n}) of {wanted:?} fed by {releases:?}");
                    let waiters: Vec<_> = (wanted.iter())
                        .map(|&n| {
                            let semaphore = &semaphore;
                            spawn(scope, name(n), move || semaphore.acquire_many(n))
                        })
                        .collect();
                    until_all_asleep(&waiters);
                    releases.iter().for_each(|&n| semaphore.release_many(n));
                });
                assert_eq!(semaphore.available_permits(), 0, "{wanted:?} fed by {releases:?}");
            }
        }
    });
}

/// embassy#6964, #2766, futures-intrusive#61, asyncio#270, Go #37852: the first waiter, who wanted more than there was,
/// gave up, and those behind it slept on although there was enough for them.
#[test]
fn a_waiter_that_gives_up_strands_nobody() {
    watchdog("a waiter that gives up", || {
        for (form, behind) in (0..Wait::TIMED).flat_map(|form| [(form, 1), (form, 2)]) {
            let pool = Counting::new(0, Call::Many(3));
            let on_same = |call| Counting { semaphore: Arc::clone(&pool.semaphore), call };
            thread::scope(|scope| {
                // Long enough for the others to fall asleep behind it, as a rule; else theirs is only easier.
                let wait = Wait::within(Duration::from_millis(20))[form];
                let first = on_same(Call::Many(3));
                let first = spawn(scope, format!("wants 3 of 2, {wait:?}"), move || first.wait(wait));
                stay_awake_until(|| first.has_ended() || first.sleeps() || !cfg!(target_os = "linux"));
                // Held back by the first, who collects them.
                pool.semaphore.release_many(2);
                let others: Vec<_> = (0..2 / behind)
                    .map(|_| {
                        let other = on_same(Call::Many(behind));
                        spawn(scope, format!("wants {behind}, behind one that gives up"), move || {
                            assert!(other.wait(Wait::Untimed));
                        })
                    })
                    .collect();
                others.into_iter().for_each(|other| other.join());
                assert!(!first.join());
            });
            assert_eq!(pool.available(), 0);
        }
    });
}

/// Go #56910: a call for many is not starved by a stream of calls for single permits, since it keeps what it collects.
#[test]
fn a_stream_of_single_calls_starves_no_call_for_many() {
    watchdog("a stream of single calls", || {
        let semaphore = Semaphore::new(3);
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                spawn(scope, "takes and gives back single permits", || {
                    while done.load(Relaxed) == 0 {
                        semaphore.acquire();
                        thread::yield_now();
                        semaphore.release();
                    }
                });
            }
            spawn(scope, "acquire_many(3) against a stream of single calls", || {
                for _ in 0..rounds(50) {
                    semaphore.acquire_many(3);
                    assert_eq!(semaphore.available_permits(), 0);
                    semaphore.release_many(3);
                }
                done.store(1, Relaxed);
            });
        });
        assert_eq!(semaphore.available_permits(), 3);
    });
}

/// Several that want many queue for their turn, and some give up in each place of the queue, while others want single
/// permits. Nobody is left asleep, and nothing is lost.
#[test]
fn the_queue_survives_those_who_leave_it() {
    const PERMITS: usize = 4;

    watchdog("the queue of those who want many", || {
        let semaphore = Semaphore::new(PERMITS);
        thread::scope(|scope| {
            for number in 0..8 {
                let (semaphore, rounds) = (&semaphore, rounds(150));
                spawn(scope, format!("number {number} of the queue"), move || {
                    for round in 0..rounds {
                        let wanted = 1 + (round as usize + number) % PERMITS;
                        let timeout = Duration::from_micros(u64::from(round) * 37 % 300);
                        let held = match number {
                            0..3 => Some(semaphore.acquire_permits(wanted)),
                            3..6 => semaphore.try_acquire_permits_for(wanted, timeout),
                            _ => semaphore.try_acquire_permits_until(wanted, SystemTime::now() + timeout),
                        };
                        if let Some(held) = held {
                            thread::yield_now();
                            drop(held);
                        }
                    }
                });
            }
        });
        assert_eq!(semaphore.available_permits(), PERMITS);
    });
}

/// One step of a single thread.
#[derive(Clone, Debug)]
enum Step {
    Take(Call, usize),
    Hold(usize, bool),
    Release(usize),
    DropGuard(usize),
    ForgetGuard(usize),
}

fn steps() -> impl Strategy<Value = Step> {
    let number = || prop_oneof![8 => 0..6_usize, 1 => 60..70_usize, 1 => MAX - 6..=MAX];
    let call = || {
        prop_oneof![
            Just(Call::Single),
            number().prop_map(Call::Many),
            Just(Call::Permit),
            number().prop_map(Call::Permits),
            number().prop_map(Call::Owned),
        ]
    };
    prop_oneof![
        (call(), any::<usize>()).prop_map(|(call, wait)| Step::Take(call, wait)),
        (number(), any::<bool>()).prop_map(|(n, owned)| Step::Hold(n, owned)),
        number().prop_map(Step::Release),
        any::<usize>().prop_map(Step::DropGuard),
        any::<usize>().prop_map(Step::ForgetGuard),
    ]
}

proptest! {
    /// On one thread it is a counter between zero and the maximum.
    #[test]
    fn it_agrees_with_a_counter(
        start in prop_oneof![0..6_usize, MAX - 6..=MAX],
        steps in proptest::collection::vec(steps(), 0..60),
    ) {
        let semaphore = Arc::new(Semaphore::new(start));
        let mut available = start;
        let mut guards: Vec<(usize, Held<'_>)> = Vec::new();
        let waits = Wait::passed();
        for step in steps {
            match step {
                Step::Take(call, wait) => {
                    let pool = Counting { semaphore: Arc::clone(&semaphore), call };
                    let taken = pool.wait(waits[wait % waits.len()]);
                    prop_assert_eq!(taken, pool.size() <= available);
                    available -= if taken { pool.size() } else { 0 };
                }
                Step::Hold(n, owned) => {
                    let held = match owned {
                        true => semaphore.try_acquire_owned(n).map(Held::Owned),
                        false => semaphore.try_acquire_permits(n).map(Held::Permit),
                    };
                    prop_assert_eq!(held.is_some(), n <= available);
                    available -= if held.is_some() { n } else { 0 };
                    guards.extend(held.map(|held| (n, held)));
                }
                Step::Release(n) if n <= MAX - available => {
                    semaphore.release_many(n);
                    available += n;
                }
                Step::Release(n) => drop(panic_of(|| semaphore.release_many(n))),
                Step::DropGuard(index) if !guards.is_empty() => {
                    let (n, held) = guards.swap_remove(index % guards.len());
                    drop(held);
                    // What does not fit is lost.
                    available = (available + n).min(MAX);
                }
                Step::ForgetGuard(index) if !guards.is_empty() => {
                    guards.swap_remove(index % guards.len()).1.keep();
                }
                Step::DropGuard(_) | Step::ForgetGuard(_) => {}
            }
            prop_assert_eq!(semaphore.available_permits(), available);
        }
    }
}
