//! What people write who have no latch: a flag under a mutex and a condition variable.

use std::sync::{Condvar, Mutex};

use super::AnyLatch;
use crate::contenders::Contender;

/// `std::sync::Mutex` and `Condvar`.
#[derive(Debug)]
pub struct StdCondvar {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Contender for StdCondvar {
    fn name() -> &'static str {
        "std Mutex + Condvar"
    }
}

impl AnyLatch for StdCondvar {
    fn new() -> StdCondvar {
        StdCondvar { is_open: Mutex::new(false), opened: Condvar::new() }
    }

    #[inline]
    fn count_down(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    #[inline]
    fn wait(&self) {
        drop(self.opened.wait_while(self.is_open.lock().unwrap(), |is_open| !*is_open));
    }
}
