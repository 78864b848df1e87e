//! The barrier.
//!
//! # State word
//!
//! One 64-bit word, whose lower half is what waiters sleep on:
//!
//! ```text
//!  63          48 47          32 31                     1      0
//! ┌──────────────┬──────────────┬────────────────────────┬─────────┐
//! │   expected   │   missing    │         phase          │ waiters │
//! └──────────────┴──────────────┴────────────────────────┴─────────┘
//!                                asleep here: who has arrived, or
//!                                waits to, until the function is done
//! ```
//!
//! | bits   | name     | meaning |
//! |--------|----------|---------|
//! | 0      | waiters  | threads may sleep until the phase ends. May be set in vain. |
//! | 1..32  | phase    | counts up at the end of each phase, and comes round after 2^31 of them |
//! | 32..48 | missing  | how many have not arrived yet. 0 while the completion function runs (*tripping*), and once nobody can arrive any more. |
//! | 48..64 | expected | how many have to arrive in the next phase. 0: all have left (*deserted*). 2^16 − 1: the function has panicked (*poisoned*). |
//!
//! It is the central barrier of J. Mellor-Crummey and M. Scott, "Algorithms for Scalable Synchronization on Shared-Memory
//! Multiprocessors" (1991), with a phase number for its sense.
//!
//! # Invariants
//!
//! * I1. The last arrival, which finds one missing, is the only one that ends the phase: without a completion function by the
//!   same write, else by a second one after the function has returned. Nobody arrives, leaves or withdraws in between.
//! * I2. A thread sleeps only on a value with the waiters bit, for as long as the phase lasts.
//! * I3. While it trips, anybody may sleep. Otherwise only threads sleep whose arrival in this phase stands.
//! * I4. An arrival is taken back only in its own phase and only while others are missing, so a phase ends with all of its
//!   arrivals or not at all. Who takes the last one back clears the waiters bit, since nobody can be asleep (I3).
//! * I5. The write that ends a phase, or poisons the barrier, moves on to the next phase without the waiters bit, and wakes everybody
//!   if that was set. Nobody sets it in a poisoned barrier, whose phase is one past that in which the function has panicked.
//! * I6. Every change is a read-modify-write.
//!
//! No wake-up is lost: the ending write comes before or after that which sets the waiters bit. Before: the latter finds
//! another phase and is not made. After: it finds the bit (I5), and the waiter either sleeps by then or compares after it.
//!
//! # Memory ordering
//!
//! | edge | from → to | why |
//! |------|-----------|-----|
//! | E1 | write that arrives (Release) → write of the last arrival (Acquire) | the completion function sees what was done before each arrival |
//! | E2 | write that ends the phase (Release) → look that finds it ended (Acquire) | what was done before any arrival, and by the function, is visible after the wait |
//!
//! By I6 every arrival heads a release sequence that no later write ends. Announcements and withdrawals are Relaxed: the
//! coherence of one word is enough.
//!
//! # Destruction
//!
//! The write that ends the phase is the last access of the call that makes it; the address for its wake is computed before. All
//! waiting calls borrow the barrier, or a token that does, so safe owners need not care.

mod arrival;
mod phase;
mod state;
mod trip;

use core::cell::UnsafeCell;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use self::arrival::{Arrival, BarrierWaitResult};
use self::state::{Afterwards, Refusal, State};
use self::trip::enter;
use crate::atomic::{AtomicU64, Ordering::Relaxed, const_fn};
use crate::{Deadline, TimedOut, wait};

