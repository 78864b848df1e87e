//! A small lock for the table's buckets, on the platform: std's would allocate on some.
//!
//! # State word
//!
//! `FREE`, `HELD`, or `CONTENDED`: held, and others may sleep.
//!
//! # Invariants
//!
//! * I1. A thread sleeps only on `CONTENDED`.
//! * I2. Who unlocks a contended lock wakes one. Who has slept locks it as contended, since it can't tell whether it was the
//!   last one.
//!
//! # Memory ordering
//!
//! | edge | from → to | why |
//! |------|-----------|-----|
//! | E1 | write that unlocks (Release) → write that locks (Acquire) | what was done under the lock is visible to the next holder |
//!
//! The algorithm is the third one of U. Drepper, "Futexes Are Tricky", <https://www.akkadia.org/drepper/futex.pdf>.

use super::spin::processors;
use crate::Deadline;
use crate::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
    const_fn,
};
use crate::sys::{self, Word};

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// Holders do a few dozen instructions, so this many looks outlast one that runs.
const LOOKS: u32 = 50;

pub(super) struct Lock {
    state: AtomicU32,
}

impl Lock {
    const_fn! {
        pub(super) const fn new() -> Lock {
            Lock { state: AtomicU32::new(FREE) }
        }
    }

    pub(super) fn lock(&self) -> Guard<'_> {
        if self.state.compare_exchange(FREE, HELD, Acquire /* E1 */, Relaxed).is_err() {
            self.lock_slow();
        }
        Guard(self)
    }

    #[cold]
    fn lock_slow(&self) {
        if processors() > 1 {
            for _ in 0..LOOKS {
                core::hint::spin_loop();
                if self.state.load(Relaxed) == FREE
                    && self.state.compare_exchange(FREE, HELD, Acquire /* E1 */, Relaxed).is_ok()
                {
                    return;
                }
            }
        }
        while self.state.swap(CONTENDED, Acquire /* E1 */) != FREE {
            // Whatever it says: look again.
            let _ = sys::wait(Word::Whole(&self.state), CONTENDED, Deadline::NEVER);
        }
    }

    fn unlock(&self) {
        if self.state.swap(FREE, Release /* E1 */) == CONTENDED {
            sys::wake(Word::Whole(&self.state).address(), 1); // I2
        }
    }

    pub(super) fn is_free(&self) -> bool {
        self.state.load(Relaxed) == FREE
    }

    /// Makes it free, whoever holds it.
    pub(super) fn reset(&self) {
        self.state.store(FREE, Relaxed);
    }
}

pub(super) struct Guard<'a>(&'a Lock);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}
