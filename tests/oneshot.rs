//! The one-shot future, with blocking receivers: what each call promises. Wakers are in `oneshot_async.rs`, shared receivers
//! in `oneshot_shared.rs`, and what becomes of the values in `oneshot_values.rs`.

mod common;

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use common::oneshot::{recv, settle};
use common::panics::panic_of;
use common::{PassedAfter, Wait, rounds, spawn, watchdog};
use waitline::TimedOut;
use waitline::oneshot::{Receiver, RecvError, RecvTimeoutError, Sender, TryRecvError, channel};

/// Every form that waits for as long as it takes.
fn patient_forms() -> Vec<Wait> {
    [Wait::Untimed, Wait::For(Duration::MAX)].into_iter().chain(Wait::within(Duration::from_secs(3600))).collect()
}

#[test]
fn a_value_is_received_once_by_any_form() {
    watchdog("a value is received once by any form", || {
        for wait in Wait::passed().into_iter().chain(Wait::endless()) {
            let (sender, receiver) = channel();
            assert!(!sender.is_closed() && !receiver.is_ready());
            assert_eq!(sender.send(5), Ok(()));
            assert!(receiver.is_ready());
            assert_eq!(settle(&receiver, wait), Ok(()), "{wait:?}");
            assert_eq!(recv(&receiver, wait), Ok(5), "{wait:?}");
            assert_eq!(recv(&receiver, wait), Err(RecvTimeoutError::Disconnected), "{wait:?}");
            assert_eq!(settle(&receiver, wait), Ok(()), "{wait:?}");
        }
    });
}

/// crossbeam#1280, two-lock-queue#3: a sender that is gone beats a deadline that has passed, too.
#[test]
fn disconnection_beats_a_deadline_that_has_passed() {
    watchdog("disconnection beats a deadline that has passed", || {
        for wait in Wait::passed().into_iter().chain(Wait::endless()) {
            let (sender, receiver) = channel::<u32>();
            drop(sender);
            for _ in 0..2 {
                assert!(receiver.is_ready());
                assert_eq!(recv(&receiver, wait), Err(RecvTimeoutError::Disconnected), "{wait:?}");
                assert_eq!(settle(&receiver, wait), Ok(()), "{wait:?}");
            }
        }
    });
}

/// What one thread can do with the two ends of a channel.
#[derive(Clone, Copy, Debug)]
enum Op {
    IsReady,
    TryRecv,
    Recv,
    RecvFor,
    RecvUntil,
    Wait,
    WaitFor,
    WaitUntil,
    /// Into a future, one poll, and back.
    Poll,
    Send,
    DropSender,
}

impl Op {
    const ALL: [Op; 11] = [
        Op::IsReady,
        Op::TryRecv,
        Op::Recv,
        Op::RecvFor,
        Op::RecvUntil,
        Op::Wait,
        Op::WaitFor,
        Op::WaitUntil,
        Op::Poll,
        Op::Send,
        Op::DropSender,
    ];
}

/// What a channel is to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    Empty,
    Full,
    Over,
}

/// Does the operations one after the other, and compares. Those that would wait for ever, or need a sender that is gone, are
/// no part of any program.
fn follows_the_model(program: &[Op]) {
    const VALUE: u32 = 7;
    let (sender, mut receiver) = channel();
    let (mut sender, mut model) = (Some(sender), Model::Empty);
    for op in program {
        let would_not_end = model == Model::Empty && matches!(op, Op::Recv | Op::Wait);
        let has_no_sender = sender.is_none() && matches!(op, Op::Send | Op::DropSender);
        if would_not_end || has_no_sender {
            return;
        }
        let received = match model {
            Model::Empty => None,
            Model::Full => Some(Ok(VALUE)),
            Model::Over => Some(Err(())),
        };
        let timed = received.map(|value| value.map_err(|()| RecvTimeoutError::Disconnected));
        let timed = timed.unwrap_or(Err(RecvTimeoutError::Timeout));
        let settled = received.map(drop).ok_or(TimedOut);
        match op {
            Op::IsReady => assert_eq!(receiver.is_ready(), settled.is_ok(), "{program:?}"),
            Op::TryRecv => {
                let expected = received.map(|value| value.map_err(|()| TryRecvError::Disconnected));
                assert_eq!(receiver.try_recv(), expected.unwrap_or(Err(TryRecvError::Empty)), "{program:?}");
            }
            Op::Recv => assert_eq!(receiver.recv(), received.unwrap().map_err(|()| RecvError), "{program:?}"),
            Op::RecvFor => assert_eq!(receiver.recv_for(Duration::from_nanos(1)), timed, "{program:?}"),
            Op::RecvUntil => assert_eq!(receiver.recv_until(SystemTime::UNIX_EPOCH), timed, "{program:?}"),
            Op::Wait => receiver.wait(),
            Op::WaitFor => assert_eq!(receiver.wait_for(Duration::ZERO), settled, "{program:?}"),
            Op::WaitUntil => assert_eq!(receiver.wait_until(Instant::now()), settled, "{program:?}"),
            Op::Poll => {
                let mut future = receiver.into_future();
                let polled = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
                let expected = received.map(|value| value.map_err(|()| RecvError));
                assert_eq!(polled, expected.map_or(Poll::Pending, Poll::Ready), "{program:?}");
                receiver = future.into_receiver();
            }
            Op::Send => {
                assert_eq!(sender.take().unwrap().send(VALUE), Ok(()), "{program:?}");
                model = Model::Full;
            }
            Op::DropSender => {
                drop(sender.take());
                model = Model::Over;
            }
        }
        let takes = matches!(op, Op::TryRecv | Op::Recv | Op::RecvFor | Op::RecvUntil | Op::Poll);
        if takes && model == Model::Full {
            model = Model::Over;
        }
    }
}

