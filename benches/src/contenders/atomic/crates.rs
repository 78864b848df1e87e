//! The crate `atomic-wait`, whose calls are the platform's own.

use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
};

use super::AnyAtomic;
use crate::contenders::Contender;

/// `atomic_wait::wait` and so on, which know 32 bits only, and always ask the kernel whether somebody waits.
#[derive(Debug)]
pub struct AtomicWaitCrate(AtomicU32);

impl Contender for AtomicWaitCrate {
    fn name() -> &'static str {
        "atomic-wait, 32 bits"
    }
}

impl AnyAtomic for AtomicWaitCrate {
    fn new() -> AtomicWaitCrate {
        AtomicWaitCrate(AtomicU32::new(0))
    }

    #[inline]
    fn store(&self, set: bool) {
        self.0.store(set.into(), Release);
    }

    #[inline]
    fn wait(&self, old: bool) {
        let old = old.into();
        while self.0.load(Acquire) == old {
            atomic_wait::wait(&self.0, old);
        }
    }

    #[inline]
    fn notify_one(&self) {
        atomic_wait::wake_one(&self.0);
    }

    #[inline]
    fn notify_all(&self) {
        atomic_wait::wake_all(&self.0);
    }
}
