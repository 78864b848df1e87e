//! Ours.

use waitline::Latch;

use super::AnyLatch;
use crate::contenders::{Contender, Pending, TryNow, timed};

impl Contender for Latch {
    fn name() -> &'static str {
        "Latch"
    }
}

impl AnyLatch for Latch {
    type Ticket<'a> = &'a Latch;

    fn new(count: usize) -> Latch {
        Latch::new(count)
    }

    #[inline]
    fn ticket(&self) -> &Latch {
        self
    }

    #[inline]
    fn count_down(ticket: &Latch) {
        ticket.count_down();
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

impl TryNow for Latch {
    #[inline]
    fn try_now(&mut self) -> bool {
        self.try_wait()
    }
}

timed! {
    Latch,
    |it, timeout| it.wait_for(timeout).is_ok(),
    |it, deadline| it.wait_until(deadline).is_ok()
}
