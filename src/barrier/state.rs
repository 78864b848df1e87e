//! The barrier's word, as numbers: what each transition does to it. `barrier.rs` says what it means.

use crate::atomic::{AtomicU64, Ordering, Transition};

/// The greatest number of parties: what 16 bits hold, less the mark of a poisoned barrier.
pub(super) const MAX_PARTIES: u16 = u16::MAX - 1;

const WAITERS: u64 = 1;
const PHASE_SHIFT: u32 = 1;
pub(super) const LAST_PHASE: u32 = u32::MAX >> PHASE_SHIFT;
const MISSING_SHIFT: u32 = 32;
const EXPECTED_SHIFT: u32 = 48;
const ONE_MISSING: u64 = 1 << MISSING_SHIFT;
const ONE_EXPECTED: u64 = 1 << EXPECTED_SHIFT;
const POISONED: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(pub(super) u64);

/// What becomes of a party with its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Afterwards {
    /// It comes again in the next phase.
    Stays,
    /// It has left for good.
    Leaves,
}

/// Why no arrival is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The completion function runs: not now.
    Tripping,
    /// Every party has left.
    Deserted,
    /// The completion function has panicked.
    Poisoned,
}

impl State {
    pub(super) const fn new(phase: u32, parties: u16) -> State {
        State(
            ((phase & LAST_PHASE) as u64) << PHASE_SHIFT
                | (parties as u64) << MISSING_SHIFT
                | (parties as u64) << EXPECTED_SHIFT,
        )
    }

    #[inline]
    pub(super) fn phase(self) -> u32 {
        self.0 as u32 >> PHASE_SHIFT
    }

    /// How many have not arrived yet.
    #[inline]
    pub(super) fn missing(self) -> u16 {
        (self.0 >> MISSING_SHIFT) as u16
    }

    /// How many have to arrive in the next phase.
    #[inline]
    pub(super) fn expected(self) -> u16 {
        (self.0 >> EXPECTED_SHIFT) as u16
    }

    #[inline]
    pub(super) fn has_waiters(self) -> bool {
        self.0 & WAITERS != 0
    }

    /// What waiters compare: the half with the phase and their bit.
    pub(super) fn waiting_half(self) -> u32 {
        self.0 as u32
    }

    pub(super) fn add_waiters(self) -> State {
        State(self.0 | WAITERS)
    }

    #[inline]
    pub(super) fn is_poisoned(self) -> bool {
        self.expected() == POISONED
    }

    /// Whether the phase has had its last arrival and not yet its end. (Or is none: the barrier is deserted or poisoned.)
    #[inline]
    pub(super) fn has_all(self) -> bool {
        self.missing() == 0
    }

    /// Why nobody can arrive now, if so.
    #[inline]
    pub(super) fn refusal(self) -> Option<Refusal> {
        match (self.missing(), self.expected()) {
            (_, POISONED) => Some(Refusal::Poisoned),
            (_, 0) => Some(Refusal::Deserted),
            (0, _) => Some(Refusal::Tripping),
            _ => None,
        }
    }

    /// With one missing fewer, if that is possible.
    #[inline]
    pub(super) fn arrive(self, afterwards: Afterwards) -> Option<State> {
        let change = match afterwards {
            Afterwards::Stays => ONE_MISSING,
            Afterwards::Leaves => ONE_MISSING + ONE_EXPECTED,
        };
        self.refusal().is_none().then(|| State(self.0 - change))
    }

    /// With one missing more. If nobody is left who could sleep, nobody need be woken.
    pub(super) fn withdraw(self) -> State {
        let withdrawn = State(self.0 + ONE_MISSING);
        if withdrawn.missing() == withdrawn.expected() { State(withdrawn.0 & !WAITERS) } else { withdrawn }
    }

    /// The next phase, with nobody arrived and nobody waiting.
    #[inline]
    pub(super) fn next_phase(self) -> State {
        State::new(self.phase().wrapping_add(1), self.expected())
    }

    /// For good, in a phase of its own, so that who waits for the one before need look at nothing else until then.
    pub(super) fn poison(self) -> State {
        State(State::new(self.phase().wrapping_add(1), 0).0 | (POISONED as u64) << EXPECTED_SHIFT)
    }

