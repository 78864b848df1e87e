//! The one-shot future: every way to wait for its value.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use waitline::TimedOut;
use waitline::oneshot::{self, Receiver, RecvTimeoutError, Sender, SharedReceiver, TryRecvError};

use super::calls::{Subject, Wait, call_as_result};

/// Receives, by the form of the call that `wait` names. Nothing there is no time, to an attempt.
pub(crate) fn recv<T>(receiver: &Receiver<T>, wait: Wait) -> Result<T, RecvTimeoutError> {
    call_as_result!(wait, receiver:
        receiver.recv().map_err(RecvTimeoutError::from), receiver.try_recv().map_err(without_time), recv_for recv_until)
}

/// Waits until the channel is settled, by the form of the call that `wait` names.
pub(crate) fn settle<T>(receiver: &Receiver<T>, wait: Wait) -> Result<(), TimedOut> {
    let attempt = || receiver.is_ready().then_some(()).ok_or(TimedOut);
    call_as_result!(wait, receiver: { receiver.wait(); Ok(()) }, attempt(), wait_for wait_until)
}

/// Borrows the value, by the form of the call that `wait` names.
pub(crate) fn borrow<T>(receiver: &SharedReceiver<T>, wait: Wait) -> Result<&T, RecvTimeoutError> {
    call_as_result!(wait, receiver:
        receiver.wait().map_err(RecvTimeoutError::from), receiver.get().map_err(without_time), wait_for wait_until)
}

fn without_time(error: TryRecvError) -> RecvTimeoutError {
    match error {
        TryRecvError::Empty => RecvTimeoutError::Timeout,
        TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
    }
}

/// Counts where its values end: each comes back to the sender, is received, or is dropped by a receiver that has not
/// received it.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) made: AtomicUsize,
    pub(crate) sent: AtomicUsize,
    pub(crate) returned: AtomicUsize,
    pub(crate) received: AtomicUsize,
    pub(crate) dropped: AtomicUsize,
}

/// A value that is counted.
pub(crate) struct Counted<'a>(&'a Ledger);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Relaxed);
    }
}

impl Ledger {
    pub(crate) fn value(&self) -> Counted<'_> {
        self.made.fetch_add(1, Relaxed);
        Counted(self)
    }

    /// Sends one: whether it did not come back.
    pub(crate) fn send<'a>(&'a self, sender: Sender<Counted<'a>>) -> bool {
        match sender.send(self.value()) {
            Ok(()) => {
                self.sent.fetch_add(1, Relaxed);
                true
            }
            Err(error) => {
                std::mem::forget(error.into_inner());
                self.returned.fetch_add(1, Relaxed);
                false
            }
        }
    }

    pub(crate) fn receive(&self, value: Counted<'_>) {
        std::mem::forget(value);
        self.received.fetch_add(1, Relaxed);
    }

    /// Asserts that no value is missing, and none is there twice, once all channels are gone.
    #[track_caller]
    pub(crate) fn balance(&self, what: &str) {
        let [made, sent, returned, received, dropped] =
            [&self.made, &self.sent, &self.returned, &self.received, &self.dropped].map(|count| count.load(Relaxed));
        assert_eq!(made, sent + returned, "{what}: {made} made, {sent} sent, {returned} returned");
        assert_eq!(sent, received + dropped, "{what}: {sent} sent, {received} received, {dropped} dropped");
    }
}

/// Whether it came, in a channel that is never left without a value.
fn came<T>(outcome: Result<T, RecvTimeoutError>) -> bool {
    match outcome {
        Ok(_) => true,
        Err(RecvTimeoutError::Timeout) => false,
        Err(RecvTimeoutError::Disconnected) => panic!("disconnected, with the sender there or the value sent"),
    }
}

const VALUE: u32 = 0x5EED;

/// The sending side of a subject.
struct Source(Mutex<Option<Sender<u32>>>);

impl Source {
    fn channel() -> (Source, Receiver<u32>) {
        let (sender, receiver) = oneshot::channel();
        (Source(Mutex::new(Some(sender))), receiver)
    }

    fn send(&self) {
        lock(&self.0).take().expect("one value").send(VALUE).expect("a receiver");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that is waited for and taken.
pub(crate) struct Received(Source, Mutex<Option<Receiver<u32>>>);

impl Received {
    pub(crate) fn new() -> Received {
        let (source, receiver) = Source::channel();
        Received(source, Mutex::new(Some(receiver)))
    }
}

impl Subject for Received {
    fn name(&self) -> String {
        "Receiver, recv".to_owned()
    }

    fn wait(&self, wait: Wait) -> bool {
        came(recv(lock(&self.1).as_ref().expect("what is taken is gone"), wait))
    }

    fn satisfy(&self) {
        self.0.send();
    }

    fn fresh(&self) -> Box<dyn Subject> {
        Box::new(Received::new())
    }

    fn adds_up(&self, came: bool) -> bool {
        let receiver = lock(&self.1).take().unwrap();
        (came || receiver.try_recv() == Ok(VALUE)) && receiver.try_recv() == Err(TryRecvError::Disconnected)
    }
}

/// A value that is waited for, and not taken.
pub(crate) struct Settled(Source, Mutex<Receiver<u32>>);

impl Settled {
    pub(crate) fn new() -> Settled {
        let (source, receiver) = Source::channel();
        Settled(source, Mutex::new(receiver))
    }
}

impl Subject for Settled {
    fn name(&self) -> String {
        "Receiver, wait".to_owned()
    }

    fn wait(&self, wait: Wait) -> bool {
        settle(&lock(&self.1), wait).is_ok()
    }

    fn satisfy(&self) {
        self.0.send();
    }

    fn fresh(&self) -> Box<dyn Subject> {
        Box::new(Settled::new())
    }

    fn adds_up(&self, _came: bool) -> bool {
        let receiver = lock(&self.1);
        receiver.is_ready() && receiver.try_recv() == Ok(VALUE) && receiver.is_ready() && receiver.try_recv().is_err()
    }
}

/// A value that is waited for and lent.
pub(crate) struct Lent(Source, SharedReceiver<u32>);

impl Lent {
    pub(crate) fn new() -> Lent {
        let (source, receiver) = Source::channel();
        Lent(source, receiver.share())
    }
}

impl Subject for Lent {
    fn name(&self) -> String {
        "SharedReceiver".to_owned()
    }

    fn wait(&self, wait: Wait) -> bool {
        came(borrow(&self.1, wait))
    }

    fn satisfy(&self) {
        self.0.send();
    }

    fn fresh(&self) -> Box<dyn Subject> {
        Box::new(Lent::new())
    }

    fn adds_up(&self, _came: bool) -> bool {
        self.1.get() == Ok(&VALUE) && self.1.clone().get() == Ok(&VALUE)
    }
}
