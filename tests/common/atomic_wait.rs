//! Atomics of every kind that can be waited on, every way to wait for another value, and every way to notify.

use std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize, Ordering,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};

use waitline::{AtomicWait, Deadline, TimedOut};

use super::calls::{Subject, Wait};

/// The orderings that a wait may have.
pub(crate) const OF_LOADS: [Ordering; 3] = [Relaxed, Acquire, SeqCst];

/// The calls that notify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notify {
    One,
    All,
    OneRaw,
    AllRaw,
}

impl Notify {
    pub(crate) const ALL: [Notify; 4] = [Notify::One, Notify::All, Notify::OneRaw, Notify::AllRaw];

    pub(crate) fn call<A: AtomicWait>(self, atomic: &A) {
        match self {
            Notify::One => atomic.notify_one(),
            Notify::All => atomic.notify_all(),
            raw => raw.call_raw(atomic),
        }
    }

    pub(crate) fn call_raw<A: AtomicWait>(self, atomic: *const A) {
        match self {
            Notify::One | Notify::OneRaw => A::notify_one_raw(atomic),
            Notify::All | Notify::AllRaw => A::notify_all_raw(atomic),
        }
    }
}

/// Waits until the value is not `old`, by the form of the call that `wait` names.
pub(crate) fn wait_by<A: AtomicWait>(
    atomic: &A,
    old: A::Value,
    order: Ordering,
    wait: Wait,
) -> Result<A::Value, TimedOut> {
    match wait {
        Wait::Untimed => Ok(atomic.wait(old, order)),
        Wait::Try => atomic.wait_until(old, order, Deadline::PASSED),
        Wait::For(timeout) => atomic.wait_for(old, order, timeout),
        Wait::Until(deadline) => atomic.wait_until(old, order, deadline),
        Wait::UntilInstant(instant) => atomic.wait_until(old, order, instant),
        Wait::UntilTime(time) => atomic.wait_until(old, order, time),
    }
}

/// An atomic of whatever kind, whose values are numbers of [`bits`](Atomic::bits) bits.
pub(crate) trait Atomic: Send + Sync {
    fn name(&self) -> &'static str;

    fn bits(&self) -> u32;

    fn set(&self, value: u64, order: Ordering);

    fn get(&self) -> u64;

    fn wait_by(&self, old: u64, order: Ordering, wait: Wait) -> Result<u64, TimedOut>;

    fn notify(&self, notify: Notify);

    /// Another one of the kind, of value 0.
    fn fresh(&self) -> Box<dyn Atomic>;

    /// Changes the value and says so.
    fn change(&self, value: u64, notify: Notify) {
        self.set(value, Relaxed);
        self.notify(notify);
    }

    /// The greatest number that it holds.
    fn max(&self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

macro_rules! atomics {
    ($($atomic:ty: $bits:expr, $value:expr, $number:expr;)*) => {
        $(
            impl Atomic for $atomic {
                fn name(&self) -> &'static str {
                    stringify!($atomic)
                }

                fn bits(&self) -> u32 {
                    $bits
                }

                fn set(&self, value: u64, order: Ordering) {
                    self.store($value(value), order);
                }

                fn get(&self) -> u64 {
                    $number(self.load(SeqCst))
                }

                fn wait_by(&self, old: u64, order: Ordering, wait: Wait) -> Result<u64, TimedOut> {
                    wait_by(self, $value(old), order, wait).map($number)
                }

                fn notify(&self, notify: Notify) {
                    notify.call(self);
                }

                fn fresh(&self) -> Box<dyn Atomic> {
                    Box::new(<$atomic>::new($value(0)))
                }
            }
        )*

        /// One of every kind, of value 0.
        pub(crate) fn atomics() -> Vec<Box<dyn Atomic>> {
            vec![$(Box::new(<$atomic>::new($value(0)))),*]
        }
    };
}
atomics! {
    AtomicBool: 1, |n: u64| n % 2 == 1, u64::from;
    AtomicU8: 8, |n: u64| n as u8, u64::from;
    AtomicI8: 8, |n: u64| n as i8, |value: i8| u64::from(value as u8);
    AtomicU16: 16, |n: u64| n as u16, u64::from;
    AtomicI16: 16, |n: u64| n as i16, |value: i16| u64::from(value as u16);
    AtomicU32: 32, |n: u64| n as u32, u64::from;
    AtomicI32: 32, |n: u64| n as i32, |value: i32| u64::from(value as u32);
    AtomicU64: 64, |n: u64| n, |value| value;
    AtomicI64: 64, |n: u64| n as i64, |value| value as u64;
    AtomicUsize: usize::BITS, |n: u64| n as usize, |value| value as u64;
    AtomicIsize: usize::BITS, |n: u64| n as isize, |value: isize| value as usize as u64;
    AtomicPtr<u16>: usize::BITS, |n: u64| std::ptr::without_provenance_mut(n as usize), |value: *mut u16| value.addr() as u64;
}

/// A value that is about to change.
pub(crate) struct Changed(Box<dyn Atomic>);

impl Changed {
    /// One of each width that platforms treat differently.
    pub(crate) fn all() -> [Changed; 3] {
        [
            Changed(Box::new(AtomicU8::new(0))),
            Changed(Box::new(AtomicU32::new(0))),
            Changed(Box::new(AtomicU64::new(0))),
        ]
    }
}

impl Subject for Changed {
    fn name(&self) -> String {
        self.0.name().to_owned()
    }

    fn wait(&self, wait: Wait) -> bool {
        self.0.wait_by(0, Acquire, wait).is_ok()
    }

    fn satisfy(&self) {
        self.0.set(1, Release);
        self.0.notify(Notify::One);
    }

    fn fresh(&self) -> Box<dyn Subject> {
        Box::new(Changed(self.0.fresh()))
    }

    /// It has changed, and stays so.
    fn adds_up(&self, _came: bool) -> bool {
        self.0.get() == 1 && self.wait(Wait::Try)
    }
}
