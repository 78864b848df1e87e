//! What a release does to the word. The invariants and edges are those of `counting.rs`.

use super::state::{self, FAR_BELOW_MAX, FAST_RELEASE, State};
use crate::atomic::{AtomicU64, Ordering::Release};
use crate::sys::{self, Word};

/// Raises permits by `n` as `rule` says and wakes (I3); `false`, and no change, if `rule` refuses.
///
/// # Safety
///
/// `word` is alive until the one write of this call.
#[allow(unsafe_code, reason = "the word may die at the write")]
#[inline]
pub(super) unsafe fn give(word: *const AtomicU64, n: u32, rule: fn(State, u32) -> Option<State>) -> bool {
    if n == 0 {
        return true;
    }
    // SAFETY: alive, by the caller's promise; not used after the write below.
    let word = unsafe { &*word };
    let sleepers = Word::LowHalf(word).address();
    let before = if n <= FAST_RELEASE && state::load(word).permits() <= FAR_BELOW_MAX {
        State(word.fetch_add(u64::from(n), Release /* E1 */))
    } else {
        match give_with_care(word, n, rule) {
            Some(before) => before,
            None => return false,
        }
    };
    if before.waiters() > 0 {
        wake_sleepers(sleepers, n.min(before.waiters())); // I3
    }
    true
}

#[cold]
fn give_with_care(word: &AtomicU64, n: u32, rule: fn(State, u32) -> Option<State>) -> Option<State> {
    state::transition(word, |now| Some((rule(now, n)?, Release /* E1 */))).ok() // I1
}

#[cold]
fn wake_sleepers(sleepers: *const u32, n: u32) {
    sys::wake(sleepers, n);
}
