//! The barrier: arrivals, waits and tokens. What happens between two phases, and when parties leave, is in
//! `barrier_phases.rs`.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use common::barrier::{meet, meet_by_token, poll_token, until_missing};
use common::panics::assert_refused;
use common::threads::until_all_asleep;
use common::{PassedAfter, Wait, rounds, spawn, watchdog};
use waitline::{Arrival, Barrier, BarrierWaitResult, Deadline, TimedOut};

const MAX: usize = Barrier::MAX_PARTIES;

/// The same program with std's barrier and with this one, where every warning is an error.
mod drop_in {
    mod std {
        #![deny(warnings)]
        use ::std::sync::{Barrier, BarrierWaitResult};
        include!("barrier/drop_in.rs");
    }

    mod waitline {
        #![deny(warnings)]
        use ::waitline::{Barrier, BarrierWaitResult};
        include!("barrier/drop_in.rs");
    }
}

/// Every form that waits for as long as it takes.
fn patient_forms() -> Vec<Wait> {
    [Wait::Untimed, Wait::For(Duration::MAX)].into_iter().chain(Wait::within(Duration::from_secs(3600))).collect()
}

/// Whether all of the parties are missing. Leaves it so.
fn nobody_has_arrived(barrier: &Barrier, parties: usize) -> bool {
    let tokens: Vec<_> = (1..parties).map(|_| barrier.arrive()).collect();
    let nobody = tokens.iter().all(|token| !token.is_complete());
    tokens.into_iter().for_each(|token| token.withdraw().unwrap());
    nobody
}

/// iceoryx2#1474: a barrier that was not armed again. Everybody is in the same phase at all times, and one arrival led it.
#[test]
fn phases_follow_each_other_with_one_leader_each() {
    watchdog("phases follow each other", || {
        for parties in [1, 2, 3, 5, 8] {
            let phases = rounds(200) as usize;
            let barrier = Barrier::new(parties);
            let counts = || (0..phases).map(|_| AtomicUsize::new(0)).collect::<Vec<_>>();
            let (arrived, leaders) = (counts(), counts());
            thread::scope(|scope| {
                for number in 0..parties {
                    let (barrier, arrived, leaders) = (&barrier, &arrived, &leaders);
                    spawn(scope, format!("party {number} of {parties}"), move || {
                        for phase in 0..phases {
                            let forms = patient_forms();
                            let wait = forms[(phase + number) % forms.len()];
                            arrived[phase].fetch_add(1, Relaxed);
                            let result = match phase % 3 {
                                0 => meet_by_token(barrier.arrive(), wait).0.unwrap(),
                                _ => meet(barrier, wait).unwrap(),
                            };
                            assert_eq!(arrived[phase].load(Relaxed), parties, "{wait:?}: too early");
                            leaders[phase].fetch_add(result.is_leader().into(), Relaxed);
                        }
                    });
                }
            });
            assert!(leaders.iter().all(|leaders| leaders.load(Relaxed) == 1));
        }
    });
}

/// iceoryx2#1474: the second wait of a lone party hung.
#[test]
fn a_lone_party_never_waits() {
    watchdog("a lone party", || {
        for barrier in [Barrier::new(0), Barrier::new(1)] {
            for wait in Wait::passed().into_iter().chain(Wait::endless()) {
                assert!(meet(&barrier, wait).unwrap().is_leader(), "{wait:?}");
                let token = barrier.arrive();
                assert!(token.is_complete());
                assert!(meet_by_token(token, wait).0.unwrap().is_leader(), "{wait:?}");
                assert!(barrier.arrive().withdraw().unwrap_err().is_leader());
            }
            for _ in 0..rounds(10_000) {
                assert!(barrier.wait().is_leader());
            }
        }
    });
}

#[test]
fn the_maximum_is_within_reach_and_no_more() {
    const { assert!(MAX >= 65_534) };
    for parties in [MAX, MAX - 1] {
        let barrier = Barrier::new(parties);
        for _ in 0..2 {
            let first = barrier.arrive();
            (2..parties).for_each(|_| drop(barrier.arrive()));
            assert!(barrier.wait_for(Duration::ZERO).unwrap().is_leader());
            assert!(!first.wait().is_leader());
            assert!(barrier.wait_for(Duration::ZERO).is_err());
        }
        assert!(nobody_has_arrived(&barrier, parties));
    }
    for too_many in
        [MAX + 1, u16::MAX as usize + 1, u16::MAX as usize + 2, (u32::MAX as usize).saturating_add(2), usize::MAX]
    {
        assert_refused!(Barrier::new(too_many), "barrier", "2^16 - 2");
        assert_refused!(Barrier::with_completion(too_many, || ()), "barrier", "2^16 - 2");
    }
}

