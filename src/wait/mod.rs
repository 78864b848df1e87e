//! The wait core: one loop that every blocking call of every primitive goes through.
//!
//! A primitive says what it waits for, how it announces itself and how it takes its leave ([`Waiter`]); a back-end
//! of `sys` knows how to sleep. What is between them is here, once, and in this order:
//!
//! 1. **Try** before anything else, inline: what is there beats a deadline that has passed ([`within`], [`until`]).
//! 2. **Deadline first**: before any spin, any write and any system call.
//! 3. **Spin**, once a call, by counts and not by the clock (`spin.rs`).
//! 4. **Announce**, by a read-modify-write of the word that whoever ends the wait changes. That one's own
//!    read-modify-write then either comes later and sees the announcement, or came earlier and is seen here.
//! 5. **Sleep** on the one absolute deadline, and look again whenever `sys` says so, without a new spin.
//! 6. **Last look** when the time is up: what came by then is taken, and only otherwise is the announcement taken
//!    back and [`TimedOut`] reported. So no value comes at the deadline and is left behind.

mod atomic;
mod expiry;
mod lock;
mod queues;
mod spin;
mod table;

use core::time::Duration;

pub use self::atomic::AtomicWait;
#[cfg(all(test, waitline_loom))]
pub(crate) use self::table::counted_waiters;

pub(crate) use self::spin::Awake;
use crate::sys::{self, Word};
use crate::{Deadline, TimedOut};

/// One blocking call, as the wait core sees it.
pub(crate) trait Waiter<'a> {
    /// What the call waits for.
    type Output;

    /// One attempt that leaves no trace if it fails.
    fn attempt(&mut self) -> Option<Self::Output>;

    /// How long to look before it sleeps. Not at all where others sleep already for what this call would take if it were awake
    /// at the right moment.
    fn stay_awake(&self) -> Awake;

    /// One attempt; if it fails, the announcement (unless made before) and what to sleep on.
    fn attempt_or_announce(&mut self) -> Step<'a, Self::Output>;

    /// The last look: one attempt; if it fails, the announcement is taken back.
    fn attempt_or_leave(&mut self) -> Option<Self::Output>;
}

/// What a waiter does next.
pub(crate) enum Step<'a, T> {
    /// It has what it waited for.
    Done(T),
    /// It sleeps while the word holds the value.
    Sleep(Word<'a>, u32),
}

/// A call that may take `timeout`: a look first; if it fails and the time is not up, `wait`, which ends in [`block_on`].
///
/// The timeout becomes a deadline only after the look, so that a timed call that succeeds at once reads no clock.
#[inline]
pub(crate) fn within<T>(
    timeout: Duration,
    look: impl Fn() -> Option<T>,
    wait: impl FnOnce(Deadline) -> Option<T>,
) -> Option<T> {
    let found = look();
    if found.is_some() || timeout.is_zero() {
        return found; // with no clock to read
    }
    match expiry::start(timeout) {
        Some(deadline) => wait(deadline),
        None => look(), // much may have come meanwhile
    }
}

/// A call that may take until `deadline`, as [`within`].
#[inline]
pub(crate) fn until<T>(
    deadline: Deadline,
    look: impl Fn() -> Option<T>,
    wait: impl FnOnce(Deadline) -> Option<T>,
) -> Option<T> {
    let found = look();
    if found.is_some() {
        return found;
    }
    if expiry::has_passed(deadline) { look() } else { wait(deadline) }
}

/// Waits until `waiter` has what it waits for, or until the deadline, which has been looked at before.
///
/// Cold, so that a call that ends at its first look does nothing for the sake of this one before.
#[cold]
pub(crate) fn block_on<'a, W: Waiter<'a>>(mut waiter: W, deadline: Deadline) -> Result<W::Output, TimedOut> {
    if !sys::HAS_THREADS && deadline == Deadline::NEVER {
        // Told before anything is announced, so that no waiter stays behind in the object.
        return Ok(waiter.attempt().expect("nobody can end this wait, because the target has no threads"));
    }
    if let Some(output) = spin::spin(&mut waiter, deadline) {
        return Ok(output);
    }
    loop {
        let (word, expected) = match waiter.attempt_or_announce() {
            Step::Done(output) => return Ok(output),
            Step::Sleep(word, expected) => (word, expected),
        };
        if sys::wait(word, expected, deadline).is_err() {
            return waiter.attempt_or_leave().ok_or(TimedOut);
        }
    }
}

/// Waits until `waiter` has what it waits for.
#[cold]
pub(crate) fn block_on_forever<'a, W: Waiter<'a>>(waiter: W) -> W::Output {
    match block_on(waiter, Deadline::NEVER) {
        Ok(output) => output,
        Err(TimedOut) => unreachable!("a deadline that never comes has come"),
    }
}
