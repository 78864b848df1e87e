//! Deadlines and clocks: what holds for every timed call of every primitive, in all its forms, on both clocks.
//!
//! Time is bounded from below only, on the clock that the caller named. That a call ends at all is the watchdog's to
//! say.

mod common;

use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use common::plain::Plain;
use common::{Gate, PassedAfter, Subject, Wait, drain, jitter, pools, rounds, spawn, subjects, watchdog};
use waitline::{BinarySemaphore, Deadline, Semaphore};

/// rust#54552, rust#44216, crossbeam#795, flume#167, wasmtime#13038, ClickHouse #106961, Bedrock #2622: "wait for
/// ever" panicked, returned at once or overflowed. Also GCC PR 93456, abseil #1433: what is beyond 32 bits of seconds.
#[test]
fn a_deadline_beyond_reach_waits_until_it_is_satisfied() {
    watchdog("a deadline beyond reach", || {
        for subject in subjects() {
            for wait in Wait::endless() {
                let subject = subject.fresh();
                thread::scope(|scope| {
                    let waiter = spawn(scope, format!("{}, {wait:?}", subject.name()), || subject.wait(wait));
                    waiter.until_asleep();
                    assert!(!waiter.has_ended(), "{}, {wait:?}: did not wait", subject.name());
                    subject.satisfy();
                    assert!(waiter.join(), "{}, {wait:?}", subject.name());
                });
            }
        }
    });
}

/// crossbeam#975, #1245, #1280, Go #63615: what is there beats a deadline that has passed.
#[test]
fn what_is_there_beats_a_deadline_that_has_passed() {
    watchdog("what is there beats a passed deadline", || {
        for subject in subjects() {
            for wait in Wait::passed().into_iter().chain(Wait::endless()) {
                let subject = subject.fresh();
                subject.satisfy();
                assert!(subject.wait(wait), "{}, {wait:?}", subject.name());
                assert!(subject.adds_up(true), "{}, {wait:?}", subject.name());
            }
        }
    });
}

/// GCC PR 118093, 116586, glibc 99d01ff: times before the epoch or before the machine started made the kernel
/// refuse (a spin or an abort), or wrapped to years. libcudacxx #140: a try that blocked.
#[test]
fn a_passed_deadline_and_nothing_there_is_a_timeout() {
    watchdog("a passed deadline and nothing there", || {
        for subject in subjects() {
            for wait in Wait::passed() {
                assert!(!subject.wait(wait), "{}, {wait:?}", subject.name());
            }
        }
    });
}

/// However often it timed out, the call can be satisfied, by as much as if it had not been made. vs-threading #521,
/// tokio#8370: a call that gave up kept its place, or went on counting.
#[test]
fn a_timeout_leaves_no_trace() {
    watchdog("a timeout leaves no trace", || {
        for subject in subjects() {
            for wait in Wait::within(Duration::from_micros(200)) {
                let subject = subject.fresh();
                for vain in Wait::passed().into_iter().chain([wait]) {
                    assert!(!subject.wait(vain), "{}, {vain:?}", subject.name());
                }
                subject.satisfy();
                assert!(subject.adds_up(false), "{}, {wait:?}", subject.name());
            }
        }
    });
}

/// Too little by one is too little, and leaves no trace.
#[test]
fn a_part_is_left_where_it_is() {
    watchdog("a part is left where it is", || {
        for pool in pools() {
            pool.give(pool.size() - 1, true);
            for wait in Wait::passed().into_iter().chain(Wait::within(Duration::from_micros(200))) {
                assert!(pool.take(wait).is_none(), "{}, {wait:?}", pool.name());
                assert_eq!(pool.available(), pool.size() - 1, "{}, {wait:?}", pool.name());
            }
        }
    });
}

/// glibc 99d01ff: a call whose deadline had passed went to the kernel. Here it does not even sleep.
#[test]
#[cfg(target_os = "linux")]
fn a_passed_deadline_never_sleeps() {
    use common::threads::{Activity, current_id};

    let sleeps = || Activity::of(current_id()).unwrap().sleeps_so_far;
    for subject in subjects() {
        // The thread may sleep for reasons of its own, such as a page that has to be read; not every time.
        let calm = (0..100).any(|_| {
            let before = sleeps();
            for wait in Wait::passed() {
                assert!(!subject.wait(wait));
            }
            sleeps() == before
        });
        assert!(calm, "{} slept each time", subject.name());
    }
}

