//! One thread and its limited patience.

use std::time::{Duration, Instant, SystemTime};

use crate::contenders::{TimedFor, TimedUntil};
use crate::opaque::{opaque, unexpected};
use crate::race::{Quartiles, Sample};
use crate::scenarios::{one_short_thread, one_thread};

/// A clock that deadlines are on.
pub trait Clock: Copy {
    /// How tables call it.
    fn name() -> &'static str;

    /// What it shows.
    fn now() -> Self;

    /// What it showed 50 ms ago: longer than any coarse clock stands still.
    fn a_while_ago() -> Self;

    /// What it will show when no scenario runs any more.
    fn far_ahead() -> Self;
}

macro_rules! clock {
    ($clock:ident) => {
        impl Clock for $clock {
            fn name() -> &'static str {
                stringify!($clock)
            }

            fn now() -> $clock {
                $clock::now()
            }

            fn a_while_ago() -> $clock {
                $clock::now() - Duration::from_millis(50)
            }

            fn far_ahead() -> $clock {
                $clock::now() + Duration::from_secs(3600)
            }
        }
    };
}
clock!(Instant);
clock!(SystemTime);

/// There is no permit, and the deadline has passed.
pub fn expired_deadline<C: Clock, S: TimedUntil<C>>(deadline: fn() -> C, times: u64) -> Sample {
    /// A coarse clock stands still for a millisecond or more. Deadlines are made anew so often that hardly one that
    /// has just passed is older than that.
    const CALLS: u64 = 1000;

    let semaphore = S::new(false);
    let mut sample = Sample::default();
    while sample.times < times {
        let deadline = S::deadline(deadline());
        sample += one_thread(CALLS.min(times - sample.times), || {
            if opaque(&semaphore).try_acquire_until(*opaque(&deadline)) {
                unexpected();
            }
        });
    }
    sample
}

/// There is no permit, and the deadline has just passed, or passed long ago, in turn: whoever guesses which from the
/// calls before is wrong.
pub fn mixed_deadlines<C: Clock, S: TimedUntil<C>>(times: u64) -> Sample {
    const CALLS: u64 = 1000;

    let semaphore = S::new(false);
    let mut sample = Sample::default();
    while sample.times < times {
        let deadlines = [S::deadline(C::now()), S::deadline(C::a_while_ago())];
        let mut turn = 0;
        sample += one_thread(CALLS.min(times - sample.times), || {
            turn ^= 1;
            if opaque(&semaphore).try_acquire_until(*opaque(&deadlines[turn])) {
                unexpected();
            }
        });
    }
    sample
}

/// There is no permit, and no time, as a poll is written.
pub fn zero_timeout<S: TimedFor>(times: u64) -> Sample {
    let semaphore = S::new(false);
    one_short_thread(times, || {
        if opaque(&semaphore).try_acquire_for(Duration::ZERO) {
            unexpected();
        }
    })
}

/// There is no permit, and next to no time.
pub fn one_nanosecond<S: TimedFor>(times: u64) -> Sample {
    let semaphore = S::new(false);
    let timeout = Duration::from_nanos(1);
    one_thread(times, || {
        if opaque(&semaphore).try_acquire_for(*opaque(&timeout)) {
            unexpected();
        }
    })
}

/// A permit is there in time, and given back.
pub fn timed_success<C: Clock, S: TimedUntil<C>>(times: u64) -> Sample {
    let semaphore = S::new(true);
    let deadline = S::deadline(C::far_ahead());
    one_thread(times, || {
        let semaphore = opaque(&semaphore);
        if !semaphore.try_acquire_until(*opaque(&deadline)) {
            unexpected();
        }
        semaphore.release();
    })
}

/// How long after its time a wait ends that nobody else ends.
pub fn lateness<S: TimedFor>(timeout: Duration, times: u64) -> Sample {
    let semaphore = S::new(false);
    lateness_by(timeout, times, || {
        if semaphore.try_acquire_for(timeout) {
            unexpected();
        }
    })
}

/// The median lateness of a few waits: one that is disturbed tells more of others' work than of its own.
pub fn lateness_by(timeout: Duration, times: u64, mut wait: impl FnMut()) -> Sample {
    let each = (0..times).map(|_| {
        let start = Instant::now();
        wait();
        start.elapsed().saturating_sub(timeout)
    });
    let late = Quartiles::of(each.map(|late| late.as_nanos() as f64).collect());
    Sample { total: late.median, times: 1, disturbed: false }
}
