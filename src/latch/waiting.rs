//! Waiting for a latch to open: the calls, and what they do in the wait core. The invariants and edges are those of `latch.rs`.

use core::time::Duration;

use super::{Latch, OPEN, WAITERS};
use crate::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed},
    Transition,
};
use crate::sys::Word;
use crate::wait::{self, Awake, Step, Waiter};
use crate::{Deadline, TimedOut};

impl Latch {
    /// Whether the latch is open. Never waits, never spins, makes no system call.
    ///
    /// `true` orders memory as [`wait`](Latch::wait) does, `false` orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Latch;
    ///
    /// let latch = Latch::new(1);
    /// assert!(!latch.try_wait());
    /// latch.count_down();
    /// assert!(latch.try_wait());
    /// ```
    #[doc(alias("is_open", "is_set"))]
    #[must_use = "whether the latch is open"]
    #[inline]
    pub fn try_wait(&self) -> bool {
        is_open(&self.state)
    }

    /// Waits until the latch is open, as long as it takes.
    ///
    /// Returns when the latch is open. Everything before each call that counted it down happens before that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    /// use waitline::Latch;
    ///
    /// let ready = Latch::new(1);
    /// thread::scope(|scope| {
    ///     scope.spawn(|| ready.wait());
    ///     scope.spawn(|| ready.wait());
    ///     ready.count_down(); // lets both go on
    /// });
    /// ```
    #[doc(alias("await", "WaitOne"))]
    #[inline]
    pub fn wait(&self) {
        if !self.try_wait() {
            self.wait_slow(Deadline::NEVER);
        }
    }

    /// Waits until the latch is open, no longer than `timeout` on the monotonic clock.
    ///
    /// Returns
    ///
    /// 1. `Ok` as soon as the latch is open, also with a `timeout` of zero;
    /// 2. [`TimedOut`] once the time is up and a last look has found the latch closed.
    ///
    /// A `timeout` that the clock can't represent, such as `Duration::MAX`, waits as [`wait`](Latch::wait) does.
    /// `Duration::ZERO` reads no clock. `Ok` orders memory as [`wait`](Latch::wait) does, [`TimedOut`] orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::{Latch, TimedOut};
    ///
    /// let latch = Latch::new(1);
    /// assert_eq!(latch.wait_for(Duration::from_millis(1)), Err(TimedOut));
    /// ```
    #[doc(alias("wait_timeout", "await_timeout"))]
    #[must_use = "whether the latch is open"]
    #[inline]
    pub fn wait_for(&self, timeout: Duration) -> Result<(), TimedOut> {
        wait::within(timeout, || self.look(), |deadline| self.wait_slow(deadline)).ok_or(TimedOut)
    }

    /// Waits until the latch is open, no longer than until `deadline`, on the deadline's clock.
    ///
    /// Returns
    ///
    /// 1. `Ok` as soon as the latch is open: an open latch beats a deadline that has passed;
    /// 2. [`TimedOut`] once that clock has reached the deadline and a last look has found the latch closed. When it has passed
    ///    already, that takes at most a clock read and no system call.
    ///
    /// Orders memory as [`wait_for`](Latch::wait_for).
    ///
    /// # Examples
    ///
    /// One deadline for several latches:
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::{Deadline, Latch};
    ///
    /// let started = [Latch::new(0), Latch::new(1), Latch::new(0)];
    /// let deadline = Deadline::after(Duration::from_millis(2));
    /// let late = started.iter().filter(|latch| latch.wait_until(deadline).is_err()).count();
    /// assert_eq!(late, 1);
    /// ```
    #[must_use = "whether the latch is open"]
    #[inline]
    pub fn wait_until(&self, deadline: impl Into<Deadline>) -> Result<(), TimedOut> {
        wait::until(deadline.into(), || self.look(), |deadline| self.wait_slow(deadline)).ok_or(TimedOut)
    }

    /// Counts down by one and waits until the latch is open: a meeting that takes place once.
    ///
    /// Orders memory as [`count_down`](Latch::count_down) and [`wait`](Latch::wait).
    ///
    /// # Panics
    ///
    /// If the latch is open already: more were counted down than up.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    /// use waitline::Latch;
    ///
    /// let all_here = Latch::new(3);
    /// thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| all_here.arrive_and_wait());
    ///     }
    /// });
    /// ```
    #[inline]
    #[track_caller]
    pub fn arrive_and_wait(&self) {
        if !self.count_down() {
            self.wait();
        }
    }

    #[inline]
    fn look(&self) -> Option<()> {
        self.try_wait().then_some(())
    }

    /// After a first look that failed, and a look at the deadline.
    #[cold]
    fn wait_slow(&self, deadline: Deadline) -> Option<()> {
        wait::block_on(Opening { state: &self.state }, deadline).ok()
    }
}

#[inline]
fn is_open(state: &AtomicU32) -> bool {
    state.load(Acquire /* E1 */) == OPEN
}

/// A call that waits for the opening.
struct Opening<'a> {
    state: &'a AtomicU32,
}

impl<'a> Waiter<'a> for Opening<'a> {
    type Output = ();

    fn attempt(&mut self) -> Option<()> {
        is_open(self.state).then_some(())
    }

    fn stay_awake(&self) -> Awake {
        Awake::ForOthers(1)
    }

    fn attempt_or_announce(&mut self) -> Step<'a, ()> {
        let announced =
            self.state.transition(|now| (now != OPEN && now & WAITERS == 0).then_some((now | WAITERS, Relaxed)));
        let (Ok(now) | Err(now)) = announced;
        // Open stays open (I3): this look finds what that one found.
        if now == OPEN && is_open(self.state) {
            return Step::Done(());
        }
        Step::Sleep(Word::Whole(self.state), now | WAITERS) // I2
    }

    /// Leaves the waiters bit, which others may need.
    fn attempt_or_leave(&mut self) -> Option<()> {
        self.attempt()
    }
}
