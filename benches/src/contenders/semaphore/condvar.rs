//! What people write who have no semaphore: a count under a mutex and a condition variable, std's and parking_lot's.

use std::time::Duration;

use super::AnySemaphore;
use crate::clock::Clock;
use crate::contenders::{Contender, TimedFor, TimedUntil};

/// `std::sync::Mutex` and `Condvar`.
#[derive(Debug)]
pub struct StdCondvar {
    permits: std::sync::Mutex<usize>,
    available: std::sync::Condvar,
}

impl Contender for StdCondvar {
    fn name() -> &'static str {
        "std Mutex + Condvar"
    }
}

impl AnySemaphore for StdCondvar {
    fn new(available: bool) -> StdCondvar {
        StdCondvar { permits: std::sync::Mutex::new(usize::from(available)), available: std::sync::Condvar::new() }
    }

    #[inline]
    fn acquire(&self) {
        let permits = self.permits.lock().unwrap();
        *self.available.wait_while(permits, |permits| *permits == 0).unwrap() -= 1;
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        take(&mut self.permits.lock().unwrap())
    }

    #[inline]
    fn release(&self) {
        *self.permits.lock().unwrap() += 1;
        self.available.notify_one();
    }
}

impl TimedFor for StdCondvar {
    #[inline]
    fn wait_for(&self, timeout: Duration) -> bool {
        let permits = self.permits.lock().unwrap();
        take(&mut self.available.wait_timeout_while(permits, timeout, |permits| *permits == 0).unwrap().0)
    }
}

/// It has only a relative form, so its users ask the clock how long it still is.
impl<C: Clock> TimedUntil<C> for StdCondvar {
    type Deadline = C;

    fn deadline(at: C) -> C {
        at
    }

    #[inline]
    fn wait_until(&self, deadline: C) -> bool {
        self.wait_for(deadline.left())
    }
}

/// `parking_lot::Mutex` and `Condvar`.
#[derive(Debug)]
pub struct ParkingLotCondvar {
    permits: parking_lot::Mutex<usize>,
    available: parking_lot::Condvar,
}

impl Contender for ParkingLotCondvar {
    fn name() -> &'static str {
        "parking_lot Mutex + Condvar"
    }
}

impl AnySemaphore for ParkingLotCondvar {
    fn new(available: bool) -> ParkingLotCondvar {
        ParkingLotCondvar {
            permits: parking_lot::Mutex::new(usize::from(available)),
            available: parking_lot::Condvar::new(),
        }
    }

    #[inline]
    fn acquire(&self) {
        let mut permits = self.permits.lock();
        self.available.wait_while(&mut permits, |permits| *permits == 0);
        *permits -= 1;
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        take(&mut self.permits.lock())
    }

    #[inline]
    fn release(&self) {
        *self.permits.lock() += 1;
        self.available.notify_one();
    }
}

impl TimedFor for ParkingLotCondvar {
    #[inline]
    fn wait_for(&self, timeout: Duration) -> bool {
        let mut permits = self.permits.lock();
        self.available.wait_while_for(&mut permits, |permits| *permits == 0, timeout);
        take(&mut permits)
    }
}

impl<C: Clock> TimedUntil<C> for ParkingLotCondvar {
    type Deadline = C;

    fn deadline(at: C) -> C {
        at
    }

    #[inline]
    fn wait_until(&self, deadline: C) -> bool {
        let Some(deadline) = deadline.instant() else { return self.wait_for(deadline.left()) };
        let mut permits = self.permits.lock();
        self.available.wait_while_until(&mut permits, |permits| *permits == 0, deadline);
        take(&mut permits)
    }
}

#[inline]
fn take(permits: &mut usize) -> bool {
    let available = *permits > 0;
    *permits -= usize::from(available);
    available
}
