//! What the two sides of a one-shot future can do to each other: each way to settle it against each way to wait for it, to
//! leave it and to mix the two, let go at the same moment, many times. Each value is received, dropped or returned once,
//! nobody sleeps on, and no waker is left over.

mod common;

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Instant;

use common::oneshot::{Counted, Ledger, borrow, recv, settle};
use common::{Form, all_at_once, rounds, watchdog};
use waitline::oneshot::{Receiver, RecvError, RecvFuture, RecvTimeoutError, Sender, SharedReceiver, channel};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Send,
    Leave,
    /// Asks before, and does not send what nobody wants.
    SendIfWanted,
}

const ENDS: [End; 3] = [End::Send, End::Leave, End::SendIfWanted];

/// What the receiver does, once; whatever is not received is dropped with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Drop,
    Recv(Form),
    /// Receives by the second form what did not come by the first.
    RecvTwice(Form, Form),
    /// Waits, and takes only then.
    WaitAndTake(Form),
    WaitAndDrop(Form),
    PollAndDrop,
    /// With another waker the second time.
    PollTwiceAndDrop,
    PollAndRecv(Form),
    /// Until it is ready, by a waker that wakes this thread.
    Await,
    RecvAndAwait(Form),
    Share(Form),
}

fn acts() -> Vec<Act> {
    let mut all = vec![Act::Drop, Act::PollAndDrop, Act::PollTwiceAndDrop, Act::Await];
    for form in Form::all() {
        all.extend([Act::Recv(form), Act::WaitAndTake(form), Act::WaitAndDrop(form), Act::PollAndRecv(form)]);
        all.extend([Act::RecvAndAwait(form), Act::Share(form)]);
        all.extend([Form::Untimed, Form::Try, Form::Timed(0), Form::Timed(3)].map(|then| Act::RecvTwice(form, then)));
    }
    all
}

/// Wakes a thread, and counts how often.
struct Unpark(thread::Thread, AtomicUsize);

impl Wake for Unpark {
    fn wake(self: Arc<Unpark>) {
        self.1.fetch_add(1, Relaxed);
        self.0.unpark();
    }
}

impl Unpark {
    fn new() -> Arc<Unpark> {
        Arc::new(Unpark(thread::current(), AtomicUsize::new(0)))
    }
}

fn poll<T>(future: &mut RecvFuture<T>, wake: &Arc<Unpark>) -> Poll<Result<T, RecvError>> {
    Pin::new(future).poll(&mut Context::from_waker(&Waker::from(Arc::clone(wake))))
}

/// One channel, its sides until somebody takes them, and the account of its value.
struct Round<'a> {
    ledger: &'a Ledger,
    sender: Mutex<Option<Sender<Counted<'a>>>>,
    receiver: Mutex<Option<Receiver<Counted<'a>>>>,
    /// A waker that may be on its way while its thread has gone on.
    wakes: Mutex<Vec<Arc<Unpark>>>,
}

