//! Ours: the counting semaphore, by single permits and by several, and the binary one.

use std::time::{Duration, Instant, SystemTime};

use waitline::{BinarySemaphore, Semaphore};

use super::{Contender, TimedFor, TimedUntil};

/// The counting semaphore through its `…_many` calls: two permits stand for one.
#[derive(Debug)]
pub struct Many(Semaphore);

const SEVERAL: usize = 2;

impl Contender for Semaphore {
    fn name() -> &'static str {
        "Semaphore"
    }

    fn new(available: bool) -> Semaphore {
        Semaphore::new(usize::from(available))
    }

    #[inline]
    fn acquire(&self) {
        self.acquire();
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.try_acquire()
    }

    #[inline]
    fn release(&self) {
        self.release();
    }
}

impl Contender for Many {
    fn name() -> &'static str {
        "Semaphore, many"
    }

    fn new(available: bool) -> Many {
        Many(Semaphore::new(if available { SEVERAL } else { 0 }))
    }

    #[inline]
    fn acquire(&self) {
        self.0.acquire_many(SEVERAL);
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire_many(SEVERAL)
    }

    #[inline]
    fn release(&self) {
        self.0.release_many(SEVERAL);
    }
}

impl Contender for BinarySemaphore {
    fn name() -> &'static str {
        "BinarySemaphore"
    }

    fn new(available: bool) -> BinarySemaphore {
        BinarySemaphore::new(available)
    }

    #[inline]
    fn acquire(&self) {
        self.acquire();
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.try_acquire()
    }

    #[inline]
    fn release(&self) {
        self.release();
    }
}

impl TimedFor for Semaphore {
    #[inline]
    fn try_acquire_for(&self, timeout: Duration) -> bool {
        self.try_acquire_for(timeout)
    }
}

impl TimedFor for Many {
    #[inline]
    fn try_acquire_for(&self, timeout: Duration) -> bool {
        self.0.try_acquire_many_for(SEVERAL, timeout)
    }
}

impl TimedFor for BinarySemaphore {
    #[inline]
    fn try_acquire_for(&self, timeout: Duration) -> bool {
        self.try_acquire_for(timeout)
    }
}

macro_rules! until {
    ($contender:ty, $clock:ty, |$this:ident, $deadline:ident| $call:expr) => {
        impl TimedUntil<$clock> for $contender {
            type Deadline = $clock;

            fn deadline(at: $clock) -> $clock {
                at
            }

            #[inline]
            fn try_acquire_until(&self, $deadline: $clock) -> bool {
                let $this = self;
                $call
            }
        }
    };
}

until!(Semaphore, Instant, |this, deadline| this.try_acquire_until(deadline));
until!(Semaphore, SystemTime, |this, deadline| this.try_acquire_until(deadline));
until!(Many, Instant, |this, deadline| this.0.try_acquire_many_until(SEVERAL, deadline));
until!(Many, SystemTime, |this, deadline| this.0.try_acquire_many_until(SEVERAL, deadline));
until!(BinarySemaphore, Instant, |this, deadline| this.try_acquire_until(deadline));
until!(BinarySemaphore, SystemTime, |this, deadline| this.try_acquire_until(deadline));
