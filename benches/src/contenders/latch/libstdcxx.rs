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
    type Ticket<'a> = &'a Libstdcxx;

    fn new(count: usize) -> Libstdcxx {
        Latch::new(count.try_into().expect("a number of threads"))
    }

    #[inline]
    fn ticket(&self) -> &Libstdcxx {
        self
    }

    #[inline]
    fn count_down(ticket: &Libstdcxx) {
        Latch::count_down(ticket);
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
