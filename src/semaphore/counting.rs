//! The counting semaphore.
//!
//! # State word
//!
//! One 64-bit word, so that one read-modify-write answers both "is there a permit?" and "must I wake?", as in glibc's
//! semaphores since 2.21:
//!
//! ```text
//!   63     62    61              32 31                            0
//! ┌──────┬───────┬─────────────────┬───────────────────────────────┐
//! │ TURN │ QUEUE │     waiters     │            permits            │
//! └──────┴───────┴─────────────────┴───────────────────────────────┘
//!  asleep here: who wants TURN       asleep here: who wants a permit
//! ```
//!
//! | bits   | name    | meaning |
//! |--------|---------|---------|
//! | 0..32  | permits | how many are available. Whoever waits for a permit sleeps on this half while it is 0. |
//! | 32..62 | waiters | threads that are registered on that half: asleep, about to be, or just woken |
//! | 62     | `QUEUE` | some thread may sleep on this upper half, waiting for `TURN`. May be set in vain. |
//! | 63     | `TURN`  | one thread is collecting permits for an `acquire_many` (`many.rs`) |
//!
//! # Invariants
//!
//! * I1. A release that finds that it would go beyond `MAX_PERMITS` panics before it writes. Small ones look before their
//!   write, so some that race with a very large one may end a few beyond (`state.rs`), and never in the other half.
//! * I2. A thread sleeps on the permits half only while it is counted in waiters, and only on the value 0.
//! * I3. Whoever raises permits by n wakes min(n, waiters) threads there, waiters as its own write found it. All who
//!   sleep there can use any one permit, so no wake-up is ever passed on.
//! * I4. Whoever takes a permit after registering deregisters in the same write. A waiter whose time is up does so in
//!   the same write as its last look.
//! * I5. Every change is a read-modify-write.
//!
//! No wake-up is lost: a release's write comes before or after the registration of a waiter. Before: the registering
//! write finds the permit. After: it finds the waiter (I3), who either sleeps by then, or compares after the write.
//!
//! # Memory ordering
//!
//! | edge | from → to | why |
//! |------|-----------|-----|
//! | E1 | write that gives permits (Release) → write that takes (the last of) them (Acquire) | what was done before a release is visible after the acquire |
//!
//! By I5 every release heads a release sequence that no later write ends, so an acquire synchronizes with *every*
//! release before it, and pieces that are collected or given back in between need no order of their own. Everything
//! else is Relaxed: the coherence of one word is enough.
//!
//! # Destruction
//!
//! A release touches nothing after its one write; the address for its wake is computed before. So the semaphore may be
//! freed once no call that waits is in progress and the effect of every release has been received.

use core::fmt;
use core::time::Duration;

use super::give::give;
use super::many::Collector;
use super::single::Single;
use super::state::{self, State};
use crate::Deadline;
use crate::atomic::{AtomicU64, Ordering::Acquire, const_fn};
use crate::wait;

/// A counting semaphore: a number of permits that threads take, wait for and give back.
///
/// Whoever may give a permit back is not fixed: one thread can [`release`](Semaphore::release) what another one
/// [`acquire`](Semaphore::acquire)s, which makes it a signal as well as a bound. [`Permit`](crate::Permit) and
/// [`OwnedPermit`](crate::OwnedPermit) give back what they hold by themselves. For a plain yes-or-no signal that never
/// counts beyond one, see [`BinarySemaphore`](crate::BinarySemaphore).
///
/// A semaphore is eight bytes, and can be a `static`. (A `const` semaphore would be a new one at
/// every use.)
///
/// # Wake-ups
///
/// A release wakes at most as many threads as it released permits, and makes no system call when nobody waits.
///
/// # Fairness
///
/// None: a thread that comes along while a woken one is on its way may take the permit first (*barging*). The woken
/// one then sleeps again, on the same deadline. Sleepers are woken in the order in which they fell asleep, except
/// where the platform puts real-time threads first. Calls for many permits collect them one after another, in no
/// particular order; see [`acquire_many`](Semaphore::acquire_many).
///
/// # Memory ordering
///
/// Everything before a release happens before the return of any call that acquires after it. Failed calls and
/// [`available_permits`](Semaphore::available_permits) order nothing.
///
/// # Examples
///
/// ```
/// use std::thread;
/// use waitline::Semaphore;
///
/// static CONNECTIONS: Semaphore = Semaphore::new(2);
///
/// thread::scope(|scope| {
///     for _ in 0..10 {
///         scope.spawn(|| {
///             let _permit = CONNECTIONS.acquire_permit();
///             // at most two threads at a time come here
///         });
///     }
/// });
/// assert_eq!(CONNECTIONS.available_permits(), 2);
/// ```
#[doc(alias("sem_t", "counting_semaphore", "SemaphoreSlim"))]
pub struct Semaphore {
    pub(super) state: AtomicU64,
}

