//! What is measured, ours and the others': one module for each kind, with a small trait that all of that kind implement.
//!
//! Whatever can wait for a limited time implements [`TimedFor`] and [`TimedUntil`] as well, of whichever kind it is.

pub mod atomic;
pub mod barrier;
pub mod latch;
pub mod oneshot;
pub mod pool;
pub mod semaphore;
pub mod signal;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::clock::Clock;

/// Whoever takes part.
pub trait Contender: 'static {
    /// How tables call it.
    fn name() -> &'static str;
}

/// A contender that can be waited for in vain.
pub trait Pending: Contender {
    /// One for which nothing comes.
    fn pending() -> Self;
}

/// A contender that can be asked whether what is waited for is there.
pub trait TryNow: Pending {
    /// Takes it if it is.
    fn try_now(&mut self) -> bool;
}

/// A contender that can wait for a limited time.
pub trait TimedFor: Pending {
    /// Whether what it waits for came in time.
    fn wait_for(&self, timeout: Duration) -> bool;
}

/// A contender that can wait until a moment on a clock.
pub trait TimedUntil<C: Clock>: Pending {
    /// A moment in the contender's own terms, so that nobody pays for a conversion that its users would not need.
    type Deadline: Copy;

    /// Made outside of what is measured.
    fn deadline(at: C) -> Self::Deadline;

    /// Whether what it waits for came in time.
    fn wait_until(&self, deadline: Self::Deadline) -> bool;
}

/// The timed calls of a contender that takes whatever this crate takes.
macro_rules! timed {
    ($contender:ty, |$this:ident, $timeout:ident| $wait_for:expr, |$that:ident, $deadline:ident| $wait_until:expr) => {
        impl $crate::contenders::TimedFor for $contender {
            #[inline]
            fn wait_for(&self, $timeout: std::time::Duration) -> bool {
                let $this = self;
                $wait_for
            }
        }

        impl<C: $crate::clock::Clock> $crate::contenders::TimedUntil<C> for $contender {
            type Deadline = C;

            fn deadline(at: C) -> C {
                at
            }

            #[inline]
            fn wait_until(&self, $deadline: C) -> bool {
                let $that = self;
                $wait_until
            }
        }
    };
}
use timed;
