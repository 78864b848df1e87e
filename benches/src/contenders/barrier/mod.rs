//! Barriers.

mod glibc;
#[cfg(libstdcxx)]
mod libstdcxx;
mod ours;
mod standard;
mod tasks;

use super::Contender;

pub use self::glibc::Glibc;
#[cfg(libstdcxx)]
pub use self::libstdcxx::Libstdcxx;
pub use self::ours::Arrived;
pub use self::standard::Std;
pub use self::tasks::{AsyncLock, Tokio};
pub use waitline::Barrier;

/// A barrier that blocks threads.
pub trait AnyBarrier: Contender + Send + Sync {
    /// For so many parties.
    fn new(parties: usize) -> Self;

    /// Arrives, and waits until all the others have.
    fn wait(&self);

    /// One party's part in so many rounds.
    #[inline]
    fn wait_times(&self, rounds: u64) {
        for _ in 0..rounds {
            self.wait();
        }
    }
}

/// Every barrier but ours.
macro_rules! each_barrier {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::barrier::Std,
            $crate::contenders::barrier::Glibc,
            $crate::contenders::barrier::Tokio,
            $crate::contenders::barrier::AsyncLock,
            #[cfg(libstdcxx)]
            $crate::contenders::barrier::Libstdcxx)
    };
}
pub(crate) use each_barrier;
