//! Where the values of one-shot futures end: received, returned or dropped, once each and whole.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::oneshot::{Counted, Ledger, recv};
use common::panics::panic_of;
use common::{Form, Gate, Wait, jitter, rounds, spawn, watchdog};
use waitline::oneshot::{Receiver, RecvError, RecvTimeoutError, SendError, Sender, channel};
use waitline::{Deadline, Latch, Semaphore};

/// The value itself comes back, and can be used.
#[test]
fn a_value_that_nobody_can_receive_comes_back() {
    let ledger = Ledger::default();
    for timed_out_before in [false, true] {
        let (sender, receiver) = channel();
        if timed_out_before {
            assert!(receiver.recv_for(Duration::from_micros(100)).is_err());
        }
        drop(receiver);
        assert!(sender.is_closed());
        assert!(!ledger.send(sender));
    }
    assert_eq!(ledger.returned.load(Relaxed), 2);
    ledger.balance("receivers that are gone");

    let (sender, receiver) = channel::<String>();
    drop(receiver);
    let SendError(value) = sender.send("the value".to_owned()).unwrap_err();
    assert_eq!(value, "the value");
}

#[test]
fn what_is_not_received_is_dropped_once() {
    watchdog("what is not received is dropped once", || {
        let ledger = Ledger::default();
        let (sender, receiver) = channel();
        assert!(ledger.send(sender));
        assert_eq!(ledger.dropped.load(Relaxed), 0);
        assert_eq!(receiver.wait_for(Duration::ZERO), Ok(()));
        drop(receiver);
        assert_eq!(ledger.dropped.load(Relaxed), 1);

        let (sender, receiver) = channel();
        assert!(ledger.send(sender));
        ledger.receive(receiver.recv().unwrap());
        drop(receiver);
        assert_eq!(ledger.dropped.load(Relaxed), 1);
        drop(channel::<Counted<'_>>());
        ledger.balance("one dropped, one received");
    });
}

/// Sizes and alignments at the ends: nothing, much, and more aligned than the allocator would do by itself.
#[test]
fn values_may_be_of_any_kind() {
    watchdog("values may be of any kind", || {
        #[repr(align(4096))]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        struct Page([u8; 4096]);

        fn through<T: PartialEq + std::fmt::Debug + Clone>(value: &T) {
            let (sender, receiver) = channel();
            assert_eq!(sender.send(value.clone()), Ok(()));
            assert_eq!(receiver.recv().as_ref(), Ok(value));
            let (sender, receiver) = channel();
            drop(receiver);
            assert_eq!(sender.send(value.clone()).unwrap_err().into_inner(), *value);
            let (sender, receiver) = channel();
            assert_eq!(sender.send(value.clone()), Ok(()));
            assert_eq!(receiver.share().get(), Ok(value));
        }

        through(&());
        through(&Page([7; 4096]));
        through(&[u128::MAX; 100]);
        through(&Some("text".to_owned()));
        through(&Box::new(5));
        let (sender, receiver) = channel::<Box<dyn FnOnce() -> u32 + Send>>();
        assert!(sender.send(Box::new(|| 5)).is_ok());
        assert_eq!(receiver.recv().unwrap()(), 5);
    });
}

/// futures-rs#620, ferrotunnel#170, kotlin #1477: a value was handed over in the moment in which the receiver gave up, and was
/// lost. Receives of a few microseconds that end about when the value is sent; then some leave, and some come again.
#[test]
fn a_value_at_the_deadline_is_not_lost() {
    const ROUNDS: u32 = 100_000;
    const BATCH: u32 = 1000;

    watchdog("a value at the deadline", || {
        let (ledger, timeouts) = (Ledger::default(), AtomicUsize::new(0));
        let gate = Gate::new(2);
        let rounds = rounds(ROUNDS).next_multiple_of(BATCH);
        let (to_sender, senders) = mpsc::channel::<Sender<_>>();
        thread::scope(|scope| {
            spawn(scope, "sends about at the deadline", || {
                for (round, sender) in senders.into_iter().enumerate() {
                    gate.pass();
                    jitter((round as u32).wrapping_mul(7));
                    ledger.send(sender);
                }
            });
            for round in 0..rounds {
                let (sender, receiver) = channel();
                to_sender.send(sender).unwrap();
                let timeout = Duration::from_nanos(u64::from(round) * 61 % 4000);
                gate.pass();
                // Most are too short to sleep; those that are not are few, since they take long.
                let wait =
                    if round % 64 == 0 { Form::Timed(round as usize / 64 % 4).start() } else { Wait::For(timeout) };
                match recv(&receiver, wait) {
                    Ok(value) => ledger.receive(value),
                    Err(RecvTimeoutError::Timeout) => {
                        timeouts.fetch_add(1, Relaxed);
                        if round % 2 == 0 {
                            ledger.receive(receiver.recv().unwrap_or_else(|RecvError| panic!("it was promised")));
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => panic!("the sender has not left"),
                }
            }
            drop(to_sender);
        });
        assert_eq!(ledger.made.load(Relaxed), rounds as usize);
        ledger.balance("values at the deadline");
        println!("{} timeouts in {rounds} rounds", timeouts.into_inner());
    });
}

/// tokio#5429, #5471: foreign code ran under an internal lock. A value's drop may use whatever it likes, and may panic.
#[test]
fn a_values_drop_may_do_anything() {
    struct Value<'a> {
        next: Option<Receiver<Value<'a>>>,
        semaphore: &'a Semaphore,
        latch: &'a Latch,
        panics: bool,
    }
    impl Drop for Value<'_> {
        fn drop(&mut self) {
            self.semaphore.release();
            // Drops the value in another channel, in the middle of this drop.
            drop(self.next.take());
            self.latch.count_down();
            assert!(!self.panics, "in the value's drop");
        }
    }

    let (semaphore, latch) = (Semaphore::new(0), Latch::new(4));
    let value = |next, panics| Value { next, semaphore: &semaphore, latch: &latch, panics };
    let full = |value| {
        let (sender, receiver) = channel();
        assert!(sender.send(value).is_ok());
        receiver
    };
    drop(full(value(Some(full(value(None, false))), false)));
    assert_eq!((semaphore.available_permits(), latch.count()), (2, 2));

    let receiver = full(value(None, true));
    assert_eq!(panic_of(move || drop(receiver)).message, "in the value's drop");
    let shared = full(value(None, true)).share();
    let another = shared.clone();
    drop(shared);
    assert_eq!(panic_of(move || drop(another)).message, "in the value's drop");
    assert!(latch.try_wait() && semaphore.try_acquire_many_until(4, Deadline::PASSED));
}
