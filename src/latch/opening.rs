//! Waiting for a latch to open. The invariants and edges are those of `latch.rs`.

use super::{OPEN, WAITERS};
use crate::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed},
    Transition,
};
use crate::sys::Word;
use crate::wait::{Step, Waiter};

#[inline]
pub(super) fn is_open(state: &AtomicU32) -> bool {
    state.load(Acquire /* E1 */) == OPEN
}

/// A call that waits for the opening.
pub(super) struct Opening<'a> {
    state: &'a AtomicU32,
}

impl<'a> Opening<'a> {
    pub(super) fn of(state: &'a AtomicU32) -> Opening<'a> {
        Opening { state }
    }
}

impl<'a> Waiter<'a> for Opening<'a> {
    type Output = ();

    fn attempt(&mut self) -> Option<()> {
        is_open(self.state).then_some(())
    }

    /// It opens for all.
    fn others_sleep(&self) -> bool {
        false
    }

    fn attempt_or_announce(&mut self) -> Step<'a, ()> {
        let announced =
            self.state.transition(|now| (now != OPEN && now & WAITERS == 0).then_some((now | WAITERS, Relaxed)));
        let (Ok(now) | Err(now)) = announced;
        // Open stays open (I3): this look finds what that one found.
        if now == OPEN && is_open(self.state) {
            return Step::Done(());
        }
        Step::Sleep(Word::Whole(self.state), now | WAITERS) // I2
    }

    /// Leaves the waiters bit, which others may need.
    fn attempt_or_leave(&mut self) -> Option<()> {
        self.attempt()
    }
}