/// tokio#3552, #3674: a call after the value had been taken panicked. Every call, in every order, also the same one again,
/// before and after the value or the sender's end.
#[test]
fn every_call_may_follow_every_other() {
    watchdog("every call may follow every other", || {
        for first in Op::ALL {
            for second in Op::ALL {
                for third in Op::ALL {
                    for fourth in Op::ALL {
                        follows_the_model(&[first, second, third, fourth]);
                        // The same after a value that has been taken, and after a sender that has left.
                        follows_the_model(&[Op::Send, Op::TryRecv, first, second, third, fourth]);
                        follows_the_model(&[Op::DropSender, first, second, third, fourth]);
                    }
                }
            }
        }
    });
}

/// postage-rs#44: the drop of the sender did not wake the receiver.
#[test]
fn a_sender_that_leaves_wakes_the_receiver() {
    watchdog("a sender that leaves wakes the receiver", || {
        for wait in patient_forms() {
            for panics in [false, true] {
                let (sender, receiver) = channel::<u32>();
                thread::scope(|scope| {
                    let waiter =
                        spawn(scope, format!("{wait:?}, sender panics: {panics}"), move || recv(&receiver, wait));
                    waiter.until_asleep();
                    if panics {
                        let panic = panic_of(move || {
                            let _sender = sender;
                            panic!("before the value was sent");
                        });
                        assert_eq!(panic.message, "before the value was sent");
                    } else {
                        drop(sender);
                    }
                    assert_eq!(waiter.join(), Err(RecvTimeoutError::Disconnected));
                });
            }
        }
    });
}

#[test]
fn a_value_wakes_the_receiver() {
    watchdog("a value wakes the receiver", || {
        for wait in patient_forms() {
            let (sender, receiver) = channel();
            thread::scope(|scope| {
                let waiter = spawn(scope, format!("recv, {wait:?}"), move || {
                    assert_eq!(settle(&receiver, wait), Ok(()));
                    recv(&receiver, wait)
                });
                waiter.until_asleep();
                assert_eq!(sender.send("the value".to_owned()), Ok(()));
                assert_eq!(waiter.join().as_deref(), Ok("the value"));
            });
        }
    });
}

/// rust#39364: a timed receive raced with a move of the sending side.
#[test]
fn a_sender_may_move_while_the_receiver_waits() {
    watchdog("a sender that moves", || {
        for round in 0..rounds(300) {
            let (sender, receiver) = channel();
            thread::scope(|scope| {
                let (hand_over, handed_over) = mpsc::channel::<Box<Sender<u32>>>();
                spawn(scope, "hands the sender over", move || hand_over.send(Box::new(sender)).unwrap());
                spawn(scope, "sends", move || {
                    let sender = handed_over.recv().unwrap();
                    assert!(!sender.is_closed());
                    assert_eq!(sender.send(round), Ok(()));
                });
                let start = Instant::now();
                loop {
                    match receiver.recv_for(Duration::from_micros(10)) {
                        Ok(value) => break assert_eq!(value, round),
                        Err(error) => assert_eq!(error, RecvTimeoutError::Timeout, "{:?}", start.elapsed()),
                    }
                }
            });
        }
    });
}

/// What a thread that waited in vain has left behind does not matter to the next.
#[test]
fn a_receiver_may_move_between_waits() {
    watchdog("a receiver that moves", || {
        for wait in patient_forms() {
            let (sender, receiver) = channel();
            thread::scope(|scope| {
                let first = spawn(scope, "waits in vain", move || {
                    assert!(receiver.recv_for(Duration::from_millis(1)).is_err());
                    receiver
                });
                let receiver: Receiver<u32> = first.join();
                let second = spawn(scope, format!("waits elsewhere, {wait:?}"), move || recv(&receiver, wait));
                second.until_asleep();
                assert_eq!(sender.send(5), Ok(()));
                assert_eq!(second.join(), Ok(5));
            });
        }
    });
}

/// What comes between the first look and that at the clock is seen.
#[test]
fn what_comes_before_the_clock_is_read_is_seen() {
    let ends = || {
        let (sender, receiver) = channel();
        (std::cell::Cell::new(Some(sender)), receiver)
    };
    let (sender, receiver) = ends();
    let send = || sender.take().unwrap().send(5).unwrap();
    assert_eq!(receiver.recv_until(PassedAfter(&|| ())), Err(RecvTimeoutError::Timeout));
    assert_eq!(receiver.recv_until(PassedAfter(&send)), Ok(5));

    let (sender, receiver) = ends();
    let send = || sender.take().unwrap().send(5).unwrap();
    assert_eq!(receiver.wait_until(PassedAfter(&send)), Ok(()));
    assert_eq!(receiver.try_recv(), Ok(5));

    let (sender, receiver) = ends();
    let leave = || drop(sender.take());
    assert_eq!(receiver.recv_until(PassedAfter(&leave)), Err(RecvTimeoutError::Disconnected));

    let (sender, receiver) = ends();
    let (shared, send) = (receiver.share(), || sender.take().unwrap().send(5).unwrap());
    assert_eq!(shared.wait_until(PassedAfter(&|| ())), Err(RecvTimeoutError::Timeout));
    assert_eq!(shared.wait_until(PassedAfter(&send)), Ok(&5));
}
