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

/// A guess, of which only the speed depends. Threads whose polls are of different kinds share it, and then guess wrong now
/// and then.
static LONG_PAST_EXPECTED: AtomicBool = AtomicBool::new(false);

/// The deadline `timeout` from now, unless the clock has reached it already. It has just been made, so only the precise
/// clock can tell.
pub(super) fn start(timeout: Duration) -> Option<Deadline> {
    let deadline = Deadline::after(timeout);
    (!deadline.has_passed()).then_some(deadline)
}

/// Inlined as far as the kind of deadline, which callers know.
#[inline]
pub(super) fn has_passed(deadline: Deadline) -> bool {
    match deadline.moment() {
        Moment::Never => false,
        Moment::Passed => true,
        Moment::Monotonic(instant) => monotonic_has_passed(instant),
        Moment::Wall(time) => wall_has_passed(time),
    }
}

fn monotonic_has_passed(deadline: Instant) -> bool {
    known_long_past(|| sys::monotonic_surely_past(deadline)) || monotonic_has_passed_precisely(deadline)
}

fn wall_has_passed(deadline: SystemTime) -> bool {
    known_long_past(|| sys::wall_surely_past(deadline)) || wall_has_passed_precisely(deadline)
}

// Apart, so that the coarse clocks' callers need no room for what the precise ones take.

#[inline(never)]
fn monotonic_has_passed_precisely(deadline: Instant) -> bool {
    judge(Instant::now(), deadline, |deadline| deadline.checked_add(LONG_AGO))
}

#[inline(never)]
fn wall_has_passed_precisely(deadline: SystemTime) -> bool {
    judge(SystemTime::now(), deadline, |deadline| deadline.checked_add(LONG_AGO))
}

/// By the cheapest clock, if that is worth asking.
#[inline]
fn known_long_past(surely_past: impl Fn() -> bool) -> bool {
    if !LONG_PAST_EXPECTED.load(Relaxed) {
        return false;
    }
    let past = surely_past();
    if !past {
        LONG_PAST_EXPECTED.store(false, Relaxed);
    }
    past
}

/// By the precise clock, and with a guess for the next time.
#[inline]
fn judge<T: PartialOrd>(now: T, deadline: T, long_after: impl Fn(&T) -> Option<T>) -> bool {
    let passed = now >= deadline;
    if passed && long_after(&deadline).is_some_and(|then| now >= then) {
        LONG_PAST_EXPECTED.store(true, Relaxed);
    }
    passed
}

#[cfg(all(test, not(waitline_loom)))]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn is_expected() -> bool {
        LONG_PAST_EXPECTED.load(Relaxed)
    }

    /// One test for all that guesses, because there is one guess in the process.
    #[test]
    fn a_guess_is_of_no_consequence_and_follows_the_deadlines() {
        for guess in [false, true] {
            let (instant, time) = (Instant::now(), SystemTime::now());
            let to_come = [Deadline::NEVER, (instant + HOUR).into(), (time + HOUR).into()];
            let passed = [Deadline::PASSED, instant.into(), SystemTime::UNIX_EPOCH.into(), (time - HOUR).into()];
            for (deadlines, expected) in [(&to_come[..], false), (&passed[..], true)] {
                for deadline in deadlines {
                    LONG_PAST_EXPECTED.store(guess, Relaxed);
                    assert_eq!(has_passed(*deadline), expected, "{deadline:?}, guess: {guess}");
                }
            }
        }

        let long_after = |then: &u32| then.checked_add(10);
        LONG_PAST_EXPECTED.store(false, Relaxed);
        assert!(!judge(4, 5, long_after) && !is_expected());
        assert!(judge(5, 5, long_after) && judge(14, 5, long_after) && !is_expected());
        assert!(judge(u32::MAX, u32::MAX - 1, long_after) && !is_expected());
        assert!(judge(15, 5, long_after) && is_expected());
        assert!(known_long_past(|| true) && is_expected());
        assert!(!known_long_past(|| false) && !is_expected());
        assert!(!known_long_past(|| unreachable!("that clock is not worth asking")));
    }

    #[test]
    fn a_timeout_that_is_not_up_is_a_deadline() {
        assert_eq!(start(Duration::ZERO), None);
        assert_eq!(start(Duration::MAX), Some(Deadline::NEVER));
        assert!(start(HOUR).is_some_and(|deadline| !deadline.has_passed()));
    }
}
