//! The errors of the one-shot channel. Names and meanings are those of `std::sync::mpsc`.

use core::error::Error;
use core::fmt;

/// The receiver is gone. The value comes back with the error.
///
/// # Examples
///
/// ```
/// use waitline::oneshot;
///
/// let (sender, receiver) = oneshot::channel();
/// drop(receiver);
/// assert_eq!(sender.send(5).unwrap_err().into_inner(), 5);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(
    /// The value that was not sent.
    pub T,
);

impl<T> SendError<T> {
    /// The value that was not sent.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::oneshot::SendError;
    ///
    /// assert_eq!(SendError("a value").into_inner(), "a value");
    /// ```
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// Whatever the value is, which may have no `Debug` of its own.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sending to a receiver that is gone")
    }
}

impl<T> Error for SendError<T> {}

/// No value will come any more: the sender was dropped without sending one, or it has been received already.
///
/// # Examples
///
/// ```
/// use waitline::oneshot::{self, RecvError};
///
/// let (sender, receiver) = oneshot::channel();
/// sender.send(5).unwrap();
/// assert_eq!(receiver.recv(), Ok(5));
/// assert_eq!(receiver.recv(), Err(RecvError)); // received already
/// ```
#[doc(alias("broken_promise", "Canceled", "Disconnected"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DISCONNECTED)
    }
}

impl Error for RecvError {}

/// Why there is no value now.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The sender has not sent a value yet, and still can.
    Empty,
    /// No value will come any more, as for [`RecvError`].
    Disconnected,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "receiving a value that has not been sent yet",
            TryRecvError::Disconnected => DISCONNECTED,
        })
    }
}

impl Error for TryRecvError {}

impl From<RecvError> for TryRecvError {
    fn from(RecvError: RecvError) -> TryRecvError {
        TryRecvError::Disconnected
    }
}

/// Why no value came in time.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use waitline::oneshot::{self, RecvTimeoutError};
///
/// let (sender, receiver) = oneshot::channel::<u32>();
/// assert_eq!(receiver.recv_for(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
/// drop(sender);
/// assert_eq!(receiver.recv_for(Duration::from_millis(1)), Err(RecvTimeoutError::Disconnected));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The time was up before the sender had sent a value.
    Timeout,
    /// No value will come any more, as for [`RecvError`].
    Disconnected,
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RecvTimeoutError::Timeout => "timed out while waiting for a value",
            RecvTimeoutError::Disconnected => DISCONNECTED,
        })
    }
}

impl Error for RecvTimeoutError {}

impl From<RecvError> for RecvTimeoutError {
    fn from(RecvError: RecvError) -> RecvTimeoutError {
        RecvTimeoutError::Disconnected
    }
}

const DISCONNECTED: &str = "receiving a value that will not come any more";
