//! The binary semaphore: what each call promises. What it shares with the counting one is tested over both, in the
//! other files.

mod common;

use std::thread;
use std::time::{Duration, SystemTime};

use common::{Binary, Pool, Subject, Wait, rounds, spawn, stay_awake_until, watchdog};
use proptest::prelude::*;
use waitline::{BinarySemaphore, Deadline};

#[test]
fn it_is_available_or_not() {
    let semaphore = BinarySemaphore::new(true);
    assert!(semaphore.is_available());
    semaphore.acquire();
    assert!(!semaphore.is_available());
    assert!(!semaphore.try_acquire());
    assert!(!semaphore.try_acquire_for(Duration::ZERO));
    assert!(!semaphore.try_acquire_until(Deadline::PASSED));
    assert!(semaphore.release());
    assert!(semaphore.try_acquire_for(Duration::ZERO));
    assert!(semaphore.release());
    assert!(semaphore.try_acquire_until(SystemTime::UNIX_EPOCH));
    assert!(!BinarySemaphore::new(false).is_available());
    assert!(!BinarySemaphore::default().is_available());
    assert_eq!(format!("{:?}", BinarySemaphore::new(true)), "BinarySemaphore { is_available: true, .. }");
}

/// once_cell#243.
#[test]
fn a_static_is_one_semaphore() {
    static ONE: BinarySemaphore = BinarySemaphore::new(true);

    assert!(thread::spawn(|| ONE.try_acquire()).join().unwrap());
    assert!(!ONE.try_acquire());
}

/// tokio#3644, iceoryx#2477: a release of a full binary semaphore overflowed. Releases do not add up, however many.
#[test]
fn releases_do_not_add_up() {
    let semaphore = BinarySemaphore::new(false);
    assert!(semaphore.release());
    for _ in 0..1000 {
        assert!(!semaphore.release());
    }
    assert!(semaphore.try_acquire());
    assert!(!semaphore.try_acquire());
}

/// Of releases at the same moment, one makes it available.
#[test]
fn one_of_several_releases_counts() {
    watchdog("one of several releases counts", || {
        let semaphore = BinarySemaphore::new(false);
        let gate = common::Gate::new(3);
        for _ in 0..rounds(200) {
            thread::scope(|scope| {
                let releasers = [0, 1, 2].map(|number| {
                    spawn(scope, format!("releaser {number}"), || {
                        gate.pass();
                        semaphore.release()
                    })
                });
                let counted = releasers.map(common::Worker::join).into_iter().filter(|&counted| counted).count();
                assert_eq!(counted, 1);
            });
            assert!(semaphore.try_acquire());
        }
    });
}

/// A release that finds sleepers counts once for each of them in turn, and one too many stays for the next.
#[test]
fn sleepers_are_let_go_one_by_one() {
    const SLEEPERS: usize = 4;

    watchdog("sleepers are let go one by one", || {
        let binary = Binary::new(false);
        for _ in 0..rounds(20) {
            thread::scope(|scope| {
                let sleepers: Vec<_> = (0..SLEEPERS)
                    .map(|number| spawn(scope, format!("sleeper {number}"), || binary.wait(Wait::Untimed)))
                    .collect();
                common::threads::until_all_asleep(&sleepers);
                for let_go in 1..=SLEEPERS {
                    stay_awake_until(|| binary.semaphore.release());
                    stay_awake_until(|| sleepers.iter().filter(|one| one.has_ended()).count() >= let_go);
                }
            });
            assert_eq!(binary.available(), 0);
        }
    });
}

/// A waiter that is woken, finds that somebody else took the permit, and then gives up, must not take the next
/// release's wake along: of two sleepers one gives up at the moment of a release, and the other still gets it, or it
/// stays. (A third state instead of a count of waiters fails this.)
#[test]
fn a_waiter_that_gives_up_takes_no_wake_along() {
    watchdog("a waiter that gives up takes no wake along", || {
        let semaphore = BinarySemaphore::new(false);
        let rounds = rounds(400);
        let gate = common::Gate::new(4);
        thread::scope(|scope| {
            spawn(scope, "stays until it has the permit", || {
                for _ in 0..rounds {
                    gate.pass();
                    semaphore.acquire();
                    semaphore.release();
                    gate.pass();
                }
            });
            spawn(scope, "gives up", || {
                for round in 0..rounds {
                    gate.pass();
                    let timeout = Duration::from_micros(u64::from(round) % 90);
                    if semaphore.try_acquire_for(timeout) {
                        semaphore.release();
                    }
                    gate.pass();
                }
            });
            spawn(scope, "comes along", || {
                for round in 0..rounds {
                    gate.pass();
                    common::jitter(round);
                    if semaphore.try_acquire() {
                        semaphore.release();
                    }
                    gate.pass();
                }
            });
            for round in 0..rounds {
                gate.pass();
                (0..round % 40).for_each(common::jitter);
                assert!(semaphore.release());
                gate.pass();
                assert!(semaphore.try_acquire());
            }
        });
    });
}

proptest! {
    /// On one thread it is a flag: calls that take clear it if it is set, and releases set it.
    #[test]
    fn it_agrees_with_a_flag(start: bool, steps in proptest::collection::vec(any::<Option<usize>>(), 0..40)) {
        let binary = Binary::new(start);
        let waits = Wait::passed();
        let mut available = start;
        for step in steps {
            match step {
                Some(wait) => {
                    prop_assert_eq!(binary.wait(waits[wait % waits.len()]), available);
                    available = false;
                }
                None => {
                    prop_assert_eq!(binary.semaphore.release(), !available);
                    available = true;
                }
            }
            prop_assert_eq!(binary.semaphore.is_available(), available);
        }
    }
}
