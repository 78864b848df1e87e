//! What people write who have no semaphore: a count under a mutex and a condition variable, std's and parking_lot's.

use std::time::{Duration, Instant, SystemTime};

use super::{Contender, TimedFor, TimedUntil};

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
    fn try_acquire_for(&self, timeout: Duration) -> bool {
        let permits = self.permits.lock().unwrap();
        take(&mut self.available.wait_timeout_while(permits, timeout, |permits| *permits == 0).unwrap().0)
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
    fn try_acquire_for(&self, timeout: Duration) -> bool {
        let mut permits = self.permits.lock();
        self.available.wait_while_for(&mut permits, |permits| *permits == 0, timeout);
        take(&mut permits)
    }
}

impl TimedUntil<Instant> for ParkingLotCondvar {
    type Deadline = Instant;

    fn deadline(at: Instant) -> Instant {
        at
    }

    #[inline]
    fn try_acquire_until(&self, deadline: Instant) -> bool {
        let mut permits = self.permits.lock();
        self.available.wait_while_until(&mut permits, |permits| *permits == 0, deadline);
        take(&mut permits)
    }
}

/// Where only a relative form exists, its users ask the clock how long it still is.
macro_rules! until_through_for {
    ($contender:ty, $clock:ty, |$deadline:ident| $left:expr) => {
        impl TimedUntil<$clock> for $contender {
            type Deadline = $clock;

            fn deadline(at: $clock) -> $clock {
                at
            }

            #[inline]
            fn try_acquire_until(&self, $deadline: $clock) -> bool {
                self.try_acquire_for($left)
            }
        }
    };
}

until_through_for!(StdCondvar, Instant, |deadline| deadline.saturating_duration_since(Instant::now()));
until_through_for!(StdCondvar, SystemTime, |deadline| deadline.duration_since(SystemTime::now()).unwrap_or_default());
until_through_for!(ParkingLotCondvar, SystemTime, |deadline| deadline
    .duration_since(SystemTime::now())
    .unwrap_or_default());

#[inline]
fn take(permits: &mut usize) -> bool {
    let available = *permits > 0;
    *permits -= usize::from(available);
    available
}
