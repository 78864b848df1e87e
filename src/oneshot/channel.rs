//! The one-shot channel: what its two sides share, and who may touch what when.
//!
//! # State word
//!
//! | bit | name     | set by | meaning |
//! |-----|----------|--------|---------|
//! | 0   | `VALUE`  | sender | the value is in its slot. Cleared by the receiver, which takes it. |
//! | 1   | `CLOSED` | sender | it has sent or left: the channel is *settled*, for good |
//! | 2   | `GONE`   | receiver | it has left |
//! | 3   | `PARKED` | receiver | threads may sleep until the channel is settled. May be set in vain. |
//! | 4   | `WAKER`  | receiver | a waker is in its slot |
//!
//! ```text
//!           ┌─ send ─▶ CLOSED | VALUE ─ receive ─┐
//!  (empty) ─┤                                    ├─▶ CLOSED
//!           └─ drop of the sender ───────────────┘
//!
//!  PARKED and WAKER come and go in the empty state, and may stand beside CLOSED.
//!  GONE is the receiver's last write, unless it frees.
//! ```
//!
//! # Invariants
//!
//! * I1. The value slot is the sender's until `VALUE`, and the receiver's from then on.
//! * I2. The waker slot is the receiver's until `CLOSED`. If `WAKER` was set in the value that `CLOSED` was set in, it is the
//!   sender's from then on, until that has cleared `WAKER`.
//! * I3. The sender sets `CLOSED` once. If `PARKED` was set in the value replaced it wakes everybody, and if `WAKER` was, it
//!   takes the waker, clears the bit and wakes by the waker at last.
//! * I4. A thread sleeps only on a value with `PARKED` and without `CLOSED`.
//! * I5. Whoever leaves and sees that the other side has left frees the channel. One exception: the receiver that leaves while
//!   the sender is at the waker (`CLOSED` and `WAKER`) leaves it to the sender, who sees `GONE` as it clears `WAKER`.
//! * I6. Every change is a read-modify-write until `CLOSED` stands without `WAKER`. Then only the receiver is left.
//! * I7. A bit is set or cleared by addition only where that is known to be a change: by the sender, which sets `VALUE` and `CLOSED`
//!   once, and clears `WAKER` where it stands; by the one receiver, which sets `GONE` once, and clears the `PARKED` that it has set.
//!
//! No wake-up is lost: the write that sets `CLOSED` comes before or after that which sets `PARKED` or `WAKER`. Before: the
//! latter finds it and is not made. After: it finds the bit (I3), and the thread either sleeps by then or compares after it.
//!
//! # Memory ordering
//!
//! | edge | from → to | why |
//! |------|-----------|-----|
//! | E1 | write that sets `CLOSED` (Release) → look that finds it (Acquire) | the value, and what was done before sending it, is visible to who receives it; the sender has left |
//! | E2 | write that sets `GONE` (Release) → write that finds it (Acquire) | the receiver has left before the sender frees |
//! | E3 | write that sets `WAKER` (Release) → write that sets `CLOSED` (Acquire) | the sender takes a whole waker |
//! | E4 | write that clears `WAKER` beside `CLOSED` (Release) → look that finds it cleared (Acquire) | the sender has left before the receiver frees |
//! | E5 | a sharer's count down (Release) → the last one's look (Acquire) | nobody borrows the value when it is dropped |
//!
//! # Destruction
//!
//! As in I5. A sender that does not free touches nothing after the write that sets `CLOSED`, or clears `WAKER`: the address
//! for its wake is computed before, and the waker is its own by then.

#![allow(unsafe_code, reason = "two sides that share slots by the bits above")]

use core::ptr::NonNull;
use core::task::{Context, Poll, Waker};

use super::settling::settled;
use super::slot::Slot;
use crate::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
    Transition,
};
use crate::sys::{self, Word};

pub(super) const VALUE: u32 = 1;
pub(super) const CLOSED: u32 = 2;
pub(super) const GONE: u32 = 4;
pub(super) const PARKED: u32 = 8;
pub(super) const WAKER: u32 = 16;

pub(super) struct Channel<T> {
    pub(super) state: AtomicU32,
    /// How many receivers share the channel, once it is shared.
    pub(super) sharers: AtomicU32,
    waker: Slot<Waker>,
    value: Slot<T>,
    #[cfg(all(test, waitline_loom))]
    _must_be_freed: crate::atomic::model::Track<()>,
}

impl<T> Channel<T> {
    /// For a sender and a receiver, each of which leaves it in the end.
    pub(super) fn allocate() -> NonNull<Channel<T>> {
        NonNull::from(Box::leak(Box::new(Channel {
            state: AtomicU32::new(0),
            sharers: AtomicU32::new(1),
            waker: Slot::empty(),
            value: Slot::empty(),
            #[cfg(all(test, waitline_loom))]
            _must_be_freed: crate::atomic::model::Track::new(()),
        })))
    }

