//! Ours.

use waitline::Latch;

use super::AnyLatch;
use crate::contenders::{Contender, Pending, timed};

impl Contender for Latch {
    fn name() -> &'static str {
        "Latch"
    }
}

impl AnyLatch for Latch {
    fn new() -> Latch {
        Latch::new(1)
    }

    #[inline]
    fn count_down(&self) {
        self.count_down();
    }

    #[inline]
    fn wait(&self) {
        self.wait();
    }
}

impl Pending for Latch {
    fn pending() -> Latch {
        Latch::new(1)
    }
}

timed! {
    Latch,
    |it, timeout| it.wait_for(timeout).is_ok(),
    |it, deadline| it.wait_until(deadline).is_ok()
}
