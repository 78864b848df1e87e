use core::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The moment at which a timed call gives up: made once, on a clock of the caller's choice, for any number of
/// calls.
///
/// Every `…_until` call takes `impl Into<Deadline>`, so an [`Instant`], a [`SystemTime`] or an [`Option`] of
/// either can be handed in as it is. The clock stays with the deadline all the way into the kernel:
///
/// * from an [`Instant`] or a [`Duration`]: the monotonic clock, which nobody can set;
/// * from a [`SystemTime`]: the wall clock. When somebody sets that clock, waits on it end earlier or later
///   accordingly, also those that are asleep already.
///
/// Every value is legal. What lies too far ahead to be represented is *never*; what lies before the clock began
/// (the Unix epoch, or the start of the machine) has passed.
///
/// # Examples
///
/// One deadline for several operations, so that together they take no longer than a second:
///
/// ```
/// use std::time::Duration;
/// use waitline::{Deadline, Semaphore};
///
/// let (orders, plates) = (Semaphore::new(1), Semaphore::new(1));
/// let deadline = Deadline::after(Duration::from_secs(1));
/// assert!(orders.try_acquire_until(deadline));
/// assert!(plates.try_acquire_until(deadline));
/// ```
///
/// Any point in time, or none:
///
/// ```
/// use std::time::{Duration, Instant, SystemTime};
/// use waitline::{Deadline, Semaphore};
///
/// let semaphore = Semaphore::new(3);
/// assert!(semaphore.try_acquire_until(Instant::now() + Duration::from_millis(5)));
/// assert!(semaphore.try_acquire_until(SystemTime::now() + Duration::from_millis(5)));
/// assert!(semaphore.try_acquire_until(None::<Instant>)); // as Deadline::NEVER
/// assert!(!semaphore.try_acquire_until(Deadline::PASSED));
/// ```
#[doc(alias("timeout", "time_point", "abstime"))]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Deadline(Moment);

/// What a deadline is made of, for the layers that hand it to a clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Never,
    /// In the past on any clock, so that none need be read.
    Passed,
    Monotonic(Instant),
    /// At or after the Unix epoch.
    Wall(SystemTime),
}

impl Deadline {
    /// A deadline that never comes: the timed call waits as its untimed form does.
    pub const NEVER: Deadline = Deadline(Moment::Never);

    /// A deadline that has passed already: the timed call makes one attempt, reads no clock and never sleeps.
    pub const PASSED: Deadline = Deadline(Moment::Passed);

    /// The moment `timeout` from now, on the monotonic clock.
    ///
    /// `Duration::ZERO` makes [`Deadline::PASSED`]; whatever the clock can't represent, such as `Duration::MAX`,
    /// makes [`Deadline::NEVER`]. Reads the clock once, but for `Duration::ZERO` not at all.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::Deadline;
    ///
    /// assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
    /// assert_eq!(Deadline::after(Duration::ZERO), Deadline::PASSED);
    /// assert!(!Deadline::after(Duration::from_secs(60)).has_passed());
    /// ```
    #[must_use]
    pub fn after(timeout: Duration) -> Deadline {
        if timeout.is_zero() {
            return Deadline::PASSED;
        }
        match Instant::now().checked_add(timeout) {
            Some(instant) => Deadline(Moment::Monotonic(instant)),
            None => Deadline::NEVER,
        }
    }

    /// Whether the deadline's clock has reached it.
    ///
    /// Reads that clock once, for [`NEVER`](Deadline::NEVER) and [`PASSED`](Deadline::PASSED) not at all. On the
    /// wall clock a later call can say `false` again, if the clock was set back.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use waitline::Deadline;
    ///
    /// assert!(Deadline::from(SystemTime::UNIX_EPOCH).has_passed());
    /// assert!(!Deadline::NEVER.has_passed());
    /// ```
    #[doc(alias = "is_expired")]
    #[must_use]
    pub fn has_passed(&self) -> bool {
        match self.0 {
            Moment::Never => false,
            Moment::Passed => true,
            Moment::Monotonic(instant) => Instant::now() >= instant,
            Moment::Wall(time) => SystemTime::now() >= time,
        }
    }

    /// How long it is until the deadline, zero once it has passed, `None` if it never comes.
    ///
    /// Reads the deadline's clock as [`has_passed`](Deadline::has_passed) does.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::Deadline;
    ///
    /// let deadline = Deadline::after(Duration::from_secs(60));
    /// assert!(deadline.remaining().unwrap() <= Duration::from_secs(60));
    /// assert_eq!(Deadline::PASSED.remaining(), Some(Duration::ZERO));
    /// assert_eq!(Deadline::NEVER.remaining(), None);
    /// ```
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        match self.0 {
            Moment::Never => None,
            Moment::Passed => Some(Duration::ZERO),
            Moment::Monotonic(instant) => Some(instant.saturating_duration_since(Instant::now())),
            Moment::Wall(time) => Some(time.duration_since(SystemTime::now()).unwrap_or(Duration::ZERO)),
        }
    }

    #[inline]
    pub(crate) fn moment(self) -> Moment {
        self.0
    }
}

impl From<Instant> for Deadline {
    #[inline]
    fn from(instant: Instant) -> Deadline {
        Deadline(Moment::Monotonic(instant))
    }
}

/// A time before the Unix epoch has passed, whatever the wall clock says.
impl From<SystemTime> for Deadline {
    #[inline]
    fn from(time: SystemTime) -> Deadline {
        if time < UNIX_EPOCH { Deadline::PASSED } else { Deadline(Moment::Wall(time)) }
    }
}

/// `None` is [`Deadline::NEVER`], as in an API whose timeout is optional.
impl<T: Into<Deadline>> From<Option<T>> for Deadline {
    #[inline]
    fn from(deadline: Option<T>) -> Deadline {
        deadline.map_or(Deadline::NEVER, Into::into)
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Moment::Never => f.write_str("Deadline::NEVER"),
            Moment::Passed => f.write_str("Deadline::PASSED"),
            Moment::Monotonic(instant) => f.debug_tuple("Deadline").field(instant).finish(),
            Moment::Wall(time) => f.debug_tuple("Deadline").field(time).finish(),
        }
    }
}
