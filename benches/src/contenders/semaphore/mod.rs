//! Semaphores.

mod condvar;
mod glibc;
#[cfg(libstdcxx)]
mod libstdcxx;
mod ours;
mod tasks;

use super::{Contender, Pending, TryNow};

pub use self::condvar::{ParkingLotCondvar, StdCondvar};
pub use self::glibc::Glibc;
#[cfg(libstdcxx)]
pub use self::libstdcxx::Libstdcxx;
pub use self::ours::Many;
pub use self::tasks::{AsyncLock, Tokio};
pub use waitline::{BinarySemaphore, Semaphore};

/// A semaphore that blocks threads.
pub trait AnySemaphore: Contender + Send + Sync {
    /// A semaphore with no permits, or with one.
    fn new(available: bool) -> Self;

    /// Takes a permit, asleep for as long as there is none.
    fn acquire(&self);

    /// Takes a permit if there is one.
    fn try_acquire(&self) -> bool;

    /// Gives a permit, and wakes whoever waits for it.
    fn release(&self);
}

impl<S: AnySemaphore> Pending for S {
    fn pending() -> S {
        S::new(false)
    }
}

impl<S: AnySemaphore> TryNow for S {
    #[inline]
    fn try_now(&mut self) -> bool {
        self.try_acquire()
    }
}

/// Every semaphore but ours.
macro_rules! each_semaphore {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::semaphore::StdCondvar,
            $crate::contenders::semaphore::ParkingLotCondvar,
            $crate::contenders::semaphore::Tokio,
            $crate::contenders::semaphore::AsyncLock,
            $crate::contenders::semaphore::Glibc,
            #[cfg(libstdcxx)]
            $crate::contenders::semaphore::Libstdcxx)
    };
}
pub(crate) use each_semaphore;

/// Those whose threads never sleep on with a permit there. libstdc++ 12's may (GCC PR 104928), and of several permits that come at
/// once async-lock's wakes one thread: a notification that is still on its way counts for the later ones too.
macro_rules! each_dependable_semaphore {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::semaphore::StdCondvar,
            $crate::contenders::semaphore::ParkingLotCondvar,
            $crate::contenders::semaphore::Tokio,
            $crate::contenders::semaphore::Glibc)
    };
}
pub(crate) use each_dependable_semaphore;

/// Those that can wait for a limited time.
macro_rules! each_timed_semaphore {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::semaphore::StdCondvar,
            $crate::contenders::semaphore::ParkingLotCondvar,
            $crate::contenders::semaphore::Glibc,
            #[cfg(libstdcxx)]
            $crate::contenders::semaphore::Libstdcxx)
    };
}
pub(crate) use each_timed_semaphore;
