//! The clocks that deadlines are on.

#![allow(unsafe_code, reason = "a system call")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use libc::{clockid_t, timespec};
use waitline::Deadline;

/// [`Instant`] or [`SystemTime`].
pub trait Clock: Copy + Into<Deadline> + 'static {
    /// What C calls it.
    const ID: clockid_t;

    /// How tables call it.
    fn name() -> &'static str;

    /// What it shows.
    fn now() -> Self;

    /// What it showed 50 ms ago: longer than any coarse clock stands still.
    fn a_while_ago() -> Self;

    /// What it will show when no scenario runs any more.
    fn far_ahead() -> Self;

    /// How long it is until then, as users of calls that know only durations have to ask.
    fn left(self) -> Duration;

    /// Itself, for calls that know no other clock.
    fn instant(self) -> Option<Instant>;

    /// The same moment in C: the time since whatever C's clock counts from.
    fn in_c(self) -> Duration;
}

impl Clock for Instant {
    const ID: clockid_t = libc::CLOCK_MONOTONIC;

    fn name() -> &'static str {
        "Instant"
    }

    fn now() -> Instant {
        Instant::now()
    }

    fn a_while_ago() -> Instant {
        Instant::now() - A_WHILE
    }

    fn far_ahead() -> Instant {
        Instant::now() + AN_HOUR
    }

    #[inline]
    fn left(self) -> Duration {
        self.saturating_duration_since(Instant::now())
    }

    #[inline]
    fn instant(self) -> Option<Instant> {
        Some(self)
    }

    fn in_c(self) -> Duration {
        // C's clock is read last: if the thread is held up in between, the moment comes out late and never early.
        match Instant::now().checked_duration_since(self) {
            Some(ago) => now_in_c(Instant::ID) - ago,
            None => {
                let left = self.left();
                now_in_c(Instant::ID) + left
            }
        }
    }
}

impl Clock for SystemTime {
    const ID: clockid_t = libc::CLOCK_REALTIME;

    fn name() -> &'static str {
        "SystemTime"
    }

    fn now() -> SystemTime {
        SystemTime::now()
    }

    fn a_while_ago() -> SystemTime {
        SystemTime::now() - A_WHILE
    }

    fn far_ahead() -> SystemTime {
        SystemTime::now() + AN_HOUR
    }

    #[inline]
    fn left(self) -> Duration {
        self.duration_since(SystemTime::now()).unwrap_or_default()
    }

    #[inline]
    fn instant(self) -> Option<Instant> {
        None
    }

    fn in_c(self) -> Duration {
        self.duration_since(UNIX_EPOCH).expect("no deadline here is older")
    }
}

const A_WHILE: Duration = Duration::from_millis(50);
const AN_HOUR: Duration = Duration::from_secs(3600);

/// What C's clock shows.
#[inline]
pub fn now_in_c(clock: clockid_t) -> Duration {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec, to memory that is ours.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
