//! The one-shot future, awaited: executors of others and one of our own, wakers counted, and the way back to blocking.

#![allow(unsafe_code, reason = "a waker whose clone panics")]

mod common;

use std::cell::Cell;
use std::future::{Future, IntoFuture};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use common::oneshot::{recv, settle};
use common::panics::{outcome_of, panic_of};
use common::{Wait, rounds, spawn, watchdog};
use futures::executor::{LocalPool, block_on};
use futures::future::{self, Either};
use futures::task::LocalSpawnExt;
use waitline::oneshot::{Receiver, RecvError, RecvFuture, RecvTimeoutError, Sender, TryRecvError, channel};

/// Counts how often it is woken. How many wakers there are of it, its `Arc` tells.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.fetch_add(1, Relaxed);
    }
}

impl Woken {
    fn times(&self) -> usize {
        self.0.load(Relaxed)
    }
}

/// Of those that the channel keeps.
fn wakers_of<T>(wake: &Arc<T>) -> usize {
    Arc::strong_count(wake) - 1
}

fn poll<T>(future: &mut RecvFuture<T>, wake: &Arc<impl Wake + Send + Sync + 'static>) -> Poll<Result<T, RecvError>> {
    Pin::new(future).poll(&mut Context::from_waker(&Waker::from(Arc::clone(wake))))
}

/// The smallest executor: one future on one thread, which is parked meanwhile.
fn block_on_by_hand<F: IntoFuture>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Unpark>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future.into_future());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Each of the two ends of an awaited channel, on each of two executors.
#[test]
fn it_can_be_awaited() {
    type Executor = fn(Receiver<u32>) -> Result<u32, RecvError>;

    watchdog("it can be awaited", || {
        let executors: [Executor; 3] = [
            block_on_by_hand,
            |receiver| block_on(async { receiver.await }),
            |receiver| block_on(receiver.into_future()),
        ];
        for await_it in executors {
            for sends in [true, false] {
                let (sender, receiver) = channel();
                thread::scope(|scope| {
                    let waiter = spawn(scope, format!("awaits, sends: {sends}"), move || await_it(receiver));
                    waiter.until_asleep();
                    if sends {
                        sender.send(5).unwrap()
                    } else {
                        drop(sender)
                    }
                    assert_eq!(waiter.join(), if sends { Ok(5) } else { Err(RecvError) });
                });
                // And without waiting.
                let (sender, receiver) = channel();
                if sends {
                    sender.send(5).unwrap()
                } else {
                    drop(sender)
                }
                assert_eq!(await_it(receiver), if sends { Ok(5) } else { Err(RecvError) });
            }
        }
    });
}

/// Tasks that await each other's values, in one thread: a chain, started at its end.
#[test]
fn tasks_of_one_executor_pass_a_value_on() {
    const TASKS: usize = 50;

    watchdog("tasks that pass a value on", || {
        let mut pool = LocalPool::new();
        let (first, mut receiver) = channel();
        for _ in 0..TASKS {
            let (sender, next) = channel();
            let previous = std::mem::replace(&mut receiver, next);
            let task = async move { sender.send(previous.await.unwrap() + 1).unwrap() };
            pool.spawner().spawn_local(task).unwrap();
        }
        pool.run_until_stalled();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        first.send(0).unwrap();
        assert_eq!(pool.run_until(receiver.into_future()), Ok(TASKS));
    });
}

