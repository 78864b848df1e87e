//! Waiting on atomics: who gives up takes no notification along. Timeouts and notifications meet at the same moment, many times.

mod common;

use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;
use std::time::{Duration, Instant};

use common::atomic_wait::{Atomic, Notify};
use common::threads::until_all_asleep;
use common::{Gate, Wait, jitter, rounds, spawn, stay_awake_until, watchdog};
use waitline::TimedOut;

const TIMED: usize = 2;
const PATIENT: usize = 2;

/// What a round is about: the atomic, how many are done with it, and how many of the timed ones have seen a change.
struct Round {
    atomic: Box<dyn Atomic>,
    timed_ended: AtomicUsize,
    timed_came: AtomicUsize,
    patient_ended: AtomicUsize,
    has_changed: AtomicBool,
}

/// Rounds of two threads that wait for a short time, two that wait as long as it takes, and one that acts by `change`, which
/// returns when its notifications are out. It owes one more to each timed wait that it ended: those may have been used there.
/// With that, every patient wait ends.
fn leave_in_time(
    kind: &dyn Atomic,
    what: &str,
    patiently: impl Fn(&Round) + Sync,
    change: impl Fn(&Round, u32),
    times: u32,
) {
    let fresh = || Round {
        atomic: kind.fresh(),
        timed_ended: AtomicUsize::new(0),
        timed_came: AtomicUsize::new(0),
        patient_ended: AtomicUsize::new(0),
        has_changed: AtomicBool::new(false),
    };
    let all: Vec<_> = (0..rounds(times)).map(|_| fresh()).collect();
    let gate = Gate::new(TIMED + PATIENT + 1);
    thread::scope(|scope| {
        for number in 0..TIMED {
            let (all, gate) = (&all, &gate);
            spawn(scope, format!("{what}: {}, timed waiter {number}", kind.name()), move || {
                for (count, round) in (number..).zip(all) {
                    gate.pass();
                    // Ends while the others are at it, and most of it is spent asleep.
                    let timeout = Duration::from_nanos(count as u64 * 977 % 50_000);
                    let wait = Wait::within(timeout)[count % Wait::TIMED];
                    let start = Instant::now();
                    match round.atomic.wait_by(0, Relaxed, wait) {
                        Ok(_) => _ = round.timed_came.fetch_add(1, Relaxed),
                        Err(TimedOut) => assert!(wait.is_due(start), "{what}: {wait:?}: early"),
                    }
                    round.timed_ended.fetch_add(1, Release);
                }
            });
        }
        for number in 0..PATIENT {
            let (all, gate, patiently) = (&all, &gate, &patiently);
            spawn(scope, format!("{what}: {}, patient waiter {number}", kind.name()), move || {
                for round in all {
                    gate.pass();
                    patiently(round);
                    round.patient_ended.fetch_add(1, Release);
                }
            });
        }
        for (count, round) in (0..).zip(&all) {
            gate.pass();
            change(round, count);
            stay_awake_until(|| round.timed_ended.load(Acquire) == TIMED);
            (0..round.timed_came.load(Relaxed)).for_each(|_| round.atomic.notify(Notify::One));
            stay_awake_until(|| round.patient_ended.load(Acquire) == PATIENT);
        }
    });
}

fn for_each_width(body: impl FnMut(&dyn Atomic)) {
    let kinds: [&dyn Atomic; 3] = [&AtomicU8::new(0), &AtomicU32::new(0), &AtomicU64::new(0)];
    kinds.into_iter().for_each(body);
}

/// All wait for the same change. There are as many notifications as patient waiters: those who leave before the change use up
/// none.
#[test]
fn those_out_of_time_before_a_change_leave_its_notifications() {
    watchdog("those out of time before a change", || {
        for_each_width(|kind| {
            leave_in_time(
                kind,
                "before a change",
                |round| assert_eq!(round.atomic.wait_by(0, Relaxed, Wait::Untimed), Ok(1)),
                |round, count| {
                    (0..count % 6).for_each(|part| jitter(count * 6 + part));
                    round.atomic.set(1, Relaxed);
                    (0..PATIENT).for_each(|_| round.atomic.notify(Notify::One));
                },
                3000,
            );
        });
    });
}

/// The value goes from 0 to 1, where the patient ones begin to wait, and back to 0, on which the timed ones have waited before. So
/// those are the first to be notified, in vain, and may sleep on; or they are at the very moment at which their time is up.
/// Either way they pass it on when they leave.
#[test]
fn those_notified_in_vain_pass_it_on_when_they_leave() {
    const TIMEOUT: Duration = Duration::from_millis(3);
    /// From before the deadline to where the last of them has left.
    const AROUND: u32 = 100_000;

    fn notify_in_vain(kind: &dyn Atomic, round: u32) {
        let atomic = &*kind.fresh();
        thread::scope(|scope| {
            let deadline = Instant::now() + TIMEOUT;
            let timed: Vec<_> = (0..TIMED)
                .map(|_| spawn(scope, "timed", move || atomic.wait_by(0, Relaxed, Wait::UntilInstant(deadline))))
                .collect();
            stay_awake_until(|| timed.iter().all(|one| one.sleeps() || one.has_ended()));
            atomic.set(1, Relaxed);
            let patient: Vec<_> = (0..PATIENT)
                .map(|_| spawn(scope, "patient", move || atomic.wait_by(1, Relaxed, Wait::Untimed)))
                .collect();
            until_all_asleep(&patient);
            atomic.set(0, Relaxed);
            if round % 4 > 0 {
                let offset = Duration::from_nanos((round.wrapping_mul(0x9E37_79B9) % AROUND).into());
                let meeting = deadline + offset - Duration::from_micros(10);
                while Instant::now() < meeting {
                    std::hint::spin_loop();
                }
            }
            (0..PATIENT).for_each(|_| atomic.notify(Notify::One));
            // Those who saw the 1 may have had a notification each for it.
            let came = timed.into_iter().filter_map(|one| one.join().ok()).count();
            (0..came).for_each(|_| atomic.notify(Notify::One));
            for one in patient {
                assert_eq!(one.join(), Ok(0));
            }
        });
    }

    watchdog("those notified in vain", || {
        for_each_width(|kind| (0..rounds(150)).for_each(|round| notify_in_vain(kind, round)));
    });
}

/// The same on their way: all of them meet at any point of each other.
#[test]
fn none_is_taken_along_while_a_value_changes_back() {
    watchdog("while a value changes back", || {
        for_each_width(|kind| {
            leave_in_time(
                kind,
                "in vain",
                |round| {
                    stay_awake_until(|| round.has_changed.load(Acquire));
                    assert_eq!(round.atomic.wait_by(1, Relaxed, Wait::Untimed), Ok(0));
                },
                |round, count| {
                    jitter(count);
                    round.atomic.set(1, Relaxed);
                    round.has_changed.store(true, Release);
                    // They stay awake for a while before they sleep.
                    (0..count % 12).for_each(|part| jitter(count.wrapping_mul(12) + part));
                    round.atomic.set(0, Relaxed);
                    (0..PATIENT).for_each(|_| round.atomic.notify(Notify::One));
                },
                3000,
            );
        });
    });
}