/// tokio#8370, #6493, asyncband#135: a wait that timed out went on counting as an arrival, so that a later phase ended with
/// too few.
#[test]
fn a_timeout_takes_the_arrival_back() {
    watchdog("a timeout takes the arrival back", || {
        for form in 0..Wait::TIMED {
            let barrier = &Barrier::new(3);
            for others in 0..=1 {
                // In vain, with so many others there.
                let tokens: Vec<_> = (0..others).map(|_| barrier.arrive()).collect();
                for wait in [Wait::within(Duration::from_millis(3))[form], Wait::Try, Wait::For(Duration::ZERO)] {
                    let start = Instant::now();
                    assert_eq!(meet(barrier, wait).unwrap_err(), TimedOut, "{wait:?}");
                    assert!(wait.is_due(start), "{wait:?}: early");
                }
                tokens.into_iter().for_each(|token| token.withdraw().unwrap());
            }
            thread::scope(|scope| {
                let two =
                    [0, 1].map(|number| spawn(scope, format!("{number} of two that need a third"), || barrier.wait()));
                until_all_asleep(&two);
                until_missing(barrier, 1);
                assert!(barrier.wait_for(Duration::ZERO).unwrap().is_leader());
                assert!(two.into_iter().all(|party| !party.join().is_leader()));
            });
            thread::scope(|scope| {
                let sleeper = spawn(scope, "stays while another gives up", || barrier.wait());
                sleeper.until_asleep();
                until_missing(barrier, 2);
                let wait = Wait::within(Duration::from_millis(3))[form];
                assert!(meet(barrier, wait).is_err());
                sleeper.until_asleep();
                let other = spawn(scope, "comes after one has given up", || barrier.wait());
                other.until_asleep();
                until_missing(barrier, 1);
                assert!(!sleeper.has_ended());
                assert!(barrier.wait().is_leader());
                assert!(!sleeper.join().is_leader() && !other.join().is_leader());
            });
            assert!(nobody_has_arrived(barrier, 3));
        }
    });
}

/// Whatever the deadline, who completes the phase has completed it.
#[test]
fn the_last_arrival_beats_a_deadline_that_has_passed() {
    let barrier = Barrier::new(2);
    for wait in Wait::passed() {
        assert!(meet(&barrier, wait).is_err(), "{wait:?}");
        let first = barrier.arrive();
        assert!(meet(&barrier, wait).unwrap().is_leader(), "{wait:?}");
        assert!(!poll_token(&first, wait).unwrap().is_leader(), "{wait:?}");
        assert!(meet(&barrier, wait).is_err(), "{wait:?}");
    }
}

/// What comes between the first look and that at the clock is seen.
#[test]
fn what_comes_before_the_clock_is_read_is_seen() {
    let barrier = Barrier::new(3);
    let arrive = || drop(barrier.arrive());
    assert!(barrier.wait_until(PassedAfter(&arrive)).is_err());
    assert!(barrier.wait_until(PassedAfter(&arrive)).unwrap().is_leader());
    let first = barrier.arrive();
    assert_eq!(first.wait_until(PassedAfter(&arrive)).unwrap_err(), TimedOut);
    assert!(!first.wait_until(PassedAfter(&arrive)).unwrap().is_leader());
    assert!(!first.wait_until(SystemTime::UNIX_EPOCH).unwrap().is_leader());
}

