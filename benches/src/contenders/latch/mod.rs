//! Latches.

mod condvar;
mod crates;
#[cfg(libstdcxx)]
mod libstdcxx;
mod ours;

use super::Contender;
use crate::opaque::opaque;

pub use self::condvar::StdCondvar;
pub use self::crates::WaitGroup;
#[cfg(libstdcxx)]
pub use self::libstdcxx::Libstdcxx;
pub use waitline::Latch;

/// A latch that blocks threads.
pub trait AnyLatch: Contender + Send + Sync {
    /// The right to count it down once.
    type Ticket<'a>: Send
    where
        Self: 'a;

    /// Opens when it has been counted down so often.
    fn new(count: usize) -> Self;

    /// To be had once for each count.
    fn ticket(&self) -> Self::Ticket<'_>;

    /// One less.
    fn count_down(ticket: Self::Ticket<'_>);

    /// Returns once it is open.
    fn wait(&self);

    /// A latch's whole life, in one thread.
    #[inline]
    fn count_down_and_wait()
    where
        Self: Sized,
    {
        let latch = Self::new(1);
        Self::count_down(opaque(&latch).ticket());
        opaque(&latch).wait();
    }
}

/// Every latch but ours.
macro_rules! each_latch {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::latch::StdCondvar,
            #[cfg(libstdcxx)]
            $crate::contenders::latch::Libstdcxx,
            $crate::contenders::latch::WaitGroup)
    };
}
pub(crate) use each_latch;

/// Those that any number of threads can wait for.
macro_rules! each_shared_latch {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::latch::StdCondvar,
            #[cfg(libstdcxx)]
            $crate::contenders::latch::Libstdcxx)
    };
}
pub(crate) use each_shared_latch;