// The size that the documentation promises; and the wait core takes halves of an aligned word.
#[cfg(not(all(test, waitline_loom)))]
const _: () = assert!(size_of::<Semaphore>() == 8 && align_of::<Semaphore>() == 8);

impl Semaphore {
    /// The greatest number of permits that a semaphore can have: 2^31 − 1.
    pub const MAX_PERMITS: usize = state::MAX_PERMITS as usize;

    const_fn! {
        /// A semaphore with `permits` permits available.
        ///
        /// # Panics
        ///
        /// If `permits` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
        ///
        /// # Examples
        ///
        /// ```
        /// use waitline::Semaphore;
        ///
        /// static SLOTS: Semaphore = Semaphore::new(8);
        /// assert_eq!(SLOTS.available_permits(), 8);
        /// ```
        #[must_use]
        #[track_caller]
        pub const fn new(permits: usize) -> Semaphore {
            assert!(permits <= Semaphore::MAX_PERMITS, "a semaphore has at most 2^31 - 1 permits");
            Semaphore { state: AtomicU64::new(State::of(permits as u32).0) }
        }
    }

    /// Takes a permit, waiting for one as long as it takes.
    ///
    /// Returns when this thread has taken a permit. Everything before each release so far happens before that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    /// use waitline::Semaphore;
    ///
    /// let done = Semaphore::new(0);
    /// thread::scope(|scope| {
    ///     scope.spawn(|| done.release());
    ///     done.acquire(); // returns once the other thread has released
    /// });
    /// ```
    #[doc(alias("down", "P", "wait", "sem_wait", "WaitOne"))]
    #[inline]
    pub fn acquire(&self) {
        if !self.try_acquire() {
            self.take_slow(1, Deadline::NEVER);
        }
    }

    /// Takes a permit if one is available now. Never waits, never spins, makes no system call.
    ///
    /// `true` orders memory as [`acquire`](Semaphore::acquire) does, `false` orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(1);
    /// assert!(semaphore.try_acquire());
    /// assert!(!semaphore.try_acquire());
    /// ```
    #[doc(alias("sem_trywait", "try_wait", "try_down"))]
    #[must_use = "whether a permit was taken"]
    #[inline]
    pub fn try_acquire(&self) -> bool {
        self.take(1)
    }

    /// Takes a permit, waiting for one no longer than `timeout` on the monotonic clock.
    ///
    /// Returns
    ///
    /// 1. `true` as soon as this thread has taken a permit: there is always one attempt, also with a `timeout` of
    ///    zero;
    /// 2. `false` once the time is up and a last look has found no permit.
    ///
    /// A `timeout` that the clock can't represent, such as `Duration::MAX`, waits as [`acquire`](Semaphore::acquire)
    /// does. `Duration::ZERO` reads no clock. Orders memory as [`try_acquire`](Semaphore::try_acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(1);
    /// assert!(semaphore.try_acquire_for(Duration::ZERO));
    /// assert!(!semaphore.try_acquire_for(Duration::from_millis(1)));
    /// ```
    #[doc(alias("acquire_timeout", "wait_timeout", "down_timeout"))]
    #[must_use = "whether a permit was taken"]
    #[inline]
    pub fn try_acquire_for(&self, timeout: Duration) -> bool {
        self.take_for(1, timeout)
    }