/// wasmtime#5312, STL #5574, #4723, libdispatch c265aa0: a wait that was shorter than asked. From a nanosecond to more
/// than a tick, with nobody releasing.
#[test]
fn no_wait_is_shorter_than_asked() {
    const TIMEOUTS: [u64; 7] = [1, 999, 1_000, 20_000, 100_000, 800_000, 4_000_000];

    watchdog("no wait is shorter than asked", || {
        thread::scope(|scope| {
            for subject in subjects() {
                spawn(scope, format!("{}, short waits", subject.name()), move || {
                    for _ in 0..rounds(8) {
                        for timeout in TIMEOUTS.map(Duration::from_nanos) {
                            for form in 0..Wait::TIMED {
                                let wait = Wait::within(timeout)[form];
                                let start = Instant::now();
                                assert!(!subject.wait(wait));
                                assert!(wait.is_due(start), "{}, {wait:?}: early", subject.name());
                            }
                        }
                    }
                });
            }
        });
    });
}

/// raw_sync-rs#39: no carry from nanoseconds to seconds, so that about half of all waits failed. Waits that cross a
/// second, and of more than one, from every part of a second. Those on the wall clock are longer than one slice of the
/// back-ends that sleep in slices.
#[test]
fn nanoseconds_carry_into_seconds() {
    const PARTS: u32 = 16;

    watchdog("nanoseconds carry into seconds", || {
        let subjects = subjects();
        thread::scope(|scope| {
            for part in 0..PARTS {
                let subject = &subjects[part as usize % subjects.len()];
                spawn(scope, format!("{}, from part {part} of a second", subject.name()), move || {
                    let offset = Duration::from_secs(1) / PARTS * part;
                    for timeout in [offset, Duration::from_nanos(999_999_999), Duration::from_millis(1500)] {
                        // A thread each, so that all forms start at the same part of the second.
                        thread::scope(|scope| {
                            for wait in Wait::within(timeout) {
                                let subject = subject.fresh();
                                spawn(scope, format!("{}, {wait:?}", subject.name()), move || {
                                    let start = Instant::now();
                                    assert!(!subject.wait(wait));
                                    assert!(wait.is_due(start), "{}, {wait:?}: early", subject.name());
                                });
                            }
                        });
                    }
                });
            }
        });
    });
}

/// Darksonn/watch#4, mono #2655, libdispatch #878, QuestDB #3896: each lost race restarted the timeout. A thief gives
/// and takes back, more often than the timeout is long, for as long as the waiter waits. With restarts the waiter would
/// time out only when the thief was held up for longer than that.
#[test]
fn stolen_permits_do_not_restart_the_timeout() {
    const TIMEOUT: Duration = Duration::from_millis(20);

    watchdog("stolen permits do not restart the timeout", || {
        thread::scope(|scope| {
            for pool in pools() {
                spawn(scope, format!("{}, the victim's", pool.name()), move || {
                    for form in 0..Wait::TIMED {
                        while !times_out_among_thefts(&*pool, form) {}
                    }
                });
            }
        });
    });

    /// Whether it did, and the thief was never late.
    fn times_out_among_thefts(pool: &dyn common::Pool, form: usize) -> bool {
        let (returned, before) = (AtomicBool::new(false), Instant::now());
        thread::scope(|scope| {
            let thief = spawn(scope, format!("{}, the thief's", pool.name()), || {
                let (mut last, mut longest) = (before, Duration::ZERO);
                loop {
                    let over = returned.load(Acquire);
                    longest = longest.max(last.elapsed());
                    last = Instant::now();
                    if over {
                        return longest;
                    }
                    pool.give(pool.size(), true);
                    drain(pool);
                    // How often, not in which order.
                    thread::sleep(TIMEOUT / 2);
                }
            });
            let wait = Wait::within(TIMEOUT)[form];
            let start = Instant::now();
            let taken = pool.wait(wait);
            assert!(taken || wait.is_due(start), "{}, {wait:?}: early", pool.name());
            returned.store(true, Release);
            let longest_pause = thief.join();
            drain(pool);
            !taken && longest_pause < TIMEOUT * 3 / 4
        })
    }
}

