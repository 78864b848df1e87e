//! One-shot futures: E1 to E5 of `src/oneshot/channel.rs`.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use waitline::oneshot::{Receiver, RecvFuture, RecvTimeoutError, Sender, channel};

use crate::common::oneshot::{borrow, recv, settle};
use crate::common::plain::Plain;
use crate::common::{Form, all_at_once, jitter, rounds, stay_awake_until, watchdog};

/// A channel whose ends are fetched by the sides, and memory that they share besides.
struct Round {
    number: u32,
    sender: Mutex<Option<Sender<u32>>>,
    receiver: Mutex<Option<Receiver<u32>>>,
    cell: Plain<u32>,
    waker: Arc<PlainWaker>,
}

impl Round {
    fn new(number: u32) -> Round {
        let (sender, receiver) = channel();
        let (sender, receiver) = (Mutex::new(Some(sender)), Mutex::new(Some(receiver)));
        Round { number, sender, receiver, cell: Plain::new(0), waker: Arc::default() }
    }

    fn sender(&self) -> Sender<u32> {
        fetch(&self.sender)
    }

    fn receiver(&self) -> Receiver<u32> {
        fetch(&self.receiver)
    }

    fn write_and_send(&self, sends: bool) {
        let sender = self.sender();
        jitter(self.number);
        self.cell.set(self.number);
        if sends { sender.send(self.number).expect("a receiver") } else { drop(sender) }
    }

    #[track_caller]
    fn check(&self, sends: bool, outcome: Result<u32, RecvTimeoutError>) {
        let expected = if sends { Ok(self.number) } else { Err(RecvTimeoutError::Disconnected) };
        assert_eq!((outcome, self.cell.get()), (expected, self.number));
    }
}

fn fetch<T>(end: &Mutex<Option<T>>) -> T {
    end.lock().unwrap_or_else(PoisonError::into_inner).take().expect("once a round")
}

/// Tells only that it was called, and finds what it was given.
#[derive(Default)]
struct PlainWaker {
    given: Plain<u32>,
    found: Plain<u32>,
    woken: AtomicBool,
}

impl Wake for PlainWaker {
    fn wake(self: Arc<PlainWaker>) {
        self.found.set(self.given.get());
        self.woken.store(true, Relaxed);
    }
}

fn poll(future: &mut RecvFuture<u32>, waker: &Waker) -> Poll<Result<u32, RecvTimeoutError>> {
    let polled = Pin::new(future).poll(&mut Context::from_waker(waker));
    polled.map(|outcome| outcome.map_err(RecvTimeoutError::from))
}

fn until_in_time<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    loop {
        match attempt() {
            Some(outcome) => return outcome,
            None => thread::yield_now(),
        }
    }
}

/// Each way to send, and not to send, against a receiver.
fn meet(what: &str, times: u32, receive: &(dyn Fn(&Round, bool) + Sync)) {
    for sends in [true, false] {
        let all: Vec<_> = (1..=rounds(times)).map(Round::new).collect();
        let sender = |round: &Round| round.write_and_send(sends);
        let receiver = |round: &Round| receive(round, sends);
        all_at_once(&format!("{what}, sends: {sends}"), &all, &[&sender, &receiver]);
    }
}

/// From before the send, or before the sender's drop, to who receives.
#[test]
fn e1_what_was_written_before_the_end_is_there_once_it_is_received() {
    watchdog("received", || {
        for form in Form::all() {
            meet(&format!("recv, {form:?}"), 60, &|round, sends| {
                let receiver = round.receiver();
                let outcome = until_in_time(|| {
                    Some(recv(&receiver, form.start())).filter(|&it| it != Err(RecvTimeoutError::Timeout))
                });
                round.check(sends, outcome);
            });
        }
    });
}