/// The one that is not ready stays what it is, and can be received from by blocking.
#[test]
fn it_can_be_raced_and_joined() {
    watchdog("raced and joined", || {
        let ((slow, slow_receiver), (fast, fast_receiver)) = (channel(), channel());
        thread::scope(|scope| {
            spawn(scope, "the fast one", move || fast.send("fast").unwrap());
            let race = future::select(slow_receiver.into_future(), fast_receiver.into_future());
            let (value, slow_receiver) = match block_on(race) {
                Either::Left(_) => panic!("it has not been sent"),
                Either::Right((value, slow_receiver)) => (value, slow_receiver.into_receiver()),
            };
            assert_eq!(value, Ok("fast"));
            assert_eq!(slow_receiver.recv_for(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
            spawn(scope, "the slow one", move || slow.send("slow").unwrap());
            assert_eq!(slow_receiver.recv(), Ok("slow"));
        });

        let (senders, receivers): (Vec<_>, Vec<_>) = (0..20).map(|_| channel()).unzip();
        thread::scope(|scope| {
            spawn(scope, "sends to all, backwards", move || {
                senders.into_iter().enumerate().rev().for_each(|(number, sender)| sender.send(number).unwrap());
            });
            let all = future::join_all(receivers.into_iter().map(IntoFuture::into_future));
            assert_eq!(block_on(all), (0..20).map(Ok).collect::<Vec<_>>());
        });
    });
}

/// A waker is dropped as soon as there is another one, or nobody who would want it, and only the last one is woken.
#[test]
fn a_waker_that_is_replaced_is_dropped_at_once() {
    let (sender, receiver) = channel();
    let mut future = receiver.into_future();
    let wakes: Vec<_> = (0..4).map(|_| Arc::new(Woken::default())).collect();
    for (number, wake) in wakes.iter().enumerate() {
        for _ in 0..3 {
            assert_eq!(poll(&mut future, wake), Poll::Pending);
            let kept: Vec<_> = wakes.iter().map(wakers_of).collect();
            assert_eq!(kept, (0..4).map(|other| usize::from(other == number)).collect::<Vec<_>>());
        }
    }
    sender.send(5).unwrap();
    assert_eq!(wakes.iter().map(|wake| wake.times()).collect::<Vec<_>>(), [0, 0, 0, 1]);
    assert!(wakes.iter().all(|wake| wakers_of(wake) == 0));
    assert_eq!(poll(&mut future, &wakes[0]), Poll::Ready(Ok(5)));
    assert_eq!(wakers_of(&wakes[0]), 0);
}

#[test]
fn a_waker_that_nobody_wants_is_dropped_at_once() {
    watchdog("a waker that nobody wants is dropped at once", || {
        let wake = Arc::new(Woken::default());
        let polled = || {
            let (sender, receiver) = channel::<u32>();
            let mut future = receiver.into_future();
            assert_eq!(poll(&mut future, &wake), Poll::Pending);
            assert_eq!(wakers_of(&wake), 1);
            (sender, future)
        };

        let (sender, future) = polled();
        drop(future);
        assert_eq!(wakers_of(&wake), 0);
        assert!(sender.is_closed());
        assert_eq!(sender.send(5).unwrap_err().into_inner(), 5);

        let (sender, future) = polled();
        let receiver = future.into_receiver();
        assert_eq!(wakers_of(&wake), 0);
        sender.send(5).unwrap();
        assert_eq!(receiver.recv(), Ok(5));

        let (sender, future) = polled();
        let receiver = future.into_receiver();
        drop(sender);
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!((wake.times(), wakers_of(&wake)), (0, 0));

        // Woken once, by whatever settles the channel.
        let (sender, mut future) = polled();
        drop(sender);
        assert_eq!((wake.times(), wakers_of(&wake)), (1, 0));
        assert_eq!(poll(&mut future, &wake), Poll::Ready(Err(RecvError)));
        let (sender, future) = polled();
        sender.send(5).unwrap();
        assert_eq!((wake.times(), wakers_of(&wake)), (2, 0));
        drop(future);
    });
}

/// tokio#3674, async-lock#41: polls that are many, useless or late neither panic, nor wake themselves, nor leave a waker.
#[test]
fn it_can_be_polled_as_often_as_wanted() {
    for sends in [true, false] {
        let wake = Arc::new(Woken::default());
        let (sender, receiver) = channel();
        let mut future = receiver.into_future();
        for _ in 0..100 {
            assert_eq!(poll(&mut future, &wake), Poll::Pending);
        }
        assert_eq!((wake.times(), wakers_of(&wake)), (0, 1));
        if sends {
            sender.send(5).unwrap()
        } else {
            drop(sender)
        }
        assert_eq!(wake.times(), 1);
        if sends {
            assert_eq!(poll(&mut future, &wake), Poll::Ready(Ok(5)));
        }
        for _ in 0..3 {
            assert_eq!(poll(&mut future, &wake), Poll::Ready(Err(RecvError)));
        }
        assert_eq!((wake.times(), wakers_of(&wake)), (1, 0));
        assert_eq!(future.into_receiver().try_recv(), Err(TryRecvError::Disconnected));
    }
}

/// Between polls it is waited for by blocking, in every form, in vain and with success, to and fro.
#[test]
fn polling_and_blocking_mix() {
    watchdog("polling and blocking mix", || {
        let forms = [Wait::Untimed, Wait::For(Duration::MAX)].into_iter();
        for wait in forms.chain(Wait::within(Duration::from_secs(3600))) {
            for sends in [true, false] {
                let wake = Arc::new(Woken::default());
                let (sender, mut receiver) = channel();
                for in_vain in Wait::passed().into_iter().chain(Wait::within(Duration::from_micros(100))) {
                    assert_eq!(recv(&receiver, in_vain), Err(RecvTimeoutError::Timeout));
                    let mut future = receiver.into_future();
                    assert_eq!(poll(&mut future, &wake), Poll::Pending);
                    receiver = future.into_receiver();
                    assert!(settle(&receiver, in_vain).is_err());
                }
                thread::scope(|scope| {
                    let waiter = spawn(scope, format!("after polls, {wait:?}"), move || {
                        assert!(settle(&receiver, wait).is_ok());
                        receiver
                    });
                    waiter.until_asleep();
                    if sends {
                        sender.send(5).unwrap()
                    } else {
                        drop(sender)
                    }
                    // What a thread was woken for is there for a poll, too.
                    let mut future = waiter.join().into_future();
                    assert_eq!(poll(&mut future, &wake), Poll::Ready(if sends { Ok(5) } else { Err(RecvError) }));
                });
                assert_eq!((wake.times(), wakers_of(&wake)), (0, 0));
            }
        }
    });
}

// Wakers are somebody else's code.

/// tokio#5429, #8529: code of others ran under an internal lock. A waker may use the very future that it is for.
#[test]
fn a_waker_may_receive_the_value_itself() {
    struct Reception {
        future: Mutex<Option<RecvFuture<u32>>>,
        outcome: Mutex<Option<Result<u32, TryRecvError>>>,
    }
    impl Wake for Reception {
        fn wake(self: Arc<Reception>) {
            let receiver = self.future.lock().unwrap().take().unwrap().into_receiver();
            *self.outcome.lock().unwrap() = Some(receiver.try_recv());
            // Dropped here: in the middle of the send that it belongs to.
        }
    }

    for sends in [true, false] {
        let (sender, receiver) = channel();
        let reception = Reception { future: Mutex::new(Some(receiver.into_future())), outcome: Mutex::new(None) };
        let reception = Arc::new(reception);
        let polled = poll(reception.future.lock().unwrap().as_mut().unwrap(), &reception);
        assert_eq!(polled, Poll::Pending);
        if sends {
            sender.send(5).unwrap()
        } else {
            drop(sender)
        }
        let outcome = reception.outcome.lock().unwrap().take();
        assert_eq!(outcome, Some(if sends { Ok(5) } else { Err(TryRecvError::Disconnected) }));
    }
}

/// The waker owns the sender, so whoever drops the one drops the other: the channel is settled by its own receiver.
#[test]
fn a_waker_may_own_the_sender() {
    watchdog("a waker may own the sender", || {
        struct Owner(#[allow(dead_code, reason = "dropped")] Option<Sender<u32>>);
        impl Wake for Owner {
            fn wake(self: Arc<Owner>) {}
        }
        let polled = || {
            let (sender, receiver) = channel();
            let mut future = receiver.into_future();
            // The only waker is the channel's.
            assert_eq!(poll(&mut future, &Arc::new(Owner(Some(sender)))), Poll::Pending);
            future
        };

        let mut replaced = polled();
        // In the middle of this poll the sender leaves.
        assert_eq!(poll(&mut replaced, &Arc::new(Owner(None))), Poll::Ready(Err(RecvError)));
        let receiver = polled().into_receiver();
        assert_eq!(receiver.recv(), Err(RecvError));
        drop(polled());
        assert_eq!(polled().into_receiver().share().wait(), Err(RecvError));
    });
}

/// A waker that panics has no say in whether the value was sent.
#[test]
fn a_waker_that_panics_loses_no_value() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Panics>) {
            panic!("in the waker");
        }
    }

    for sends in [true, false] {
        let (sender, receiver) = channel();
        let mut future = receiver.into_future();
        let wake = Arc::new(Panics);
        assert_eq!(poll(&mut future, &wake), Poll::Pending);
        let outcome = outcome_of(move || if sends { sender.send(5).unwrap() } else { drop(sender) });
        assert_eq!(outcome.unwrap_err().message, "in the waker");
        assert_eq!(wakers_of(&wake), 0);
        assert_eq!(future.into_receiver().try_recv(), if sends { Ok(5) } else { Err(TryRecvError::Disconnected) });
    }
}