impl<'a> Round<'a> {
    fn new(ledger: &'a Ledger) -> Round<'a> {
        let (sender, receiver) = channel();
        let (sender, receiver) = (Mutex::new(Some(sender)), Mutex::new(Some(receiver)));
        Round { ledger, sender, receiver, wakes: Mutex::default() }
    }

    fn end(&self, end: End) {
        let sender = self.sender.lock().unwrap().take().unwrap();
        match end {
            End::Send => _ = self.ledger.send(sender),
            End::Leave => drop(sender),
            End::SendIfWanted if sender.is_closed() => assert!(!self.ledger.send(sender)),
            End::SendIfWanted => _ = self.ledger.send(sender),
        }
    }

    /// One receive: whether that was the end of it.
    fn recv(&self, receiver: &Receiver<Counted<'a>>, form: Form, end: End) -> bool {
        let (start, wait) = (Instant::now(), form.start());
        match recv(receiver, wait) {
            Ok(value) => self.ledger.receive(value),
            Err(RecvTimeoutError::Disconnected) => assert_eq!(end, End::Leave, "{form:?}"),
            Err(RecvTimeoutError::Timeout) => {
                assert!(wait.is_due(start), "{wait:?}: early");
                return false;
            }
        }
        true
    }

    fn keep(&self, wake: &Arc<Unpark>) {
        self.wakes.lock().unwrap().push(Arc::clone(wake));
    }

    fn poll(&self, future: &mut RecvFuture<Counted<'a>>, end: End) -> bool {
        let wake = Unpark::new();
        self.keep(&wake);
        self.conclude(poll(future, &wake), end)
    }

    fn conclude(&self, polled: Poll<Result<Counted<'a>, RecvError>>, end: End) -> bool {
        match polled {
            Poll::Ready(Ok(value)) => self.ledger.receive(value),
            Poll::Ready(Err(RecvError)) => assert_eq!(end, End::Leave),
            Poll::Pending => return false,
        }
        true
    }

    fn until_ready(&self, mut future: RecvFuture<Counted<'a>>, end: End) {
        let wake = Unpark::new();
        self.keep(&wake);
        while !self.conclude(poll(&mut future, &wake), end) {
            // No waker is woken twice.
            while wake.1.load(Relaxed) == 0 {
                thread::park();
            }
        }
    }

    fn act(&self, act: Act, end: End) {
        let receiver = self.receiver.lock().unwrap().take().unwrap();
        match act {
            Act::Drop => drop(receiver),
            Act::Recv(form) => {
                let over = self.recv(&receiver, form, end);
                assert!(over || form != Form::Untimed);
            }
            Act::RecvTwice(first, second) => {
                let _ = self.recv(&receiver, first, end) || self.recv(&receiver, second, end);
            }
            Act::WaitAndTake(form) => {
                if settle(&receiver, form.start()).is_ok() {
                    assert!(self.recv(&receiver, Form::Try, end), "settled is settled");
                }
            }
            Act::WaitAndDrop(form) => _ = settle(&receiver, form.start()),
            Act::PollAndDrop => _ = self.poll(&mut receiver.into_future(), end),
            Act::PollTwiceAndDrop => {
                let mut future = receiver.into_future();
                let _ = self.poll(&mut future, end) || self.poll(&mut future, end);
            }
            Act::PollAndRecv(form) => {
                let mut future = receiver.into_future();
                if !self.poll(&mut future, end) {
                    self.recv(&future.into_receiver(), form, end);
                }
            }
            Act::Await => self.until_ready(receiver.into_future(), end),
            Act::RecvAndAwait(form) => {
                if !self.recv(&receiver, form, end) {
                    self.until_ready(receiver.into_future(), end);
                }
            }
            Act::Share(form) => share(&receiver.share(), form, end),
        }
    }
}

fn share(receiver: &SharedReceiver<Counted<'_>>, form: Form, end: End) {
    let (start, wait) = (Instant::now(), form.start());
    match borrow(receiver, wait) {
        Ok(value) => assert!(std::ptr::eq(value, receiver.get().unwrap_or_else(|_| panic!("it does not go away")))),
        Err(RecvTimeoutError::Disconnected) => assert_eq!(end, End::Leave, "{form:?}"),
        Err(RecvTimeoutError::Timeout) => assert!(wait.is_due(start), "{wait:?}: early"),
    }
}

fn meet(end: End, act: Act, times: u32) {
    let what = format!("{end:?} | {act:?}");
    let ledger = Ledger::default();
    let all: Vec<_> = (0..rounds(times)).map(|_| Round::new(&ledger)).collect();
    all_at_once(&what, &all, &[&|round: &Round<'_>| round.end(end), &|round: &Round<'_>| round.act(act, end)]);
    for round in all {
        for wake in round.wakes.into_inner().unwrap() {
            assert_eq!(Arc::strong_count(&wake), 1, "{what}: a waker is left");
            assert!(wake.1.load(Relaxed) <= 1, "{what}: woken more than once");
        }
    }
    ledger.balance(&what);
    assert_eq!(ledger.made.into_inner(), if end == End::Leave { 0 } else { rounds(times) as usize }, "{what}");
}

#[test]
fn a_sender_meets_a_receiver() {
    watchdog("a sender meets a receiver", || {
        for end in ENDS {
            for act in acts() {
                meet(end, act, 300);
            }
        }
    });
}

/// A round whose receiver is shared by two sides.
struct Shared<'a> {
    round: Round<'a>,
    receivers: Mutex<Vec<SharedReceiver<Counted<'a>>>>,
}

impl<'a> Shared<'a> {
    fn new(ledger: &'a Ledger) -> Shared<'a> {
        let round = Round::new(ledger);
        let receiver = round.receiver.lock().unwrap().take().unwrap().share();
        Shared { round, receivers: Mutex::new(vec![receiver.clone(), receiver]) }
    }

    /// Waits by the form; or without one makes another receiver, and leaves with both.
    fn act(&self, form: Option<Form>, end: End) {
        let receiver = self.receivers.lock().unwrap().pop().unwrap();
        match form {
            Some(form) => share(&receiver, form, end),
            None => drop(receiver.clone()),
        }
    }
}

/// Each waits, looks or leaves by itself, and the last of them drops the value.
#[test]
fn a_sender_meets_two_sharers() {
    watchdog("a sender meets two sharers", || {
        for end in ENDS {
            for first in Form::all() {
                for second in [None, Some(Form::Untimed), Some(Form::Try), Some(Form::Timed(0)), Some(Form::Timed(3))] {
                    let what = format!("{end:?} | shared {first:?} | shared {second:?}");
                    let ledger = Ledger::default();
                    let all: Vec<_> = (0..rounds(120)).map(|_| Shared::new(&ledger)).collect();
                    all_at_once(
                        &what,
                        &all,
                        &[
                            &|shared: &Shared<'_>| shared.round.end(end),
                            &|shared: &Shared<'_>| shared.act(Some(first), end),
                            &|shared: &Shared<'_>| shared.act(second, end),
                        ],
                    );
                    drop(all);
                    ledger.balance(&what);
                }
            }
        }
    });
}
