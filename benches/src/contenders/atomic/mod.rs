//! Atomics whose values can be waited for.

mod crates;
#[cfg(libstdcxx)]
mod libstdcxx;
mod ours;

use super::Contender;
use crate::opaque::opaque;

pub use self::crates::AtomicWaitCrate;
#[cfg(libstdcxx)]
pub use self::libstdcxx::Libstdcxx;
pub use self::ours::Ours;

/// An atomic whose value threads can wait for. Of its values two are used.
pub trait AnyAtomic: Contender + Send + Sync + Sized {
    /// An atomic that is not set.
    fn new() -> Self;

    /// Sets or clears it, so that what comes before is visible to whoever waits for that.
    fn store(&self, set: bool);

    /// Returns once it is not as told.
    fn wait(&self, old: bool);

    /// Wakes one of those that wait.
    fn notify_one(&self);

    /// Wakes all that wait.
    fn notify_all(&self);

    /// Some waits that have nothing to wait for.
    #[inline(always)]
    fn wait_times(&self, old: bool, times: u64) {
        for _ in 0..times {
            opaque(self).wait(old);
        }
    }

    /// Some notifications of one.
    #[inline(always)]
    fn notify_one_times(&self, times: u64) {
        for _ in 0..times {
            opaque(self).notify_one();
        }
    }

    /// Some notifications of all.
    #[inline(always)]
    fn notify_all_times(&self, times: u64) {
        for _ in 0..times {
            opaque(self).notify_all();
        }
    }

    /// One of two threads that take turns with it: sets it and waits until the other one has cleared it.
    #[inline(always)]
    fn serve_times(&self, times: u64) {
        for _ in 0..times {
            self.store(true);
            self.notify_one();
            self.wait(true);
        }
    }

    /// The other one of the two.
    #[inline(always)]
    fn reply_times(&self, times: u64) {
        for _ in 0..times {
            self.wait(false);
            self.store(false);
            self.notify_one();
        }
    }
}
