//! crossbeam's parker.

use std::time::Duration;

use crossbeam_utils::sync::{Parker as Waiter, Unparker};

use super::{AnySignal, Awaited};
use crate::clock::Clock;
use crate::contenders::{Contender, TimedFor, TimedUntil};

/// `crossbeam_utils::sync::Parker`. After a limited time it does not say whether its signal came: users look for themselves.
#[derive(Debug)]
pub struct Parker;

impl Contender for Parker {
    fn name() -> &'static str {
        "crossbeam"
    }
}

impl AnySignal for Parker {
    type Giver = Unparker;
    type Waiter = Waiter;

    fn pair() -> (Unparker, Waiter) {
        let waiter = Waiter::new();
        (waiter.unparker().clone(), waiter)
    }

    #[inline]
    fn give(giver: &Unparker) {
        giver.unpark();
    }

    #[inline]
    fn wait(waiter: &Waiter) {
        waiter.park();
    }
}

impl TimedFor for Awaited<Parker> {
    #[inline]
    fn wait_for(&self, timeout: Duration) -> bool {
        self.waiter.park_timeout(timeout);
        false
    }
}

impl<C: Clock> TimedUntil<C> for Awaited<Parker> {
    type Deadline = C;

    fn deadline(at: C) -> C {
        at
    }

    #[inline]
    fn wait_until(&self, deadline: C) -> bool {
        match deadline.instant() {
            Some(deadline) => self.waiter.park_deadline(deadline),
            None => self.waiter.park_timeout(deadline.left()),
        }
        false
    }
}