/// A meeting point: each of a number of parties waits there until all have arrived, again and again.
///
/// A drop-in for [`std::sync::Barrier`], and more: waits with a deadline that take the arrival back, arrivals that are waited
/// for later ([`arrive`](Barrier::arrive)), parties that leave for good ([`arrive_and_drop`](Barrier::arrive_and_drop)) and a
/// function to be run between two phases ([`with_completion`](Barrier::with_completion)).
///
/// A phase ends when as many threads have arrived as there are parties. Which threads they are doesn't matter: there may be more
/// threads than parties, as with std's.
///
/// Without a function it is 24 bytes, and fit for a `static`.
///
/// # Wake-ups
///
/// The last arrival wakes everybody in one go. Nobody else makes a system call for it, and a lone party none at all.
///
/// # Memory ordering
///
/// Everything before any arrival in a phase happens before the completion function runs, and that before the return of every
/// call that waits for the phase's end. Calls that time out, and withdrawals, order nothing.
///
/// # Panics
///
/// If the completion function panics, the barrier is poisoned: that panic goes on in the thread that ran it, and every call
/// that waits for the same phase, or comes later, panics as well. So does an arrival after all parties have left. Tokens of
/// earlier phases still succeed.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::thread;
/// use waitline::Barrier;
///
/// let (barrier, sum) = (Barrier::new(3), AtomicU32::new(0));
/// thread::scope(|scope| {
///     for part in 1..=3 {
///         let (barrier, sum) = (&barrier, &sum);
///         scope.spawn(move || {
///             sum.fetch_add(part, Ordering::Relaxed);
///             barrier.wait();
///             assert_eq!(sum.load(Ordering::Relaxed), 6); // everybody's part is in
///         });
///     }
/// });
/// ```
///
/// A party that panics between two phases must not leave the others waiting. A guard sees to that:
///
/// ```
/// use std::thread;
/// use waitline::Barrier;
///
/// struct Party<'a>(&'a Barrier);
///
/// impl Drop for Party<'_> {
///     fn drop(&mut self) {
///         self.0.arrive_and_drop(); // from now on the others do without this one
///     }
/// }
///
/// let barrier = Barrier::new(2);
/// thread::scope(|scope| {
///     let unlucky = scope.spawn(|| {
///         let _party = Party(&barrier);
///         barrier.wait();
///         panic!("between two phases");
///     });
///     let _party = Party(&barrier);
///     barrier.wait();
///     barrier.wait();
///     assert!(unlucky.join().is_err());
/// });
/// ```
#[doc(alias("CyclicBarrier", "Phaser", "pthread_barrier_t"))]
pub struct Barrier<F = fn()> {
    state: AtomicU64,
    completion: Option<UnsafeCell<F>>,
}

// The size that the documentation promises; and the wait core takes halves of an aligned word.
#[cfg(not(all(test, waitline_loom)))]
const _: () = assert!(size_of::<Barrier>() <= 24 && align_of::<Barrier>() == 8);

// SAFETY: of what it has, only the function is not made to be shared, and that is called by one thread at a time (I1), each
// of whose calls happens before the next one (E2, E1). So it is as if it were sent from thread to thread.
#[allow(unsafe_code, reason = "one thread at a time calls the function")]
unsafe impl<F: Send> Sync for Barrier<F> {}

/// A panic of the completion function poisons the barrier: nobody sees what it left half done.
impl<F> UnwindSafe for Barrier<F> {}
/// As for [`UnwindSafe`].
impl<F> RefUnwindSafe for Barrier<F> {}

impl Barrier {
    const_fn! {
        /// A barrier for `n` parties; none act as one.
        ///
        /// # Panics
        ///
        /// If `n` is greater than [`MAX_PARTIES`](Barrier::MAX_PARTIES).
        ///
        /// # Examples
        ///
        /// ```
        /// use waitline::Barrier;
        ///
        /// static ROUND: Barrier = Barrier::new(1);
        /// assert!(ROUND.wait().is_leader());
        /// ```
        #[must_use]
        #[track_caller]
        pub const fn new(n: usize) -> Barrier {
            Barrier { state: AtomicU64::new(State::new(0, parties(n)).0), completion: None }
        }
    }

    /// The greatest number of parties: 2^16 − 2.
    pub const MAX_PARTIES: usize = state::MAX_PARTIES as usize;
}

#[track_caller]
const fn parties(n: usize) -> u16 {
    assert!(n <= state::MAX_PARTIES as usize, "a barrier has at most 2^16 - 2 parties");
    if n == 0 { 1 } else { n as u16 }
}