/// A wake that gives a waiter nothing (a part of what it wants, or what somebody else has taken by then) neither ends
/// the wait nor shifts its deadline.
#[test]
fn a_part_of_what_is_wanted_is_no_success() {
    watchdog("a part of what is wanted", || {
        for pool in pools().into_iter().filter(|pool| pool.size() > 1) {
            for form in 0..Wait::TIMED {
                let pool = &*pool;
                thread::scope(|scope| {
                    let wait = Wait::within(Duration::from_millis(20))[form];
                    let waiter = spawn(scope, format!("{}, {wait:?}", pool.name()), move || {
                        let start = Instant::now();
                        pool.wait(wait) || !wait.is_due(start)
                    });
                    pool.give(pool.size() - 1, false);
                    assert!(!waiter.join(), "{}, {wait:?}", pool.name());
                    assert_eq!(drain(pool), pool.size() - 1, "{}, {wait:?}", pool.name());
                });
            }
        }
    });
}

/// CCCL #7538, STL #1255, parking_lot#533, vs-threading #521, dotnet #123087, kotlin #1477, tokio#8370: what came at the
/// deadline was taken and reported as a timeout, or the reverse; permits vanished or doubled. Each round, exactly one
/// side has it: the waiter if it says so, else the object.
#[test]
fn what_comes_at_the_deadline_is_taken_or_stays() {
    const ROUNDS: u32 = 80;
    const TIMEOUT: Duration = Duration::from_micros(100);

    watchdog("what comes at the deadline", || {
        for subject in subjects() {
            for form in 0..Wait::TIMED {
                let successes = meet_at_the_deadline(&*subject, form);
                println!("{}, form {form}: {successes} of {}", subject.name(), rounds(ROUNDS));
            }
        }
    });

    fn meet_at_the_deadline(kind: &dyn Subject, form: usize) -> u32 {
        let rounds = rounds(ROUNDS);
        let all: Vec<_> = (0..rounds).map(|_| kind.fresh()).collect();
        let gate = Gate::new(2);
        let deadline = Plain::new(Instant::now());
        let last = AtomicBool::new(true);
        let successes = AtomicU32::new(0);
        thread::scope(|scope| {
            spawn(scope, format!("{}, form {form} at the deadline", kind.name()), || {
                for (round, subject) in all.iter().enumerate() {
                    let start = Instant::now();
                    let wait = Wait::within(TIMEOUT)[form];
                    deadline.set(start + TIMEOUT);
                    gate.pass();
                    let came = subject.wait(wait);
                    assert!(came || wait.is_due(start), "{}, {wait:?}: early", kind.name());
                    gate.pass();
                    successes.fetch_add(came.into(), Relaxed);
                    last.store(came, Relaxed);
                    assert!(subject.adds_up(came), "{}, round {round}: {wait:?}, {came}", kind.name());
                    gate.pass();
                }
            });
            // Later after a success and earlier after a timeout, so that the two home in on the waiter's last look,
            // wherever this machine puts that today. Counted from the start.
            let (mut late, mut step) = (TIMEOUT, Duration::from_micros(16));
            for (round, subject) in all.iter().enumerate() {
                gate.pass();
                let meeting = deadline.get() - TIMEOUT + late;
                while Instant::now() < meeting {
                    thread::yield_now();
                }
                jitter(round as u32);
                subject.satisfy();
                let before = last.load(Relaxed);
                gate.pass();
                gate.pass();
                let came = last.load(Relaxed);
                step = if came == before { step * 2 } else { step / 4 };
                step = step.clamp(Duration::from_micros(1), Duration::from_millis(1));
                late = if came { late + step } else { late.saturating_sub(step) };
            }
        });
        successes.into_inner()
    }
}

