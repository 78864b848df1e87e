//! C++'s barrier.

use super::AnyBarrier;
use crate::contenders::Contender;
use crate::libstdcxx::{Barrier, Owned};

/// `std::barrier`.
pub type Libstdcxx = Owned<Barrier>;

impl Contender for Libstdcxx {
    fn name() -> &'static str {
        "libstdc++"
    }
}

impl AnyBarrier for Libstdcxx {
    fn new(parties: usize) -> Libstdcxx {
        Barrier::new(parties.try_into().expect("a number of threads"))
    }

    fn wait(&self) {
        self.wait_times(1);
    }

    /// One call for all of them: users of C++ have the whole of it inlined.
    fn wait_times(&self, rounds: u64) {
        Barrier::wait(self, rounds);
    }
}
