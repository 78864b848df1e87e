//! The one-shot future, shared: one value lent to many, each with deadlines of its own.

mod common;

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::oneshot::{Ledger, borrow};
use common::panics::panic_of;
use common::plain::Plain;
use common::threads::until_all_asleep;
use common::{Gate, Wait, jitter, rounds, spawn, watchdog};
use waitline::oneshot::{Receiver, RecvError, RecvTimeoutError, SharedReceiver, TryRecvError, channel};

/// Every form that waits for as long as it takes.
fn patient_forms() -> Vec<Wait> {
    [Wait::Untimed, Wait::For(Duration::MAX)].into_iter().chain(Wait::within(Duration::from_secs(3600))).collect()
}

#[test]
fn the_value_is_lent_as_often_as_wanted() {
    watchdog("the value is lent as often as wanted", || {
        let (sender, receiver) = channel();
        let shared = receiver.share();
        for wait in Wait::passed() {
            assert_eq!(borrow(&shared, wait), Err(RecvTimeoutError::Timeout), "{wait:?}");
        }
        assert_eq!(shared.get(), Err(TryRecvError::Empty));
        sender.send("the value".to_owned()).unwrap();
        let another = shared.clone();
        for wait in Wait::passed().into_iter().chain(Wait::endless()) {
            assert_eq!(borrow(&shared, wait).unwrap(), "the value", "{wait:?}");
            // The same value, not another one like it.
            assert!(std::ptr::eq(borrow(&another, wait).unwrap(), shared.get().unwrap()), "{wait:?}");
        }
    });
}

#[test]
fn disconnection_beats_a_deadline_that_has_passed() {
    watchdog("disconnection beats a deadline that has passed", || {
        let (sender, receiver) = channel::<u32>();
        let shared = receiver.share();
        drop(sender);
        for wait in Wait::passed().into_iter().chain(Wait::endless()) {
            assert_eq!(borrow(&shared, wait), Err(RecvTimeoutError::Disconnected), "{wait:?}");
        }
        assert_eq!(shared.get(), Err(TryRecvError::Disconnected));
        assert_eq!(shared.wait(), Err(RecvError));
    });
}

/// At any time of the receiver's life, whatever it has done before.
#[test]
fn every_receiver_can_be_shared() {
    watchdog("every receiver can be shared", || {
        let after = |uses: &dyn Fn(Receiver<u32>) -> Receiver<u32>| {
            let (sender, receiver) = channel();
            let shared = uses(receiver).share();
            assert_eq!(shared.get(), Err(TryRecvError::Empty));
            sender.send(5).unwrap();
            assert_eq!(shared.wait(), Ok(&5));
        };
        after(&|receiver| receiver);
        after(&|receiver| {
            assert!(receiver.recv_for(Duration::from_millis(1)).is_err() && receiver.wait_for(Duration::ZERO).is_err());
            receiver
        });
        after(&|receiver| {
            let mut future = receiver.into_future();
            let mut context = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut future).poll(&mut context).is_pending());
            future.into_receiver()
        });

        let (sender, receiver) = channel();
        sender.send(5).unwrap();
        assert_eq!(receiver.share().get(), Ok(&5));

        // What has been taken can't be lent.
        let (sender, receiver) = channel();
        sender.send(5).unwrap();
        assert_eq!(receiver.try_recv(), Ok(5));
        assert_eq!(receiver.share().wait(), Err(RecvError));
    });
}

