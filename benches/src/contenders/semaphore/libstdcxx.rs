//! C++'s semaphore.

use std::time::Duration;

use super::AnySemaphore;
use crate::clock::Clock;
use crate::contenders::{Contender, TimedFor, TimedUntil};
use crate::libstdcxx::{Owned, Semaphore, nanoseconds};

/// `std::counting_semaphore`.
pub type Libstdcxx = Owned<Semaphore>;

impl Contender for Libstdcxx {
    fn name() -> &'static str {
        "libstdc++"
    }
}

impl AnySemaphore for Libstdcxx {
    fn new(available: bool) -> Libstdcxx {
        Semaphore::new(available.into())
    }

    #[inline]
    fn acquire(&self) {
        Semaphore::acquire(self);
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        Semaphore::try_acquire(self)
    }

    #[inline]
    fn release(&self) {
        Semaphore::release(self);
    }
}

impl TimedFor for Libstdcxx {
    #[inline]
    fn wait_for(&self, timeout: Duration) -> bool {
        self.try_acquire_for(nanoseconds(timeout))
    }
}

impl<C: Clock> TimedUntil<C> for Libstdcxx {
    type Deadline = i64;

    fn deadline(at: C) -> i64 {
        nanoseconds(at.in_c())
    }

    #[inline]
    fn wait_until(&self, deadline: i64) -> bool {
        self.try_acquire_until(C::ID == libc::CLOCK_REALTIME, deadline)
    }
}
