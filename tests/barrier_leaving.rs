//! The barrier and parties that leave it for good: on purpose, and by a panic.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use common::barrier::{meet, poll_token, until_missing};
use common::panics::{assert_refused, panic_of};
use common::threads::until_all_asleep;
use common::{Wait, rounds, spawn, watchdog};
use waitline::Barrier;

/// One missing fewer now, and one expected fewer from now on.
#[test]
fn who_leaves_is_not_expected_again() {
    watchdog("who leaves is not expected again", || {
        let barrier = Barrier::new(4);
        assert!(!barrier.arrive_and_drop().is_leader());
        for _ in 0..2 {
            let tokens = [(); 2].map(|()| barrier.arrive());
            assert!(tokens.iter().all(|token| !token.is_complete()));
            assert!(meet(&barrier, Wait::Try).unwrap().is_leader());
        }
        drop(barrier.arrive());
        assert!(!barrier.arrive_and_drop().is_leader());
        // The last arrival of a phase, whichever call it is, leads it.
        assert!(barrier.arrive_and_drop().is_leader());
        for _ in 0..100 {
            assert!(barrier.wait().is_leader());
        }
    });
}

/// What was withdrawn is missing again, but not of those who have left.
#[test]
fn a_withdrawal_takes_no_place_of_those_who_left() {
    watchdog("a withdrawal takes no place of those who left", || {
        let barrier = Barrier::new(3);
        let token = barrier.arrive();
        assert!(!barrier.arrive_and_drop().is_leader());
        token.withdraw().unwrap();
        for _ in 0..3 {
            assert!(meet(&barrier, Wait::Try).is_err());
            assert!(barrier.wait_for(Duration::from_micros(100)).is_err());
            drop(barrier.arrive());
            assert!(meet(&barrier, Wait::Try).unwrap().is_leader());
        }
    });
}

#[test]
fn nobody_comes_after_the_last_has_left() {
    watchdog("nobody comes after the last has left", || {
        for parties in [0, 1, 2, 5] {
            let calls = AtomicUsize::new(0);
            let barrier = Barrier::with_completion(parties, || _ = calls.fetch_add(1, Relaxed));
            // Only the last arrival of a phase leads it, and here they are all of one.
            let leaders = (0..parties.max(1)).filter(|_| barrier.arrive_and_drop().is_leader()).count();
            assert_eq!((leaders, calls.load(Relaxed)), (1, 1));
            for wait in Wait::passed().into_iter().chain(Wait::endless()).chain(Wait::within(Duration::from_millis(1)))
            {
                let panic = panic_of(|| meet(&barrier, wait));
                assert!(panic.message.contains("left"), "{wait:?}: {panic}");
            }
            assert_refused!(barrier.wait(), "barrier", "left");
            assert_refused!(barrier.arrive(), "barrier", "left");
            assert_refused!(barrier.arrive_and_drop(), "barrier", "left");
            assert_eq!(calls.load(Relaxed), 1);
        }
    });
}

/// A deserted barrier has ended all of its phases.
#[test]
fn tokens_outlive_the_last_party() {
    let barrier = Barrier::new(2);
    let (first, second) = (barrier.arrive(), barrier.arrive());
    let last_phase = barrier.arrive();
    assert!(barrier.arrive_and_drop().is_leader());
    assert!(barrier.arrive_and_drop().is_leader());
    assert!(first.is_complete() && second.wait().is_leader());
    assert!(!last_phase.withdraw().unwrap_err().is_leader());
    assert!(poll_token(&first, Wait::Try).is_ok());
}

/// One that leaves as the last one wakes those who sleep.
#[test]
fn who_leaves_last_wakes_the_others() {
    watchdog("who leaves last wakes the others", || {
        for _ in 0..rounds(20) {
            let barrier = Barrier::new(4);
            thread::scope(|scope| {
                let sleepers = [0, 1].map(|number| spawn(scope, format!("sleeper {number}"), || barrier.wait()));
                until_all_asleep(&sleepers);
                until_missing(&barrier, 2);
                assert!(!barrier.arrive_and_drop().is_leader());
                until_all_asleep(&sleepers);
                assert!(barrier.arrive_and_drop().is_leader());
                // At most one leader: it has left.
                assert!(sleepers.into_iter().all(|sleeper| !sleeper.join().is_leader()));
            });
            drop(barrier.arrive());
            assert!(barrier.wait().is_leader());
        }
    });
}

