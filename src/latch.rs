//! The latch.
//!
//! # State word
//!
//! ```text
//!  31                             1      0
//! ┌─────────────────────────────────┬─────────┐
//! │              count              │ waiters │
//! └─────────────────────────────────┴─────────┘
//!  asleep on the whole word: who waits for 0
//! ```
//!
//! | bits  | name    | meaning |
//! |-------|---------|---------|
//! | 0     | waiters | threads may sleep until the latch opens. May be set in vain. |
//! | 1..32 | count   | how many are awaited. The whole word is 0 once the latch is open. |
//!
//! # Invariants
//!
//! * I1. A call that would count below zero, above `MAX_COUNT`, or up from zero panics before it writes.
//! * I2. A thread sleeps only on a value with the waiters bit and a count above zero.
//! * I3. The write that brings the count to zero clears the waiters bit, and wakes everybody if that was set. No other write
//!   clears the bit, and none follows: open is for ever.
//! * I4. Every change is a read-modify-write.
//!
//! No wake-up is lost: the opening write comes before or after that which sets the waiters bit. Before: the latter finds the
//! latch open and is not made. After: it finds the bit (I3), and the waiter either sleeps by then or compares after it. A count
//! that changes in between makes a waiter look again and sleep on the new value; once asleep it is woken by nothing else.
//!
//! # Memory ordering
//!
//! | edge | from → to | why |
//! |------|-----------|-----|
//! | E1 | write that counts down (Release) → look that finds the latch open (Acquire) | what was done before a count down is visible after the wait |
//! | E2 | write that counts down (Release) → write that opens (Acquire) | the same for the call that opens the latch |
//!
//! By I4 every count down heads a release sequence that no later write ends. Counting up and announcing are Relaxed: who counts
//! up holds the latch closed by a count that is not yet down, and the coherence of one word does the rest.
//!
//! # Destruction
//!
//! A count down touches nothing after its one write; the address for its wake is computed before. So the latch may be freed
//! once no call that waits is in progress and it has been seen open by a waiting call.

mod waiting;

use core::fmt;

use crate::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Relaxed, Release},
    Transition, const_fn,
};
use crate::sys::{self, Word};

const OPEN: u32 = 0;
const WAITERS: u32 = 1;
const ONE: u32 = 2;

#[inline]
fn count_of(state: u32) -> u32 {
    state / ONE
}

/// A gate that opens once a count has come down to zero, and then stays open.
///
/// Threads [`wait`](Latch::wait) until others have counted down. Unlike with a [`Barrier`](crate::Barrier), those who count
/// need not be those who wait, nor need they wait at all, and there is one opening only. With
/// [`count_up`](Latch::count_up) work that is under way can announce more work, as the jobs of a scope do.
///
/// Four bytes, fit for a `static`, or for the stack of the thread that waits. (A `const` one would be a new one at every use.)
///
/// # Wake-ups
///
/// The call that opens the latch wakes everybody in one go. A call that does not makes no system call, nor does one that opens
/// a latch for which nobody has waited longer than for a moment.
///
/// # Memory ordering
///
/// Everything before any call that counts down happens before the return of every call that finds the latch open, and of the
/// call that opens it. [`count_up`](Latch::count_up), [`count`](Latch::count) and calls that time out order nothing.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::thread;
/// use waitline::Latch;
///
/// let sum = AtomicU32::new(0);
/// let done = Latch::new(4);
/// thread::scope(|scope| {
///     for part in 1..=4 {
///         let (sum, done) = (&sum, &done);
///         scope.spawn(move || {
///             sum.fetch_add(part, Ordering::Relaxed);
///             done.count_down();
///             // … and this thread goes on with something else
///         });
///     }
///     done.wait();
///     assert_eq!(sum.load(Ordering::Relaxed), 10);
/// });
/// ```
#[doc(alias("CountDownLatch", "WaitGroup", "CountdownEvent", "ManualResetEvent"))]
pub struct Latch {
    state: AtomicU32,
}

