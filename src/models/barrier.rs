//! The barrier.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::{Arc, Plain, disturbed, expire, explore, explore_up_to, later, thread, wake_calls, woken};
use crate::atomic::model::thread::JoinHandle;
use crate::{Barrier, Deadline};

type Action = Box<dyn FnMut()>;

/// Waits, and says whether it was the leader.
fn party<F: FnMut() + 'static>(barrier: &Arc<Barrier<F>>) -> JoinHandle<bool> {
    let barrier = Arc::clone(barrier);
    thread::spawn(move || barrier.wait().is_leader())
}

fn timed_party<F: FnMut() + 'static>(barrier: &Arc<Barrier<F>>) -> JoinHandle<Option<bool>> {
    let barrier = Arc::clone(barrier);
    thread::spawn(move || barrier.wait_until(later()).ok().map(|result| result.is_leader()))
}

/// Nobody has arrived, and nobody is thought to sleep: a lone party of each that is expected ends the phase in silence.
fn is_fresh<F: FnMut()>(barrier: &Barrier<F>, parties: usize) {
    let calls_before = wake_calls();
    let arrivals: Vec<_> = (1..parties).map(|_| barrier.arrive()).collect();
    assert!(arrivals.iter().all(|arrival| !arrival.is_complete()));
    assert!(barrier.wait().is_leader());
    assert!(arrivals.iter().all(|arrival| arrival.is_complete()));
    assert_eq!(wake_calls(), calls_before);
}

#[test]
fn two_parties_meet_and_one_leads() {
    explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = party(&barrier);
        let leads = barrier.wait().is_leader();
        assert_ne!(other.join().unwrap(), leads);
        assert!(woken() <= 1);
        is_fresh(&barrier, 2);
    });
}

#[test]
fn three_parties_meet_and_one_leads() {
    explore_up_to(2, || {
        let barrier = Arc::new(Barrier::new(3));
        let others = [party(&barrier), party(&barrier)];
        let leads = barrier.wait().is_leader();
        let leaders = others.map(|other| other.join().unwrap()).into_iter().filter(|leads| *leads).count();
        assert_eq!(leaders + usize::from(leads), 1);
        assert!(woken() <= 2);
    });
}

#[test]
fn a_party_that_is_fast_does_not_lap_one_that_is_slow() {
    explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let plain = Plain::new();
        let other = {
            let (barrier, plain) = (Arc::clone(&barrier), plain.clone());
            thread::spawn(move || {
                barrier.wait();
                plain.write(7);
                barrier.wait();
            })
        };
        barrier.wait();
        barrier.wait();
        assert_eq!(plain.read(), 7);
        other.join().unwrap();
    });
}

#[test]
fn all_that_was_done_before_is_seen_by_all_after() {
    explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let (mine, others) = (Plain::new(), Plain::new());
        let other = {
            let (barrier, mine, others) = (Arc::clone(&barrier), mine.clone(), others.clone());
            thread::spawn(move || {
                others.write(7);
                barrier.wait();
                assert_eq!(mine.read(), 7);
            })
        };
        mine.write(7);
        barrier.wait();
        assert_eq!(others.read(), 7);
        other.join().unwrap();
    });
}

/// A timed wait that completes the phase looks at nothing after its arrival, and wakes nobody who only holds a token.
#[test]
fn a_last_arrival_sees_all_in_its_one_write() {
    explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let plain = Plain::new();
        let last = {
            let (barrier, plain) = (Arc::clone(&barrier), plain.clone());
            thread::spawn(move || {
                if barrier.wait_until(Deadline::PASSED).is_ok() {
                    assert_eq!(plain.read(), 7);
                }
            })
        };
        plain.write(7);
        let _arrival = barrier.arrive();
        last.join().unwrap();
    });
}

#[test]
fn the_last_arrival_and_a_timeout_agree() {
    explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let timed = timed_party(&barrier);
        let timer = thread::spawn(expire);
        let arrival = barrier.arrive();
        let told = timed.join().unwrap();
        timer.join().unwrap();
        match told {
            Some(leads) => assert_ne!(arrival.wait().is_leader(), leads),
            None => {
                assert!(!arrival.is_complete());
                arrival.withdraw().unwrap();
            }
        }
        is_fresh(&barrier, 2);
    });
}

#[test]
fn an_end_before_the_time_is_up_is_found() {
    explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let arrival = barrier.arrive();
        let last = {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || {
                assert!(barrier.wait().is_leader());
                expire();
            })
        };
        assert!(arrival.wait_until(later()).is_ok());
        last.join().unwrap();
    });
}

/// A withdrawal must not be taken for that of the last sleeper.
#[test]
fn a_party_that_times_out_strands_no_other() {
    explore_up_to(2, || {
        let barrier = Arc::new(Barrier::new(3));
        let timed = timed_party(&barrier);
        let patient = party(&barrier);
        expire();
        let first = barrier.arrive();
        if timed.join().unwrap().is_none() {
            barrier.wait();
        }
        patient.join().unwrap();
        first.wait();
    });
}

#[test]
fn a_token_is_waited_for_by_several_and_stands_when_dropped() {
    explore_up_to(2, || {
        let barrier = Arc::new(Barrier::new(2));
        let waiter = {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || {
                let arrival = barrier.arrive();
                let in_time = arrival.wait_until(later()).is_ok();
                drop(arrival);
                in_time
            })
        };
        let timer = thread::spawn(expire);
        let leads = barrier.wait().is_leader();
        let in_time = waiter.join().unwrap();
        timer.join().unwrap();
        assert!(in_time || leads);
        is_fresh(&barrier, 2);
    });
}