/// Some of those who wait give up in time and come again; all get the one value, or all hear that there is none.
#[test]
fn everybody_hears_of_the_end() {
    watchdog("everybody hears of the end", || {
        for round in 0..rounds(20) {
            let (sender, receiver) = channel();
            let shared = receiver.share();
            thread::scope(|scope| {
                let (mut late, mut patient) = (Vec::new(), Vec::new());
                for wait in patient_forms() {
                    let shared = shared.clone();
                    patient.push(spawn(scope, format!("a sharer, {wait:?}"), move || borrow(&shared, wait).copied()));
                }
                for wait in Wait::within(Duration::from_millis(2)) {
                    let shared: &SharedReceiver<u32> = &shared;
                    late.push(spawn(scope, format!("a sharer, {wait:?}"), move || {
                        let start = Instant::now();
                        assert_eq!(borrow(shared, wait), Err(RecvTimeoutError::Timeout), "{wait:?}");
                        assert!(wait.is_due(start), "{wait:?}: early");
                        shared
                    }));
                }
                // Through one clone or through one reference, it is the same channel.
                let late: Vec<_> = late.into_iter().map(|late| late.join()).collect();
                until_all_asleep(&patient);
                let expected = if round % 3 == 0 {
                    drop(sender);
                    Err(RecvTimeoutError::Disconnected)
                } else {
                    sender.send(round).unwrap();
                    Ok(round)
                };
                assert!(patient.into_iter().all(|patient| patient.join() == expected));
                assert!(late.iter().all(|shared| borrow(shared, Wait::Try).copied() == expected));
            });
        }
    });
}

/// A value lives as long as anybody can borrow it, and the sender knows whether anybody is left.
#[test]
fn the_last_one_drops_the_value() {
    let ledger = Ledger::default();
    let (sender, receiver) = channel();
    let shared = receiver.share();
    let clones: Vec<_> = (0..10).map(|_| shared.clone()).collect();
    drop(shared);
    assert!(!sender.is_closed());
    assert!(ledger.send(sender));
    for clone in clones {
        assert_eq!(ledger.dropped.load(Relaxed), 0);
        assert!(clone.get().is_ok());
    }
    assert_eq!(ledger.dropped.load(Relaxed), 1);

    let (sender, receiver) = channel();
    let shared = receiver.share();
    let another = shared.clone();
    drop((shared, another));
    assert!(sender.is_closed());
    assert!(!ledger.send(sender));
    ledger.balance("shared receivers");
}

/// Sharers come and go while the value is sent: it is dropped once, after the last borrow, or comes back.
#[test]
fn sharers_leave_while_the_value_is_sent() {
    const SHARERS: usize = 3;

    /// In its drop it looks for what those who borrowed it have written by then.
    struct Value<'a> {
        borrowed: &'a [Plain<usize>],
        borrows: &'a AtomicUsize,
        drops: &'a AtomicUsize,
    }
    impl Drop for Value<'_> {
        fn drop(&mut self) {
            assert_eq!(self.borrowed.iter().map(Plain::get).sum::<usize>(), self.borrows.load(Relaxed));
            self.drops.fetch_add(1, Relaxed);
        }
    }

    watchdog("sharers leave while the value is sent", || {
        let gate = Gate::new(SHARERS + 1);
        for round in 0..rounds(300) {
            let borrowed = [(); SHARERS].map(|()| Plain::new(0));
            let (borrows, drops) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let (sender, receiver) = channel();
            let shared = receiver.share();
            thread::scope(|scope| {
                for (number, cell) in borrowed.iter().enumerate() {
                    let (shared, gate, borrows) = (shared.clone(), &gate, &borrows);
                    spawn(scope, format!("sharer {number}"), move || {
                        gate.pass();
                        jitter(round.wrapping_mul(number as u32 + 1));
                        let wait = Wait::within(Duration::from_micros(10))[round as usize % Wait::TIMED];
                        // One of them leaves without a look.
                        if number != 0 && borrow(&shared, wait).is_ok() {
                            cell.set(1);
                            borrows.fetch_add(1, Relaxed);
                        }
                    });
                }
                drop(shared);
                gate.pass();
                jitter(round.wrapping_mul(7));
                // What comes back is dropped here.
                drop(sender.send(Value { borrowed: &borrowed, borrows: &borrows, drops: &drops }));
            });
            assert_eq!(drops.into_inner(), 1);
        }
    });
}

/// The drop of the last one is the drop of the value, also where that panics.
#[test]
fn a_value_whose_drop_panics_is_dropped_once() {
    struct Value<'a>(&'a AtomicUsize);
    impl Drop for Value<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
            panic!("in the value's drop");
        }
    }

    let drops = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    let shared = receiver.share();
    let clone = shared.clone();
    assert!(sender.send(Value(&drops)).is_ok());
    drop(shared);
    assert_eq!(panic_of(move || drop(clone)).message, "in the value's drop");
    assert_eq!(drops.into_inner(), 1);
}