/// To who learns that the channel is settled.
#[test]
fn e1_what_was_written_before_the_end_is_there_once_it_is_settled() {
    watchdog("settled", || {
        for form in Form::all() {
            meet(&format!("wait, {form:?}"), 60, &|round, sends| {
                let receiver = round.receiver();
                until_in_time(|| settle(&receiver, form.start()).ok());
                assert_eq!(round.cell.get(), round.number);
                round.check(sends, recv(&receiver, Form::Try.start()));
            });
        }
    });
}

/// To everybody who shares it.
#[test]
fn e1_what_was_written_before_the_end_is_there_for_all_who_borrow_the_value() {
    watchdog("borrowed", || {
        for form in Form::all() {
            meet(&format!("shared, {form:?}"), 60, &|round, sends| {
                let shared = round.receiver().share();
                let look = || {
                    let receiver = shared.clone();
                    let outcome = until_in_time(|| {
                        let outcome = borrow(&receiver, form.start()).copied();
                        Some(outcome).filter(|&it| it != Err(RecvTimeoutError::Timeout))
                    });
                    round.check(sends, outcome);
                };
                thread::scope(|scope| {
                    scope.spawn(look);
                    look();
                });
            });
        }
    });
}

/// To who polls, and from who has left a waker to who calls it (E3), which must be done with its slot when the channel dies
/// or the next waker comes (E4).
#[test]
fn e1_e3_e4_what_was_written_before_the_end_or_a_poll_is_there_afterwards() {
    watchdog("polled", || {
        for polls_until_woken in [true, false] {
            meet(&format!("polls until woken: {polls_until_woken}"), 400, &|round, sends| {
                let mut future = round.receiver().into_future();
                round.waker.given.set(round.number);
                let waker = Waker::from(Arc::clone(&round.waker));
                let outcome = until_in_time(|| match poll(&mut future, &waker) {
                    Poll::Ready(outcome) => Some(outcome),
                    Poll::Pending => {
                        if polls_until_woken {
                            stay_awake_until(|| round.waker.woken.load(Relaxed));
                        }
                        None
                    }
                });
                round.check(sends, outcome);
            });
        }
    });
}

/// The wake that `PlainWaker` has seen came after the poll that left it, whether that poll was the last or was followed by
/// a receiver that left, went back to blocking or polled with another waker.
#[test]
fn e2_e3_e4_whoever_leaves_last_comes_after_the_other() {
    #[derive(Clone, Copy, Debug)]
    enum Next {
        Leave,
        PollAnew,
        Block,
    }

    watchdog("the last to leave", || {
        for next in [Next::Leave, Next::PollAnew, Next::Block] {
            for sends in [true, false] {
                let all: Vec<_> = (1..=rounds(400)).map(Round::new).collect();
                let sender = |round: &Round| {
                    let sender = round.sender();
                    jitter(round.number);
                    if sends {
                        // The receiver may have left.
                        let _ = sender.send(round.number);
                    }
                };
                let receiver = |round: &Round| {
                    let mut future = round.receiver().into_future();
                    round.waker.given.set(round.number);
                    if poll(&mut future, &Waker::from(Arc::clone(&round.waker))).is_ready() {
                        return;
                    }
                    jitter(round.number.wrapping_mul(3));
                    match next {
                        Next::Leave => drop(future),
                        Next::PollAnew => until_in_time(|| match poll(&mut future, Waker::noop()) {
                            Poll::Ready(_) => Some(()),
                            Poll::Pending => None,
                        }),
                        Next::Block => drop(future.into_receiver().recv()),
                    }
                };
                all_at_once(&format!("{next:?}, sends: {sends}"), &all, &[&sender, &receiver]);
                for round in &all {
                    let waker = &round.waker;
                    assert!(!waker.woken.load(Relaxed) || waker.found.get() == round.number);
                }
            }
        }
    });
}