    /// Takes a permit, waiting for one no longer than until `deadline`, on the deadline's clock.
    ///
    /// Returns
    ///
    /// 1. `true` as soon as this thread has taken a permit: an available permit beats a deadline that has passed;
    /// 2. `false` once that clock has reached the deadline and a last look has found no permit. When it has passed
    ///    already, that takes at most a clock read and no system call.
    ///
    /// Orders memory as [`try_acquire`](Semaphore::try_acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use waitline::Semaphore;
    ///
    /// let results = Semaphore::new(0);
    /// let deadline = Instant::now() + Duration::from_millis(5);
    /// while !results.try_acquire_until(deadline) {
    ///     // the deadline has come: do something else meanwhile
    ///     results.release();
    /// }
    /// ```
    #[doc(alias("acquire_deadline", "sem_timedwait", "sem_clockwait"))]
    #[must_use = "whether a permit was taken"]
    #[inline]
    pub fn try_acquire_until(&self, deadline: impl Into<Deadline>) -> bool {
        self.take_until(1, deadline)
    }

    /// Makes one more permit available, and wakes one thread if any waits. Never waits.
    ///
    /// Everything before this call happens before the return of each call that acquires later.
    ///
    /// # Panics
    ///
    /// If there are [`MAX_PERMITS`](Semaphore::MAX_PERMITS) already; nothing has changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(0);
    /// semaphore.release();
    /// assert!(semaphore.try_acquire());
    /// ```
    #[doc(alias("up", "V", "post", "signal", "sem_post"))]
    #[inline]
    #[track_caller]
    pub fn release(&self) {
        self.release_many(1);
    }

    /// Makes `n` more permits available, and wakes at most `n` threads, if as many wait. Releasing none is a no-op.
    /// Never waits. Orders memory as [`release`](Semaphore::release).
    ///
    /// # Panics
    ///
    /// If there would be more than [`MAX_PERMITS`](Semaphore::MAX_PERMITS); nothing has changed then. (At the very limit,
    /// small releases that race with a very large one may succeed and end a few beyond it.)
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(0);
    /// semaphore.release_many(3);
    /// assert_eq!(semaphore.available_permits(), 3);
    /// ```
    #[doc(alias("add_permits", "post_multiple"))]
    #[inline]
    #[track_caller]
    #[allow(unsafe_code, reason = "one implementation, on a raw pointer")]
    pub fn release_many(&self, n: usize) {
        // SAFETY: a reference points to a live semaphore.
        unsafe { Semaphore::release_raw(self, n) };
    }

    /// [`release_many`](Semaphore::release_many) for a semaphore that may die as soon as the permits are visible, such
    /// as one on the stack of the thread that waits.
    ///
    /// Nothing of the semaphore is touched after the one write that makes the permits available, and no
    /// `&Semaphore` is formed. (A `&self` method must not be called on an object that another thread frees before the
    /// method returns.) Orders memory as [`release`](Semaphore::release).
    ///
    /// # Safety
    ///
    /// `this` points to a semaphore that lives until the permits of this call have been taken. Permits are all alike: an
    /// owner who expects several releases has received this one for certain only when it has taken the permits of all.
    ///
    /// # Panics
    ///
    /// As [`release_many`](Semaphore::release_many).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    /// use waitline::Semaphore;
    ///
    /// struct Address(*const Semaphore);
    /// // SAFETY: a semaphore may be used from any thread.
    /// unsafe impl Send for Address {}
    ///
    /// let helper = {
    ///     let done = Semaphore::new(0);
    ///     let address = Address(&done);
    ///     let helper = thread::spawn(move || {
    ///         let address = address;
    ///         // SAFETY: the semaphore lives until its owner has acquired the permit of this call.
    ///         unsafe { Semaphore::release_raw(address.0, 1) };
    ///     });
    ///     done.acquire();
    ///     helper
    /// }; // the semaphore is gone, perhaps before the helper's call has returned
    /// helper.join().unwrap();
    /// ```
    #[allow(unsafe_code, reason = "for owners who know when the semaphore dies")]
    #[inline]
    #[track_caller]
    pub unsafe fn release_raw(this: *const Semaphore, n: usize) {
        let n = checked(n);
        // SAFETY: by the caller's promise the field is alive until `give`'s write.
        let state = unsafe { &raw const (*this).state };
        // SAFETY: the same.
        let given = unsafe { give(state, n, State::give) };
        if !given {
            overflow(n as usize);
        }
    }

