//! The `oneshot` crate, and crossbeam's channel, of which one value is used.

use std::time::Duration;

use super::{AnyOneshot, Awaited};
use crate::clock::Clock;
use crate::contenders::{Contender, TimedFor, TimedUntil, TryNow};

/// `oneshot::channel`.
#[derive(Debug)]
pub struct OneshotCrate;

impl Contender for OneshotCrate {
    fn name() -> &'static str {
        "oneshot crate"
    }
}

impl AnyOneshot for OneshotCrate {
    type Sender = oneshot::Sender<u64>;
    type Receiver = oneshot::Receiver<u64>;

    #[inline]
    fn channel() -> (Self::Sender, Self::Receiver) {
        oneshot::channel()
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

impl TryNow for Awaited<OneshotCrate> {
    #[inline]
    fn try_now(&mut self) -> bool {
        self.receiver.try_recv().is_ok()
    }
}

impl TimedFor for Awaited<OneshotCrate> {
    #[inline]
    fn wait_for(&self, timeout: Duration) -> bool {
        self.receiver.recv_timeout(timeout).is_ok()
    }
}

impl<C: Clock> TimedUntil<C> for Awaited<OneshotCrate> {
    type Deadline = C;

    fn deadline(at: C) -> C {
        at
    }

    #[inline]
    fn wait_until(&self, deadline: C) -> bool {
        match deadline.instant() {
            Some(deadline) => self.receiver.recv_deadline(deadline).is_ok(),
            None => self.wait_for(deadline.left()),
        }
    }
}

/// `crossbeam_channel::bounded`, with room for the one value.
#[derive(Debug)]
pub struct Crossbeam;

impl Contender for Crossbeam {
    fn name() -> &'static str {
        "crossbeam"
    }
}

impl AnyOneshot for Crossbeam {
    type Sender = crossbeam_channel::Sender<u64>;
    type Receiver = crossbeam_channel::Receiver<u64>;

    #[inline]
    fn channel() -> (Self::Sender, Self::Receiver) {
        crossbeam_channel::bounded(1)
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

impl TryNow for Awaited<Crossbeam> {
    #[inline]
    fn try_now(&mut self) -> bool {
        self.receiver.try_recv().is_ok()
    }
}

impl TimedFor for Awaited<Crossbeam> {
    #[inline]
    fn wait_for(&self, timeout: Duration) -> bool {
        self.receiver.recv_timeout(timeout).is_ok()
    }
}

impl<C: Clock> TimedUntil<C> for Awaited<Crossbeam> {
    type Deadline = C;

    fn deadline(at: C) -> C {
        at
    }

    #[inline]
    fn wait_until(&self, deadline: C) -> bool {
        match deadline.instant() {
            Some(deadline) => self.receiver.recv_deadline(deadline).is_ok(),
            None => self.wait_for(deadline.left()),
        }
    }
}
