//! The binary semaphore.
//!
//! # State word
//!
//! ```text
//!  31                             1       0
//! ┌─────────────────────────────────┬───────────┐
//! │             waiters             │ AVAILABLE │
//! └─────────────────────────────────┴───────────┘
//!  asleep on the whole word: who wants the permit
//! ```
//!
//! | bits  | name        | meaning |
//! |-------|-------------|---------|
//! | 0     | `AVAILABLE` | the one permit is there |
//! | 1..32 | waiters     | threads that are registered: asleep, about to be, or just woken |
//!
//! # Invariants
//!
//! * I1. A thread sleeps only while it is counted in waiters, and only on a value without `AVAILABLE`.
//! * I2. Whoever sets `AVAILABLE` where it was not set wakes one thread, if its own write found waiters.
//! * I3. Whoever takes the permit after registering deregisters in the same write. A waiter whose time is up does so in
//!   the same write as its last look.
//! * I4. Every change is a read-modify-write.
//!
//! No wake-up is lost: a write that sets `AVAILABLE` comes before or after the registration of a waiter. Before: the
//! registering write finds it set. After: it finds the waiter (I2). If another thread takes the permit before the woken
//! one does, then the next release finds it gone and wakes again: the woken one is still counted until it has the
//! permit or gives up. (A third state "taken, with waiters" instead of a count would forget those that still sleep.)
//!
//! # Memory ordering
//!
//! | edge | from → to | why |
//! |------|-----------|-----|
//! | E1 | write that sets `AVAILABLE`, or finds it set (Release) → write that clears it (Acquire) | what was done before a release is visible after the acquire |
//!
//! By I4 every release heads a release sequence that no later write ends, so an acquire synchronizes with every release
//! before it, also with those that found the permit there already. Everything else is Relaxed.
//!
//! # Destruction
//!
//! As with the counting semaphore: a release touches nothing after its one write.

use core::fmt;
use core::time::Duration;

use crate::Deadline;
use crate::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
    Transition, const_fn,
};
use crate::sys::{self, Word};
use crate::wait::{self, Awake, Step, Waiter};

const AVAILABLE: u32 = 1;
const ONE_WAITER: u32 = 2;

#[inline]
fn is_available(state: u32) -> bool {
    state & AVAILABLE != 0
}

#[inline]
fn has_waiters(state: u32) -> bool {
    state >= ONE_WAITER
}

/// A semaphore of one permit: a signal that wakes one waiter and resets itself.
///
/// [`release`](BinarySemaphore::release) makes the permit available, unless it is already;
/// [`acquire`](BinarySemaphore::acquire) waits for it and takes it. Releases do not add up, which is what a "there is
/// something to do" flag wants, and any thread may release. To count, use [`Semaphore`](crate::Semaphore), which also
/// has guards.
///
/// Four bytes, fit for a `static`. (A `const` one would be a new one at every use.)
///
/// # Fairness
///
/// None: a thread that comes along may take the permit before a woken one does. Sleepers are woken in the order in
/// which they fell asleep, except where the platform puts real-time threads first. A release wakes one thread at the
/// most, and makes no system call when nobody waits.
///
/// # Memory ordering
///
/// Everything before a release, even one that found the permit available already, happens before the return of the call
/// that takes the permit next. Failed calls and [`is_available`](BinarySemaphore::is_available) order nothing.
///
/// # Examples
///
/// A worker that sleeps until there is something to do:
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::thread;
/// use waitline::BinarySemaphore;
///
/// static WORK: BinarySemaphore = BinarySemaphore::new(false);
/// static JOBS: AtomicU32 = AtomicU32::new(0);
///
/// thread::scope(|scope| {
///     scope.spawn(|| {
///         let mut done = 0;
///         while done < 3 {
///             WORK.acquire();
///             done += JOBS.swap(0, Ordering::Relaxed);
///         }
///     });
///     for _ in 0..3 {
///         JOBS.fetch_add(1, Ordering::Relaxed);
///         WORK.release();
///     }
/// });
/// ```
#[doc(alias("AutoResetEvent", "binary_semaphore", "event", "Notify", "Parker"))]
pub struct BinarySemaphore {
    state: AtomicU32,
}

#[cfg(not(all(test, waitline_loom)))]
const _: () = assert!(size_of::<BinarySemaphore>() == 4 && align_of::<BinarySemaphore>() == 4);

