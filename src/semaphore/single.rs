//! One permit, waited for. The invariants and edges are those of `counting.rs`.

use super::state;
use crate::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};
use crate::sys::Word;
use crate::wait::{Awake, Step, Waiter};

/// A call that waits for one permit.
pub(super) struct Single<'a> {
    state: &'a AtomicU64,
    registered: bool,
}

impl<'a> Single<'a> {
    pub(super) fn new(state: &'a AtomicU64) -> Single<'a> {
        Single { state, registered: false }
    }
}

impl<'a> Waiter<'a> for Single<'a> {
    type Output = ();

    fn attempt(&mut self) -> Option<()> {
        state::transition(self.state, |now| Some((now.take(1)?, Acquire /* E1 */))).ok().map(drop)
    }

    fn stay_awake(&self) -> Awake {
        if state::load(self.state).waiters() > 0 { Awake::Not } else { Awake::ForReturn }
    }

    fn attempt_or_announce(&mut self) -> Step<'a, ()> {
        let moved = state::transition(self.state, |now| match now.take(1) {
            Some(taken) if self.registered => Some((taken.remove_waiter(), Acquire /* E1, I4 */)),
            Some(taken) => Some((taken, Acquire /* E1 */)),
            None if self.registered => None,
            None => Some((now.add_waiter(), Relaxed)),
        });
        match moved {
            Ok(before) if before.permits() > 0 => Step::Done(()),
            _ => {
                self.registered = true;
                Step::Sleep(Word::LowHalf(self.state), 0) // I2
            }
        }
    }

    fn attempt_or_leave(&mut self) -> Option<()> {
        let moved = state::transition(self.state, |now| match now.take(1) {
            Some(taken) => Some((taken.remove_waiter(), Acquire /* E1, I4 */)),
            None => Some((now.remove_waiter(), Relaxed)),
        });
        moved.is_ok_and(|before| before.permits() > 0).then_some(())
    }
}
