//! Waiting on the value of an atomic, of whatever width: `table.rs` knows who waits where.

#![allow(unsafe_code, reason = "a node in the table")]

use core::time::Duration;

use super::table::{self, Node};
use super::{Awake, Step, Waiter};
use crate::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize, Ordering,
};
use crate::{Deadline, TimedOut, wait};

/// Waiting until an atomic has another value, and telling those who wait, as in C++20: for `AtomicBool`, `AtomicPtr` and the
/// integers of every width.
///
/// A wait returns only once the value differs from the old one, and returns the new one. Whoever changes the value *notifies*
/// afterwards; a change without a notification may go unnoticed by those who sleep. If the value changes and changes back before
/// a thread has looked, that thread goes on waiting, and its notification is spent.
///
/// # Wake-ups
///
/// A notification reaches the waiters of its own address only, in the order in which they began to wait, whatever else in the
/// process is waited for. While nobody waits it costs a full fence, a load or two and no system call. That fence also orders it
/// after any store before it, however that was ordered: a notification after a `Relaxed` store is not lost.
///
/// A thread that is notified in vain, because the value is the old one by the time that it looks, goes on waiting as one that has
/// just come.
///
/// Nothing is allocated, but for what the C library needs to remember, once, that this crate wants to know of forks. The address of
/// the atomic is a key only: it may be of any size and at any place, in a `static` or on a stack. Waiters and notifiers have to use
/// the same copy of this crate: two of its versions in one program know nothing of each other's waiters.
///
/// # Signals and forks
///
/// Notifications take a lock if somebody waits, so they are not for signal handlers. The child of a fork has nobody waiting. In a
/// signal handler that may have interrupted a call of this crate, a fork is good for `exec` and `_exit` only.
///
/// # Memory ordering
///
/// A wait is a load of the given ordering that returned the new value; notifications and calls that time out order nothing. So a
/// `Release` store and an `Acquire` wait are an edge.
///
/// # Examples
///
/// A lock by hand, made of one byte (the third one of U. Drepper, "Futexes Are Tricky"):
///
/// ```
/// use std::sync::atomic::{AtomicU8, Ordering::{Acquire, Relaxed, Release}};
/// use waitline::AtomicWait;
///
/// struct Lock(AtomicU8); // 0: free, 1: held, 2: held, and others may wait
///
/// impl Lock {
///     fn lock(&self) {
///         if self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
///             while self.0.swap(2, Acquire) != 0 {
///                 self.0.wait(2, Relaxed);
///             }
///         }
///     }
///     fn unlock(&self) {
///         if self.0.swap(0, Release) == 2 {
///             self.0.notify_one();
///         }
///     }
/// }
/// # let lock = Lock(AtomicU8::new(0));
/// # std::thread::scope(|scope| {
/// #     for _ in 0..3 {
/// #         scope.spawn(|| { lock.lock(); lock.unlock(); });
/// #     }
/// # });
/// ```
///
/// A counter of progress, watched with a deadline:
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::{Acquire, Release}};
/// use std::thread;
/// use std::time::Duration;
/// use waitline::{AtomicWait, TimedOut};
///
/// let done = AtomicU64::new(0);
/// thread::scope(|scope| {
///     scope.spawn(|| {
///         for _ in 0..100 {
///             done.fetch_add(1, Release);
///             done.notify_all();
///         }
///     });
///     let mut seen = 0;
///     while seen < 100 {
///         match done.wait_for(seen, Acquire, Duration::from_secs(1)) {
///             Ok(now) => seen = now,
///             Err(TimedOut) => println!("still at {seen}"),
///         }
///     }
/// });
/// ```
#[doc(alias("atomic_wait", "atomic_notify_one", "futex", "WaitOnAddress", "ParkingLot", "parking_lot_core"))]
pub trait AtomicWait: sealed::Sealed {
    /// What the atomic holds.
    type Value: Copy + PartialEq;

    /// Waits until the value is not `old`, as long as it takes, and returns the new one, as loaded with the order given.
    /// Nothing else is ordered.
    ///
    /// # Panics
    ///
    /// If `order` is `Release` or `AcqRel`, as a load does.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering::{Acquire, Release}};
    /// use std::thread;
    /// use waitline::AtomicWait;
    ///
    /// let ready = AtomicBool::new(false);
    /// thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         ready.store(true, Release);
    ///         ready.notify_one();
    ///     });
    ///     assert!(ready.wait(false, Acquire));
    /// });
    /// ```
    #[doc(alias("futex_wait", "park"))]
    fn wait(&self, old: Self::Value, order: Ordering) -> Self::Value;

