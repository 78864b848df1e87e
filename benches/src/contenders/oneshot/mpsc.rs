//! std's channel, of which one value is used.

use std::sync::mpsc;
use std::time::Duration;

use super::{AnyOneshot, Awaited};
use crate::clock::Clock;
use crate::contenders::{Contender, TimedFor, TimedUntil, TryNow};

/// `std::sync::mpsc::channel`.
#[derive(Debug)]
pub struct Mpsc;

impl Contender for Mpsc {
    fn name() -> &'static str {
        "std mpsc"
    }
}

impl AnyOneshot for Mpsc {
    type Sender = mpsc::Sender<u64>;
    type Receiver = mpsc::Receiver<u64>;

    #[inline]
    fn channel() -> (Self::Sender, Self::Receiver) {
        mpsc::channel()
    }

    #[inline]
    fn send(sender: Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    #[inline]
    fn recv(receiver: Self::Receiver) -> u64 {
        receiver.recv().expect("the sender sends")
    }
}

impl TryNow for Awaited<Mpsc> {
    #[inline]
    fn try_now(&mut self) -> bool {
        self.receiver.try_recv().is_ok()
    }
}

impl TimedFor for Awaited<Mpsc> {
    #[inline]
    fn wait_for(&self, timeout: Duration) -> bool {
        self.receiver.recv_timeout(timeout).is_ok()
    }
}

impl<C: Clock> TimedUntil<C> for Awaited<Mpsc> {
    type Deadline = C;

    fn deadline(at: C) -> C {
        at
    }

    #[inline]
    fn wait_until(&self, deadline: C) -> bool {
        self.wait_for(deadline.left())
    }
}
