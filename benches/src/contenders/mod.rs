//! The semaphores that are measured, ours and the others'.

mod condvar;
mod glibc;
mod ours;
mod tasks;

use std::time::Duration;

pub use self::condvar::{ParkingLotCondvar, StdCondvar};
pub use self::glibc::Glibc;
pub use self::ours::Many;
pub use self::tasks::Tokio;
pub use waitline::{BinarySemaphore, Semaphore};

/// A semaphore that blocks threads.
pub trait Contender: Send + Sync + 'static {
    /// How tables call it.
    fn name() -> &'static str;

    /// A semaphore with no permits, or with one.
    fn new(available: bool) -> Self;

    /// Takes a permit, asleep for as long as there is none.
    fn acquire(&self);

    /// Takes a permit if there is one.
    fn try_acquire(&self) -> bool;

    /// Gives a permit, and wakes whoever waits for it.
    fn release(&self);
}

/// A contender that can wait for a limited time.
pub trait TimedFor: Contender {
    /// Takes a permit if one comes in time.
    fn try_acquire_for(&self, timeout: Duration) -> bool;
}

/// A contender that can wait until a moment on the clock of `C`, an `Instant` or a `SystemTime`.
pub trait TimedUntil<C>: Contender {
    /// A moment in the contender's own terms, so that nobody pays for a conversion that its users would not need.
    type Deadline: Copy;

    /// Made outside of what is measured.
    fn deadline(at: C) -> Self::Deadline;

    /// Takes a permit if one comes in time.
    fn try_acquire_until(&self, deadline: Self::Deadline) -> bool;
}
