//! Channels with the calls of std's: std's own and crossbeam's, of which one value is used, and the `oneshot` crate's.

use std::sync::mpsc;
use std::time::Duration;

use super::{AnyOneshot, Awaited};
use crate::clock::Clock;
use crate::contenders::{Contender, TimedFor, TimedUntil, TryNow};

/// A contender by its channel: its name, its two sides, and how they are made.
macro_rules! channel {
    ($(#[$attribute:meta])* $contender:ident: $name:literal, $sender:ty, $receiver:ty, $channel:expr) => {
        $(#[$attribute])*
        #[derive(Debug)]
        pub struct $contender;

        impl Contender for $contender {
            fn name() -> &'static str {
                $name
            }
        }

        impl AnyOneshot for $contender {
            type Sender = $sender;
            type Receiver = $receiver;

            #[inline]
            fn channel() -> (Self::Sender, Self::Receiver) {
                $channel
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

        impl TryNow for Awaited<$contender> {
            #[inline]
            fn try_now(&mut self) -> bool {
                self.receiver.try_recv().is_ok()
            }
        }

        impl TimedFor for Awaited<$contender> {
            #[inline]
            fn wait_for(&self, timeout: Duration) -> bool {
                self.receiver.recv_timeout(timeout).is_ok()
            }
        }
    };
}

/// For a receiver that takes an `Instant`; on other clocks it is told what is left.
macro_rules! timed_until {
    ($contender:ty) => {
        impl<C: Clock> TimedUntil<C> for Awaited<$contender> {
            type Deadline = C;

            fn deadline(at: C) -> C {
                at
            }

            #[inline]
            fn wait_until(&self, deadline: C) -> bool {
                match deadline.instant() {
                    Some(instant) => self.receiver.recv_deadline(instant).is_ok(),
                    None => self.wait_for(deadline.left()),
                }
            }
        }
    };
}

channel! {
    /// `std::sync::mpsc::channel`.
    Mpsc: "std mpsc", mpsc::Sender<u64>, mpsc::Receiver<u64>, mpsc::channel()
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

channel! {
    /// `oneshot::channel`.
    OneshotCrate: "oneshot crate", oneshot::Sender<u64>, oneshot::Receiver<u64>, oneshot::channel()
}
timed_until!(OneshotCrate);

channel! {
    /// `crossbeam_channel::bounded`, with room for the one value.
    Crossbeam: "crossbeam", crossbeam_channel::Sender<u64>, crossbeam_channel::Receiver<u64>, crossbeam_channel::bounded(1)
}
timed_until!(Crossbeam);
