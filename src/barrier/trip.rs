//! From an arrival to the end of its phase: the last one runs the completion function, flips the phase and wakes the others.
//! The invariants and edges are those of `barrier.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::arrival::Arrival;
use super::phase::{Arrived, Entrance};
use super::state::{self, Afterwards, Refusal, State};
use super::{Barrier, Outcome};
use crate::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release},
};
use crate::sys::{self, Word};
use crate::{Deadline, wait};

impl<F: FnMut()> Barrier<F> {
    #[inline]
    pub(super) fn entrance(&self, afterwards: Afterwards) -> Entrance<'_> {
        Entrance { state: &self.state, afterwards, has_completion: self.completion.is_some() }
    }

    /// What is left to do for an arrival that has been counted: for the last one, to end the phase.
    #[inline]
    pub(super) fn admit<'a>(&'a self, arrived: Arrived, entrance: Entrance<'a>) -> Arrival<'a> {
        match arrived {
            Arrived::Early { phase } => Arrival::new(&self.state, phase, false),
            Arrived::Last { before, sleepers } => {
                if entrance.has_completion {
                    self.run_completion();
                } else if before.has_waiters() {
                    wake_all(sleepers); // I5
                }
                Arrival::new(&self.state, before.phase(), true)
            }
        }
    }

    /// The phase between its last arrival and its end. Not inlined: with what a panic needs, it would keep the arrivals of
    /// barriers that have no such function from being inlined.
    #[inline(never)]
    fn run_completion(&self) {
        let Some(completion) = &self.completion else { return };
        // SAFETY: only the thread that made the last arrival comes here, and only until it ends the phase (I1).
        #[allow(unsafe_code, reason = "one thread at a time calls the function")]
        let completion = unsafe { &mut *completion.get() };
        // A function that has panicked is not called again, so nobody sees what it left half done.
        match catch_unwind(AssertUnwindSafe(completion)) {
            Ok(()) => end_phase(&self.state, State::next_phase),
            Err(panic) => {
                end_phase(&self.state, State::poison);
                resume_unwind(panic);
            }
        }
    }

    /// One attempt to end the phase by the last arrival: `None` if that is not possible now.
    #[inline]
    pub(super) fn complete(&self) -> Option<Outcome> {
        // What a poll finds mostly, by one comparison: whatever refuses arrivals has none missing.
        if state::load(&self.state, Relaxed).missing() > 1 { None } else { self.complete_with_care() }
    }

    #[inline(never)]
    fn complete_with_care(&self) -> Option<Outcome> {
        let entrance = self.entrance(Afterwards::Stays);
        Some(entrance.complete()?.map(|arrived| self.admit(arrived, entrance).result()))
    }

    /// After a first attempt that failed, and a look at the deadline.
    #[cold]
    pub(super) fn wait_slow(&self, deadline: Deadline) -> Option<Outcome> {
        let entrance = self.entrance(Afterwards::Stays);
        let outcome = match entrance.arrive() {
            Err(Refusal::Tripping) => wait::block_on(entrance, deadline).ok()?,
            outcome => outcome,
        };
        match outcome {
            Ok(arrived) => self.admit(arrived, entrance).wait_or_withdraw(deadline),
            Err(refusal) => Some(Err(refusal)),
        }
    }
}

/// Arrives, if need be after a completion function that is running.
#[inline]
pub(super) fn enter(entrance: Entrance<'_>) -> Result<Arrived, Refusal> {
    match entrance.arrive() {
        Err(Refusal::Tripping) => wait::block_on_forever(entrance),
        outcome => outcome,
    }
}

/// The second write of a last arrival. Nothing but the waiters bit has changed since its first one (I1).
fn end_phase(state: &AtomicU64, end: fn(State) -> State) {
    let sleepers = Word::LowHalf(state).address();
    let end = end(state::load(state, Relaxed));
    let before = State(state.swap(end.0, Release /* E2 */));
    if before.has_waiters() {
        wake_all(sleepers); // I5
    }
}

#[cold]
fn wake_all(sleepers: *const u32) {
    sys::wake(sleepers, u32::MAX);
}