    /// Waits until the value is not `old`, no longer than `timeout` on the monotonic clock.
    ///
    /// Returns
    ///
    /// 1. the value as soon as a load of the order given finds that it differs, also with a `timeout` of zero;
    /// 2. [`TimedOut`] once the time is up and a last look has found the old value, which orders nothing.
    ///
    /// A `timeout` that the clock can't represent, such as `Duration::MAX`, waits as [`wait`](AtomicWait::wait) does.
    /// `Duration::ZERO` reads no clock. A notification that comes at that very moment goes to another waiter.
    ///
    /// # Panics
    ///
    /// If `order` is `Release` or `AcqRel`, as a load does.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
    /// use std::time::Duration;
    /// use waitline::{AtomicWait, TimedOut};
    ///
    /// let value = AtomicU8::new(1);
    /// assert_eq!(value.wait_for(0, Relaxed, Duration::ZERO), Ok(1));
    /// assert_eq!(value.wait_for(1, Relaxed, Duration::from_millis(1)), Err(TimedOut));
    /// ```
    #[doc(alias = "wait_timeout")]
    #[must_use = "whether the value differs"]
    fn wait_for(&self, old: Self::Value, order: Ordering, timeout: Duration) -> Result<Self::Value, TimedOut>;

    /// Waits until the value is not `old`, no longer than until `deadline`, on the deadline's clock.
    ///
    /// Returns and orders memory as [`wait_for`](AtomicWait::wait_for) does. When the deadline has passed already, that takes
    /// at most a clock read and no system call.
    ///
    /// # Panics
    ///
    /// If `order` is `Release` or `AcqRel`, as a load does.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
    /// use std::time::SystemTime;
    /// use waitline::{AtomicWait, TimedOut};
    ///
    /// let value = AtomicI64::new(-1);
    /// assert_eq!(value.wait_until(-1, Relaxed, SystemTime::now()), Err(TimedOut));
    /// ```
    #[must_use = "whether the value differs"]
    fn wait_until(
        &self,
        old: Self::Value,
        order: Ordering,
        deadline: impl Into<Deadline>,
    ) -> Result<Self::Value, TimedOut>;

    /// Wakes the thread that has waited longest on this atomic, if any does. Never waits for it, and is not remembered.
    ///
    /// Comes after every store before it, however that was ordered, and orders nothing else.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering::Release};
    /// use waitline::AtomicWait;
    ///
    /// static JOBS: AtomicU32 = AtomicU32::new(0);
    /// JOBS.fetch_add(1, Release); // one job, for one thread
    /// JOBS.notify_one();
    /// ```
    #[doc(alias("futex_wake", "wake_one", "WakeByAddressSingle"))]
    fn notify_one(&self);

    /// Wakes all threads that wait on this atomic now. Orders memory as [`notify_one`](AtomicWait::notify_one).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU16, Ordering::Relaxed};
    /// use std::thread;
    /// use waitline::AtomicWait;
    ///
    /// let generation = AtomicU16::new(0);
    /// thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| generation.wait(0, Relaxed));
    ///     }
    ///     generation.store(1, Relaxed);
    ///     generation.notify_all();
    /// });
    /// ```
    #[doc(alias("notify_waiters", "wake_all", "WakeByAddressAll", "broadcast"))]
    fn notify_all(&self);

    /// [`notify_one`](AtomicWait::notify_one) for an atomic that may be gone, since the store before has allowed others to free
    /// it. Orders memory as that one. The address is a key only. Should something else be there by now that is waited on, its
    /// waiter is woken in vain, looks, and goes on waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use std::thread;
    /// use waitline::AtomicWait;
    ///
    /// struct Pointer(*const AtomicU32);
    /// // SAFETY: an atomic is made for several threads.
    /// unsafe impl Send for Pointer {}
    ///
    /// let notifier = {
    ///     let flag = AtomicU32::new(0);
    ///     let pointer = Pointer(&flag);
    ///     let notifier = thread::spawn(move || {
    ///         let Pointer(flag) = { pointer };
    ///         // SAFETY: the flag lives until it has been seen to be set.
    ///         unsafe { (*flag).store(1, Ordering::Release) };
    ///         AtomicWait::notify_one_raw(flag);
    ///     });
    ///     flag.wait(0, Ordering::Acquire);
    ///     notifier
    /// }; // the flag is gone, and the other thread perhaps still in its call
    /// notifier.join().unwrap();
    /// ```
    fn notify_one_raw(this: *const Self);