    /// What has become of a phase that was once this one.
    #[inline]
    pub(super) fn end_of(self, phase: u32) -> Option<Result<(), Refusal>> {
        if self.phase() == phase { None } else { Some(self.how_it_ended(phase)) }
    }

    /// Apart, so that a look in vain stays one comparison.
    #[inline(never)]
    fn how_it_ended(self, phase: u32) -> Result<(), Refusal> {
        let was_poisoned = self.is_poisoned() && self.phase() == (phase + 1) & LAST_PHASE;
        if was_poisoned { Err(Refusal::Poisoned) } else { Ok(()) }
    }
}

#[inline]
pub(super) fn load(word: &AtomicU64, order: Ordering) -> State {
    State(word.load(order))
}

/// [`Transition::transition`] in terms of [`State`].
#[inline]
pub(super) fn transition(
    word: &AtomicU64,
    mut next: impl FnMut(State) -> Option<(State, Ordering)>,
) -> Result<State, State> {
    word.transition(|now| next(State(now)).map(|(new, order)| (new.0, order))).map(State).map_err(State)
}

#[cfg(all(test, not(waitline_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_word_keep_out_of_each_others_way() {
        let full = State::new(LAST_PHASE, MAX_PARTIES).add_waiters();
        assert_eq!((full.phase(), full.missing(), full.expected()), (LAST_PHASE, MAX_PARTIES, MAX_PARTIES));
        assert!(full.has_waiters() && !full.is_poisoned() && !full.has_all());
        assert_eq!(full.waiting_half(), u32::MAX);
        assert_eq!(full.add_waiters(), full);
        let gone = (0..MAX_PARTIES).fold(full, |state, _| state.arrive(Afterwards::Leaves).unwrap());
        assert_eq!((gone.phase(), gone.missing(), gone.expected()), (LAST_PHASE, 0, 0));
        assert!(gone.has_waiters());
    }

    #[test]
    fn phases_come_round() {
        let last = State::new(LAST_PHASE, 3);
        assert_eq!(last.next_phase(), State::new(0, 3));
        assert_eq!(State::new(7, 3).add_waiters().next_phase(), State::new(8, 3));
    }

    #[test]
    fn a_phase_that_loses_parties_expects_fewer_from_then_on() {
        let three = State::new(0, 3);
        let two_missing = three.arrive(Afterwards::Leaves).unwrap();
        assert_eq!((two_missing.missing(), two_missing.expected()), (2, 2));
        let none_missing = two_missing.arrive(Afterwards::Stays).unwrap().arrive(Afterwards::Stays).unwrap();
        assert!(none_missing.has_all());
        assert_eq!(none_missing.next_phase(), State::new(1, 2));
    }

    #[test]
    fn a_withdrawal_undoes_an_arrival_and_clears_the_bit_after_the_last() {
        let state = State::new(5, 3);
        let arrived = state.arrive(Afterwards::Stays).unwrap();
        assert_eq!(arrived.withdraw(), state);
        assert_eq!(arrived.add_waiters().withdraw(), state);
        let both = arrived.arrive(Afterwards::Stays).unwrap().add_waiters();
        assert_eq!(both.withdraw(), arrived.add_waiters());
    }

    #[test]
    fn nobody_arrives_while_it_trips_nor_when_it_is_deserted_or_poisoned() {
        let tripping = State::new(0, 1).arrive(Afterwards::Stays).unwrap();
        let leaving = State::new(0, 1).arrive(Afterwards::Leaves).unwrap();
        let poisoned = tripping.add_waiters().poison();
        for (state, refusal) in [
            (tripping, Refusal::Tripping),
            (leaving, Refusal::Deserted),
            (leaving.next_phase(), Refusal::Deserted),
            (poisoned, Refusal::Poisoned),
        ] {
            assert_eq!(state.refusal(), Some(refusal));
            assert_eq!(state.arrive(Afterwards::Stays), None);
            assert_eq!(state.arrive(Afterwards::Leaves), None);
        }
        assert!(poisoned.is_poisoned() && !poisoned.has_waiters());
        assert_eq!(poisoned.end_of(0), Some(Err(Refusal::Poisoned)));
        assert_eq!(poisoned.end_of(LAST_PHASE), Some(Ok(())));
        assert_eq!(State::new(LAST_PHASE, 1).poison().end_of(LAST_PHASE), Some(Err(Refusal::Poisoned)));
    }
}