/// Parties that leave one after the other: each phase has all of those who are left, and one arrival leads it.
#[test]
fn parties_leave_one_by_one() {
    const PARTIES: usize = 5;

    watchdog("parties leave one by one", || {
        for _ in 0..rounds(60) {
            let counts = || [(); PARTIES].map(|()| AtomicUsize::new(0));
            let (arrived, leaders, completed) = (counts(), counts(), AtomicUsize::new(0));
            let barrier = Barrier::with_completion(PARTIES, || {
                // Party k takes part in the phases from 0 to k.
                let phase = completed.fetch_add(1, Relaxed);
                assert_eq!(arrived[phase].load(Relaxed), PARTIES - phase);
            });
            thread::scope(|scope| {
                for number in 0..PARTIES {
                    let (barrier, arrived, leaders) = (&barrier, &arrived, &leaders);
                    spawn(scope, format!("leaves in phase {number}"), move || {
                        for phase in 0..=number {
                            arrived[phase].fetch_add(1, Relaxed);
                            let result = match phase == number {
                                true => barrier.arrive_and_drop(),
                                false => barrier.wait(),
                            };
                            leaders[phase].fetch_add(result.is_leader().into(), Relaxed);
                        }
                    });
                }
            });
            assert_eq!(leaders.map(AtomicUsize::into_inner), [1; PARTIES]);
            assert_refused!(barrier.arrive(), "left");
            assert_eq!(completed.into_inner(), PARTIES);
        }
    });
}

// Parties that leave by a panic.

/// Leaves in the party's name.
struct Party<'a, F: FnMut()>(&'a Barrier<F>);

impl<F: FnMut()> Drop for Party<'_, F> {
    fn drop(&mut self) {
        self.0.arrive_and_drop();
    }
}

/// Panics as a party, whose guard is dropped by that.
fn panics_between_phases<F: FnMut()>(barrier: &Barrier<F>) {
    let panic = panic_of(|| {
        let _party = Party(barrier);
        panic!("between two phases");
    });
    assert_eq!(panic.message, "between two phases");
}

/// bustle#11: one party panicked, and everybody else hung.
#[test]
fn a_panic_between_phases_leaves_nobody_waiting() {
    watchdog("a panic between phases", || {
        for unlucky in 0..3 {
            let barrier = &Barrier::new(3);
            thread::scope(|scope| {
                for number in 0..3 {
                    spawn(scope, format!("party {number}, of which {unlucky} panics"), move || {
                        barrier.wait();
                        if number == unlucky {
                            return panics_between_phases(barrier);
                        }
                        let _party = Party(barrier);
                        (0..100).for_each(|_| _ = barrier.wait());
                    });
                }
            });
            assert_refused!(barrier.arrive(), "left");
        }
    });
}

/// A second panic in a drop would end the process; so it does not come, whatever has become of the barrier.
#[test]
fn a_guard_never_aborts() {
    let deserted = Barrier::new(1);
    assert!(deserted.arrive_and_drop().is_leader());
    panics_between_phases(&deserted);

    let poisoned = Barrier::with_completion(1, || panic!("between two phases"));
    assert_eq!(panic_of(|| poisoned.wait()).message, "between two phases");
    panics_between_phases(&poisoned);
    // Out of a panic it is told.
    assert_refused!(poisoned.arrive_and_drop(), "poisoned");
}

/// The guard's arrival is the last of the phase, and the function panics there and then: the party's own panic goes on, and
/// the others have one, too.
#[test]
fn a_guard_whose_completion_panics_never_aborts() {
    watchdog("a guard whose completion panics", || {
        for _ in 0..rounds(20) {
            let calls = AtomicUsize::new(0);
            let barrier = &Barrier::with_completion(2, || {
                calls.fetch_add(1, Relaxed);
                panic!("in the very drop");
            });
            thread::scope(|scope| {
                let other = spawn(scope, "sleeps until the function panics", || panic_of(|| barrier.wait()));
                other.until_asleep();
                until_missing(barrier, 1);
                panics_between_phases(barrier);
                let panic = other.join();
                assert!(panic.message.contains("poisoned"), "{panic}");
            });
            panics_between_phases(barrier);
            assert_refused!(barrier.wait(), "poisoned");
            assert_eq!(calls.load(Relaxed), 1);
        }
    });
}