    /// Takes the memory back. Slots are not dropped.
    ///
    /// # Safety
    ///
    /// The other side has left, and everything that it did happened before (I5).
    unsafe fn free(this: NonNull<Channel<T>>) -> Box<Channel<T>> {
        // SAFETY: made by `allocate`; nobody else has it any more, by the caller's promise.
        unsafe { Box::from_raw(this.as_ptr()) }
    }

    /// The sender sends and leaves. The value comes back if the receiver has left.
    ///
    /// # Safety
    ///
    /// `this` is the sender's, which does not use it again.
    #[inline]
    pub(super) unsafe fn send(this: NonNull<Channel<T>>, value: T) -> Result<(), T> {
        // SAFETY: alive until the sender leaves.
        let channel = unsafe { this.as_ref() };
        // SAFETY: the slot is the sender's (I1).
        unsafe { channel.value.put(value) };
        // SAFETY: by the caller's promise.
        if unsafe { Channel::settle(this, VALUE | CLOSED) } {
            return Ok(());
        }
        // SAFETY: the receiver has left (E2).
        let channel = unsafe { Channel::free(this) };
        // SAFETY: written above, and the receiver has not seen it.
        Err(unsafe { channel.value.take() })
    }

    /// The sender leaves without a value.
    ///
    /// # Safety
    ///
    /// As for `send`.
    #[inline]
    pub(super) unsafe fn close(this: NonNull<Channel<T>>) {
        // SAFETY: by the caller's promise.
        if !unsafe { Channel::settle(this, CLOSED) } {
            // SAFETY: the receiver has left (E2).
            drop(unsafe { Channel::free(this) });
        }
    }

    /// The write that settles the channel, and what it entails (I3). `false` if the receiver has left: then the channel is the
    /// caller's to free. Else it is not to be touched again.
    ///
    /// # Safety
    ///
    /// As for `send`.
    #[inline]
    unsafe fn settle(this: NonNull<Channel<T>>, bits: u32) -> bool {
        // SAFETY: alive until the write below, by which the sender leaves.
        let state = unsafe { &(*this.as_ptr()).state };
        let sleepers = Word::Whole(state).address();
        // Adding the bits sets them (I7), which is one instruction on more processors.
        let before = state.fetch_add(bits, AcqRel /* E1, E2, E3 */);
        if before & GONE != 0 {
            return false;
        }
        if before & (PARKED | WAKER) != 0 {
            // SAFETY: the bits are those of the value replaced.
            unsafe { Channel::wake(this, before, sleepers) };
        }
        true
    }

