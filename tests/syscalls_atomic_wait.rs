//! Waiting on atomics: calls that have nothing to wait for and nobody to wake make no system call, and no call allocates.

#![cfg(target_os = "linux")]

mod common;

use std::sync::atomic::{
    AtomicU8, AtomicU64,
    Ordering::{Acquire, Relaxed},
};
use std::thread;
use std::time::{Duration, SystemTime};

use common::atomic_wait::{Atomic, Notify, atomics, wait_by};
use common::quiet::{
    Watched, allocations, assert_caught, assert_quiet, forbid_system_calls, passed_deadlines, sleep_once, step,
};
use common::threads::until_all_asleep;
use common::{Gate, Wait, spawn};
use waitline::{AtomicWait, Deadline};

#[global_allocator]
static ALLOCATOR: Watched = Watched;

const ROUNDS: u64 = 300;
const SOON: Duration = Duration::from_millis(1);
const ENOUGH: Duration = Duration::from_secs(60);

#[test]
fn nothing_that_ends_at_once_makes_a_system_call() {
    assert_quiet("nothing_that_ends_at_once_makes_a_system_call", || {
        let all = atomics();
        forbid_system_calls();
        end_at_once(&all);
    });
}

/// Those who slept there timed out, or were notified, on these very atomics.
#[test]
fn atomics_that_had_sleepers_are_as_quiet() {
    assert_quiet("atomics_that_had_sleepers_are_as_quiet", || {
        let all = atomics();
        for atomic in &all {
            for wait in [Wait::For(SOON), Wait::UntilTime(SystemTime::now() + SOON)] {
                assert!(atomic.wait_by(0, Relaxed, wait).is_err());
            }
        }
        thread::scope(|scope| {
            let sleepers: Vec<_> = (all.iter().chain(&all))
                .map(|atomic| spawn(scope, atomic.name(), || atomic.wait_by(0, Relaxed, Wait::Untimed)))
                .collect();
            until_all_asleep(&sleepers);
            for (number, atomic) in all.iter().enumerate() {
                atomic.set(1, Relaxed);
                let notify = Notify::ALL[number % 4];
                (0..2).for_each(|_| atomic.notify(notify));
            }
        });
        forbid_system_calls();
        end_at_once(&all);
    });
}

/// Others sleep on other atomics meanwhile.
#[test]
fn sleepers_elsewhere_cost_no_system_call() {
    assert_quiet("sleepers_elsewhere_cost_no_system_call", || {
        let (all, others) = (atomics(), atomics());
        let sleep = |atomic: Box<dyn Atomic>| thread::spawn(move || atomic.wait_by(0, Relaxed, Wait::Untimed));
        for other in others {
            sleep(other);
        }
        for atomic in &all {
            assert!(atomic.wait_by(0, Relaxed, Wait::For(SOON)).is_err());
        }
        forbid_system_calls();
        end_at_once(&all);
    });
}

fn end_at_once(all: &[Box<dyn Atomic>]) {
    for round in 0..ROUNDS {
        for atomic in all {
            step(atomic.name());
            atomic.set(round % 2, Relaxed);
            Notify::ALL.into_iter().for_each(|notify| atomic.notify(notify));
            let (same, other) = (round % 2, (round + 1) % 2);
            assert!(atomic.wait_by(same, Acquire, Wait::For(Duration::ZERO)).is_err());
            for wait in [Wait::Untimed, Wait::Try, Wait::For(Duration::ZERO), Wait::For(ENOUGH)] {
                assert_eq!(atomic.wait_by(other, Acquire, wait), Ok(same));
            }
            for (kind, deadline) in passed_deadlines(round) {
                step(kind);
                assert!(atomic.wait_by(same, Relaxed, Wait::Until(deadline)).is_err());
                assert_eq!(atomic.wait_by(other, Relaxed, Wait::Until(deadline)), Ok(same));
            }
            assert_eq!(atomic.wait_by(other, Relaxed, Wait::Until(Deadline::NEVER)), Ok(same));
        }
    }
}

/// Neither those who sleep, nor those who wake them; however many they are.
#[test]
fn nobody_allocates() {
    const SLEEPERS: usize = 40;
    const TURNS: u64 = 50;

    let value = AtomicU64::new(0);
    let gate = Gate::new(SLEEPERS + 1);
    thread::scope(|scope| {
        let sleepers: Vec<_> = (0..SLEEPERS)
            .map(|number| {
                let (value, gate) = (&value, &gate);
                spawn(scope, format!("sleeper {number}"), move || {
                    sleep_once();
                    let before = allocations();
                    gate.pass();
                    let mut now = 0;
                    while now < TURNS {
                        let wait = [Wait::Untimed, Wait::For(ENOUGH), Wait::For(SOON)][number % 3];
                        now = wait_by(value, now, Relaxed, wait).unwrap_or(now);
                    }
                    assert_eq!(allocations(), before);
                })
            })
            .collect();
        sleep_once();
        value.notify_one();
        gate.pass();
        for turn in 1..=TURNS {
            if turn % 10 == 1 {
                // But those who time out every now and then.
                let patient = sleepers.iter().enumerate().filter(|(number, _)| number % 3 < 2);
                patient.for_each(|(_, sleeper)| sleeper.until_asleep());
            }
            let before = allocations();
            value.store(turn, Relaxed);
            if turn % 2 == 0 {
                value.notify_all()
            } else {
                (0..SLEEPERS).for_each(|_| value.notify_one())
            }
            assert_eq!(allocations(), before);
        }
    });
}

// The controls.

#[test]
fn the_filter_catches_a_wait_that_sleeps() {
    assert_caught("the_filter_catches_a_wait_that_sleeps", "system call", || {
        let value = AtomicU8::new(0);
        sleep_once();
        forbid_system_calls();
        step("sleep");
        value.wait(0, Relaxed);
    });
}

#[test]
fn the_filter_catches_a_notification_that_wakes() {
    assert_caught("the_filter_catches_a_notification_that_wakes", "system call", || {
        static VALUE: AtomicU8 = AtomicU8::new(0);

        thread::scope(|scope| {
            let sleeper = spawn(scope, "sleeper", || VALUE.wait(0, Relaxed));
            sleeper.until_asleep();
            forbid_system_calls();
            step("wake");
            VALUE.notify_one();
        });
    });
}
