//! Tokens of arrivals. The invariants and edges are those of `barrier.rs`.

use core::fmt;
use core::time::Duration;

use super::phase::{PhaseEnd, WhenLate};
use super::{Outcome, granted, in_time};
use crate::atomic::AtomicU64;
use crate::{Deadline, TimedOut, wait};

/// An arrival at a [`Barrier`](crate::Barrier) whose phase can be waited for later, from any thread and by several.
///
/// Made by [`Barrier::arrive`](crate::Barrier::arrive). Dropping it lets the arrival stand. However many phases have passed since
/// its own, up to 2^31 − 1 of them, the token knows that its phase has ended.
///
/// # Memory ordering
///
/// Everything before any arrival in the phase, and in the completion function, happens before the return of a call that
/// finds the phase ended.
///
/// # Panics
///
/// Every call that looks at the phase panics if its completion function has panicked.
///
/// # Examples
///
/// Work that needs nobody else is done between arriving and waiting:
///
/// ```
/// use std::thread;
/// use waitline::Barrier;
///
/// let barrier = Barrier::new(2);
/// thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             // … what the others wait for
///             let arrival = barrier.arrive();
///             // … what nobody waits for
///             arrival.wait();
///         });
///     }
/// });
/// ```
#[doc(alias = "arrival_token")]
#[must_use = "dropping it lets the arrival stand"]
pub struct Arrival<'a> {
    state: &'a AtomicU64,
    phase: u32,
    is_leader: bool,
}

