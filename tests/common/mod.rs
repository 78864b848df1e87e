//! What the tests of public behaviour share: the calls under test as one table, threads that say who they are and
//! whether they sleep, a gate that lets several go at once, and a watchdog.

#![allow(dead_code, unused_imports, unused_macros, reason = "each test file uses a part of this")]

pub(crate) mod about;
pub(crate) mod atomic_wait;
pub(crate) mod barrier;
pub(crate) mod calls;
#[cfg(target_os = "linux")]
pub(crate) mod child;
pub(crate) mod crowd;
pub(crate) mod latch;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
pub(crate) mod oneshot;
pub(crate) mod panics;
pub(crate) mod pools;
#[cfg(target_os = "linux")]
pub(crate) mod quiet;
pub(crate) mod random;
pub(crate) mod threads;
mod watchdog;

use std::cell::UnsafeCell;
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire},
};
use std::thread;
use std::time::Duration;

pub(crate) use calls::{Form, PassedAfter, Subject, Wait, subjects};
pub(crate) use pools::{Binary, Call, Counting, Held, Pool, drain, pools};
pub(crate) use threads::{Worker, spawn};
pub(crate) use watchdog::{watchdog, watchdog_beyond};

/// A number from the environment.
pub(crate) fn from_environment<T: std::str::FromStr>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        Err(_) => default,
    }
}

/// Whether the environment says that an emulator runs this program. It can neither start it again nor filter its system calls,
/// and its threads sleep for reasons of its own. A test that this is too little for says so and ends.
pub(crate) fn is_emulated() -> bool {
    let emulated = from_environment("WAITLINE_EMULATED", 0) != 0;
    if emulated {
        println!("skipped: an emulator can't do it");
    }
    emulated
}

/// How often to do something: `n` times `WAITLINE_ROUNDS_FACTOR`, which is 1 unless set.
pub(crate) fn rounds(n: u32) -> u32 {
    (f64::from(n) * rounds_factor()).ceil() as u32
}

fn rounds_factor() -> f64 {
    from_environment("WAITLINE_ROUNDS_FACTOR", 1.0)
}

/// Lets its parties go at the same moment, again and again. They stay awake meanwhile, so a thread that has passed
/// the gate and is asleep sleeps in what it does next.
pub(crate) struct Gate {
    parties: usize,
    arrived: AtomicUsize,
}

impl Gate {
    pub(crate) fn new(parties: usize) -> Gate {
        Gate { parties, arrived: AtomicUsize::new(0) }
    }

    pub(crate) fn pass(&self) {
        let ticket = self.arrived.fetch_add(1, AcqRel);
        let all = (ticket / self.parties + 1) * self.parties;
        stay_awake_until(|| self.arrived.load(Acquire) >= all);
    }
}

/// Lets the sides, a thread each, act on one object after the other, on each at the same moment.
pub(crate) fn all_at_once<T: Sync>(what: &str, objects: &[T], sides: &[&(dyn Fn(&T) + Sync)]) {
    let gate = Gate::new(sides.len());
    thread::scope(|scope| {
        for (number, side) in sides.iter().enumerate() {
            let gate = &gate;
            spawn(scope, format!("{number} of {what}"), move || {
                for (round, object) in objects.iter().enumerate() {
                    gate.pass();
                    jitter((round as u32).wrapping_mul(number as u32 + 1));
                    side(object);
                }
            });
        }
    });
}

/// Spins a little, then offers the processor to others.
pub(crate) fn stay_awake_until(mut condition: impl FnMut() -> bool) {
    for _ in 0..100 {
        if condition() {
            return;
        }
        std::hint::spin_loop();
    }
    while !condition() {
        thread::yield_now();
    }
}

/// Leaves others what processor time there is.
pub(crate) fn out_of_the_way_until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        thread::sleep(Duration::from_micros(200));
    }
}

/// Passes some time, different from round to round, so that two sides meet at every point of each other.
pub(crate) fn jitter(round: u32) {
    for _ in 0..round.wrapping_mul(0x9E37_79B9) >> 25 {
        std::hint::spin_loop();
    }
}

/// Memory that nothing but the primitive under test makes safe to share. Tools that find data races see every access.
#[allow(unsafe_code, reason = "plain memory between threads is what some tests are about")]
pub(crate) mod plain {
    use super::UnsafeCell;

    #[derive(Default)]
    pub(crate) struct Plain<T>(UnsafeCell<T>);

    // SAFETY: `get` and `set` leave the exclusion to their callers.
    unsafe impl<T: Send> Sync for Plain<T> {}

    impl<T: Copy> Plain<T> {
        pub(crate) fn new(value: T) -> Plain<T> {
            Plain(UnsafeCell::new(value))
        }

        /// The caller has what excludes writers.
        pub(crate) fn get(&self) -> T {
            // SAFETY: the exclusion under test.
            unsafe { *self.0.get() }
        }

        /// The caller has what excludes everybody else.
        pub(crate) fn set(&self, value: T) {
            // SAFETY: the exclusion under test.
            unsafe { *self.0.get() = value }
        }
    }
}