    /// How many permits are available now.
    ///
    /// A snapshot for logs and tests: others may take or release some before the caller looks at the number. Orders
    /// nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(5);
    /// let permit = semaphore.acquire_permits(2);
    /// assert_eq!(semaphore.available_permits(), 3);
    /// ```
    #[doc(alias("sem_getvalue", "CurrentCount"))]
    #[must_use]
    #[inline]
    pub fn available_permits(&self) -> usize {
        state::load(&self.state).permits() as usize
    }

    #[inline]
    pub(super) fn take(&self, n: u32) -> bool {
        n == 0 || state::transition(&self.state, |now| Some((now.take(n)?, Acquire /* E1 */))).is_ok()
    }

    #[inline]
    pub(super) fn take_for(&self, n: u32, timeout: Duration) -> bool {
        wait::within(timeout, || self.take(n).then_some(()), |deadline| self.take_slow(n, deadline)).is_some()
    }

    #[inline]
    pub(super) fn take_until(&self, n: u32, deadline: impl Into<Deadline>) -> bool {
        wait::until(deadline.into(), || self.take(n).then_some(()), |deadline| self.take_slow(n, deadline)).is_some()
    }

    /// After a first attempt that failed, and a look at the deadline.
    #[cold]
    pub(super) fn take_slow(&self, n: u32, deadline: Deadline) -> Option<()> {
        match n {
            1 => wait::block_on(Single::new(&self.state), deadline),
            _ => wait::block_on(Collector::new(&self.state, n), deadline),
        }
        .ok()
    }

    /// Gives back what was taken from here before. Should others have released so many meanwhile that it does not fit
    /// under the maximum, what does not fit is lost: a guard's drop must not panic.
    #[inline]
    #[allow(unsafe_code, reason = "one implementation, on a raw pointer")]
    pub(super) fn put_back(&self, n: u32) {
        // SAFETY: a reference points to a live semaphore.
        unsafe { give(&self.state, n, |now, n| Some(now.give_what_fits(n))) };
    }
}

/// The number of permits, if a semaphore can have as many.
#[inline]
#[track_caller]
pub(super) fn checked(n: usize) -> u32 {
    if n > Semaphore::MAX_PERMITS {
        too_many(n);
    }
    n as u32
}

#[cold]
#[track_caller]
fn too_many(n: usize) -> ! {
    panic!("{n} permits at once: a semaphore has at most 2^31 - 1");
}

#[cold]
#[track_caller]
fn overflow(n: usize) -> ! {
    panic!("releasing {n} permits: a semaphore has at most 2^31 - 1");
}

#[cfg(all(test, waitline_loom))]
impl Semaphore {
    pub(crate) fn registered_waiters(&self) -> u32 {
        state::load(&self.state).waiters()
    }
}

/// No permit is available.
impl Default for Semaphore {
    fn default() -> Semaphore {
        Semaphore::new(0)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").field("available_permits", &self.available_permits()).finish_non_exhaustive()
    }
}
