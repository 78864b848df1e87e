//! Ours: Rust's atomics of every width.

use core::ptr;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Release},
};

use waitline::AtomicWait;

use super::AnyAtomic;
#[cfg(libstdcxx)]
use super::Libstdcxx;
use crate::contenders::{Contender, Pending, TimedFor, timed};

/// One of Rust's atomics, through `AtomicWait`.
pub trait Ours: AnyAtomic + TimedFor {
    /// The same bytes, through C++.
    #[cfg(libstdcxx)]
    type Libstdcxx: AnyAtomic;
}

macro_rules! ours {
    ($($atomic:ty, $name:literal, $clear:expr, $set:expr;)*) => {$(
        impl Contender for $atomic {
            fn name() -> &'static str {
                $name
            }
        }

        impl AnyAtomic for $atomic {
            fn new() -> $atomic {
                <$atomic>::new($clear)
            }

            #[inline]
            fn store(&self, set: bool) {
                self.store(if set { $set } else { $clear }, Release);
            }

            #[inline]
            fn wait(&self, old: bool) {
                AtomicWait::wait(self, if old { $set } else { $clear }, Acquire);
            }

            #[inline]
            fn notify_one(&self) {
                AtomicWait::notify_one(self);
            }

            #[inline]
            fn notify_all(&self) {
                AtomicWait::notify_all(self);
            }
        }

        impl Pending for $atomic {
            fn pending() -> $atomic {
                <$atomic>::new($clear)
            }
        }

        timed! {
            $atomic,
            |it, timeout| AtomicWait::wait_for(it, $clear, Acquire, timeout).is_ok(),
            |it, deadline| AtomicWait::wait_until(it, $clear, Acquire, deadline).is_ok()
        }

        impl Ours for $atomic {
            #[cfg(libstdcxx)]
            type Libstdcxx = Libstdcxx<$atomic>;
        }
    )*};
}
ours! {
    AtomicBool, "AtomicBool", false, true;
    AtomicU8, "AtomicU8", 0, 1;
    AtomicU16, "AtomicU16", 0, 1;
    AtomicU32, "AtomicU32", 0, 1;
    AtomicU64, "AtomicU64", 0, 1;
    AtomicUsize, "AtomicUsize", 0, 1;
    AtomicPtr<()>, "AtomicPtr", ptr::null_mut(), ptr::without_provenance_mut(1);
}
