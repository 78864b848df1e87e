//! The channels of async code, from threads. They can't wait for a limited time without a runtime.

use futures::executor::block_on;

use super::{AnyOneshot, Awaited};
use crate::contenders::{Contender, TryNow};

/// `tokio::sync::oneshot`.
#[derive(Debug)]
pub struct Tokio;

impl Contender for Tokio {
    fn name() -> &'static str {
        "tokio"
    }
}

impl AnyOneshot for Tokio {
    type Sender = tokio::sync::oneshot::Sender<u64>;
    type Receiver = tokio::sync::oneshot::Receiver<u64>;

    #[inline]
    fn channel() -> (Self::Sender, Self::Receiver) {
        tokio::sync::oneshot::channel()
    }

    #[inline]
    fn send(sender: Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    #[inline]
    fn recv(receiver: Self::Receiver) -> u64 {
        receiver.blocking_recv().expect("the sender sends")
    }
}

/// `futures::channel::oneshot`.
#[derive(Debug)]
pub struct Futures;

impl Contender for Futures {
    fn name() -> &'static str {
        "futures"
    }
}

impl AnyOneshot for Futures {
    type Sender = futures::channel::oneshot::Sender<u64>;
    type Receiver = futures::channel::oneshot::Receiver<u64>;

    #[inline]
    fn channel() -> (Self::Sender, Self::Receiver) {
        futures::channel::oneshot::channel()
    }

    #[inline]
    fn send(sender: Self::Sender, value: u64) {
        sender.send(value).expect("the receiver is there");
    }

    #[inline]
    fn recv(receiver: Self::Receiver) -> u64 {
        block_on(receiver).expect("the sender sends")
    }
}

impl TryNow for Awaited<Tokio> {
    #[inline]
    fn try_now(&mut self) -> bool {
        self.receiver.try_recv().is_ok()
    }
}

impl TryNow for Awaited<Futures> {
    #[inline]
    fn try_now(&mut self) -> bool {
        matches!(self.receiver.try_recv(), Ok(Some(_)))
    }
}
