//! The receiving end, for many threads. The invariants and edges are those of `channel.rs`.

#![allow(unsafe_code, reason = "what the receivers may touch is the channel's to say")]

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;
use core::time::Duration;

use super::channel::Channel;
use super::settling::Settling;
use super::{RecvError, RecvTimeoutError, TryRecvError};
use crate::Deadline;
use crate::atomic::{
    Ordering::{Acquire, Relaxed, Release},
    Transition,
};

/// A receiving end of a one-shot [`channel`](super::channel()) that many threads share: it lends the value.
///
/// Made by [`Receiver::share`](super::Receiver::share), and cloned for each thread that wants one. Each waits with deadlines of its
/// own. The value lives until the last of them is dropped; only then is the receiver gone in the eyes of the sender.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use waitline::oneshot::{self, RecvTimeoutError};
///
/// let (sender, receiver) = oneshot::channel();
/// let one = receiver.share();
/// let another = one.clone();
/// assert_eq!(one.wait_for(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
/// sender.send(5).unwrap();
/// assert_eq!((one.wait(), another.wait()), (Ok(&5), Ok(&5)));
/// ```
#[doc(alias = "shared_future")]
pub struct SharedReceiver<T> {
    channel: NonNull<Channel<T>>,
}

// SAFETY: it lends a value of type T to any thread (Sync), and drops it on whichever is the last (Send).
unsafe impl<T: Send + Sync> Send for SharedReceiver<T> {}
// SAFETY: the same; every call is made for many threads.
unsafe impl<T: Send + Sync> Sync for SharedReceiver<T> {}
/// It lends what it has, as a reference does.
impl<T: RefUnwindSafe> UnwindSafe for SharedReceiver<T> {}
/// As for [`UnwindSafe`].
impl<T: RefUnwindSafe> RefUnwindSafe for SharedReceiver<T> {}

/// As many clones of one as a program can have in earnest. Far from where the count would overflow.
const MAX_SHARERS: u32 = u32::MAX / 2;

impl<T> SharedReceiver<T> {
    /// The first one. The channel is made with a count of one.
    pub(super) fn new(channel: NonNull<Channel<T>>) -> SharedReceiver<T> {
        SharedReceiver { channel }
    }

    /// The value, if it is there. Never waits, never spins, makes no system call.
    ///
    /// Orders memory as [`wait`](SharedReceiver::wait), but for [`TryRecvError::Empty`], which orders nothing.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] if the sender has neither sent nor left; [`TryRecvError::Disconnected`] if no value will come any
    /// more.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::oneshot::{self, TryRecvError};
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// let shared = receiver.share();
    /// assert_eq!(shared.get(), Err(TryRecvError::Empty));
    /// sender.send(5).unwrap();
    /// assert_eq!(shared.get(), Ok(&5));
    /// ```
    #[doc(alias = "try_recv")]
    #[inline]
    pub fn get(&self) -> Result<&T, TryRecvError> {
        match self.settling().now() {
            Some(settled) => self.lend(settled).ok_or(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// The value, waiting for it as long as it takes.
    ///
    /// Returns when the value is there, or it is known that none will come any more. Everything before the send, or before the
    /// drop of the sender, happens before that.
    ///
    /// # Errors
    ///
    /// [`RecvError`] as soon as it is known that no value will come any more.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    /// use waitline::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// let shared = receiver.share();
    /// thread::spawn(move || sender.send(5));
    /// assert_eq!(shared.wait(), Ok(&5));
    /// ```
    #[doc(alias = "recv")]
    #[inline]
    pub fn wait(&self) -> Result<&T, RecvError> {
        self.lend(self.settling().for_ever()).ok_or(RecvError)
    }

    /// The value, waiting for it no longer than `timeout` on the monotonic clock.
    ///
    /// Returns
    ///
    /// 1. the value as soon as it is there, also with a `timeout` of zero;
    /// 2. [`RecvTimeoutError::Disconnected`] as soon as it is known that no value will come any more;
    /// 3. [`RecvTimeoutError::Timeout`] once the time is up and a last look has found neither.
    ///
    /// A `timeout` that the clock can't represent, such as `Duration::MAX`, waits as [`wait`](SharedReceiver::wait) does.
    /// `Duration::ZERO` reads no clock. Orders memory as [`wait`](SharedReceiver::wait), but for a timeout, which orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::oneshot::{self, RecvTimeoutError};
    ///
    /// let (sender, receiver) = oneshot::channel::<u32>();
    /// let shared = receiver.share();
    /// assert_eq!(shared.wait_for(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    /// drop(sender);
    /// assert_eq!(shared.wait_for(Duration::from_millis(1)), Err(RecvTimeoutError::Disconnected));
    /// ```
    #[doc(alias("wait_timeout", "recv_timeout"))]
    #[inline]
    pub fn wait_for(&self, timeout: Duration) -> Result<&T, RecvTimeoutError> {
        self.lend_in_time(self.settling().within(timeout))
    }

    /// The value, waiting for it no longer than until `deadline`, on the deadline's clock.
    ///
    /// Returns and orders memory as [`wait_for`](SharedReceiver::wait_for) does. When the deadline has passed already, that
    /// takes at most a clock read and no system call.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::{Deadline, oneshot};
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// let shared = receiver.share();
    /// sender.send(5).unwrap();
    /// assert_eq!(shared.wait_until(Deadline::PASSED), Ok(&5));
    /// ```
    #[doc(alias = "recv_deadline")]
    #[inline]
    pub fn wait_until(&self, deadline: impl Into<Deadline>) -> Result<&T, RecvTimeoutError> {
        self.lend_in_time(self.settling().until(deadline.into()))
    }

    #[inline]
    fn channel(&self) -> &Channel<T> {
        // SAFETY: alive until the last receiver leaves.
        unsafe { self.channel.as_ref() }
    }

    #[inline]
    fn settling(&self) -> Settling<'_> {
        Settling { state: &self.channel().state, is_shared: true }
    }

    #[inline]
    fn lend(&self, settled: u32) -> Option<&T> {
        // SAFETY: this is a receiver, none of which takes the value while one of them is there.
        unsafe { self.channel().lend(settled) }
    }

    #[inline]
    fn lend_in_time(&self, settled: Option<u32>) -> Result<&T, RecvTimeoutError> {
        match settled {
            Some(settled) => self.lend(settled).ok_or(RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        }
    }
}

/// # Panics
///
/// If there are more than 2^31 of them, which takes a program that forgets to drop them.
impl<T> Clone for SharedReceiver<T> {
    fn clone(&self) -> SharedReceiver<T> {
        let counted = self.channel().sharers.transition(|now| (now < MAX_SHARERS).then_some((now + 1, Relaxed)));
        assert!(counted.is_ok(), "2^31 shared receivers of one channel");
        SharedReceiver { channel: self.channel }
    }
}

impl<T> Drop for SharedReceiver<T> {
    fn drop(&mut self) {
        let sharers = &self.channel().sharers;
        if sharers.fetch_sub(1, Release /* E5 */) == 1 {
            sharers.load(Acquire /* E5 */);
            // SAFETY: this is the last receiver, and is gone after this call.
            unsafe { Channel::leave(self.channel) };
        }
    }
}

impl<T> fmt::Debug for SharedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedReceiver").field("is_ready", &self.settling().now().is_some()).finish_non_exhaustive()
    }
}