/// Nor has one that panics when it is cloned or dropped, which is in the middle of a poll.
#[test]
fn a_waker_whose_clone_or_drop_panics_is_no_harm() {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Panics {
        Never,
        InClone,
        InDrop,
    }
    thread_local! {
        static PANICS: Cell<Panics> = const { Cell::new(Panics::Never) };
    }
    fn panic_if(now: Panics) {
        if PANICS.get() == now {
            PANICS.set(Panics::Never);
            panic!("a waker's own");
        }
    }
    // The data tells wakers apart, and is never read.
    static TABLE: RawWakerVTable = RawWakerVTable::new(
        |data| {
            panic_if(Panics::InClone);
            RawWaker::new(data, &TABLE)
        },
        |_| (),
        |_| (),
        |_| panic_if(Panics::InDrop),
    );
    // SAFETY: the table's functions ask nothing of their data, and may be called by any thread.
    let waker = |number: usize| unsafe { Waker::from_raw(RawWaker::new(std::ptr::without_provenance(number), &TABLE)) };
    let (first, second) = (waker(1), waker(2));

    for panics in [Panics::InClone, Panics::InDrop] {
        let (sender, receiver) = channel();
        let mut future = receiver.into_future();
        assert_eq!(Pin::new(&mut future).poll(&mut Context::from_waker(&first)), Poll::Pending);
        PANICS.set(panics);
        let panic = panic_of(|| Pin::new(&mut future).poll(&mut Context::from_waker(&second)));
        assert_eq!(panic.message, "a waker's own");
        // As if nothing had been polled; and it can be again.
        assert_eq!(Pin::new(&mut future).poll(&mut Context::from_waker(&first)), Poll::Pending);
        sender.send(5).unwrap();
        assert_eq!(Pin::new(&mut future).poll(&mut Context::from_waker(&second)), Poll::Ready(Ok(5)));
    }

    let (sender, receiver) = channel::<u32>();
    let mut future = receiver.into_future();
    assert_eq!(Pin::new(&mut future).poll(&mut Context::from_waker(&first)), Poll::Pending);
    PANICS.set(Panics::InDrop);
    assert_eq!(panic_of(move || drop(future)).message, "a waker's own");
    assert!(sender.is_closed());
}

/// Futures that are dropped, replaced or turned back while their values come, on two threads, many times: no waker is left
/// over, and none is woken that was not the last.
#[test]
fn wakers_are_counted_while_values_come() {
    watchdog("wakers are counted", || {
        let wake = Arc::new(Woken::default());
        let (others, mut expected) = (Arc::new(Woken::default()), 0);
        for round in 0..rounds(2000) {
            let (sender, receiver) = channel();
            let mut future = receiver.into_future();
            thread::scope(|scope| {
                spawn(scope, "settles", move || {
                    common::jitter(round);
                    if round % 2 == 0 { sender.send(5).unwrap_or(()) } else { drop(sender) }
                });
                let settled = |polled: Poll<_>| polled.is_ready();
                if settled(poll(&mut future, &others)) || settled(poll(&mut future, &wake)) {
                    return;
                }
                expected += 1;
                match round % 4 {
                    0 | 1 => drop(future),
                    2 => assert_eq!(future.into_receiver().recv(), Ok(5)),
                    _ => assert_eq!(block_on_by_hand(future), Err(RecvError)),
                }
            });
            assert_eq!((wakers_of(&wake), wakers_of(&others)), (0, 0));
        }
        assert!(wake.times() <= expected);
    });
}
