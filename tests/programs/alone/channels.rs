//! One-shots: a value on its way from one end to the other, which is there once, comes back, or is dropped.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use waitline::oneshot::{Receiver, RecvFuture, RecvTimeoutError, Sender, SharedReceiver, channel};

use crate::common::oneshot::{borrow, recv, settle};
use crate::ways::{Way, ways};

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A new channel in place of what is left of this one.
    Renew {
        sender_first: bool,
    },
    Send,
    DropSender,
    /// Of whatever kind it is.
    Receive(Way),
    Settle(Way),
    Poll,
    /// From alone to shared, or to one more.
    Share,
    /// From blocking to asynchronous and back.
    Switch,
    DropReceiver,
}

pub(super) fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => any::<bool>().prop_map(|sender_first| Step::Renew { sender_first }),
        2 => Just(Step::Send),
        1 => Just(Step::DropSender),
        4 => ways().prop_map(Step::Receive),
        2 => ways().prop_map(Step::Settle),
        3 => Just(Step::Poll),
        1 => Just(Step::Share),
        2 => Just(Step::Switch),
        1 => Just(Step::DropReceiver),
    ]
}

/// One of those that are alive, with the number of the channel that it was made for.
#[derive(Debug)]
struct Value {
    channel: usize,
    _alive: Rc<()>,
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.fetch_add(1, Relaxed);
    }
}

enum Receiving {
    Alone(Receiver<Value>),
    Awaiting(RecvFuture<Value>),
    /// None of them: the receiver is gone.
    Shared(Vec<SharedReceiver<Value>>),
}

/// What is in the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// The sender has neither sent nor left.
    Open,
    Sent,
    /// Received, or never sent.
    Nothing,
}

pub(super) struct Machine {
    sender: Option<Sender<Value>>,
    receiving: Receiving,
    content: Content,
    number: usize,
    alive: Rc<()>,
    woken: Arc<Woken>,
    /// How often it should have been woken, and whether a waker is left in the channel.
    wakes: usize,
    is_registered: bool,
}

impl Machine {
    pub(super) fn new() -> Machine {
        let (sender, receiver) = channel();
        Machine {
            sender: Some(sender),
            receiving: Receiving::Alone(receiver),
            content: Content::Open,
            number: 0,
            alive: Rc::default(),
            woken: Arc::default(),
            wakes: 0,
            is_registered: false,
        }
    }

    fn receiver_is_gone(&self) -> bool {
        matches!(&self.receiving, Receiving::Shared(all) if all.is_empty())
    }

    pub(super) fn step(&mut self, step: Step) -> TestCaseResult {
        match step {
            Step::Renew { sender_first } => {
                if sender_first {
                    self.settle(Content::Nothing);
                    self.sender = None;
                }
                let (sender, receiver) = channel();
                self.receiving = Receiving::Alone(receiver);
                self.sender = Some(sender);
                (self.content, self.is_registered) = (Content::Open, false);
                self.number += 1;
            }
            Step::Send => {
                if let Some(sender) = self.sender.take() {
                    let gone = self.receiver_is_gone();
                    prop_assert_eq!(sender.is_closed(), gone);
                    let outcome = sender.send(Value { channel: self.number, _alive: Rc::clone(&self.alive) });
                    let back = outcome.err().map(|error| error.into_inner().channel);
                    prop_assert_eq!(back, gone.then_some(self.number));
                    self.settle(if gone { Content::Nothing } else { Content::Sent });
                }
            }
            Step::DropSender => {
                if self.sender.take().is_some() {
                    self.settle(Content::Nothing);
                }
            }
            Step::Receive(way) => self.receive(way)?,
            Step::Settle(way) => {
                if let Receiving::Alone(receiver) = &self.receiving {
                    let is_settled = self.content != Content::Open;
                    prop_assert_eq!(settle(receiver, way.given(is_settled)).is_ok(), is_settled);
                    prop_assert_eq!(receiver.is_ready(), is_settled);
                }
            }
            Step::Poll => self.poll()?,
            Step::Share | Step::Switch | Step::DropReceiver => self.change(&step),
        }
        self.look()
    }

    /// The sender has sent or left, and has woken whoever waits.
    fn settle(&mut self, content: Content) {
        if self.content == Content::Open {
            self.content = content;
            self.wakes += usize::from(std::mem::take(&mut self.is_registered));
        }
    }

    fn receive(&mut self, way: Way) -> TestCaseResult {
        let wait = way.given(self.content != Content::Open);
        let expected = match self.content {
            Content::Open => Err(RecvTimeoutError::Timeout),
            Content::Sent => Ok(self.number),
            Content::Nothing => Err(RecvTimeoutError::Disconnected),
        };
        match &self.receiving {
            Receiving::Alone(receiver) => {
                prop_assert_eq!(recv(receiver, wait).map(|value| value.channel), expected);
                self.taken();
            }
            Receiving::Shared(all) => {
                for receiver in all {
                    prop_assert_eq!(borrow(receiver, wait).map(|value| value.channel), expected);
                }
            }
            Receiving::Awaiting(_) => {}
        }
        Ok(())
    }

    fn taken(&mut self) {
        if self.content == Content::Sent {
            self.content = Content::Nothing;
        }
    }

    fn poll(&mut self) -> TestCaseResult {
        let Receiving::Awaiting(future) = &mut self.receiving else { return Ok(()) };
        let waker = Waker::from(Arc::clone(&self.woken));
        let outcome = match Pin::new(future).poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => None,
            Poll::Ready(outcome) => Some(outcome.ok().map(|value| value.channel)),
        };
        let expected = match self.content {
            Content::Open => None,
            Content::Sent => Some(Some(self.number)),
            Content::Nothing => Some(None),
        };
        prop_assert_eq!(outcome, expected);
        self.is_registered = outcome.is_none();
        self.taken();
        Ok(())
    }

    /// Makes another receiver of the receiver, or none.
    fn change(&mut self, step: &Step) {
        let before = std::mem::replace(&mut self.receiving, Receiving::Shared(Vec::new()));
        self.receiving = match (step, before) {
            (Step::Share, Receiving::Alone(receiver)) => Receiving::Shared(vec![receiver.share()]),
            (Step::Share, Receiving::Shared(mut all)) => {
                all.extend(all.last().cloned());
                Receiving::Shared(all)
            }
            (Step::Switch, Receiving::Alone(receiver)) => Receiving::Awaiting(receiver.into_future()),
            (Step::Switch, Receiving::Awaiting(future)) => {
                self.is_registered = false;
                Receiving::Alone(future.into_receiver())
            }
            (Step::DropReceiver, Receiving::Shared(mut all)) => {
                all.pop();
                Receiving::Shared(all)
            }
            (Step::DropReceiver, Receiving::Alone(_) | Receiving::Awaiting(_)) => {
                self.is_registered = false;
                Receiving::Shared(Vec::new())
            }
            (_, same) => same,
        };
        if self.receiver_is_gone() && self.content == Content::Sent {
            self.content = Content::Nothing;
        }
    }

    fn look(&self) -> TestCaseResult {
        let alive = Rc::strong_count(&self.alive) - 1;
        prop_assert_eq!(alive, usize::from(self.content == Content::Sent), "values alive");
        let wakers = Arc::strong_count(&self.woken) - 1;
        prop_assert_eq!(wakers, usize::from(self.is_registered), "wakers in the channel");
        prop_assert_eq!(self.woken.0.load(Relaxed), self.wakes, "wakes");
        if let Some(sender) = &self.sender {
            prop_assert_eq!(sender.is_closed(), self.receiver_is_gone());
        }
        Ok(())
    }
}