impl<F: FnMut()> Barrier<F> {
    const_fn! {
        /// A barrier for `n` parties, none acting as one, with a function that is run once at the end of each phase: after the
        /// last arrival, by the thread that arrived last, and before any party leaves.
        ///
        /// The function has the barrier to itself: whoever arrives meanwhile, or wants to withdraw, waits until it has
        /// returned. So it must not wait for this barrier itself. If it panics, the barrier is poisoned (see
        /// [`Barrier`](Barrier#panics)). Everything before each arrival happens before it runs.
        ///
        /// # Panics
        ///
        /// If `n` is greater than [`MAX_PARTIES`](Barrier::MAX_PARTIES).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::sync::atomic::{AtomicU32, Ordering};
        /// use std::thread;
        /// use waitline::Barrier;
        ///
        /// let round = AtomicU32::new(0);
        /// let barrier = Barrier::with_completion(2, || {
        ///     round.fetch_add(1, Ordering::Relaxed);
        /// });
        /// thread::scope(|scope| {
        ///     for _ in 0..2 {
        ///         scope.spawn(|| {
        ///             barrier.wait();
        ///             assert_eq!(round.load(Ordering::Relaxed), 1);
        ///         });
        ///     }
        /// });
        /// ```
        #[must_use]
        #[track_caller]
        pub const fn with_completion(n: usize, completion: F) -> Barrier<F> {
            Barrier {
                state: AtomicU64::new(State::new(0, parties(n)).0),
                completion: Some(UnsafeCell::new(completion)),
            }
        }
    }

    /// Arrives, and waits until all have arrived, as long as it takes.
    ///
    /// Returns when the phase has ended, and says whether this was the arrival that completed it. Everything before each arrival
    /// in the phase, and in the completion function, happens before that.
    ///
    /// # Panics
    ///
    /// If the completion function panics or has panicked, or if every party has left.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    /// use waitline::Barrier;
    ///
    /// let barrier = Barrier::new(4);
    /// let leaders = thread::scope(|scope| {
    ///     let parties = [(); 4].map(|()| scope.spawn(|| barrier.wait().is_leader()));
    ///     parties.into_iter().filter_map(|party| party.join().unwrap().then_some(())).count()
    /// });
    /// assert_eq!(leaders, 1);
    /// ```
    #[doc(alias("arrive_and_wait", "await", "pthread_barrier_wait", "SignalAndWait", "arriveAndAwaitAdvance"))]
    #[inline]
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        self.arrive().wait()
    }

    /// Arrives, and waits until all have arrived, no longer than `timeout` on the monotonic clock.
    ///
    /// Returns
    ///
    /// 1. `Ok` when the phase has ended. An arrival that completes the phase always does, also with a `timeout` of zero;
    /// 2. [`TimedOut`] once the time is up and others are still missing. This arrival has been taken back by then: the phase
    ///    needs as many as before. If all arrive just then, the phase has ended for all of them, and the answer is `Ok`.
    ///
    /// A `timeout` that the clock can't represent, such as `Duration::MAX`, waits as [`wait`](Barrier::wait) does.
    /// `Duration::ZERO` reads no clock. While the completion function runs, a call that has arrived outlasts its time.
    /// `Ok` orders memory as [`wait`](Barrier::wait) does, [`TimedOut`] orders nothing.
    ///
    /// # Panics
    ///
    /// As [`wait`](Barrier::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::{Barrier, TimedOut};
    ///
    /// let barrier = Barrier::new(2);
    /// assert_eq!(barrier.wait_for(Duration::from_millis(1)).unwrap_err(), TimedOut);
    /// ```
    #[doc(alias("wait_timeout", "await_timeout"))]
    #[must_use = "whether all have arrived"]
    #[inline]
    #[track_caller]
    pub fn wait_for(&self, timeout: Duration) -> Result<BarrierWaitResult, TimedOut> {
        in_time(wait::within(timeout, || self.complete(), |deadline| self.wait_slow(deadline)))
    }

    /// Arrives, and waits until all have arrived, no longer than until `deadline`, on the deadline's clock.
    ///
    /// Returns as [`wait_for`](Barrier::wait_for) does. If the deadline has passed already, the call arrives only if that
    /// completes the phase; otherwise it changes nothing, and takes at most a clock read and no system call. Orders memory as
    /// [`wait_for`](Barrier::wait_for).
    ///
    /// # Panics
    ///
    /// As [`wait`](Barrier::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::{Barrier, Deadline};
    ///
    /// let pair = Barrier::new(2);
    /// assert!(pair.wait_until(Deadline::PASSED).is_err());
    /// let first = pair.arrive();
    /// assert!(pair.wait_until(Deadline::PASSED).unwrap().is_leader());
    /// assert!(first.is_complete());
    /// ```
    #[must_use = "whether all have arrived"]
    #[inline]
    #[track_caller]
    pub fn wait_until(&self, deadline: impl Into<Deadline>) -> Result<BarrierWaitResult, TimedOut> {
        in_time(wait::until(deadline.into(), || self.complete(), |deadline| self.wait_slow(deadline)))
    }

    /// Arrives, and returns a token that can be waited for later.
    ///
    /// The last arrival runs the completion function, ends the phase and wakes the others here. Waits only if it meets a
    /// completion function that is running, which takes more threads than parties.
    /// Everything before this call happens before the completion function, and before the return of each call that finds the
    /// phase ended.
    ///
    /// # Panics
    ///
    /// As [`wait`](Barrier::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Barrier;
    ///
    /// let barrier = Barrier::new(2);
    /// let first = barrier.arrive();
    /// // … something that the others need not wait for
    /// assert!(!first.is_complete());
    /// assert!(barrier.arrive().wait().is_leader());
    /// assert!(!first.wait().is_leader());
    /// ```
    #[inline]
    #[track_caller]
    pub fn arrive(&self) -> Arrival<'_> {
        let entrance = self.entrance(Afterwards::Stays);
        self.admit(granted(enter(entrance)), entrance)
    }

    /// Arrives and leaves for good: this phase has one missing fewer, and all later ones expect one party fewer. Does not wait
    /// for the phase's end; waits only if it meets a completion function that is running, as [`arrive`](Barrier::arrive) does.
    ///
    /// Returns whether this was the arrival that completed the phase. After the last party has left, arrivals panic. Orders memory
    /// as [`arrive`](Barrier::arrive).
    ///
    /// # Panics
    ///
    /// As [`wait`](Barrier::wait); but never in a thread that is panicking already, so that the drop of a guard can call it:
    /// there the call does nothing if the barrier is poisoned or deserted, and a panic of the completion function ends here.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Barrier;
    ///
    /// let barrier = Barrier::new(2);
    /// assert!(!barrier.arrive_and_drop().is_leader());
    /// assert!(barrier.wait().is_leader()); // a lone party
    /// ```
    #[doc(alias("arrive_and_deregister", "arriveAndDeregister", "leave"))]
    #[track_caller]
    pub fn arrive_and_drop(&self) -> BarrierWaitResult {
        let entrance = self.entrance(Afterwards::Leaves);
        let outcome = enter(entrance);
        if !std::thread::panicking() {
            return self.admit(granted(outcome), entrance).result();
        }
        let Ok(arrived) = outcome else { return BarrierWaitResult::of(false) };
        let admitted = catch_unwind(AssertUnwindSafe(|| self.admit(arrived, entrance).result()));
        admitted.unwrap_or_else(|payload| {
            core::mem::forget(payload); // whose drop might panic as well
            BarrierWaitResult::of(false)
        })
    }
}

