//! The barrier between two phases: the completion function, and its panics.

mod common;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use common::barrier::{meet, meet_by_token, poll_token, until_missing};
use common::panics::{assert_refused, outcome_of, panic_of};
use common::threads::until_all_asleep;
use common::{Wait, jitter, rounds, spawn, stay_awake_until, watchdog};
use waitline::{Barrier, Deadline};

fn patient_forms() -> Vec<Wait> {
    [Wait::Untimed, Wait::For(Duration::MAX)].into_iter().chain(Wait::within(Duration::from_secs(3600))).collect()
}

// The completion function.

/// It runs once a phase, in the thread that arrived last, by whichever call, before anybody leaves; it may keep something
/// between its calls.
#[test]
fn the_completion_function_runs_once_a_phase() {
    const PARTIES: usize = 3;

    watchdog("the completion function runs once a phase", || {
        let (started, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (last, mut calls) = (Mutex::new(HashMap::<usize, ThreadId>::new()), 0);
        let barrier = Barrier::with_completion(PARTIES, || {
            assert_eq!(started.fetch_add(1, Relaxed), calls);
            calls += 1;
            last.lock().unwrap().insert(calls, thread::current().id());
            thread::yield_now();
            ended.fetch_add(1, Relaxed);
        });
        let phases = rounds(300) as usize;
        thread::scope(|scope| {
            for number in 0..PARTIES {
                let (barrier, started, ended, last) = (&barrier, &started, &ended, &last);
                spawn(scope, format!("party {number}"), move || {
                    for phase in 1..=phases {
                        let forms = patient_forms();
                        let wait = forms[(phase + number) % forms.len()];
                        let result = match phase % 4 {
                            0 => meet_by_token(barrier.arrive(), wait).0.unwrap(),
                            1 => barrier.wait_until(Deadline::PASSED).unwrap_or_else(|_| meet(barrier, wait).unwrap()),
                            _ => meet(barrier, wait).unwrap(),
                        };
                        assert!(ended.load(Relaxed) >= phase, "{wait:?}: too early");
                        // Nobody begins the next one without this party.
                        assert_eq!(started.load(Relaxed), phase, "{wait:?}");
                        let ran_it = last.lock().unwrap()[&phase] == thread::current().id();
                        assert_eq!(result.is_leader(), ran_it);
                    }
                });
            }
        });
        assert_eq!(calls, phases);
    });
}

#[test]
fn a_lone_party_completes_each_of_its_phases() {
    watchdog("a lone party completes each of its phases", || {
        for n in [0, 1] {
            let calls = AtomicUsize::new(0);
            let barrier = Barrier::with_completion(n, || _ = calls.fetch_add(1, Relaxed));
            let mut expected = 0;
            for wait in Wait::passed().into_iter().chain(Wait::endless()) {
                assert!(meet(&barrier, wait).unwrap().is_leader());
                assert!(barrier.arrive().is_complete());
                expected += 2;
                assert_eq!(calls.load(Relaxed), expected);
            }
            assert!(barrier.arrive_and_drop().is_leader());
            assert_eq!(calls.load(Relaxed), expected + 1);
        }
    });
}

/// What a phase that does not come about leaves behind: nothing.
#[test]
fn withdrawn_arrivals_complete_nothing() {
    watchdog("withdrawn arrivals complete nothing", || {
        let calls = AtomicUsize::new(0);
        let barrier = Barrier::with_completion(2, || _ = calls.fetch_add(1, Relaxed));
        for wait in Wait::passed().into_iter().chain(Wait::within(Duration::from_micros(100))) {
            assert!(meet(&barrier, wait).is_err());
            barrier.arrive().withdraw().unwrap();
        }
        assert_eq!(calls.load(Relaxed), 0);
        drop(barrier.arrive());
        assert!(barrier.wait().is_leader());
        assert_eq!(calls.into_inner(), 1);
    });
}

/// A completion function that is held up in its first run.
#[derive(Default)]
struct Held {
    runs: AtomicUsize,
    may_end: AtomicBool,
}

impl Held {
    fn run(&self) {
        self.runs.fetch_add(1, Release);
        stay_awake_until(|| self.may_end.load(Acquire));
    }

    fn runs(&self) -> bool {
        self.runs.load(Acquire) > 0
    }

    fn end(&self) {
        self.may_end.store(true, Release);
    }
}

/// JDK-6253848: timeouts that came while the last arrival was at it spoiled the phase. All have arrived by then, so it is
/// no timeout any more.
#[test]
fn a_deadline_that_passes_while_it_runs_is_no_timeout() {
    watchdog("a deadline that passes while the function runs", || {
        for form in 0..Wait::TIMED {
            // Until the waiter's time is not up before the other has arrived.
            let mut timeouts = (2..).map(|power| Duration::from_millis(1 << power));
            while !waits_for_the_function(form, timeouts.next().unwrap()) {}
        }
    });

    fn waits_for_the_function(form: usize, timeout: Duration) -> bool {
        let (held, gave_up) = (Held::default(), AtomicBool::new(false));
        let barrier = Barrier::with_completion(2, || held.run());
        let (start, wait) = (Instant::now(), Wait::within(timeout)[form]);
        thread::scope(|scope| {
            let waiter = spawn(scope, format!("{wait:?}, due while the function runs"), || {
                let outcome = meet(&barrier, wait);
                gave_up.store(outcome.is_err(), Release);
                outcome
            });
            let last = spawn(scope, "runs the function", || {
                let mut outcome = meet(&barrier, Wait::Try);
                while outcome.is_err() && !gave_up.load(Acquire) {
                    thread::yield_now();
                    outcome = meet(&barrier, Wait::Try);
                }
                outcome
            });
            stay_awake_until(|| held.runs() || last.has_ended());
            if !held.runs() {
                assert!(waiter.join().is_err() && wait.is_due(start));
                return false;
            }
            stay_awake_until(|| wait.is_due(start));
            waiter.until_asleep();
            held.end();
            assert!(!waiter.join().unwrap().is_leader());
            last.join().unwrap().is_leader()
        })
    }
}

/// Tokens of the phase that is just ending are not complete, and can't be taken back.
#[test]
fn tokens_wait_for_the_function() {
    watchdog("tokens wait for the function", || {
        let held = Held::default();
        let barrier = Barrier::with_completion(4, || held.run());
        thread::scope(|scope| {
            let [asked, waited, withdrawn] = [(); 3].map(|()| barrier.arrive());
            let last = spawn(scope, "runs the function", || barrier.arrive().wait().is_leader());
            stay_awake_until(|| held.runs());
            let waiter = spawn(scope, "waits for the function", move || waited.wait().is_leader());
            let withdrawer = spawn(scope, "wants to withdraw", move || withdrawn.withdraw().unwrap_err().is_leader());
            for wait in Wait::passed().into_iter().filter(|_| !asked.is_complete()) {
                assert!(poll_token(&asked, wait).is_err(), "{wait:?}");
            }
            for wait in Wait::within(Duration::from_millis(1)) {
                let start = Instant::now();
                assert!(poll_token(&asked, wait).is_err() && wait.is_due(start), "{wait:?}");
            }
            waiter.until_asleep();
            withdrawer.until_asleep();
            held.end();
            assert!(last.join() && !waiter.join() && !withdrawer.join());
            assert!(!asked.wait().is_leader());
        });
    });
}

/// Whoever comes while it runs, which takes more threads than parties, is counted in the next phase, or gives up in time.
#[test]
fn arrivals_while_it_runs_are_for_the_next_phase() {
    watchdog("arrivals while the function runs", || {
        let held = Held::default();
        let barrier = &Barrier::with_completion(4, || held.run());
        thread::scope(|scope| {
            (0..3).for_each(|_| drop(barrier.arrive()));
            let last = spawn(scope, "runs the function", || barrier.wait().is_leader());
            stay_awake_until(|| held.runs());
            for wait in Wait::passed().into_iter().chain(Wait::within(Duration::from_millis(1))) {
                let start = Instant::now();
                assert!(meet(barrier, wait).is_err() && wait.is_due(start), "{wait:?}");
            }
            let waits = [Wait::Untimed, Wait::For(Duration::MAX)]
                .map(|wait| spawn(scope, format!("next phase, {wait:?}"), move || meet(barrier, wait).unwrap()));
            let arrives = spawn(scope, "arrives for the next phase", || barrier.arrive().is_complete());
            until_all_asleep(&waits);
            arrives.until_asleep();
            held.end();
            assert!(last.join() && !arrives.join());
            until_all_asleep(&waits);
            until_missing(barrier, 1);
            assert!(barrier.wait().is_leader());
            assert!(waits.into_iter().all(|party| !party.join().is_leader()));
        });
        assert_eq!(held.runs.into_inner(), 2);
    });
}

// Its panics.

const PANIC: &str = "the function does not like this phase";

/// Every call panics from now on, whatever its deadline.
fn assert_poisoned<F: FnMut()>(barrier: &Barrier<F>) {
    for wait in Wait::passed().into_iter().chain(Wait::endless()).chain(Wait::within(Duration::from_millis(1))) {
        let panic = panic_of(|| meet(barrier, wait));
        assert!(panic.message.contains("poisoned"), "{wait:?}: {panic}");
    }
    assert_refused!(barrier.wait(), "poisoned");
    assert_refused!(barrier.arrive(), "poisoned");
    assert_refused!(barrier.arrive_and_drop(), "poisoned");
    assert!(format!("{barrier:?}").contains("poisoned"), "{barrier:?}");
}

/// LWG 3898, datatable #2521: a panic in the function reaches all as a panic, those who sleep in any form, those who come
/// later and those who come while it runs. It is the same panic for the one that ran it.
#[test]
fn its_panic_is_everybodys() {
    watchdog("the function's panic is everybody's", || {
        for last in 0..4 {
            let (held, mut phases) = (Held::default(), 0);
            let parties = patient_forms().len() * 2 + 3;
            let barrier = &Barrier::with_completion(parties, || {
                phases += 1;
                if phases == 2 {
                    held.run();
                    panic!("{PANIC}");
                }
            });
            let [earlier, another] = [(); 2].map(|()| barrier.arrive());
            (2..parties).for_each(|_| drop(barrier.arrive()));
            let [asked, withdrawn] = [(); 2].map(|()| barrier.arrive());
            thread::scope(|scope| {
                let waiters: Vec<_> = (patient_forms().into_iter())
                    .flat_map(|wait| [(wait, false), (wait, true)])
                    .map(|(wait, by_token)| {
                        spawn(scope, format!("{wait:?}, by token: {by_token}"), move || {
                            let panic = panic_of(|| match by_token {
                                true => meet_by_token(barrier.arrive(), wait).0.unwrap(),
                                false => meet(barrier, wait).unwrap(),
                            });
                            assert!(panic.message.contains("poisoned"), "{panic}");
                        })
                    })
                    .collect();
                until_all_asleep(&waiters);
                until_missing(barrier, 1);
                let leader = spawn(scope, "runs the function", move || {
                    panic_of(|| match last {
                        0 => barrier.wait(),
                        1 => barrier.wait_until(Deadline::PASSED).unwrap(),
                        2 => barrier.arrive().wait(),
                        _ => barrier.arrive_and_drop(),
                    })
                });
                stay_awake_until(|| held.runs());
                let late = [Wait::Untimed, Wait::For(Duration::MAX)].map(|wait| {
                    spawn(scope, format!("comes late, {wait:?}"), move || panic_of(|| meet(barrier, wait)))
                });
                until_all_asleep(&late);
                held.end();
                assert_eq!(leader.join().message, PANIC);
                waiters.into_iter().for_each(|waiter| waiter.join());
                assert!(late.into_iter().all(|late| late.join().message.contains("poisoned")));
            });
            assert_poisoned(barrier);
            // Those of the phase before know nothing of it.
            for wait in Wait::passed() {
                assert!(!poll_token(&earlier, wait).unwrap().is_leader());
            }
            assert!(!earlier.wait().is_leader() && !another.withdraw().unwrap_err().is_leader());
            assert!(panic_of(|| asked.is_complete()).message.contains("poisoned"));
            for wait in Wait::passed().into_iter().chain(Wait::within(Duration::from_millis(1))) {
                let panic = panic_of(|| poll_token(&asked, wait));
                assert!(panic.message.contains("poisoned"), "{wait:?}: {panic}");
            }
            assert_refused!(asked.wait(), "poisoned");
            assert_refused!(withdrawn.withdraw(), "poisoned");
            assert_eq!(held.runs.load(Relaxed), 1);
        }
    });
}

/// Also if their time was up meanwhile: either it was before the phase had its last arrival, or it does not count.
#[test]
fn its_panic_beats_a_timeout() {
    watchdog("the function's panic beats a timeout", || {
        for round in 0..rounds(100) {
            let barrier = &Barrier::with_completion(2, || {
                jitter(round);
                panic!("{PANIC}");
            });
            thread::scope(|scope| {
                let wait = Wait::within(Duration::from_micros(60))[round as usize % Wait::TIMED];
                let waiter = spawn(scope, format!("{wait:?}"), move || outcome_of(|| meet(barrier, wait).is_err()));
                let other = spawn(scope, "the other one", || outcome_of(|| barrier.arrive().is_complete()));
                let (waiter, other) = (waiter.join(), other.join());
                let poisoned = format!("{barrier:?}").contains("poisoned");
                match waiter {
                    Ok(timed_out) => assert!(timed_out && !poisoned && !other.unwrap()),
                    Err(panic) if panic.message == PANIC => assert!(poisoned),
                    Err(panic) => {
                        assert!(poisoned && panic.message.contains("poisoned"), "{panic}");
                        assert_eq!(other.unwrap_err().message, PANIC);
                    }
                }
            });
        }
    });
}
