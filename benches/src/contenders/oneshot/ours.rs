//! Ours: what is received, what is only waited for, and what is shared.

use waitline::oneshot;

use super::{AnyOneshot, Awaited};
use crate::contenders::{Contender, Pending, TryNow, timed};

/// `waitline::oneshot::channel`.
#[derive(Debug)]
pub struct Ours;

impl Contender for Ours {
    fn name() -> &'static str {
        "oneshot"
    }
}

impl AnyOneshot for Ours {
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

impl TryNow for Awaited<Ours> {
    #[inline]
    fn try_now(&mut self) -> bool {
        self.receiver.try_recv().is_ok()
    }
}

timed! {
    Awaited<Ours>,
    |it, timeout| it.receiver.recv_for(timeout).is_ok(),
    |it, deadline| it.receiver.recv_until(deadline).is_ok()
}

/// A receiver that waits until the channel is settled, and takes nothing.
#[derive(Debug)]
pub struct Settled(Awaited<Ours>);

impl Contender for Settled {
    fn name() -> &'static str {
        "oneshot, not taken"
    }
}

impl Pending for Settled {
    fn pending() -> Settled {
        Settled(Pending::pending())
    }
}

timed! {
    Settled,
    |it, timeout| it.0.receiver.wait_for(timeout).is_ok(),
    |it, deadline| it.0.receiver.wait_until(deadline).is_ok()
}

/// One of the receivers that share the value.
#[derive(Debug)]
pub struct Shared {
    receiver: oneshot::SharedReceiver<u64>,
    _sender: oneshot::Sender<u64>,
}

impl Contender for Shared {
    fn name() -> &'static str {
        "oneshot, shared"
    }
}

impl Pending for Shared {
    fn pending() -> Shared {
        let (sender, receiver) = oneshot::channel();
        Shared { receiver: receiver.share(), _sender: sender }
    }
}

timed! {
    Shared,
    |it, timeout| it.receiver.wait_for(timeout).is_ok(),
    |it, deadline| it.receiver.wait_until(deadline).is_ok()
}