impl<'a> Arrival<'a> {
    #[inline]
    pub(super) fn new(state: &'a AtomicU64, phase: u32, is_leader: bool) -> Arrival<'a> {
        Arrival { state, phase, is_leader }
    }

    /// Whether the phase has ended. Never waits, never spins, makes no system call.
    ///
    /// `true` orders memory as [`wait`](Arrival::wait) does, `false` orders nothing.
    ///
    /// # Panics
    ///
    /// If the phase's completion function has panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Barrier;
    ///
    /// let barrier = Barrier::new(2);
    /// let first = barrier.arrive();
    /// assert!(!first.is_complete());
    /// let second = barrier.arrive();
    /// assert!(first.is_complete() && second.is_complete());
    /// ```
    #[inline]
    #[must_use = "whether the phase has ended"]
    #[track_caller]
    pub fn is_complete(&self) -> bool {
        match self.look() {
            Some(outcome) => {
                granted(outcome);
                true
            }
            None => false,
        }
    }

    /// Waits until the phase has ended, as long as it takes.
    ///
    /// Returns when it has, and says whether this was the arrival that completed it. Everything before each arrival in the
    /// phase, and in the completion function, happens before that.
    ///
    /// # Panics
    ///
    /// If the phase's completion function has panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Barrier;
    ///
    /// let barrier = Barrier::new(1);
    /// assert!(barrier.arrive().wait().is_leader());
    /// ```
    #[inline]
    #[track_caller]
    pub fn wait(self) -> BarrierWaitResult {
        if !self.is_leader {
            let end = self.end(WhenLate::Stand);
            granted(end.look().unwrap_or_else(|| wait::block_on_forever(end)));
        }
        self.result() // the leader has ended the phase itself
    }

    /// Waits until the phase has ended, no longer than `timeout` on the monotonic clock. The arrival stands in any case.
    ///
    /// Returns
    ///
    /// 1. `Ok` as soon as the phase has ended, also with a `timeout` of zero;
    /// 2. [`TimedOut`] once the time is up and a last look has found that it has not.
    ///
    /// A `timeout` that the clock can't represent, such as `Duration::MAX`, waits as [`wait`](Arrival::wait) does.
    /// `Duration::ZERO` reads no clock. `Ok` orders memory as [`wait`](Arrival::wait) does, [`TimedOut`] orders nothing.
    ///
    /// # Panics
    ///
    /// If the phase's completion function has panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::Barrier;
    ///
    /// let barrier = Barrier::new(2);
    /// let arrival = barrier.arrive();
    /// while arrival.wait_for(Duration::from_millis(1)).is_err() {
    ///     // … tell somebody that it takes long, and in this example:
    ///     let _other = barrier.arrive();
    /// }
    /// ```
    #[doc(alias = "wait_timeout")]
    #[must_use = "whether the phase has ended"]
    #[inline]
    #[track_caller]
    pub fn wait_for(&self, timeout: Duration) -> Result<BarrierWaitResult, TimedOut> {
        in_time(wait::within(timeout, || self.look(), |deadline| self.wait_slow(deadline)))
    }

    /// Waits until the phase has ended, no longer than until `deadline`, on the deadline's clock. The arrival stands in any
    /// case.
    ///
    /// Returns
    ///
    /// 1. `Ok` as soon as the phase has ended: that beats a deadline that has passed;
    /// 2. [`TimedOut`] once that clock has reached the deadline and a last look has found that it has not. When the deadline
    ///    has passed already, that takes at most a clock read and no system call.
    ///
    /// Orders memory as [`wait_for`](Arrival::wait_for).
    ///
    /// # Panics
    ///
    /// If the phase's completion function has panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::{Barrier, Deadline};
    ///
    /// let barrier = Barrier::new(2);
    /// let arrival = barrier.arrive();
    /// assert!(arrival.wait_until(Deadline::PASSED).is_err());
    /// ```
    #[must_use = "whether the phase has ended"]
    #[inline]
    #[track_caller]
    pub fn wait_until(&self, deadline: impl Into<Deadline>) -> Result<BarrierWaitResult, TimedOut> {
        in_time(wait::until(deadline.into(), || self.look(), |deadline| self.wait_slow(deadline)))
    }

    /// Takes the arrival back: the phase needs as many as before it. `Ok` orders nothing.
    ///
    /// # Errors
    ///
    /// Fails once all have arrived, with what a wait would have returned. If the completion function is still running, that
    /// is as soon as it has returned. This orders memory as [`wait`](Arrival::wait) does.
    ///
    /// # Panics
    ///
    /// If the phase's completion function has panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Barrier;
    ///
    /// let barrier = Barrier::new(2);
    /// barrier.arrive().withdraw().unwrap();
    /// let first = barrier.arrive();
    /// assert!(!first.is_complete());
    /// assert!(barrier.wait().is_leader());
    /// assert!(first.withdraw().is_err()); // too late
    /// ```
    #[track_caller]
    pub fn withdraw(self) -> Result<(), BarrierWaitResult> {
        match self.end(WhenLate::Withdraw).withdraw() {
            None => Ok(()),
            Some(outcome) => {
                granted(outcome);
                Err(self.result())
            }
        }
    }

    pub(super) fn wait_or_withdraw(self, deadline: Deadline) -> Option<Outcome> {
        let end = self.end(WhenLate::Withdraw);
        let ended = match end.look() {
            Some(ended) => ended,
            None => wait::block_on(end, deadline).ok()?,
        };
        Some(ended.map(|()| self.result()))
    }

    #[cold]
    fn wait_slow(&self, deadline: Deadline) -> Option<Outcome> {
        let ended = wait::block_on(self.end(WhenLate::Stand), deadline).ok()?;
        Some(ended.map(|()| self.result()))
    }

    #[inline]
    fn look(&self) -> Option<Outcome> {
        let ended = self.end(WhenLate::Stand).look()?;
        Some(ended.map(|()| self.result()))
    }

    #[inline]
    fn end(&self, when_late: WhenLate) -> PhaseEnd<'a> {
        PhaseEnd { state: self.state, phase: self.phase, when_late }
    }

    /// Whose phase has ended, or does not matter.
    #[inline]
    pub(super) fn result(&self) -> BarrierWaitResult {
        BarrierWaitResult::of(self.is_leader)
    }
}

impl fmt::Debug for Arrival<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrival")
            .field("phase", &self.phase)
            .field("is_leader", &self.is_leader)
            .finish_non_exhaustive()
    }
}

/// What a party learns when a phase of a [`Barrier`](crate::Barrier) has ended. As that of std.
///
/// # Examples
///
/// ```
/// use waitline::Barrier;
///
/// assert!(Barrier::new(1).wait().is_leader());
/// ```
pub struct BarrierWaitResult {
    is_leader: bool,
}

impl BarrierWaitResult {
    #[inline]
    pub(super) fn of(is_leader: bool) -> BarrierWaitResult {
        BarrierWaitResult { is_leader }
    }

    /// Whether this arrival completed the phase. One arrival a phase does, by whichever call it was made.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Barrier;
    ///
    /// let barrier = Barrier::new(2);
    /// let first = barrier.arrive();
    /// assert!(barrier.wait().is_leader());
    /// assert!(!first.wait().is_leader());
    /// ```
    #[doc(alias = "PTHREAD_BARRIER_SERIAL_THREAD")]
    #[inline]
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.is_leader
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader).finish()
    }
}