impl BinarySemaphore {
    const_fn! {
        /// A binary semaphore whose permit is available, or is not.
        ///
        /// # Examples
        ///
        /// ```
        /// use waitline::BinarySemaphore;
        ///
        /// static DOORBELL: BinarySemaphore = BinarySemaphore::new(false);
        /// assert!(!DOORBELL.is_available());
        /// ```
        #[must_use]
        pub const fn new(available: bool) -> BinarySemaphore {
            BinarySemaphore { state: AtomicU32::new(available as u32 * AVAILABLE) }
        }
    }

    /// Takes the permit, waiting for it as long as it takes.
    ///
    /// Returns when this thread has taken the permit. Everything before each release so far happens before that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    /// use waitline::BinarySemaphore;
    ///
    /// let ready = BinarySemaphore::new(false);
    /// thread::scope(|scope| {
    ///     scope.spawn(|| ready.release());
    ///     ready.acquire(); // returns once the other thread has released
    /// });
    /// ```
    #[doc(alias("down", "P", "wait", "sem_wait", "notified", "park", "WaitOne"))]
    #[inline]
    pub fn acquire(&self) {
        if !self.try_acquire() {
            self.take_slow(Deadline::NEVER);
        }
    }

    /// Takes the permit if it is available now. Never waits, never spins, makes no system call.
    ///
    /// `true` orders memory as [`acquire`](BinarySemaphore::acquire) does, `false` orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::BinarySemaphore;
    ///
    /// let semaphore = BinarySemaphore::new(true);
    /// assert!(semaphore.try_acquire());
    /// assert!(!semaphore.try_acquire());
    /// ```
    #[doc(alias("sem_trywait", "try_wait"))]
    #[must_use = "whether the permit was taken"]
    #[inline]
    pub fn try_acquire(&self) -> bool {
        take(&self.state)
    }

    /// Takes the permit, waiting for it no longer than `timeout` on the monotonic clock.
    ///
    /// Returns
    ///
    /// 1. `true` as soon as this thread has taken the permit: there is always one attempt, also with a `timeout` of
    ///    zero;
    /// 2. `false` once the time is up and a last look has not found the permit.
    ///
    /// A `timeout` that the clock can't represent, such as `Duration::MAX`, waits as
    /// [`acquire`](BinarySemaphore::acquire) does. `Duration::ZERO` reads no clock. Orders memory as
    /// [`try_acquire`](BinarySemaphore::try_acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::BinarySemaphore;
    ///
    /// let semaphore = BinarySemaphore::new(false);
    /// assert!(!semaphore.try_acquire_for(Duration::from_millis(1)));
    /// ```
    #[doc(alias("acquire_timeout", "wait_timeout", "park_timeout"))]
    #[must_use = "whether the permit was taken"]
    #[inline]
    pub fn try_acquire_for(&self, timeout: Duration) -> bool {
        wait::within(timeout, || self.look(), |deadline| self.take_slow(deadline)).is_some()
    }

    /// Takes the permit, waiting for it no longer than until `deadline`, on the deadline's clock.
    ///
    /// Returns
    ///
    /// 1. `true` as soon as this thread has taken the permit: an available permit beats a deadline that has passed;
    /// 2. `false` once that clock has reached the deadline and a last look has not found the permit. When it has passed
    ///    already, that takes at most a clock read and no system call.
    ///
    /// Orders memory as [`try_acquire`](BinarySemaphore::try_acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use waitline::BinarySemaphore;
    ///
    /// let semaphore = BinarySemaphore::new(true);
    /// assert!(semaphore.try_acquire_until(SystemTime::UNIX_EPOCH));
    /// assert!(!semaphore.try_acquire_until(SystemTime::now() + Duration::from_millis(1)));
    /// ```
    #[doc(alias("acquire_deadline", "sem_timedwait", "sem_clockwait", "park_deadline"))]
    #[must_use = "whether the permit was taken"]
    #[inline]
    pub fn try_acquire_until(&self, deadline: impl Into<Deadline>) -> bool {
        wait::until(deadline.into(), || self.look(), |deadline| self.take_slow(deadline)).is_some()
    }

    /// Makes the permit available, and wakes one thread if it was not and any waits. Never waits.
    ///
    /// Returns whether the permit was *not* available before: `false` means that this release was one too many and had
    /// no effect but its memory ordering: everything before this call happens before the return of the call that takes the
    /// permit next.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::BinarySemaphore;
    ///
    /// let semaphore = BinarySemaphore::new(false);
    /// assert!(semaphore.release());
    /// assert!(!semaphore.release());
    /// ```
    #[doc(alias("up", "V", "post", "signal", "sem_post", "set", "notify_one", "unpark"))]
    #[inline]
    #[allow(unsafe_code, reason = "one implementation, on a raw pointer")]
    pub fn release(&self) -> bool {
        // SAFETY: a reference points to a live semaphore.
        unsafe { BinarySemaphore::release_raw(self) }
    }

