//! What people write who have no latch: a count under a mutex and a condition variable.

use std::sync::{Condvar, Mutex};

use super::AnyLatch;
use crate::contenders::Contender;

/// `std::sync::Mutex` and `Condvar`.
#[derive(Debug)]
pub struct StdCondvar {
    missing: Mutex<usize>,
    opened: Condvar,
}

impl Contender for StdCondvar {
    fn name() -> &'static str {
        "std Mutex + Condvar"
    }
}

impl AnyLatch for StdCondvar {
    type Ticket<'a> = &'a StdCondvar;

    fn new(count: usize) -> StdCondvar {
        StdCondvar { missing: Mutex::new(count), opened: Condvar::new() }
    }

    #[inline]
    fn ticket(&self) -> &StdCondvar {
        self
    }

    #[inline]
    fn count_down(ticket: &StdCondvar) {
        let mut missing = ticket.missing.lock().unwrap();
        *missing -= 1;
        if *missing == 0 {
            ticket.opened.notify_all();
        }
    }

    #[inline]
    fn wait(&self) {
        drop(self.opened.wait_while(self.missing.lock().unwrap(), |missing| *missing > 0));
    }
}