/// Everybody asleep in another form, then the last one.
#[test]
fn the_last_arrival_wakes_everybody() {
    watchdog("the last arrival wakes everybody", || {
        for last in 0..4 {
            let barrier = &Barrier::new(patient_forms().len() * 2 + 1);
            thread::scope(|scope| {
                let waiters: Vec<_> = (patient_forms().into_iter())
                    .flat_map(|wait| [(wait, false), (wait, true)])
                    .map(|(wait, by_token)| {
                        spawn(scope, format!("{wait:?}, by token: {by_token}"), move || match by_token {
                            true => meet_by_token(barrier.arrive(), wait).0.unwrap(),
                            false => meet(barrier, wait).unwrap(),
                        })
                    })
                    .collect();
                until_all_asleep(&waiters);
                until_missing(barrier, 1);
                let result: BarrierWaitResult = match last {
                    0 => barrier.wait(),
                    1 => barrier.wait_until(Deadline::PASSED).unwrap(),
                    2 => barrier.arrive().wait(),
                    _ => barrier.arrive_and_drop(),
                };
                assert!(result.is_leader());
                assert!(waiters.into_iter().all(|waiter| !waiter.join().is_leader()));
            });
        }
    });
}

/// As with std's: whoever comes counts, whichever thread it is.
#[test]
fn there_may_be_more_threads_than_parties() {
    const THREADS: usize = 7;

    watchdog("more threads than parties", || {
        for parties in [2, 3, 5] {
            let barrier = Barrier::new(parties);
            let phases = rounds(300) as usize;
            let (tickets, leaders) = (AtomicUsize::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                for number in 0..THREADS {
                    let (barrier, tickets, leaders) = (&barrier, &tickets, &leaders);
                    spawn(scope, format!("thread {number}, for {parties} parties"), move || {
                        while tickets.fetch_add(1, Relaxed) < phases * parties {
                            leaders.fetch_add(barrier.wait().is_leader().into(), Relaxed);
                        }
                    });
                }
            });
            assert_eq!(leaders.into_inner(), phases, "{parties} parties");
            assert!(nobody_has_arrived(&barrier, parties));
        }
    });
}

