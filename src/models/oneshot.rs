//! The one-shot channel. That its memory is freed is checked by the checker, which reports what leaks.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use super::{Arc, Plain, disturbed, expire, explore, explore_up_to, later, thread, wake_calls};
use crate::oneshot::{self, Receiver, RecvError, RecvFuture, RecvTimeoutError, Sender, TryRecvError};

/// How often values and wakers were dropped. Not part of the modelled world.
#[derive(Default)]
struct Counts {
    values: AtomicU32,
    woken: [AtomicU32; 2],
}

/// A value that is written by the sender, read by the receiver, and counted when it is dropped.
struct Value {
    plain: Plain,
    counts: std::sync::Arc<Counts>,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.plain.write(0);
        self.counts.values.fetch_add(1, Relaxed);
    }
}

struct TestWaker {
    counts: std::sync::Arc<Counts>,
    id: usize,
}

impl Wake for TestWaker {
    fn wake(self: std::sync::Arc<TestWaker>) {
        self.counts.woken[self.id].fetch_add(1, Relaxed);
    }
}

#[derive(Clone)]
struct Wakers([std::sync::Arc<TestWaker>; 2], std::sync::Arc<Counts>);

impl Wakers {
    fn new(counts: &std::sync::Arc<Counts>) -> Wakers {
        let waker = |id| std::sync::Arc::new(TestWaker { counts: std::sync::Arc::clone(counts), id });
        Wakers([waker(0), waker(1)], std::sync::Arc::clone(counts))
    }

    fn poll(&self, id: usize, future: &mut RecvFuture<Value>) -> Poll<Result<Value, RecvError>> {
        let waker = Waker::from(std::sync::Arc::clone(&self.0[id]));
        Pin::new(future).poll(&mut Context::from_waker(&waker))
    }

    fn woken(&self, id: usize) -> u32 {
        self.1.woken[id].load(Relaxed)
    }

    /// How many clones are about.
    fn kept(&self, id: usize) -> usize {
        std::sync::Arc::strong_count(&self.0[id]) - 1
    }
}

/// What the sender does.
#[derive(Clone, Copy, PartialEq)]
enum Sending {
    Value,
    Nothing,
}

/// Explores `receive` against either thing that a sender can do. It says whether it got the value, and gets only what the
/// sender has sent. Every value is dropped once, and no waker is kept.
fn against_sender(preemptions: usize, receive: fn(Receiver<Value>, &Wakers) -> Option<Value>) {
    for sending in [Sending::Value, Sending::Nothing] {
        explore_up_to(preemptions, move || {
            let counts = std::sync::Arc::new(Counts::default());
            let wakers = Wakers::new(&counts);
            let (sender, receiver) = oneshot::channel();
            let sender = {
                let counts = std::sync::Arc::clone(&counts);
                thread::spawn(move || finish(sender, sending, counts))
            };
            let received = receive(receiver, &wakers);
            if let Some(value) = &received {
                assert_eq!(value.plain.read(), 7);
            }
            let got_it = received.is_some();
            drop(received);
            let came_back = sender.join().unwrap();
            assert!(sending == Sending::Value || !got_it);
            assert!(!(came_back && got_it));
            assert_eq!(counts.values.load(Relaxed), u32::from(sending == Sending::Value));
            assert_eq!((wakers.kept(0), wakers.kept(1)), (0, 0));
        });
    }
}

/// Says whether the value came back.
fn finish(sender: Sender<Value>, sending: Sending, counts: std::sync::Arc<Counts>) -> bool {
    match sending {
        Sending::Value => {
            let value = Value { plain: Plain::new(), counts };
            value.plain.write(7);
            match sender.send(value) {
                Ok(()) => false,
                Err(error) => {
                    assert_eq!(error.into_inner().plain.read(), 7);
                    true
                }
            }
        }
        Sending::Nothing => {
            drop(sender);
            false
        }
    }
}

#[test]
fn a_send_meets_a_receive() {
    against_sender(3, |receiver, _| {
        let received = receiver.recv().ok();
        assert_eq!(receiver.try_recv().err(), Some(TryRecvError::Disconnected));
        received
    });
}

#[test]
fn a_send_meets_a_drop() {
    against_sender(3, |receiver, _| {
        drop(receiver);
        None
    });
}