#[test]
fn a_withdrawal_and_the_last_arrival_agree() {
    explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let withdrawer = {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || barrier.arrive().withdraw().map_err(|result| result.is_leader()))
        };
        let arrival = barrier.arrive();
        match withdrawer.join().unwrap() {
            Ok(()) => arrival.withdraw().unwrap(),
            Err(leads) => assert_ne!(arrival.wait().is_leader(), leads),
        }
        is_fresh(&barrier, 2);
    });
}

#[test]
fn a_party_that_leaves_is_counted_and_not_waited_for_again() {
    explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let plain = Plain::new();
        let leaver = {
            let (barrier, plain) = (Arc::clone(&barrier), plain.clone());
            thread::spawn(move || {
                plain.write(7);
                barrier.arrive_and_drop().is_leader()
            })
        };
        let leads = barrier.wait().is_leader();
        assert_eq!(plain.read(), 7);
        assert_ne!(leaver.join().unwrap(), leads);
        is_fresh(&barrier, 1);
    });
}

fn with_completion(parties: usize, completion: impl FnMut() + 'static) -> Arc<Barrier<Action>> {
    Arc::new(Barrier::with_completion(parties, Box::new(completion)))
}

#[test]
fn the_function_sees_all_and_is_seen_by_all() {
    explore(|| {
        let (mine, others, functions) = (Plain::new(), Plain::new(), Plain::new());
        let barrier = {
            let (mine, others, functions) = (mine.clone(), others.clone(), functions.clone());
            with_completion(2, move || {
                assert_eq!((mine.read(), others.read()), (7, 7));
                functions.write(7);
            })
        };
        let other = {
            let (barrier, others, functions) = (Arc::clone(&barrier), others.clone(), functions.clone());
            thread::spawn(move || {
                others.write(7);
                barrier.wait();
                assert_eq!(functions.read(), 7);
            })
        };
        mine.write(7);
        barrier.wait();
        assert_eq!(functions.read(), 7);
        other.join().unwrap();
    });
}

/// Arrivals in the next phase meet the function of this one.
#[test]
fn the_function_is_run_by_one_thread_at_a_time() {
    explore(|| {
        let (plain, seen) = (Plain::new(), Plain::new());
        let barrier = {
            let plain = plain.clone();
            with_completion(1, move || plain.write(plain.read() + 1))
        };
        let others = [party(&barrier), party(&barrier)];
        for other in others {
            assert!(other.join().unwrap());
        }
        seen.write(plain.read());
        assert_eq!(seen.read(), 2);
    });
}

/// One that met the function of the first phase is missing in the second one.
#[test]
fn who_arrives_while_the_function_runs_does_not_sleep_through_the_next_phase() {
    explore_up_to(2, || {
        let barrier = with_completion(2, || ());
        let first = barrier.arrive();
        let others = [party(&barrier), party(&barrier)];
        barrier.wait();
        assert!(first.is_complete());
        for other in others {
            other.join().unwrap();
        }
    });
}

#[test]
fn who_arrives_while_the_function_runs_may_run_out_of_time() {
    explore_up_to(2, || {
        let plain = Plain::new();
        let barrier = {
            let plain = plain.clone();
            with_completion(1, move || plain.write(plain.read() + 1))
        };
        let timed = timed_party(&barrier);
        let timer = thread::spawn(expire);
        assert!(barrier.wait().is_leader());
        let leads = timed.join().unwrap();
        timer.join().unwrap();
        assert_eq!(plain.read(), 1 + u32::from(leads == Some(true)));
        is_fresh(&barrier, 1);
    });
}

/// The last arrival wins: whoever has arrived stays for the function.
#[test]
fn a_timeout_while_the_function_runs_is_a_success() {
    explore(|| {
        let plain = Plain::new();
        let barrier = {
            let plain = plain.clone();
            with_completion(2, move || plain.write(7))
        };
        let timed = {
            let (barrier, plain) = (Arc::clone(&barrier), plain.clone());
            thread::spawn(move || match barrier.wait_until(later()) {
                Ok(_) => assert_eq!(plain.read(), 7),
                Err(_) => drop(barrier.arrive()),
            })
        };
        let timer = thread::spawn(expire);
        barrier.wait();
        timed.join().unwrap();
        timer.join().unwrap();
    });
}

#[test]
fn a_panic_of_the_function_reaches_every_party() {
    explore_up_to(2, || {
        let barrier = with_completion(2, || resume_unwind(Box::new("the function's")));
        let wait = |barrier: &Barrier<Action>| catch_unwind(AssertUnwindSafe(|| barrier.wait())).is_err();
        let others = [(); 2].map(|()| {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || wait(&barrier))
        });
        // One of the three is one too many: it comes too late, and learns of the panic as well.
        assert!(wait(&barrier));
        for other in others {
            assert!(other.join().unwrap());
        }
    });
}

#[test]
fn who_is_up_for_nothing_sleeps_on() {
    explore(|| {
        let barrier = Arc::new(Barrier::new(2));
        let shared = Arc::clone(&barrier);
        disturbed(
            move || {
                shared.wait();
            },
            || {
                barrier.wait();
            },
        );
        is_fresh(&barrier, 2);
    });
}

/// The last arrival leaves nobody behind, and still has a function to run.
#[test]
fn a_barrier_is_deserted_while_the_function_runs() {
    explore_up_to(2, || {
        let plain = Plain::new();
        let barrier = {
            let plain = plain.clone();
            with_completion(2, move || plain.write(plain.read() + 1))
        };
        let first = barrier.arrive();
        let leaver = {
            let barrier = Arc::clone(&barrier);
            thread::spawn(move || barrier.arrive_and_drop().is_leader())
        };
        let timed = timed_party(&barrier);
        expire();
        let led = timed.join().unwrap();
        assert!(leaver.join().unwrap() || led.is_some());
        first.wait();
    });
}