/// A token's phase stays ended, however many have passed since: neither does a count wrap, nor is the token taken for one of
/// the current phase.
#[test]
fn a_token_stays_valid() {
    watchdog("a token stays valid", || {
        let barrier = Barrier::new(2);
        let next_phase = || assert!(barrier.arrive().wait_for(Duration::ZERO).is_err() && barrier.wait().is_leader());
        let mut tokens: Vec<(bool, Arrival<'_>)> = Vec::new();
        let mut passed = 0;
        for target in [0, 1, 2, 127, 128, 255, 256, 65_535, 65_536, 65_537] {
            (passed..target).for_each(|_| next_phase());
            passed = target;
            for (is_leader, token) in &tokens {
                assert!(token.is_complete(), "after {target} phases");
                assert_eq!(poll_token(token, Wait::Try).unwrap().is_leader(), *is_leader, "after {target} phases");
            }
            tokens.extend([(false, barrier.arrive()), (true, barrier.arrive())]);
            passed += 1;
        }
        // Half of a phase that is never ended.
        let current = barrier.arrive();
        for (number, (is_leader, token)) in tokens.into_iter().enumerate() {
            let result = match number % 4 {
                0 | 1 => token.withdraw().unwrap_err(),
                _ => token.wait(),
            };
            assert_eq!(result.is_leader(), is_leader);
        }
        assert!(!current.is_complete());
        current.withdraw().unwrap();
    });
}

/// The arrival stands, whether its token is dropped at once, later, or while others wait.
#[test]
fn a_dropped_token_lets_the_arrival_stand() {
    watchdog("a dropped token", || {
        for form in 0..Wait::TIMED {
            let barrier = Barrier::new(3);
            drop(barrier.arrive());
            thread::scope(|scope| {
                let polled = barrier.arrive();
                assert!(poll_token(&polled, Wait::within(Duration::from_millis(1))[form]).is_err());
                spawn(scope, "drops another's token", move || drop(polled));
            });
            assert!(meet(&barrier, Wait::Try).unwrap().is_leader());
            assert!(nobody_has_arrived(&barrier, 3));
        }
    });
}

/// A token goes to another thread, several wait on it, each with a time of its own; those that are late leave it as it was.
#[test]
fn several_threads_wait_on_one_token() {
    watchdog("several wait on one token", || {
        for _ in 0..rounds(10) {
            let barrier = Barrier::new(2);
            let token = barrier.arrive();
            thread::scope(|scope| {
                let (barrier, token) = (&barrier, &token);
                let forms = Wait::within(Duration::from_millis(2)).into_iter().chain(patient_forms());
                let waiters: Vec<_> = forms
                    .filter(|wait| !matches!(wait, Wait::Untimed))
                    .map(|wait| {
                        spawn(scope, format!("one token, {wait:?}"), move || {
                            let start = Instant::now();
                            let outcome = poll_token(token, wait);
                            assert!(outcome.is_ok() || wait.is_due(start), "{wait:?}: early");
                            outcome.is_ok()
                        })
                    })
                    .collect();
                let (late, patient): (Vec<_>, Vec<_>) =
                    waiters.into_iter().enumerate().partition(|(number, _)| *number < Wait::TIMED);
                // None of them took the arrival back.
                assert!(late.into_iter().all(|(_, waiter)| !waiter.join()));
                let patient: Vec<_> = patient.into_iter().map(|(_, waiter)| waiter).collect();
                until_all_asleep(&patient);
                assert!(barrier.wait().is_leader());
                assert!(patient.into_iter().all(|waiter| waiter.join()));
            });
            assert!(!token.wait().is_leader());
        }
    });
}

/// A token is waited for where it was not made, and outlives the thread that arrived.
#[test]
fn tokens_travel() {
    watchdog("tokens travel", || {
        let barrier = Barrier::new(3);
        thread::scope(|scope| {
            let here = spawn(scope, "arrives and ends", || barrier.arrive()).join();
            let there = barrier.arrive();
            let waiter = spawn(scope, "waits with another's tokens", move || {
                (meet_by_token(here, Wait::For(Duration::MAX)).0.unwrap().is_leader(), there.wait().is_leader())
            });
            waiter.until_asleep();
            assert!(barrier.arrive().wait().is_leader());
            assert_eq!(waiter.join(), (false, false));
        });
    });
}

#[test]
fn a_withdrawn_arrival_has_not_been() {
    let barrier = Barrier::new(3);
    for _ in 0..100 {
        let (one, other) = (barrier.arrive(), barrier.arrive());
        one.withdraw().unwrap();
        assert!(!other.is_complete());
        assert!(meet(&barrier, Wait::Try).is_err());
        let one = barrier.arrive();
        assert!(meet(&barrier, Wait::Try).unwrap().is_leader());
        // Too late.
        assert!(!one.withdraw().unwrap_err().is_leader());
        assert!(!other.withdraw().unwrap_err().is_leader());
    }
    assert!(nobody_has_arrived(&barrier, 3));
}

/// A withdrawal wakes nobody, and those who sleep still go on with the last arrival.
#[test]
fn a_withdrawal_leaves_sleepers_alone() {
    #[cfg(target_os = "linux")]
    use common::threads::Activity;

    watchdog("a withdrawal leaves sleepers alone", || {
        let barrier = Barrier::new(4);
        for _ in 0..rounds(20) {
            thread::scope(|scope| {
                let sleepers = [0, 1].map(|number| spawn(scope, format!("sleeper {number}"), || barrier.wait()));
                until_all_asleep(&sleepers);
                until_missing(&barrier, 2);
                #[cfg(target_os = "linux")]
                let before = sleepers.each_ref().map(|one| Activity::of(one.id()));
                barrier.arrive().withdraw().unwrap();
                assert!(barrier.wait_for(Duration::from_micros(50)).is_err());
                until_all_asleep(&sleepers);
                #[cfg(target_os = "linux")]
                assert_eq!(before, sleepers.each_ref().map(|one| Activity::of(one.id())));
                drop(barrier.arrive());
                assert!(barrier.arrive().wait().is_leader());
                assert!(sleepers.into_iter().all(|sleeper| !sleeper.join().is_leader()));
            });
        }
    });
}

/// Threads that share a barrier by `Arc` may all let go of it at once.
#[test]
fn the_last_to_leave_frees_it() {
    watchdog("the last to leave frees it", || {
        for _ in 0..rounds(300) {
            let barrier = Arc::new(Barrier::new(3));
            let watch = Arc::downgrade(&barrier);
            let threads = [(); 2].map(|()| {
                let barrier = Arc::clone(&barrier);
                thread::spawn(move || barrier.wait().is_leader())
            });
            let leaders = usize::from(barrier.wait().is_leader());
            drop(barrier);
            let leaders =
                threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum::<usize>() + leaders;
            assert_eq!(leaders, 1);
            assert!(watch.upgrade().is_none());
        }
    });
}
