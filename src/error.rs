use core::fmt;

/// The time was up before what was waited for came.
///
/// Every timed wait of this crate says so with this one error, and only once the deadline's own clock has
/// reached the deadline. Timed calls that *take* something answer with `bool` or `Option` instead.
/// A call that times out orders no memory.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use waitline::{Latch, TimedOut};
///
/// let closed = Latch::new(1);
/// assert_eq!(closed.wait_for(Duration::from_millis(1)), Err(TimedOut));
/// ```
#[doc(alias("Timeout", "Elapsed", "WaitTimeoutResult", "ETIMEDOUT", "TimeoutException"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out")
    }
}

impl core::error::Error for TimedOut {}
