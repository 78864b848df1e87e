//! What a party does at a barrier, up to the end of the phase: it arrives and it waits. The invariants and edges are those
//! of `barrier.rs`.

use super::state::{self, Afterwards, Refusal, State};
use crate::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use crate::sys::Word;
use crate::wait::{self, Awake, Step, Waiter};

/// An arrival that is to be counted; waits while a completion function runs.
#[derive(Clone, Copy)]
pub(super) struct Entrance<'a> {
    pub(super) state: &'a AtomicU64,
    pub(super) afterwards: Afterwards,
    /// The last arrival has a function to run before the phase ends.
    pub(super) has_completion: bool,
}

/// An arrival that has been counted.
pub(super) enum Arrived {
    Early {
        phase: u32,
    },
    /// It completes the phase. Without a completion function the phase has ended in the same write.
    Last {
        /// What that write replaced.
        before: State,
        /// The key to wake by.
        sleepers: *const u32,
    },
}

impl Entrance<'_> {
    /// One attempt to arrive.
    #[inline]
    pub(super) fn arrive(self) -> Result<Arrived, Refusal> {
        self.arrive_if(|_| true).map_err(|now| now.refusal().expect("nothing else keeps an arrival out"))
    }

    /// One attempt to arrive as the last one: `None` if that is not possible.
    #[inline]
    pub(super) fn complete(self) -> Option<Result<Arrived, Refusal>> {
        match self.arrive_if(|now| now.missing() == 1) {
            Ok(arrived) => Some(Ok(arrived)),
            Err(now) => now.refusal().filter(|refusal| *refusal != Refusal::Tripping).map(Err),
        }
    }

    #[inline]
    fn arrive_if(self, condition: impl Fn(State) -> bool) -> Result<Arrived, State> {
        let sleepers = Word::LowHalf(self.state).address();
        let before = state::transition(self.state, |now| {
            let arrived = now.arrive(self.afterwards).filter(|_| condition(now))?;
            Some(if !arrived.has_all() {
                (arrived, Release /* E1 */)
            } else if self.has_completion {
                (arrived, Acquire /* E1 */)
            } else {
                (arrived.next_phase(), AcqRel /* E1, E2 */)
            })
        })?;
        Ok(match before.missing() {
            1 => Arrived::Last { before, sleepers },
            _ => Arrived::Early { phase: before.phase() },
        })
    }
}

impl<'a> Waiter<'a> for Entrance<'a> {
    type Output = Result<Arrived, Refusal>;

    fn attempt(&mut self) -> Option<Self::Output> {
        match self.arrive() {
            Err(Refusal::Tripping) => None,
            outcome => Some(outcome),
        }
    }

    fn stay_awake(&self) -> Awake {
        Awake::ForOthers(1)
    }

    fn attempt_or_announce(&mut self) -> Step<'a, Self::Output> {
        let is_tripping = |now: State| now.refusal() == Some(Refusal::Tripping);
        loop {
            if let Some(outcome) = self.attempt() {
                return Step::Done(outcome);
            }
            let announced = state::transition(self.state, |now| {
                (is_tripping(now) && !now.has_waiters()).then(|| (now.add_waiters(), Relaxed))
            });
            let (Ok(now) | Err(now)) = announced;
            // Else the function has returned meanwhile, and in the new phase nobody sleeps who has not arrived (I3).
            if is_tripping(now) {
                return Step::Sleep(Word::LowHalf(self.state), now.add_waiters().waiting_half()); // I2
            }
        }
    }

    fn attempt_or_leave(&mut self) -> Option<Self::Output> {
        self.complete()
    }
}

/// The end of a phase, waited for.
pub(super) struct PhaseEnd<'a> {
    pub(super) state: &'a AtomicU64,
    pub(super) phase: u32,
    pub(super) when_late: WhenLate,
}

/// What becomes of the arrival of a party whose time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenLate {
    /// It stands.
    Stand,
    /// It is taken back, unless all have arrived by then.
    Withdraw,
}

impl PhaseEnd<'_> {
    /// Whether the phase has ended, or will never end because it has been poisoned.
    #[inline]
    pub(super) fn look(&self) -> Option<Result<(), Refusal>> {
        state::load(self.state, Acquire /* E2 */).end_of(self.phase)
    }

    /// Takes the arrival back and returns `None`, unless all have arrived: then returns when the phase has ended, which is as
    /// soon as the completion function has returned.
    pub(super) fn withdraw(&self) -> Option<Result<(), Refusal>> {
        let withdrawn = state::transition(self.state, |now| {
            (now.end_of(self.phase).is_none() && !now.has_all()).then(|| (now.withdraw(), Relaxed)) // I4
        });
        match withdrawn {
            Ok(_) => None,
            Err(_) => {
                let end = PhaseEnd { when_late: WhenLate::Stand, ..*self };
                Some(end.look().unwrap_or_else(|| wait::block_on_forever(end)))
            }
        }
    }
}

impl<'a> Waiter<'a> for PhaseEnd<'a> {
    type Output = Result<(), Refusal>;

    fn attempt(&mut self) -> Option<Self::Output> {
        self.look()
    }

    fn stay_awake(&self) -> Awake {
        // As many as in the next phase, mostly. An estimate is good enough.
        Awake::ForOthers(u32::from(state::load(self.state, Relaxed).expected()).saturating_sub(1))
    }

    fn attempt_or_announce(&mut self) -> Step<'a, Self::Output> {
        let announced = state::transition(self.state, |now| {
            (now.end_of(self.phase).is_none() && !now.has_waiters()).then(|| (now.add_waiters(), Relaxed))
        });
        let (Ok(now) | Err(now)) = announced;
        match now.end_of(self.phase) {
            // What has ended stays so, but that look was Relaxed.
            Some(_) => Step::Done(self.look().expect("the phase has ended")),
            None => Step::Sleep(Word::LowHalf(self.state), now.add_waiters().waiting_half()), // I2
        }
    }

    fn attempt_or_leave(&mut self) -> Option<Self::Output> {
        match self.when_late {
            WhenLate::Stand => self.look(),
            WhenLate::Withdraw => self.withdraw(),
        }
    }
}

#[cfg(all(test, not(waitline_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_look_of_one_that_is_late_completes_a_phase_and_does_nothing_else() {
        let attempt_or_leave = |parties| {
            let state = AtomicU64::new(State::new(0, parties).0);
            let mut entrance = Entrance { state: &state, afterwards: Afterwards::Stays, has_completion: false };
            let is_last = match entrance.attempt_or_leave() {
                Some(Ok(Arrived::Last { .. })) => true,
                None => false,
                Some(_) => panic!("neither the last one nor late"),
            };
            (is_last, State(state.load(Relaxed)))
        };
        assert_eq!(attempt_or_leave(1), (true, State::new(1, 1)));
        assert_eq!(attempt_or_leave(2), (false, State::new(0, 2)));
    }
}
