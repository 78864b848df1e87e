//! Semaphores.

mod condvar;
mod glibc;
#[cfg(libstdcxx)]
mod libstdcxx;
mod ours;
mod tasks;

use super::{Contender, Pending};

pub use self::condvar::{ParkingLotCondvar, StdCondvar};
pub use self::glibc::Glibc;
#[cfg(libstdcxx)]
pub use self::libstdcxx::Libstdcxx;
pub use self::ours::Many;
pub use self::tasks::Tokio;
pub use waitline::{BinarySemaphore, Semaphore};

/// A semaphore that blocks threads.
pub trait AnySemaphore: Contender + Send + Sync {
    /// A semaphore with no permits, or with one.
    fn new(available: bool) -> Self;

    /// Takes a permit, asleep for as long as there is none.
    fn acquire(&self);

    /// Takes a permit if there is one.
    fn try_acquire(&self) -> bool;

    /// Gives a permit, and wakes whoever waits for it.
    fn release(&self);
}

impl<S: AnySemaphore> Pending for S {
    fn pending() -> S {
        S::new(false)
    }
}