#[cfg(not(all(test, waitline_loom)))]
const _: () = assert!(size_of::<Latch>() == 4 && align_of::<Latch>() == 4);

impl Latch {
    /// The greatest count: 2^31 − 1.
    pub const MAX_COUNT: usize = (u32::MAX / ONE) as usize;

    const_fn! {
        /// A latch that opens when `count` has been counted down; with a `count` of zero it is open.
        ///
        /// # Panics
        ///
        /// If `count` is greater than [`MAX_COUNT`](Latch::MAX_COUNT).
        ///
        /// # Examples
        ///
        /// ```
        /// use waitline::Latch;
        ///
        /// static STARTED: Latch = Latch::new(3);
        /// assert_eq!(STARTED.count(), 3);
        /// assert!(Latch::new(0).try_wait());
        /// ```
        #[must_use]
        #[track_caller]
        pub const fn new(count: usize) -> Latch {
            assert!(count <= Latch::MAX_COUNT, "a latch counts to 2^31 - 1 at most");
            Latch { state: AtomicU32::new(count as u32 * ONE) }
        }
    }

    /// Raises the count by `n`: so many more are awaited. Raising it by zero is a no-op.
    ///
    /// For a thread that has not yet counted down what it is counted for: the latch can't open meanwhile. Once it is open it
    /// can't be closed again. Never waits, and orders nothing.
    ///
    /// # Panics
    ///
    /// If the latch is open, or if the count would exceed [`MAX_COUNT`](Latch::MAX_COUNT); nothing is changed then.
    ///
    /// # Examples
    ///
    /// A job that spawns jobs, with one latch for all of them:
    ///
    /// ```
    /// use std::thread::{self, Scope};
    /// use waitline::Latch;
    ///
    /// fn job<'scope>(depth: u32, all_done: &'scope Latch, scope: &'scope Scope<'scope, '_>) {
    ///     if depth > 0 {
    ///         all_done.count_up(2);
    ///         scope.spawn(move || job(depth - 1, all_done, scope));
    ///         scope.spawn(move || job(depth - 1, all_done, scope));
    ///     }
    ///     all_done.count_down();
    /// }
    ///
    /// let all_done = Latch::new(1);
    /// thread::scope(|scope| {
    ///     job(3, &all_done, scope);
    ///     all_done.wait();
    /// });
    /// ```
    #[doc(alias("add", "register", "AddCount"))]
    #[track_caller]
    pub fn count_up(&self, n: usize) {
        if n == 0 {
            return;
        }
        // I1
        let raised = self.state.transition(|now| {
            let count = count_of(now) as usize;
            (now != OPEN && n <= Latch::MAX_COUNT - count).then(|| (now + n as u32 * ONE, Relaxed))
        });
        match raised {
            Ok(_) => {}
            Err(OPEN) => panic!("counting up a latch that is open"),
            Err(_) => panic!("counting up by {n}: a latch counts to 2^31 - 1 at most"),
        }
    }

    /// Counts down by one. Returns whether this call opened the latch.
    ///
    /// Never waits. The call that opens the latch wakes everybody who waits for that. Everything before this call happens before
    /// the return of every call that finds the latch open, and of the one that opens it.
    ///
    /// # Panics
    ///
    /// If the latch is open already: more were counted down than up.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Latch;
    ///
    /// let latch = Latch::new(2);
    /// assert!(!latch.count_down());
    /// assert!(latch.count_down()); // the last one
    /// ```
    #[doc(alias("arrive", "done", "Signal", "set"))]
    #[inline]
    #[track_caller]
    pub fn count_down(&self) -> bool {
        self.count_down_by(1)
    }

