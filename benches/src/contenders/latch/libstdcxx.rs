//! C++'s latch.

use super::AnyLatch;
use crate::contenders::Contender;
use crate::libstdcxx::{Latch, Owned};

/// `std::latch`.
pub type Libstdcxx = Owned<Latch>;

impl Contender for Libstdcxx {
    fn name() -> &'static str {
        "libstdc++"
    }
}

impl AnyLatch for Libstdcxx {
    fn new() -> Libstdcxx {
        Latch::new(1)
    }

    #[inline]
    fn count_down(&self) {
        Latch::count_down(self);
    }

    #[inline]
    fn wait(&self) {
        Latch::wait(self);
    }

    /// One call, and no heap: users of C++ have it on the stack.
    fn count_down_and_wait() {
        Latch::count_down_and_wait();
    }
}
