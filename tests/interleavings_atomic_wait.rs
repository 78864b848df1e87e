//! What two and more threads can do to each other through one atomic: every way to wait against every way to change and notify,
//! at the same moment, many times. No notification is lost, none is taken along by a thread that leaves, and a value that
//! changes back keeps nobody asleep for longer than that.

mod common;

use std::sync::atomic::{
    AtomicBool, Ordering,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use std::thread;
use std::time::{Duration, Instant};

use common::atomic_wait::{Atomic, Notify, atomics};
use common::{Form, Gate, Wait, all_at_once, jitter, rounds, spawn, stay_awake_until, watchdog};
use waitline::TimedOut;

/// What one side does.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Waits until the value is not 0.
    Wait(Form),
    /// Sets it to 1, which is all that will come, and notifies as often as that.
    Change(Ordering, Notify, usize),
    /// Notifies only.
    Notify(Notify),
}

fn act(atomic: &dyn Atomic, act: Act) {
    match act {
        Act::Wait(form) => {
            let (start, wait) = (Instant::now(), form.start());
            match atomic.wait_by(0, Acquire, wait) {
                Ok(value) => assert_eq!(value, 1),
                Err(TimedOut) => assert!(wait.is_due(start), "{}, {act:?}: early", atomic.name()),
            }
        }
        Act::Change(order, notify, times) => {
            atomic.set(1, order);
            (0..times).for_each(|_| atomic.notify(notify));
        }
        Act::Notify(notify) => atomic.notify(notify),
    }
}

/// The atomic of one round.
struct Round(Box<dyn Atomic>);

/// Lets the sides act at once. A round ends when all of them have, so that a lost notification is a hang.
fn meet(kind: &dyn Atomic, acts: &[Act], times: u32) {
    let all: Vec<_> = (0..rounds(times)).map(|_| Round(kind.fresh())).collect();
    let sides: Vec<_> = acts.iter().map(|&one| move |round: &Round| act(&*round.0, one)).collect();
    let sides: Vec<_> = sides.iter().map(|side| side as &(dyn Fn(&Round) + Sync)).collect();
    all_at_once(&format!("{}: {acts:?}", kind.name()), &all, &sides);
    assert!(all.iter().all(|round| round.0.get() == 1));
}

/// One of each width.
fn widths() -> impl Iterator<Item = Box<dyn Atomic>> {
    let mut bits = Vec::new();
    atomics().into_iter().filter(move |atomic| {
        let is_new = !bits.contains(&atomic.bits());
        bits.push(atomic.bits());
        is_new
    })
}

/// llvm #77659, and GCC's rework of waits through a proxy: the change fell between a look and the sample that was slept on.
#[test]
fn a_change_meets_a_waiter() {
    watchdog("a change meets a waiter", || {
        for kind in widths() {
            for form in Form::all() {
                for (notify, order) in Notify::ALL.into_iter().zip([Relaxed, Release, SeqCst, Relaxed]) {
                    meet(&*kind, &[Act::Wait(form), Act::Change(order, notify, 1)], 60);
                }
            }
        }
    });
}

/// Two notifications of one, or one of all, and one of the waiters may give up meanwhile.
#[test]
fn a_change_meets_two_waiters() {
    watchdog("a change meets two waiters", || {
        for kind in widths() {
            for form in Form::all() {
                for other in [Form::Untimed, Form::Timed(0), Form::Timed(3)] {
                    for change in [Act::Change(Relaxed, Notify::One, 2), Act::Change(Release, Notify::All, 1)] {
                        meet(&*kind, &[Act::Wait(form), Act::Wait(other), change], 12);
                    }
                }
            }
        }
    });
}

/// Somebody notifies for nothing, before, after, or in the middle of it all.
#[test]
fn a_change_and_a_notification_in_vain_meet_a_waiter() {
    watchdog("a change and a notification in vain", || {
        for kind in widths() {
            for form in Form::all() {
                for notify in [Notify::One, Notify::All] {
                    let acts = [Act::Notify(notify), Act::Wait(form), Act::Change(Relaxed, Notify::One, 1)];
                    meet(&*kind, &acts, 25);
                }
            }
        }
    });
}

/// Waiters that sleep for 0 and for 1, while the value goes to and fro: whoever looks at the wrong moment sleeps on, as is
/// promised. But the last change with its notification ends every wait. libc++ D114119: a waiter slept on the new value.
#[test]
fn a_value_that_changes_back_strands_nobody_for_good() {
    const WAITERS: usize = 4;
    const LAST: u64 = 2;

    watchdog("a value that changes back", || {
        for kind in widths().filter(|kind| kind.max() >= LAST) {
            for notify in Notify::ALL {
                for round in 0..rounds(30) {
                    let (atomic, kind) = (kind.fresh(), &kind);
                    thread::scope(|scope| {
                        for number in 0..WAITERS {
                            let atomic = &*atomic;
                            spawn(scope, format!("{}, {notify:?}: waiter {number}", kind.name()), move || {
                                let mut now = 0;
                                while now != LAST {
                                    let form = [Wait::Untimed, Wait::For(Duration::from_micros(30))][number % 2];
                                    now = atomic.wait_by(now, Relaxed, form).unwrap_or(now);
                                }
                            });
                        }
                        for toggle in 1..40 {
                            jitter(round * 40 + toggle);
                            atomic.change(u64::from(toggle) % 2, notify);
                        }
                        atomic.set(LAST, Relaxed);
                        let times = if matches!(notify, Notify::One | Notify::OneRaw) { WAITERS } else { 1 };
                        (0..times).for_each(|_| atomic.notify(notify));
                    });
                }
            }
        }
    });
}

/// glibc 12875, 25847: a late waiter took the wake that was meant for an earlier one. Here it waits for what comes after that
/// change, on the same atomic.
#[test]
fn a_late_waiter_takes_no_notification_along() {
    watchdog("a late waiter", || {
        for kind in widths().filter(|kind| kind.bits() > 1) {
            for round in 0..rounds(100) {
                let (atomic, gate, has_seen) = (kind.fresh(), Gate::new(2), AtomicBool::new(false));
                thread::scope(|scope| {
                    let early = spawn(scope, "early", || atomic.wait_by(0, Relaxed, Wait::Untimed));
                    early.until_asleep();
                    let late = spawn(scope, "late", || {
                        gate.pass();
                        jitter(round);
                        let now = atomic.wait_by(0, Relaxed, Wait::Untimed).unwrap();
                        has_seen.store(true, Release);
                        atomic.wait_by(now, Relaxed, Wait::Untimed)
                    });
                    gate.pass();
                    jitter(round.wrapping_mul(3));
                    // Either may have it, of those who wait for this change; so there is one for each.
                    atomic.change(1, Notify::One);
                    assert_eq!(early.join(), Ok(1));
                    atomic.notify(Notify::One);
                    stay_awake_until(|| has_seen.load(Acquire));
                    atomic.change(2, Notify::One);
                    assert_eq!(late.join(), Ok(2));
                });
            }
        }
    });
}
