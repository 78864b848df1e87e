//! Waits within rayon's pool.
//!
//! A worker of rayon's that sleeps in a wait of ours is one less for everybody, and where the pool has no other, nobody is left to do
//! what it waits for. So wait a little, run a job if there is one, and wait again: rayon can neither wake a thread for a job that
//! sleeps elsewhere, nor does waitline know of rayon's jobs.

use std::time::Duration;

use rayon::Yield;
use waitline::Deadline;

/// How long to wait at first where rayon has nothing to do, and at most. What is waited for ends a wait at once; this is how
/// long a job that comes meanwhile may have to wait for this worker.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);

/// Waits for something by `wait`, a timed wait of waitline's, and runs rayon's jobs meanwhile, if the caller is a worker of
/// rayon's. Returns the first `Some` of it, or `None` if there is none until the deadline.
///
/// A `None` of `wait` says that its time was up, and that it is to be called again. So whatever else may end the wait is a
/// `Some`, such as that nobody will send any more:
///
/// ```
/// use waitline::oneshot::{RecvTimeoutError, channel};
/// use waitline_embeddings::in_rayon;
///
/// let (sender, receiver) = channel();
/// rayon::spawn(move || sender.send(7).unwrap());
/// let received = in_rayon::wait(|deadline| match receiver.recv_until(deadline) {
///     Err(RecvTimeoutError::Timeout) => None,
///     outcome => Some(outcome),
/// });
/// assert_eq!(received, Ok(7));
/// ```
///
/// A job that is run meanwhile delays the return until it has ended. It must not wait for the caller.
pub fn wait_until<T>(deadline: impl Into<Deadline>, wait: impl Fn(Deadline) -> Option<T>) -> Option<T> {
    let deadline = deadline.into();
    if let Some(outcome) = wait(Deadline::PASSED) {
        return Some(outcome);
    }
    let mut patience = SHORTEST;
    loop {
        let slice = match rayon::yield_now() {
            // It ran one, and there may be more.
            Some(Yield::Executed) => {
                patience = SHORTEST;
                Deadline::PASSED
            }
            Some(Yield::Idle) => {
                let slice = match deadline.remaining() {
                    Some(left) if left < patience => deadline,
                    _ => Deadline::after(patience),
                };
                patience = LONGEST.min(patience * 2);
                slice
            }
            // Nobody needs this thread.
            None => deadline,
        };
        if let Some(outcome) = wait(slice) {
            return Some(outcome);
        }
        if deadline.has_passed() {
            return wait(deadline); // it may have come meanwhile
        }
    }
}

/// [`wait_until`] without a deadline.
pub fn wait<T>(wait: impl Fn(Deadline) -> Option<T>) -> T {
    wait_until(Deadline::NEVER, wait).expect("this deadline does not come")
}
