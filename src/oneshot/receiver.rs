//! The receiving end. The invariants and edges are those of `channel.rs`.

#![allow(unsafe_code, reason = "what the receiver may touch is the channel's to say")]

use core::fmt;
use core::future::IntoFuture;
use core::mem::ManuallyDrop;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;
use core::task::{Context, Poll};
use core::time::Duration;

use super::channel::Channel;
use super::settling::Settling;
use super::{RecvError, RecvFuture, RecvTimeoutError, SharedReceiver, TryRecvError};
use crate::{Deadline, TimedOut};

/// The end of a one-shot [`channel`](super::channel()) that receives the value.
///
/// Every call takes `&self` and can be made as often as wanted, in any order: a call that timed out changes nothing, and after
/// the value has been received every call says *disconnected*. A value that is there beats a deadline that has passed, and so does
/// *disconnected*.
///
/// To wait in asynchronous code, `.await` it. It is for one thread at a time; [`share`](Receiver::share) makes it one for many.
///
/// Dropping it drops a value that has been sent and not received.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use waitline::oneshot::{self, RecvTimeoutError, TryRecvError};
///
/// let (sender, receiver) = oneshot::channel();
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
/// assert_eq!(receiver.recv_for(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
/// sender.send(5).unwrap();
/// assert_eq!(receiver.recv_for(Duration::ZERO), Ok(5));
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
/// ```
#[doc(alias = "future")]
pub struct Receiver<T> {
    channel: NonNull<Channel<T>>,
}

