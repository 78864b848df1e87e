//! Whether a deadline that was handed in has passed: the price of every poll.
//!
//! The precise clocks cost 25 to 30 ns, the coarse ones 7 to 10 (2 vCPU, Linux 6.18). A coarse clock lags by up to a tick,
//! so it can prove that a deadline has passed, but only when that was some time ago. Asking it first pays for deadlines
//! long past, which polls of many objects with one deadline produce, and costs a third more for those just past. So it is
//! asked first only if the deadline before this one turned out to be long past.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;
use std::time::{Instant, SystemTime};

use crate::deadline::Moment;
use crate::{Deadline, sys};

/// Longer than a tick of any common kernel.
const LONG_AGO: Duration = Duration::from_millis(20);

/// A guess, of which only the speed depends. Written only when it changes.
static LONG_PAST_EXPECTED: AtomicBool = AtomicBool::new(false);

#[inline]
pub(super) fn has_passed(deadline: Deadline) -> bool {
    let moment = deadline.moment();
    match moment {
        Moment::Never => return false,
        Moment::Passed => return true,
        Moment::Monotonic(_) | Moment::Wall(_) => {}
    }
    if LONG_PAST_EXPECTED.load(Relaxed) {
        if sys::surely_passed(deadline) {
            return true;
        }
        LONG_PAST_EXPECTED.store(false, Relaxed);
    }
    let long_past = match moment {
        Moment::Monotonic(instant) => {
            let now = Instant::now();
            if now < instant {
                return false;
            }
            instant.checked_add(LONG_AGO).is_some_and(|then| then <= now)
        }
        Moment::Wall(time) => {
            let now = SystemTime::now();
            if now < time {
                return false;
            }
            time.checked_add(LONG_AGO).is_some_and(|then| then <= now)
        }
        Moment::Never | Moment::Passed => false,
    };
    if long_past {
        LONG_PAST_EXPECTED.store(true, Relaxed);
    }
    true
}
