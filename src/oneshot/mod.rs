//! A one-shot future: one value, sent once from one thread to another.
//!
//! [`channel()`] makes the two ends. The [`Sender`] sends a value, or is dropped, which says that there will be none. The
//! [`Receiver`] waits for it by blocking, with a deadline or without, by polling as often as it likes, or by `.await`, in any
//! order; or lends it to many threads ([`Receiver::share`]).
//!
//! The value is received exactly once, or comes back to the sender in a [`SendError`], or is dropped by the side that has it: it is
//! never lost, also not when a deadline and the value meet. Every channel is one allocation, made by [`channel()`]; the side that
//! leaves last frees it. No call but that allocates.
//!
//! # Memory ordering
//!
//! Everything before a [`send`](Sender::send), or before the drop of a sender, happens before the return of every call that finds
//! the value, or finds that there will be none. Calls that time out, or find nothing, order nothing.
//!
//! # Examples
//!
//! A result that is polled against a deadline, so that something else can be done meanwhile:
//!
//! ```
//! use std::thread;
//! use std::time::Duration;
//! use waitline::oneshot::{self, RecvTimeoutError};
//!
//! let (sender, receiver) = oneshot::channel();
//! thread::spawn(move || sender.send((1..=10).sum::<u32>()));
//! let sum = loop {
//!     match receiver.recv_for(Duration::from_millis(5)) {
//!         Ok(sum) => break sum,
//!         Err(RecvTimeoutError::Timeout) => print!("."), // a sign of life
//!         Err(RecvTimeoutError::Disconnected) => panic!("the other thread has panicked"),
//!     }
//! };
//! assert_eq!(sum, 55);
//! ```

mod channel;
mod error;
mod future;
mod receiver;
mod sender;
mod settling;
mod shared;
mod slot;

pub use self::error::{RecvError, RecvTimeoutError, SendError, TryRecvError};
pub use self::future::RecvFuture;
pub use self::receiver::Receiver;
pub use self::sender::Sender;
pub use self::shared::SharedReceiver;

/// The two ends of a channel for one value.
///
/// Makes the channel's one allocation. What they order is in [the module's description](self#memory-ordering).
///
/// # Examples
///
/// ```
/// use waitline::oneshot;
///
/// let (sender, receiver) = oneshot::channel();
/// sender.send("the value").unwrap();
/// assert_eq!(receiver.recv(), Ok("the value"));
/// ```
#[doc(alias("promise", "future", "get_future", "CompletableFuture", "packaged_task"))]
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = channel::Channel::allocate();
    (Sender::new(channel), Receiver::new(channel))
}