// SAFETY: it receives a value of type T from another thread, and the rest of the channel is made for two threads.
unsafe impl<T: Send> Send for Receiver<T> {}
/// A receiver lends no value that a panic could have left half done.
impl<T> UnwindSafe for Receiver<T> {}
/// As for [`UnwindSafe`].
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(super) fn new(channel: NonNull<Channel<T>>) -> Receiver<T> {
        Receiver { channel }
    }

    /// Whether the channel is settled: [`try_recv`](Receiver::try_recv) will not say [`Empty`](TryRecvError::Empty). Once so, it
    /// stays so. Never waits. `true` orders memory as [`wait`](Receiver::wait) does, `false` orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// assert!(!receiver.is_ready());
    /// sender.send(5).unwrap();
    /// assert!(receiver.is_ready());
    /// ```
    #[doc(alias("isDone", "is_terminated"))]
    #[must_use]
    #[inline]
    pub fn is_ready(&self) -> bool {
        self.settling().now().is_some()
    }

    /// Takes the value if it is there. Never waits, never spins, makes no system call.
    ///
    /// Orders memory as [`recv`](Receiver::recv), but for [`TryRecvError::Empty`], which orders nothing.
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
    /// let (sender, receiver) = oneshot::channel::<u32>();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    /// ```
    #[doc(alias = "poll")]
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.settling().now() {
            Some(settled) => self.take(settled).ok_or(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Takes the value, waiting for it as long as it takes.
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
    /// thread::spawn(move || sender.send(5));
    /// assert_eq!(receiver.recv(), Ok(5));
    /// ```
    #[doc(alias("get", "blocking_recv", "join"))]
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.take(self.settling().for_ever()).ok_or(RecvError)
    }

    /// Takes the value, waiting for it no longer than `timeout` on the monotonic clock.
    ///
    /// Returns
    ///
    /// 1. the value as soon as it is there, also with a `timeout` of zero;
    /// 2. [`RecvTimeoutError::Disconnected`] as soon as it is known that no value will come any more;
    /// 3. [`RecvTimeoutError::Timeout`] once the time is up and a last look has found neither. The value can still be received
    ///    later.
    ///
    /// A `timeout` that the clock can't represent, such as `Duration::MAX`, waits as [`recv`](Receiver::recv) does.
    /// `Duration::ZERO` reads no clock. Orders memory as [`recv`](Receiver::recv), but for a timeout, which orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::oneshot::{self, RecvTimeoutError};
    ///
    /// let (sender, receiver) = oneshot::channel::<u32>();
    /// assert_eq!(receiver.recv_for(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    /// # drop(sender);
    /// ```
    #[doc(alias("recv_timeout", "get_timeout"))]
    #[inline]
    pub fn recv_for(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.take_in_time(self.settling().within(timeout))
    }

    /// Takes the value, waiting for it no longer than until `deadline`, on the deadline's clock.
    ///
    /// Returns and orders memory as [`recv_for`](Receiver::recv_for) does. When the deadline has passed already, that takes at
    /// most a clock read and no system call.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    /// use waitline::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// sender.send(5).unwrap();
    /// assert_eq!(receiver.recv_until(Instant::now()), Ok(5));
    /// ```
    #[doc(alias = "recv_deadline")]
    #[inline]
    pub fn recv_until(&self, deadline: impl Into<Deadline>) -> Result<T, RecvTimeoutError> {
        self.take_in_time(self.settling().until(deadline.into()))
    }

    /// Waits until the channel is settled, as long as it takes, and leaves the value where it is. Returns and orders memory as
    /// [`recv`](Receiver::recv) does.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// sender.send(5).unwrap();
    /// receiver.wait();
    /// assert_eq!(receiver.try_recv(), Ok(5));
    /// ```
    #[inline]
    pub fn wait(&self) {
        self.settling().for_ever();
    }

    /// Waits until the channel is settled, no longer than `timeout` on the monotonic clock, and leaves the value where it is.
    ///
    /// Returns
    ///
    /// 1. `Ok` as soon as there is a value, or it is known that none will come any more;
    /// 2. [`TimedOut`] once the time is up and a last look has found neither.
    ///
    /// Extreme timeouts are as for [`recv_for`](Receiver::recv_for), and so is memory ordering.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel::<u32>();
    /// assert!(receiver.wait_for(Duration::from_millis(1)).is_err());
    /// drop(sender);
    /// assert!(receiver.wait_for(Duration::from_millis(1)).is_ok());
    /// ```
    #[doc(alias = "wait_timeout")]
    #[must_use = "whether the channel is settled"]
    #[inline]
    pub fn wait_for(&self, timeout: Duration) -> Result<(), TimedOut> {
        self.settling().within(timeout).map(drop).ok_or(TimedOut)
    }

    /// Waits until the channel is settled, no longer than until `deadline`, on the deadline's clock, and leaves the value where it
    /// is.
    ///
    /// Returns and orders memory as [`wait_for`](Receiver::wait_for) does. When the deadline has passed already, that takes at
    /// most a clock read and no system call.
    ///
    /// # Examples
    ///
    /// One deadline for several results:
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::{Deadline, oneshot};
    ///
    /// let (sender, first) = oneshot::channel();
    /// let (_unused, second) = oneshot::channel::<u32>();
    /// sender.send(5).unwrap();
    /// let deadline = Deadline::after(Duration::from_millis(2));
    /// let late = [&first, &second].iter().filter(|result| result.wait_until(deadline).is_err()).count();
    /// assert_eq!(late, 1);
    /// ```
    #[must_use = "whether the channel is settled"]
    #[inline]
    pub fn wait_until(&self, deadline: impl Into<Deadline>) -> Result<(), TimedOut> {
        self.settling().until(deadline.into()).map(drop).ok_or(TimedOut)
    }

    /// Makes it a receiver for many threads, which lends the value instead of giving it away.
    ///
    /// A value that has been received before is gone: the shared receiver says *disconnected*. Orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    /// use waitline::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// let configuration = receiver.share();
    /// thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         let configuration = configuration.clone();
    ///         scope.spawn(move || assert_eq!(configuration.wait().unwrap(), "verbose"));
    ///     }
    ///     sender.send(String::from("verbose")).unwrap();
    /// });
    /// ```
    #[doc(alias = "shared_future")]
    #[must_use = "the receiver has become this one"]
    pub fn share(self) -> SharedReceiver<T> {
        SharedReceiver::new(ManuallyDrop::new(self).channel)
    }

    #[inline]
    fn channel(&self) -> &Channel<T> {
        // SAFETY: alive until the receiver leaves.
        unsafe { self.channel.as_ref() }
    }

    #[inline]
    fn settling(&self) -> Settling<'_> {
        Settling { state: &self.channel().state, is_shared: false }
    }

    #[inline]
    fn take(&self, settled: u32) -> Option<T> {
        // SAFETY: this is the receiver, which is not Sync: no other call has looked or taken meanwhile.
        unsafe { self.channel().take(settled) }
    }

    #[inline]
    fn take_in_time(&self, settled: Option<u32>) -> Result<T, RecvTimeoutError> {
        match settled {
            Some(settled) => self.take(settled).ok_or(RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<Result<T, RecvError>> {
        // SAFETY: this is the receiver.
        unsafe { self.channel().poll(context) }.map(|value| value.ok_or(RecvError))
    }

    pub(super) fn drop_waker(&self) {
        self.channel().drop_waker();
    }
}

/// `receiver.await` is the value, or [`RecvError`] if none will come any more.
impl<T> IntoFuture for Receiver<T> {
    type Output = Result<T, RecvError>;
    type IntoFuture = RecvFuture<T>;

    fn into_future(self) -> RecvFuture<T> {
        RecvFuture::new(self)
    }
}

impl<T> Drop for Receiver<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the channel is this receiver's, which is gone after this call.
        unsafe { Channel::leave(self.channel) };
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("is_ready", &self.is_ready()).finish_non_exhaustive()
    }
}
