//! The sending end. The invariants and edges are those of `channel.rs`.

#![allow(unsafe_code, reason = "what the sender may touch is the channel's to say")]

use core::fmt;
use core::mem::ManuallyDrop;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;

use super::SendError;
use super::channel::{Channel, GONE};
use crate::atomic::Ordering::Relaxed;

/// The end of a one-shot [`channel`](super::channel()) that sends the value.
///
/// Dropped without having sent, also by a panic, it tells the receiver that no value will come.
///
/// # Examples
///
/// ```
/// use waitline::oneshot::{self, RecvError};
///
/// let (sender, receiver) = oneshot::channel::<u32>();
/// drop(sender);
/// assert_eq!(receiver.recv(), Err(RecvError));
/// ```
#[doc(alias = "promise")]
pub struct Sender<T> {
    channel: NonNull<Channel<T>>,
}

// SAFETY: it sends a value of type T to another thread, and the rest of the channel is made for two threads.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: through a reference there is only `is_closed`, which looks at an atomic.
unsafe impl<T: Send> Sync for Sender<T> {}
/// A sender lends no value that a panic could have left half done.
impl<T> UnwindSafe for Sender<T> {}
/// As for [`UnwindSafe`].
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> Sender<T> {
    pub(super) fn new(channel: NonNull<Channel<T>>) -> Sender<T> {
        Sender { channel }
    }

    /// Sends the value, and wakes the receiver if that waits. Never waits.
    ///
    /// Makes a system call only if a thread waits, or one that shared the receiver has timed out. A waker that the receiver
    /// left is woken at last: whatever that does, or if it panics, the value has been sent. Everything before this call happens
    /// before the return of every call that finds the value.
    ///
    /// # Errors
    ///
    /// If the receiver is gone, the value comes back. `Ok` does not promise that the value will be received: the receiver may
    /// be dropped with it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    /// use waitline::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// let worker = thread::spawn(move || sender.send(6 * 7));
    /// assert_eq!(receiver.recv(), Ok(42));
    /// worker.join().unwrap().unwrap();
    /// ```
    #[doc(alias("set_value", "complete"))]
    #[inline]
    pub fn send(self, value: T) -> Result<(), SendError<T>> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the channel is this sender's, which is gone after this call.
        unsafe { Channel::send(this.channel, value) }.map_err(SendError)
    }

    /// Whether the receiver is gone, so that a value would come back. It may leave at any time later.
    ///
    /// Orders nothing. For work that is of no use once nobody wants its result.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel::<u32>();
    /// assert!(!sender.is_closed());
    /// drop(receiver);
    /// assert!(sender.is_closed());
    /// ```
    #[doc(alias = "is_canceled")]
    #[must_use]
    #[inline]
    pub fn is_closed(&self) -> bool {
        // SAFETY: alive until the sender leaves.
        let channel = unsafe { self.channel.as_ref() };
        channel.state.load(Relaxed) & GONE != 0
    }
}

impl<T> Drop for Sender<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the channel is this sender's, which is gone after this call.
        unsafe { Channel::close(self.channel) };
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}
