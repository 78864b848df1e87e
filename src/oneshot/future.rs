//! The receiving end, in asynchronous code.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::{Receiver, RecvError};

/// The future of a one-shot channel's value: what a [`Receiver`] becomes when it is awaited.
///
/// It needs no particular executor. It keeps the waker of the last poll only: one that is replaced is dropped at once, and so is
/// the last one when the future is dropped or turned back [`into_receiver`](RecvFuture::into_receiver). Polled again after it was
/// ready, it is ready again, with [`RecvError`]. When it is ready, memory is ordered as by [`Receiver::recv`].
///
/// # Examples
///
/// ```
/// use waitline::oneshot::{self, RecvError};
///
/// async fn twice(answer: oneshot::Receiver<u32>) -> Result<u32, RecvError> {
///     Ok(answer.await? * 2)
/// }
/// # let (sender, receiver) = oneshot::channel();
/// # sender.send(21).unwrap();
/// # let mut future = std::pin::pin!(twice(receiver));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(std::future::Future::poll(future.as_mut(), &mut context), std::task::Poll::Ready(Ok(42)));
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct RecvFuture<T> {
    receiver: Receiver<T>,
}

impl<T> RecvFuture<T> {
    pub(super) fn new(receiver: Receiver<T>) -> RecvFuture<T> {
        RecvFuture { receiver }
    }

    /// Back to blocking: the receiver, with whatever it has not received yet. Orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::IntoFuture;
    /// use waitline::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// let future = receiver.into_future();
    /// // … polled in vain by something that gives up
    /// let receiver = future.into_receiver();
    /// sender.send(5).unwrap();
    /// assert_eq!(receiver.recv(), Ok(5));
    /// ```
    #[must_use = "what is not received is dropped"]
    pub fn into_receiver(self) -> Receiver<T> {
        self.receiver.drop_waker();
        self.receiver
    }
}

impl<T> Future for RecvFuture<T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        self.receiver.poll(context)
    }
}

impl<T> fmt::Debug for RecvFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").field("is_ready", &self.receiver.is_ready()).finish_non_exhaustive()
    }
}