    /// Counts down by `n`, in one step. Returns whether this call opened the latch. Counting down by zero is a no-op that
    /// returns `false`. Otherwise wakes and orders memory as [`count_down`](Latch::count_down).
    ///
    /// # Panics
    ///
    /// If the count is less than `n`; nothing is changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Latch;
    ///
    /// let latch = Latch::new(10);
    /// assert!(!latch.count_down_by(7));
    /// assert!(latch.count_down_by(3));
    /// assert!(!latch.count_down_by(0));
    /// ```
    #[inline]
    #[track_caller]
    #[allow(unsafe_code, reason = "one implementation, on a raw pointer")]
    pub fn count_down_by(&self, n: usize) -> bool {
        // SAFETY: a reference points to a live latch.
        unsafe { Latch::count_down_raw(self, n) }
    }

    /// [`count_down_by`](Latch::count_down_by) for a latch that may die as soon as it is open, such as one on the stack of the
    /// thread that waits.
    ///
    /// Nothing of the latch is touched after the one write that counts down, and no `&Latch` is formed. (A reference has to be
    /// valid until the call that it was handed to returns, which is later than the waiting thread may return.) Returns, wakes
    /// and orders memory as [`count_down_by`](Latch::count_down_by).
    ///
    /// # Safety
    ///
    /// `this` points to a latch that lives until a waiting call has found it open, and whose count covers this call.
    ///
    /// # Panics
    ///
    /// If the count is less than `n`; nothing is changed then.
    ///
    /// # Examples
    ///
    /// Fork and join, with the latch on the stack of the thread that joins:
    ///
    /// ```
    /// use std::thread;
    /// use waitline::Latch;
    ///
    /// struct Pointer(*const Latch);
    /// // SAFETY: a latch is made for several threads.
    /// unsafe impl Send for Pointer {}
    ///
    /// let joined = {
    ///     let latch = Latch::new(1);
    ///     let pointer = Pointer(&latch);
    ///     let forked = thread::spawn(move || {
    ///         let Pointer(latch) = { pointer };
    ///         // SAFETY: the other thread keeps the latch until its wait has returned.
    ///         unsafe { Latch::count_down_raw(latch, 1) }
    ///     });
    ///     latch.wait();
    ///     forked
    /// }; // the latch is gone, and the other thread perhaps still in its call
    /// assert!(joined.join().unwrap());
    /// ```
    #[inline]
    #[track_caller]
    #[allow(unsafe_code, reason = "for owners who know when the latch dies")]
    pub unsafe fn count_down_raw(this: *const Latch, n: usize) -> bool {
        if n == 0 {
            return false;
        }
        // SAFETY: alive until the write, by the caller's promise; not used after it.
        let state = unsafe { &(*this).state };
        let sleepers = Word::Whole(state).address();
        let lowered = state.transition(|now| {
            let left = (count_of(now) as usize).checked_sub(n)?; // I1
            Some(if left == 0 {
                (OPEN, AcqRel /* E1, E2 */)
            } else {
                (now - n as u32 * ONE, Release /* E1 */)
            })
        });
        match lowered {
            Ok(before) => {
                let opened = count_of(before) as usize == n;
                if opened && before & WAITERS != 0 {
                    wake_all(sleepers); // I3
                }
                opened
            }
            Err(now) => below_zero(count_of(now), n),
        }
    }

    /// How many are still awaited; zero once the latch is open.
    ///
    /// A snapshot for logs and tests. Orders nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Latch;
    ///
    /// let latch = Latch::new(3);
    /// latch.count_down();
    /// assert_eq!(latch.count(), 2);
    /// ```
    #[doc(alias("getCount", "CurrentCount"))]
    #[must_use]
    #[inline]
    pub fn count(&self) -> usize {
        count_of(self.state.load(Relaxed)) as usize
    }
}

#[cold]
fn wake_all(sleepers: *const u32) {
    sys::wake(sleepers, u32::MAX);
}

#[cold]
#[track_caller]
fn below_zero(count: u32, n: usize) -> ! {
    panic!("counting a latch down by {n} whose count is {count}");
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latch").field("count", &self.count()).finish_non_exhaustive()
    }
}
