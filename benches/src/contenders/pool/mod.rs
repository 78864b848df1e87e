//! Pools of threads that do jobs in the order in which these come.

mod crates;
mod ours;
mod queue;

use super::Contender;

pub use self::crates::{Crossbeam, Rayon};
pub use self::ours::{OnSemaphore, OneByOne};
pub use self::queue::OnCondvar;

/// Something to do.
pub type Job = Box<dyn FnOnce() + Send>;

/// A pool whose idle threads sleep. When it is dropped its threads end.
pub trait AnyPool: Contender {
    /// With so many threads.
    fn new(workers: usize) -> Self;

    /// Has one of the threads do it.
    fn submit(&self, job: Job);
}

/// Every pool but those on ours.
macro_rules! each_pool {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::pool::OnCondvar,
            $crate::contenders::pool::Crossbeam,
            $crate::contenders::pool::Rayon)
    };
}
pub(crate) use each_pool;
