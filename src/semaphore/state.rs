//! The counting semaphore's word, as numbers: what each transition does to it. `counting.rs` says what it means.

use crate::atomic::{AtomicU64, Ordering, Transition};

/// The greatest number of permits. Half of what the bits hold, so that the overshoot of [`FAST_RELEASE`] fits too.
pub(super) const MAX_PERMITS: u32 = i32::MAX as u32;

/// A release of at most this many permits may be a plain `fetch_add`, if the count was at most [`FAR_BELOW_MAX`] just
/// before. If others release very many in between, the count may end above [`MAX_PERMITS`], by this many a thread. It
/// would take 2^25 threads in that very step to reach the other half.
pub(super) const FAST_RELEASE: u32 = 64;
pub(super) const FAR_BELOW_MAX: u32 = MAX_PERMITS - (1 << 30);

const ONE_WAITER: u64 = 1 << 32;
const WAITERS: u64 = (1 << 62) - ONE_WAITER;
const QUEUE: u64 = 1 << 62;
const TURN: u64 = 1 << 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(pub(super) u64);

impl State {
    pub(super) const fn of(permits: u32) -> State {
        State(permits as u64)
    }

    #[inline]
    pub(super) fn permits(self) -> u32 {
        self.0 as u32
    }

    /// What a thread that waits for its turn compares: the half that is not the permits.
    pub(super) fn waiting_half(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(super) fn waiters(self) -> u32 {
        ((self.0 & WAITERS) >> 32) as u32
    }

    pub(super) fn has_queue(self) -> bool {
        self.0 & QUEUE != 0
    }

    pub(super) fn has_turn(self) -> bool {
        self.0 & TURN != 0
    }

    /// With `n` permits fewer, if there are as many.
    #[inline]
    pub(super) fn take(self, n: u32) -> Option<State> {
        (self.permits() >= n).then(|| State(self.0 - u64::from(n)))
    }

    pub(super) fn take_all(self) -> State {
        State(self.0 - u64::from(self.permits()))
    }

    /// With `n` permits more, if that is not more than there may be.
    pub(super) fn give(self, n: u32) -> Option<State> {
        (n <= MAX_PERMITS.saturating_sub(self.permits())).then(|| State(self.0 + u64::from(n)))
    }

    /// With `n` permits more, or as many as there may be.
    pub(super) fn give_what_fits(self, n: u32) -> State {
        State(self.0 + u64::from(n.min(MAX_PERMITS.saturating_sub(self.permits()))))
    }

    pub(super) fn add_waiter(self) -> State {
        debug_assert!(self.0 & WAITERS != WAITERS, "2^30 threads wait");
        State(self.0 + ONE_WAITER)
    }

    pub(super) fn remove_waiter(self) -> State {
        debug_assert!(self.waiters() > 0, "nobody was registered");
        State(self.0 - ONE_WAITER)
    }

    pub(super) fn set_queue(self) -> State {
        State(self.0 | QUEUE)
    }

    pub(super) fn set_turn(self) -> State {
        State(self.0 | TURN)
    }

    pub(super) fn clear_turn_and_queue(self) -> State {
        State(self.0 & !(TURN | QUEUE))
    }
}

#[inline]
pub(super) fn load(word: &AtomicU64) -> State {
    State(word.load(Ordering::Relaxed))
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
        let full = State::of(MAX_PERMITS).add_waiter().add_waiter().set_queue().set_turn();
        assert_eq!((full.permits(), full.waiters()), (MAX_PERMITS, 2));
        assert!(full.has_queue() && full.has_turn());
        assert_eq!(full.set_queue().set_turn(), full);
        let bare = full.take_all().remove_waiter().remove_waiter().clear_turn_and_queue();
        assert_eq!(bare, State::of(0));
        let crowd = State((1 << 62) - (1 << 32));
        assert_eq!((crowd.waiters(), crowd.permits()), ((1 << 30) - 1, 0));
        assert!(!crowd.has_queue() && !crowd.has_turn());
        assert_eq!(crowd.set_queue().set_turn().waiting_half(), u32::MAX);
    }

    #[test]
    fn permits_are_taken_whole_and_given_up_to_the_maximum() {
        let state = State::of(3).add_waiter();
        assert_eq!(state.take(4), None);
        assert_eq!(state.take(3), Some(State::of(0).add_waiter()));
        let nearly = State::of(MAX_PERMITS - 1).set_turn();
        assert_eq!(nearly.give(2), None);
        assert_eq!(nearly.give(1).unwrap().permits(), MAX_PERMITS);
        assert_eq!(nearly.give_what_fits(9), State::of(MAX_PERMITS).set_turn());
        assert_eq!(State::of(MAX_PERMITS).give(0), Some(State::of(MAX_PERMITS)));
    }

    #[test]
    fn no_crowd_of_fast_releases_reaches_the_other_half() {
        let threads = 1_u64 << 22; // more than Linux has thread ids
        let most = u64::from(MAX_PERMITS) + threads * u64::from(FAST_RELEASE);
        assert!(most <= u64::from(u32::MAX));
        // Nor, on its own, the maximum; and it is few releases that are not fast.
        assert!(u64::from(FAR_BELOW_MAX) + threads * u64::from(FAST_RELEASE) <= u64::from(MAX_PERMITS));
        const { assert!(FAR_BELOW_MAX >= MAX_PERMITS / 2) };
        // What is beyond the maximum can be taken, and nothing can be given.
        let beyond = State::of(MAX_PERMITS + 64);
        assert_eq!(beyond.give(1), None);
        assert_eq!(beyond.give_what_fits(1), beyond);
        assert_eq!(beyond.take(65), Some(State::of(MAX_PERMITS - 1)));
    }
}