#[test]
fn a_send_meets_polls_that_do_not_wait() {
    against_sender(3, |receiver, _| match receiver.try_recv() {
        Ok(value) => Some(value),
        Err(TryRecvError::Disconnected) => None,
        Err(TryRecvError::Empty) => receiver.is_ready().then(|| receiver.try_recv().ok()).flatten(),
    });
}

#[test]
fn a_send_meets_a_wait_that_takes_nothing() {
    against_sender(3, |receiver, _| {
        receiver.wait();
        assert!(receiver.is_ready());
        receiver.try_recv().ok()
    });
}

#[test]
fn a_send_meets_a_timed_receive_that_is_then_dropped() {
    against_sender(2, |receiver, _| {
        let timer = thread::spawn(expire);
        let received = receiver.recv_until(later()).ok();
        drop(receiver);
        timer.join().unwrap();
        received
    });
}

#[test]
fn a_send_meets_a_receive_after_one_that_timed_out() {
    against_sender(2, |receiver, _| {
        let timer = thread::spawn(expire);
        let received = match receiver.recv_until(later()) {
            Err(RecvTimeoutError::Timeout) => receiver.recv().ok(),
            other => other.ok(),
        };
        timer.join().unwrap();
        received
    });
}

#[test]
fn what_comes_before_the_time_is_up_is_received() {
    explore(|| {
        let (sender, receiver) = oneshot::channel();
        let sender = thread::spawn(move || {
            sender.send(7).unwrap();
            expire();
        });
        assert_eq!(receiver.recv_until(later()), Ok(7));
        sender.join().unwrap();
    });
}

/// The receiver takes its announcement back.
#[test]
fn a_send_after_a_timeout_wakes_nobody() {
    explore(|| {
        let (sender, receiver) = oneshot::channel();
        let timer = thread::spawn(expire);
        assert_eq!(receiver.wait_until(later()), Err(crate::TimedOut));
        timer.join().unwrap();
        sender.send(7).unwrap();
        assert_eq!(wake_calls(), 0);
        assert_eq!(receiver.recv(), Ok(7));
    });
}

#[test]
fn a_send_meets_a_poll_and_a_drop() {
    against_sender(3, |receiver, wakers| {
        let mut future = receiver.into_future();
        match wakers.poll(0, &mut future) {
            Poll::Ready(received) => received.ok(),
            Poll::Pending => None,
        }
    });
}

#[test]
fn a_send_meets_two_polls_and_a_drop() {
    against_sender(3, |receiver, wakers| {
        let mut future = receiver.into_future();
        for id in [0, 1] {
            if let Poll::Ready(received) = wakers.poll(id, &mut future) {
                return received.ok();
            }
        }
        None
    });
}

#[test]
fn a_send_meets_polls_by_the_same_task() {
    against_sender(3, |receiver, wakers| {
        let mut future = receiver.into_future();
        for _ in 0..2 {
            if let Poll::Ready(received) = wakers.poll(0, &mut future) {
                return received.ok();
            }
        }
        None
    });
}

#[test]
fn a_send_wakes_the_task_that_polled_last() {
    against_sender(3, |receiver, wakers| {
        let mut future = receiver.into_future();
        for id in [0, 1] {
            if let Poll::Ready(received) = wakers.poll(id, &mut future) {
                return received.ok();
            }
            assert!(id == 1 || wakers.kept(0) <= 1);
        }
        while wakers.woken(1) == 0 {
            thread::yield_now();
        }
        match wakers.poll(1, &mut future) {
            Poll::Ready(received) => received.ok(),
            Poll::Pending => panic!("woken before the channel was settled"),
        }
    });
}

#[test]
fn a_send_meets_a_poll_that_goes_back_to_blocking() {
    against_sender(3, |receiver, wakers| {
        let mut future = receiver.into_future();
        if let Poll::Ready(received) = wakers.poll(0, &mut future) {
            return received.ok();
        }
        future.into_receiver().recv().ok()
    });
}

#[test]
fn a_send_meets_a_poll_that_goes_back_to_a_timed_wait() {
    against_sender(2, |receiver, wakers| {
        let mut future = receiver.into_future();
        if let Poll::Ready(received) = wakers.poll(0, &mut future) {
            return received.ok();
        }
        let timer = thread::spawn(expire);
        let received = future.into_receiver().recv_until(later()).ok();
        timer.join().unwrap();
        received
    });
}