    /// # Safety
    ///
    /// `before` is the value in which the sender set `CLOSED`, and had no `GONE`.
    #[cold]
    unsafe fn wake(this: NonNull<Channel<T>>, before: u32, sleepers: *const u32) {
        let waker = (before & WAKER != 0).then(|| {
            // SAFETY: WAKER stands, so the receiver leaves the channel to the sender (I5).
            let channel = unsafe { this.as_ref() };
            // SAFETY: the slot is the sender's and holds a waker (I2, E3).
            let waker = unsafe { channel.waker.take() };
            if channel.state.fetch_sub(WAKER, AcqRel /* E2, E4 */) & GONE != 0 {
                // SAFETY: the receiver has left (E2), and has taken the value along (I5).
                drop(unsafe { Channel::free(this) });
            }
            waker
        });
        if before & PARKED != 0 {
            sys::wake(sleepers, u32::MAX);
        }
        // At last, because it is somebody else's code.
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The receiver takes the value, if it is there.
    ///
    /// # Safety
    ///
    /// Called by the receiver, and `settled` is what it has seen of the word last.
    #[inline]
    pub(super) unsafe fn take(&self, settled: u32) -> Option<T> {
        if settled & VALUE == 0 {
            return None;
        }
        // SAFETY: the slot is the receiver's and holds a value (I1, E1).
        let value = unsafe { self.value.take() };
        if settled & WAKER == 0 {
            self.state.store(settled & !(VALUE | PARKED), Relaxed); // I6
        } else {
            self.state.fetch_and(!VALUE, Relaxed);
        }
        Some(value)
    }

    /// The value, if it is there.
    ///
    /// # Safety
    ///
    /// Called by the receiver, which takes no value while it lends one, and `settled` is what it has seen of the word.
    #[inline]
    pub(super) unsafe fn lend(&self, settled: u32) -> Option<&T> {
        // SAFETY: the slot is the receiver's and holds a value (I1, E1), which stays there, by the caller's promise.
        (settled & VALUE != 0).then(|| unsafe { self.value.lend() })
    }

    /// The value when the channel is settled; else leaves a waker in place of any that was left before.
    ///
    /// # Safety
    ///
    /// Called by the receiver.
    pub(super) unsafe fn poll(&self, context: &Context<'_>) -> Poll<Option<T>> {
        let waker = match self.take_waker_back() {
            Ok(waker) => waker,
            // SAFETY: by the caller's promise.
            Err(settled) => return Poll::Ready(unsafe { self.take(settled) }),
        };
        // Nothing is registered now: whatever panics here, somebody else's clone or drop, leaves nothing behind.
        let waker = match waker {
            Some(waker) if waker.will_wake(context.waker()) => waker,
            stale => {
                let fresh = context.waker().clone();
                drop(stale);
                fresh
            }
        };
        // SAFETY: the slot is the receiver's (I2), and empty.
        unsafe { self.waker.put(waker) };
        match self.announce_waker() {
            Ok(()) => Poll::Pending,
            Err(settled) => {
                // SAFETY: WAKER was not set, so the slot is still the receiver's (I2), and full.
                drop(unsafe { self.waker.take() });
                // SAFETY: by the caller's promise.
                Poll::Ready(unsafe { self.take(settled) })
            }
        }
    }

    /// Sets `WAKER`, unless the channel is settled.
    fn announce_waker(&self) -> Result<(), u32> {
        let announced =
            self.state.transition(|now| (now & CLOSED == 0).then_some((now | WAKER, Release /* E3 */)));
        announced.map(drop).map_err(|_| self.settled())
    }

    /// Clears `WAKER` and empties its slot, unless the channel is settled.
    fn take_waker_back(&self) -> Result<Option<Waker>, u32> {
        let cleared = self.state.transition(|now| (now & (CLOSED | WAKER) == WAKER).then_some((now & !WAKER, Relaxed)));
        match cleared {
            // SAFETY: WAKER stood without CLOSED, so the slot is the receiver's, and full (I2).
            Ok(_) => Ok(Some(unsafe { self.waker.take() })),
            Err(now) if now & CLOSED != 0 => Err(self.settled()),
            Err(_) => Ok(None),
        }
    }

    /// Of a channel that has been seen to be settled, as it stays.
    fn settled(&self) -> u32 {
        settled(&self.state).expect("a settled channel stays so")
    }

    /// Drops the waker that was left, if any.
    pub(super) fn drop_waker(&self) {
        drop(self.take_waker_back());
    }

    /// The receiver leaves. What was sent and not received is dropped.
    ///
    /// # Safety
    ///
    /// `this` is the receiver's, which does not use it again.
    #[inline]
    pub(super) unsafe fn leave(this: NonNull<Channel<T>>) {
        // SAFETY: alive until the receiver leaves.
        let now = unsafe { this.as_ref() }.state.load(Acquire /* E1, E4 */);
        if now & (CLOSED | WAKER) == CLOSED {
            // SAFETY: the sender has left (E1), and is not at the waker (E4).
            unsafe { Channel::free_settled(this, now) };
        } else {
            // SAFETY: by the caller's promise.
            unsafe { Channel::leave_early(this, now) };
        }
    }

    /// The sender is still there, or was when the receiver looked.
    ///
    /// # Safety
    ///
    /// As for `leave`.
    #[inline(never)]
    unsafe fn leave_early(this: NonNull<Channel<T>>, seen: u32) {
        // SAFETY: alive until the receiver leaves.
        let channel = unsafe { this.as_ref() };
        // Dropped at last: that is somebody else's code.
        // SAFETY: by the caller's promise.
        let _leftovers = (seen & WAKER != 0).then(|| unsafe { channel.empty_slots() });
        let before = channel.state.fetch_add(GONE, AcqRel /* E1, E2, E4 */);
        if before & (CLOSED | WAKER) == CLOSED {
            // SAFETY: the sender has left (E1), and is not at the waker (E4). Else it frees.
            unsafe { Channel::free_settled(this, before) };
        }
    }

    /// # Safety
    ///
    /// The sender has left, and everything that it did happened before. `settled` is what the receiver has seen of the word last.
    #[inline]
    unsafe fn free_settled(this: NonNull<Channel<T>>, settled: u32) {
        // SAFETY: by the caller's promise.
        let channel = unsafe { Channel::free(this) };
        if settled & VALUE != 0 {
            // SAFETY: the slot is the receiver's and holds a value (I1, E1).
            unsafe { channel.value.drop_in_place() };
        }
    }

    /// The waker that was left; or the value, if the sender has the waker.
    ///
    /// # Safety
    ///
    /// Called by the receiver.
    #[cold]
    unsafe fn empty_slots(&self) -> Result<Option<Waker>, Option<T>> {
        self.take_waker_back().map_err(|settled| {
            // SAFETY: by the caller's promise.
            unsafe { self.take(settled) }
        })
    }
}

/// For the models: a channel is freed, and after everything that was done to it.
#[cfg(all(test, waitline_loom))]
impl<T> Drop for Channel<T> {
    fn drop(&mut self) {
        self.state.with_mut(|_| ());
    }
}