    /// [`notify_all`](AtomicWait::notify_all) for an atomic that may be gone, as [`notify_one_raw`](AtomicWait::notify_one_raw).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::AtomicU32;
    /// use waitline::AtomicWait;
    ///
    /// AtomicU32::notify_all_raw(std::ptr::null()); // where nobody waits
    /// ```
    fn notify_all_raw(this: *const Self);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! implement {
    ($($atomic:ident: $value:ty $(, $parameter:ident)?;)*) => {$(
        impl$(<$parameter>)? sealed::Sealed for $atomic$(<$parameter>)? {}

        impl$(<$parameter>)? AtomicWait for $atomic$(<$parameter>)? {
            type Value = $value;

            #[inline]
            fn wait(&self, old: $value, order: Ordering) -> $value {
                ChangedFrom { old, look: move || self.load(order), address: address_of(self) }.wait()
            }

            #[inline]
            fn wait_for(&self, old: $value, order: Ordering, timeout: Duration) -> Result<$value, TimedOut> {
                ChangedFrom { old, look: move || self.load(order), address: address_of(self) }.wait_for(timeout)
            }

            #[inline]
            fn wait_until(
                &self,
                old: $value,
                order: Ordering,
                deadline: impl Into<Deadline>,
            ) -> Result<$value, TimedOut> {
                ChangedFrom { old, look: move || self.load(order), address: address_of(self) }.wait_until(deadline.into())
            }

            #[inline]
            fn notify_one(&self) {
                table::notify_one(address_of(self));
            }

            #[inline]
            fn notify_all(&self) {
                table::notify_all(address_of(self));
            }

            #[inline]
            fn notify_one_raw(this: *const Self) {
                table::notify_one(address_of(this));
            }

            #[inline]
            fn notify_all_raw(this: *const Self) {
                table::notify_all(address_of(this));
            }
        }
    )*};
}
implement! {
    AtomicBool: bool;
    AtomicU8: u8;
    AtomicI8: i8;
    AtomicU16: u16;
    AtomicI16: i16;
    AtomicU32: u32;
    AtomicI32: i32;
    AtomicU64: u64;
    AtomicI64: i64;
    AtomicUsize: usize;
    AtomicIsize: isize;
    AtomicPtr: *mut T, T;
}

#[inline]
fn address_of<T>(atomic: *const T) -> usize {
    atomic as usize
}

/// What is waited for: that a look finds another value.
struct ChangedFrom<T, L> {
    old: T,
    look: L,
    address: usize,
}

impl<T: Copy + PartialEq, L: Fn() -> T> ChangedFrom<T, L> {
    #[inline]
    fn look(&self) -> Option<T> {
        Some((self.look)()).filter(|now| *now != self.old)
    }

    // By value as far as they wait: what has changed already is found without a word in memory.

    #[inline]
    fn wait(self) -> T {
        match self.look() {
            Some(value) => value,
            None => self.wait_slow(),
        }
    }

    #[inline]
    fn wait_for(self, timeout: Duration) -> Result<T, TimedOut> {
        let look = || self.look();
        wait::within(timeout, look, |deadline| self.wait_slow_until(deadline)).ok_or(TimedOut)
    }

    #[inline]
    fn wait_until(self, deadline: Deadline) -> Result<T, TimedOut> {
        let look = || self.look();
        wait::until(deadline, look, |deadline| self.wait_slow_until(deadline)).ok_or(TimedOut)
    }

    /// After a first look that failed.
    #[cold]
    fn wait_slow(self) -> T {
        wait::block_on_forever(InTable::new(&self, &Node::new(self.address)))
    }

    /// After a first look that failed, and a look at the deadline.
    #[cold]
    fn wait_slow_until(&self, deadline: Deadline) -> Option<T> {
        wait::block_on(InTable::new(self, &Node::new(self.address)), deadline).ok()
    }
}

/// A call that waits, with its node in the table.
struct InTable<'a, T, L> {
    change: &'a ChangedFrom<T, L>,
    node: &'a Node,
    is_linked: bool,
    /// It was notified and went on waiting: another waiter may have had more use for that.
    notified_in_vain: bool,
}

impl<'a, T: Copy + PartialEq, L: Fn() -> T> InTable<'a, T, L> {
    fn new(change: &'a ChangedFrom<T, L>, node: &'a Node) -> InTable<'a, T, L> {
        InTable { change, node, is_linked: false, notified_in_vain: false }
    }
}

impl<'a, T: Copy + PartialEq, L: Fn() -> T> Waiter<'a> for InTable<'a, T, L> {
    type Output = T;

    fn attempt(&mut self) -> Option<T> {
        self.change.look()
    }

    fn stay_awake(&self) -> Awake {
        Awake::ForOthers(1)
    }

    fn attempt_or_announce(&mut self) -> Step<'a, T> {
        if self.is_linked && self.node.was_unlinked() {
            self.is_linked = false;
            self.notified_in_vain = true; // unless this look says otherwise
        }
        if !self.is_linked {
            if let Some(value) = self.change.look() {
                return Step::Done(value);
            }
            // SAFETY: not linked. A wait ends above or below, when it is not linked, or in `attempt_or_leave`, which unlinks.
            if let Some(value) = unsafe { self.node.link(|| self.change.look()) } {
                return Step::Done(value);
            }
            self.is_linked = true;
        }
        let (word, value) = self.node.sleep_on();
        Step::Sleep(word, value)
    }

    /// I4: exactly one of two verdicts, and no notification is used up by a thread that leaves without a new value. (One that
    /// was notified more than once in vain has been behind every other waiter in between, so one is all it can owe.)
    fn attempt_or_leave(&mut self) -> Option<T> {
        // SAFETY: this call has linked it before it slept.
        let was_linked = unsafe { self.node.unlink() };
        self.notified_in_vain |= !was_linked;
        let found = self.change.look();
        if found.is_none() && self.notified_in_vain {
            table::notify_one(self.change.address);
        }
        found
    }
}
