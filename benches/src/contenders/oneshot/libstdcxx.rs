//! C++'s promise and future.

use std::time::Duration;

use super::{AnyOneshot, Awaited};
use crate::clock::Clock;
use crate::contenders::{Contender, TimedFor, TimedUntil};
use crate::libstdcxx::{Future, Owned, Promise, nanoseconds};

/// `std::promise` and `std::future`.
#[derive(Debug)]
pub struct Libstdcxx;

impl Contender for Libstdcxx {
    fn name() -> &'static str {
        "libstdc++"
    }
}

impl AnyOneshot for Libstdcxx {
    type Sender = Owned<Promise>;
    type Receiver = Owned<Future>;

    fn channel() -> (Self::Sender, Self::Receiver) {
        Promise::new()
    }

    #[inline]
    fn send(sender: Self::Sender, value: u64) {
        sender.set_value(value);
    }

    #[inline]
    fn recv(receiver: Self::Receiver) -> u64 {
        receiver.get()
    }

    /// One call, and both sides on the stack, as users of C++ have them.
    fn send_and_recv(value: u64) -> u64 {
        Promise::send_and_recv(value)
    }

    /// The same.
    fn drop_both() {
        Promise::drop_both();
    }
}

impl TimedFor for Awaited<Libstdcxx> {
    #[inline]
    fn wait_for(&self, timeout: Duration) -> bool {
        self.receiver.wait_for(nanoseconds(timeout))
    }
}

impl<C: Clock> TimedUntil<C> for Awaited<Libstdcxx> {
    type Deadline = i64;

    fn deadline(at: C) -> i64 {
        nanoseconds(at.in_c())
    }

    #[inline]
    fn wait_until(&self, deadline: i64) -> bool {
        self.receiver.wait_until(C::ID == libc::CLOCK_REALTIME, deadline)
    }
}
