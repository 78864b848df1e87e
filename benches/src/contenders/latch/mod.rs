//! Latches.

mod condvar;
#[cfg(libstdcxx)]
mod libstdcxx;
mod ours;

use super::Contender;
use crate::opaque::opaque;

pub use self::condvar::StdCondvar;
#[cfg(libstdcxx)]
pub use self::libstdcxx::Libstdcxx;
pub use waitline::Latch;

/// A latch that blocks threads.
pub trait AnyLatch: Contender + Send + Sync {
    /// Opens when it has been counted down once.
    fn new() -> Self;

    /// Opens it.
    fn count_down(&self);

    /// Returns once it is open.
    fn wait(&self);

    /// A latch's whole life, in one thread.
    #[inline]
    fn count_down_and_wait()
    where
        Self: Sized,
    {
        let latch = Self::new();
        opaque(&latch).count_down();
        opaque(&latch).wait();
    }
}