/// jack2#224, iceoryx#2476: a deadline is what it was made from, on the clock that it was made from, for any number of
/// calls. What can't be said is never; what is zero has passed.
#[test]
fn a_deadline_stays_what_it_was_made_from() {
    let hour = Duration::from_secs(3600);
    let (instant, time) = (Instant::now() + hour, SystemTime::now() + hour);
    assert_eq!(Deadline::from(instant), Deadline::from(Some(instant)));
    assert_eq!(Deadline::from(time), Deadline::from(Some(time)));
    assert_ne!(Deadline::from(instant), Deadline::from(time));
    assert_eq!(Deadline::from(None::<SystemTime>), Deadline::NEVER);
    assert_eq!(Deadline::from(None::<Deadline>), Deadline::NEVER);
    assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
    assert_eq!(Deadline::after(Duration::ZERO), Deadline::PASSED);

    for (deadline, passed) in [
        (Deadline::NEVER, false),
        (Deadline::PASSED, true),
        (Deadline::after(hour), false),
        (instant.into(), false),
        (time.into(), false),
        (Instant::now().into(), true),
        (SystemTime::now().into(), true),
        (UNIX_EPOCH.into(), true),
        ((UNIX_EPOCH - Duration::from_nanos(1)).into(), true),
    ] {
        assert_eq!(deadline.has_passed(), passed, "{deadline:?}");
        assert_eq!(deadline.remaining() == Some(Duration::ZERO), passed, "{deadline:?}");
    }
    assert_eq!(Deadline::NEVER.remaining(), None);
    assert!(Deadline::after(hour).remaining().unwrap() <= hour);
    assert!(Deadline::after(hour).remaining().unwrap() > Duration::ZERO);
    for wait in Wait::endless() {
        if let Wait::Until(deadline) = wait {
            assert!(!deadline.has_passed(), "{deadline:?}");
        }
    }
    for wait in Wait::passed() {
        if let Wait::Until(deadline) = wait {
            assert!(deadline.has_passed(), "{deadline:?}");
        }
    }
    assert_eq!(format!("{:?}", Deadline::NEVER), "Deadline::NEVER");
    assert_eq!(format!("{:?}", Deadline::PASSED), "Deadline::PASSED");
    assert!(format!("{:?}", Deadline::from(time)).starts_with("Deadline(SystemTime"));
    assert!(format!("{:?}", Deadline::from(instant)).starts_with("Deadline(Instant"));
}

/// One deadline bounds several calls together, also when it passes between them.
#[test]
fn one_deadline_serves_several_calls() {
    watchdog("one deadline for several calls", || {
        let (counting, binary) = (Semaphore::new(2), BinarySemaphore::new(true));
        let deadline = Deadline::after(Duration::from_millis(5));
        assert!(counting.try_acquire_until(deadline));
        assert!(binary.try_acquire_until(deadline));
        assert!(!binary.try_acquire_until(deadline));
        assert!(deadline.has_passed());
        assert!(!counting.try_acquire_many_until(2, deadline));
        assert!(counting.try_acquire_until(deadline));
    });
}

/// What comes between the first attempt and the look at the clock is not left behind either.
#[test]
fn what_comes_before_the_clock_is_read_is_taken() {
    let (counting, binary) = (Arc::new(Semaphore::new(0)), BinarySemaphore::new(false));
    let release_two = || counting.release_many(2);
    assert!(counting.try_acquire_until(PassedAfter(&|| counting.release())));
    assert!(counting.try_acquire_many_until(2, PassedAfter(&release_two)));
    assert!(!counting.try_acquire_many_until(3, PassedAfter(&release_two)));
    assert!(counting.try_acquire_many(2));
    counting.try_acquire_permit_until(PassedAfter(&|| counting.release())).unwrap().forget();
    counting.try_acquire_permits_until(2, PassedAfter(&release_two)).unwrap().forget();
    counting.try_acquire_owned_until(2, PassedAfter(&release_two)).unwrap().forget();
    assert_eq!(counting.available_permits(), 0);
    assert!(binary.try_acquire_until(PassedAfter(&|| assert!(binary.release()))));
    assert!(!binary.is_available());
}