#[test]
fn a_receiver_that_is_back_to_blocking_has_dropped_its_waker() {
    explore(|| {
        let wakers = Wakers::new(&std::sync::Arc::default());
        let (sender, receiver) = oneshot::channel();
        let mut future = receiver.into_future();
        assert!(wakers.poll(0, &mut future).is_pending());
        assert_eq!(wakers.kept(0), 1);
        let receiver = future.into_receiver();
        assert_eq!(wakers.kept(0), 0);
        drop(sender);
        assert!(receiver.recv().is_err());
        assert_eq!(wakers.woken(0), 0);
    });
}

#[test]
fn sharers_see_one_value_that_the_last_one_drops() {
    explore_up_to(2, || {
        let counts = std::sync::Arc::new(Counts::default());
        let (sender, receiver) = oneshot::channel::<Value>();
        let first = receiver.share();
        let others = [first.clone(), first].map(|shared| {
            thread::spawn(move || {
                assert_eq!(shared.wait().unwrap().plain.read(), 7);
            })
        });
        assert!(!finish(sender, Sending::Value, std::sync::Arc::clone(&counts)));
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(counts.values.load(Relaxed), 1);
    });
}

/// One that gives up leaves the others' announcement standing.
#[test]
fn a_sharer_that_times_out_strands_no_other() {
    explore_up_to(2, || {
        let (sender, receiver) = oneshot::channel();
        let timed = receiver.share();
        let patient = timed.clone();
        let timed = thread::spawn(move || match timed.wait_until(later()) {
            Ok(value) => assert_eq!(*value, 7),
            Err(error) => assert_eq!(error, RecvTimeoutError::Timeout),
        });
        let patient = thread::spawn(move || assert_eq!(patient.wait(), Ok(&7)));
        expire();
        let _ = sender.send(7);
        timed.join().unwrap();
        patient.join().unwrap();
    });
}

#[test]
fn a_send_meets_sharers_that_leave() {
    explore(|| {
        let counts = std::sync::Arc::new(Counts::default());
        let (sender, receiver) = oneshot::channel::<Value>();
        let shared = receiver.share();
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.get().map(|value| value.plain.read()))
        };
        let sender = {
            let counts = std::sync::Arc::clone(&counts);
            thread::spawn(move || finish(sender, Sending::Value, counts))
        };
        drop(shared);
        let seen = other.join().unwrap();
        let came_back = sender.join().unwrap();
        assert!(matches!(seen, Ok(7) | Err(TryRecvError::Empty)));
        assert!(!(came_back && seen.is_ok()));
        assert_eq!(counts.values.load(Relaxed), 1);
    });
}

/// The receiver may change threads, and so may the sender.
#[test]
fn both_ends_move_between_threads() {
    explore(|| {
        let (sender, receiver) = oneshot::channel();
        let slot = Arc::new(crate::atomic::model::Mutex::new(Some(receiver)));
        let taker = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || slot.lock().unwrap().take().map(|receiver| receiver.recv()))
        };
        thread::spawn(move || sender.send(7).unwrap()).join().unwrap();
        let mine = slot.lock().unwrap().take().map(|receiver| receiver.recv());
        let theirs = taker.join().unwrap();
        assert_eq!(mine.or(theirs), Some(Ok(7)));
    });
}

#[test]
fn who_is_up_for_nothing_sleeps_on() {
    explore(|| {
        let (sender, receiver) = oneshot::channel();
        disturbed(move || assert_eq!(receiver.recv(), Ok(7)), || sender.send(7).unwrap());
    });
}

/// The sender may still be at the waker when there are sharers.
#[test]
fn a_send_meets_a_poll_and_then_sharers() {
    explore_up_to(2, || {
        let counts = std::sync::Arc::new(Counts::default());
        let wakers = Wakers::new(&counts);
        let (sender, receiver) = oneshot::channel::<Value>();
        let sender = {
            let counts = std::sync::Arc::clone(&counts);
            thread::spawn(move || finish(sender, Sending::Value, counts))
        };
        let mut future = receiver.into_future();
        if wakers.poll(0, &mut future).is_pending() {
            let shared = future.into_receiver().share();
            let other = {
                let shared = shared.clone();
                thread::spawn(move || shared.get().map(|value| value.plain.read()))
            };
            drop(shared);
            assert!(matches!(other.join().unwrap(), Ok(7) | Err(TryRecvError::Empty)));
        }
        sender.join().unwrap();
        assert_eq!(counts.values.load(Relaxed), 1);
        assert_eq!((wakers.kept(0), wakers.kept(1)), (0, 0));
    });
}