/// From before a receiver leaves to the sender whose value comes back, and who frees the channel.
#[test]
fn e2_what_was_written_before_the_receiver_left_is_there_when_the_value_comes_back() {
    #[derive(Clone, Copy, Debug)]
    enum Left {
        AtOnce,
        AfterAWait,
        AfterAPoll,
        AsSharers,
    }

    watchdog("the value comes back", || {
        for left in [Left::AtOnce, Left::AfterAWait, Left::AfterAPoll, Left::AsSharers] {
            let all: Vec<_> = (1..=rounds(200)).map(Round::new).collect();
            let sender = |round: &Round| {
                let sender = round.sender();
                stay_awake_until(|| sender.is_closed());
                let error = sender.send(round.number).expect_err("the receiver has left");
                assert_eq!((error.into_inner(), round.cell.get()), (round.number, round.number), "{left:?}");
            };
            let receiver = |round: &Round| {
                let receiver = round.receiver();
                round.cell.set(round.number);
                match left {
                    Left::AtOnce => drop(receiver),
                    Left::AfterAWait => assert!(settle(&receiver, Form::Timed(0).start()).is_err()),
                    Left::AfterAPoll => {
                        let mut future = receiver.into_future();
                        assert!(poll(&mut future, &Waker::from(Arc::clone(&round.waker))).is_pending());
                    }
                    Left::AsSharers => {
                        let shared = receiver.share();
                        drop((shared.clone(), shared));
                    }
                }
            };
            all_at_once(&format!("{left:?}"), &all, &[&sender, &receiver]);
        }
    });
}

/// From before a send to the drop of the value, by a receiver that leaves meanwhile and frees the channel.
#[test]
fn e1_e4_what_was_written_before_a_send_is_there_when_a_receiver_that_leaves_drops_the_value() {
    struct Value<'a> {
        number: u32,
        cell: &'a Plain<u32>,
    }
    impl Drop for Value<'_> {
        fn drop(&mut self) {
            assert_eq!(self.cell.get(), self.number);
        }
    }

    watchdog("a receiver leaves while the value comes", || {
        for polls in [false, true] {
            let cells: Vec<_> = (0..rounds(1500)).map(|_| Plain::new(0)).collect();
            let all: Vec<_> = (1..)
                .zip(&cells)
                .map(|(number, cell)| {
                    let (sender, receiver) = channel();
                    (number, cell, Mutex::new(Some(sender)), Mutex::new(Some(receiver)))
                })
                .collect();
            all_at_once(
                &format!("a receiver that leaves, polls before: {polls}"),
                &all,
                &[
                    &|(number, cell, sender, _)| {
                        let sender: Sender<Value<'_>> = fetch(sender);
                        cell.set(*number);
                        // What comes back is dropped here.
                        let _ = sender.send(Value { number: *number, cell });
                    },
                    &|(_, _, _, receiver)| {
                        let receiver = fetch(receiver);
                        if polls {
                            let _ = Pin::new(&mut receiver.into_future()).poll(&mut Context::from_waker(Waker::noop()));
                        }
                    },
                ],
            );
        }
    });
}

/// From each who has borrowed the value to its drop, by the last of them.
#[test]
fn e5_what_was_written_under_a_borrow_is_there_when_the_value_is_dropped() {
    const SHARERS: usize = 3;

    struct Value {
        number: u32,
        cells: [Plain<u32>; SHARERS],
    }
    impl Drop for Value {
        fn drop(&mut self) {
            assert_eq!(self.cells.each_ref().map(Plain::get), [self.number; SHARERS]);
        }
    }

    watchdog("the value is dropped", || {
        for form in Form::all() {
            for number in 1..=rounds(60) {
                let (sender, receiver) = channel::<Value>();
                let shared = receiver.share();
                thread::scope(|scope| {
                    for sharer in 0..SHARERS {
                        let shared = shared.clone();
                        scope.spawn(move || {
                            let look = || borrow(&shared, form.start()).ok();
                            until_in_time(look).cells[sharer].set(number);
                        });
                    }
                    drop(shared);
                    jitter(number);
                    assert!(sender.send(Value { number, cells: std::array::from_fn(|_| Plain::new(0)) }).is_ok());
                });
            }
        }
    });
}
