//! Waiting until the channel is settled. The invariants and edges are those of `channel.rs`.

use core::time::Duration;

use super::channel::{CLOSED, PARKED};
use crate::Deadline;
use crate::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed},
    Transition,
};
use crate::sys::Word;
use crate::wait::{self, Awake, Step, Waiter};

/// The word, if the channel is settled. It then says whether there is a value.
#[inline]
pub(super) fn settled(state: &AtomicU32) -> Option<u32> {
    if_settled(state.load(Acquire /* E1, E4 */))
}

#[inline]
fn if_settled(now: u32) -> Option<u32> {
    (now & CLOSED != 0).then_some(now)
}

/// A call that waits until the channel is settled.
#[derive(Clone, Copy)]
pub(super) struct Settling<'a> {
    pub(super) state: &'a AtomicU32,
    /// Other threads may wait for the same channel.
    pub(super) is_shared: bool,
}

/// The word, when the channel is settled.
impl Settling<'_> {
    #[inline]
    pub(super) fn now(self) -> Option<u32> {
        settled(self.state)
    }

    #[inline]
    pub(super) fn for_ever(self) -> u32 {
        self.now().unwrap_or_else(|| self.sleep())
    }

    #[inline]
    pub(super) fn within(self, timeout: Duration) -> Option<u32> {
        wait::within(timeout, || self.now(), |deadline| self.sleep_until(deadline))
    }

    #[inline]
    pub(super) fn until(self, deadline: Deadline) -> Option<u32> {
        wait::until(deadline, || self.now(), |deadline| self.sleep_until(deadline))
    }

    /// After a first look that failed.
    #[cold]
    fn sleep(self) -> u32 {
        wait::block_on_forever(self)
    }

    /// After a first look that failed, and a look at the deadline.
    #[cold]
    fn sleep_until(self, deadline: Deadline) -> Option<u32> {
        wait::block_on(self, deadline).ok()
    }
}

impl<'a> Waiter<'a> for Settling<'a> {
    type Output = u32;

    fn attempt(&mut self) -> Option<u32> {
        settled(self.state)
    }

    fn stay_awake(&self) -> Awake {
        Awake::ForOthers(1)
    }

    fn attempt_or_announce(&mut self) -> Step<'a, u32> {
        let announced = self.state.transition(|now| (now & (CLOSED | PARKED) == 0).then_some((now | PARKED, Relaxed)));
        let (Ok(now) | Err(now)) = announced;
        // Settled stays settled: this look finds what that one found.
        if if_settled(now).is_some() {
            if let Some(settled) = settled(self.state) {
                return Step::Done(settled);
            }
        }
        Step::Sleep(Word::Whole(self.state), now | PARKED) // I4
    }

    fn attempt_or_leave(&mut self) -> Option<u32> {
        if self.is_shared {
            return settled(self.state); // others may need the bit
        }
        // So that a sender who comes later need not wake anybody. The bit stands since this call slept (I7).
        let before = self.state.fetch_sub(PARKED, Acquire /* E1, E4 */);
        debug_assert!(before & PARKED != 0, "a receiver that did not announce itself");
        if_settled(before)
    }
}