    /// [`release`](BinarySemaphore::release) for a semaphore that may die as soon as the permit is visible, such as one
    /// on the stack of the thread that waits.
    ///
    /// Nothing of the semaphore is touched after the one write that makes the permit available, and no
    /// `&BinarySemaphore` is formed. Returns and orders memory as [`release`](BinarySemaphore::release).
    ///
    /// # Safety
    ///
    /// `this` points to a semaphore that lives until the permit has been taken after this call's write.
    ///
    /// # Examples
    ///
    /// See [`Semaphore::release_raw`](crate::Semaphore::release_raw), whose use is the same.
    ///
    /// ```
    /// use waitline::BinarySemaphore;
    ///
    /// let semaphore = BinarySemaphore::new(false);
    /// // SAFETY: the semaphore outlives the call.
    /// assert!(unsafe { BinarySemaphore::release_raw(&semaphore) });
    /// ```
    #[allow(unsafe_code, reason = "for owners who know when the semaphore dies")]
    #[inline]
    pub unsafe fn release_raw(this: *const BinarySemaphore) -> bool {
        // SAFETY: alive until the write, by the caller's promise; not used after it.
        let state = unsafe { &(*this).state };
        let sleepers = Word::Whole(state).address();
        let before = state.fetch_or(AVAILABLE, Release /* E1 */);
        if is_available(before) {
            return false;
        }
        if has_waiters(before) {
            wake_one(sleepers); // I2
        }
        true
    }

    /// Whether the permit is available now.
    ///
    /// A snapshot for logs and tests. Orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::BinarySemaphore;
    ///
    /// assert!(BinarySemaphore::new(true).is_available());
    /// ```
    #[must_use]
    #[inline]
    pub fn is_available(&self) -> bool {
        is_available(self.state.load(Relaxed))
    }

    #[inline]
    fn look(&self) -> Option<()> {
        self.try_acquire().then_some(())
    }

    /// After a first attempt that failed, and a look at the deadline.
    #[cold]
    fn take_slow(&self, deadline: Deadline) -> Option<()> {
        wait::block_on(Taker { state: &self.state, registered: false }, deadline).ok()
    }
}

#[cold]
fn wake_one(sleepers: *const u32) {
    sys::wake(sleepers, 1);
}

#[inline]
fn take(state: &AtomicU32) -> bool {
    let taken = |now| is_available(now).then_some((now & !AVAILABLE, Acquire /* E1 */));
    state.transition(taken).is_ok()
}

/// A call that waits for the permit.
struct Taker<'a> {
    state: &'a AtomicU32,
    registered: bool,
}

impl<'a> Waiter<'a> for Taker<'a> {
    type Output = ();

    fn attempt(&mut self) -> Option<()> {
        take(self.state).then_some(())
    }

    fn stay_awake(&self) -> Awake {
        if has_waiters(self.state.load(Relaxed)) { Awake::Not } else { Awake::ForReturn }
    }

    fn attempt_or_announce(&mut self) -> Step<'a, ()> {
        let moved = self.state.transition(|now| match (is_available(now), self.registered) {
            (true, true) => Some((now - AVAILABLE - ONE_WAITER, Acquire /* E1, I3 */)),
            (true, false) => Some((now - AVAILABLE, Acquire /* E1 */)),
            (false, true) => None,
            (false, false) => Some((now + ONE_WAITER, Relaxed)),
        });
        let now = match moved {
            Ok(before) if is_available(before) => return Step::Done(()),
            Ok(before) => before + ONE_WAITER,
            Err(now) => now,
        };
        self.registered = true;
        Step::Sleep(Word::Whole(self.state), now) // I1
    }

    fn attempt_or_leave(&mut self) -> Option<()> {
        let moved = self.state.transition(|now| {
            Some(if is_available(now) {
                (now - AVAILABLE - ONE_WAITER, Acquire /* E1, I3 */)
            } else {
                (now - ONE_WAITER, Relaxed)
            })
        });
        moved.is_ok_and(is_available).then_some(())
    }
}

#[cfg(all(test, waitline_loom))]
impl BinarySemaphore {
    pub(crate) fn registered_waiters(&self) -> u32 {
        self.state.load(Relaxed) / ONE_WAITER
    }
}

/// The permit is not available.
impl Default for BinarySemaphore {
    fn default() -> BinarySemaphore {
        BinarySemaphore::new(false)
    }
}

impl fmt::Debug for BinarySemaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinarySemaphore").field("is_available", &self.is_available()).finish_non_exhaustive()
    }
}
