//! Channels through which one value goes once.

mod channels;
#[cfg(libstdcxx)]
mod libstdcxx;
mod ours;
mod tasks;

use super::{Contender, Pending};
use crate::opaque::opaque;

pub use self::channels::{Crossbeam, Mpsc, OneshotCrate};
#[cfg(libstdcxx)]
pub use self::libstdcxx::Libstdcxx;
pub use self::ours::{Ours, Settled, Shared};
pub use self::tasks::{Futures, Tokio};

/// A one-shot channel on which threads can block.
pub trait AnyOneshot: Contender {
    /// The side that gives the value.
    type Sender: Send;

    /// The side that gets it.
    type Receiver: Send;

    /// Both sides.
    fn channel() -> (Self::Sender, Self::Receiver);

    /// Gives the value. The receiver is there.
    fn send(sender: Self::Sender, value: u64);

    /// Gets the value, asleep until it comes. The sender gives one.
    fn recv(receiver: Self::Receiver) -> u64;

    /// A channel's whole life, in one thread.
    #[inline]
    fn send_and_recv(value: u64) -> u64 {
        let (sender, receiver) = Self::channel();
        opaque(&sender);
        Self::send(sender, value);
        opaque(&receiver);
        Self::recv(receiver)
    }

    /// The same for nothing: no value is sent, and the sender goes first.
    #[inline]
    fn drop_both() {
        let (sender, receiver) = Self::channel();
        opaque(&sender);
        drop(sender);
        opaque(&receiver);
        drop(receiver);
    }
}

/// A receiver whose sender never sends.
#[derive(Debug)]
pub struct Awaited<O: AnyOneshot> {
    receiver: O::Receiver,
    _sender: O::Sender,
}

impl<O: AnyOneshot> Contender for Awaited<O> {
    fn name() -> &'static str {
        O::name()
    }
}

impl<O: AnyOneshot> Pending for Awaited<O> {
    fn pending() -> Awaited<O> {
        let (sender, receiver) = O::channel();
        Awaited { receiver, _sender: sender }
    }
}

/// Every one-shot channel but ours.
macro_rules! each_oneshot {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::oneshot::OneshotCrate,
            $crate::contenders::oneshot::Mpsc,
            $crate::contenders::oneshot::Crossbeam,
            $crate::contenders::oneshot::Tokio,
            $crate::contenders::oneshot::Futures,
            #[cfg(libstdcxx)]
            $crate::contenders::oneshot::Libstdcxx)
    };
}
pub(crate) use each_oneshot;

/// The receivers of those that can wait for a limited time.
macro_rules! each_timed_receiver {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::oneshot::Awaited<$crate::contenders::oneshot::OneshotCrate>,
            $crate::contenders::oneshot::Awaited<$crate::contenders::oneshot::Mpsc>,
            $crate::contenders::oneshot::Awaited<$crate::contenders::oneshot::Crossbeam>,
            #[cfg(libstdcxx)]
            $crate::contenders::oneshot::Awaited<$crate::contenders::oneshot::Libstdcxx>)
    };
}
pub(crate) use each_timed_receiver;

/// The receivers of those that can be asked whether the value is there.
macro_rules! each_polled_receiver {
    ($then:ident!($($head:tt)*)) => {
        $then!($($head)*;
            $crate::contenders::oneshot::Awaited<$crate::contenders::oneshot::OneshotCrate>,
            $crate::contenders::oneshot::Awaited<$crate::contenders::oneshot::Mpsc>,
            $crate::contenders::oneshot::Awaited<$crate::contenders::oneshot::Crossbeam>,
            $crate::contenders::oneshot::Awaited<$crate::contenders::oneshot::Tokio>,
            $crate::contenders::oneshot::Awaited<$crate::contenders::oneshot::Futures>)
    };
}
pub(crate) use each_polled_receiver;
