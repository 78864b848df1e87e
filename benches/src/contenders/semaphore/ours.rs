//! Ours: the counting semaphore, by single permits and by several, and the binary one.

use waitline::{BinarySemaphore, Semaphore};

use super::AnySemaphore;
use crate::contenders::{Contender, timed};

/// The counting semaphore through its `…_many` calls: two permits stand for one.
#[derive(Debug)]
pub struct Many(Semaphore);

const SEVERAL: usize = 2;

impl Contender for Semaphore {
    fn name() -> &'static str {
        "Semaphore"
    }
}

impl AnySemaphore for Semaphore {
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
}

impl AnySemaphore for Many {
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
}

impl AnySemaphore for BinarySemaphore {
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

timed! {
    Semaphore,
    |it, timeout| it.try_acquire_for(timeout),
    |it, deadline| it.try_acquire_until(deadline)
}

timed! {
    Many,
    |it, timeout| it.0.try_acquire_many_for(SEVERAL, timeout),
    |it, deadline| it.0.try_acquire_many_until(SEVERAL, deadline)
}

timed! {
    BinarySemaphore,
    |it, timeout| it.try_acquire_for(timeout),
    |it, deadline| it.try_acquire_until(deadline)
}