/// What a call comes to that was made in time.
type Outcome = Result<BarrierWaitResult, Refusal>;

#[inline]
#[track_caller]
fn in_time(outcome: Option<Outcome>) -> Result<BarrierWaitResult, TimedOut> {
    match outcome {
        Some(outcome) => Ok(granted(outcome)), // not by `map`, which would hide the caller
        None => Err(TimedOut),
    }
}

#[inline]
#[track_caller]
fn granted<T>(outcome: Result<T, Refusal>) -> T {
    match outcome {
        Ok(granted) => granted,
        Err(refusal) => refuse(refusal),
    }
}

#[cold]
#[track_caller]
fn refuse(refusal: Refusal) -> ! {
    match refusal {
        Refusal::Tripping => unreachable!("an arrival that can be counted later waits"),
        Refusal::Deserted => panic!("arriving at a barrier that every party has left"),
        Refusal::Poisoned => panic!("the barrier is poisoned: its completion function has panicked"),
    }
}

impl<F> fmt::Debug for Barrier<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = state::load(&self.state, Relaxed);
        let mut barrier = f.debug_struct("Barrier");
        if now.is_poisoned() {
            barrier.field("poisoned", &true);
        } else {
            barrier.field("missing", &now.missing()).field("expected", &now.expected());
        }
        barrier.finish_non_exhaustive()
    }
}

#[cfg(all(test, not(waitline_loom)))]
mod tests;
