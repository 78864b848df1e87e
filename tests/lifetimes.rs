//! Objects that are gone as soon as a wait is over, while the one who ended it is still in its call: latches on the stack of
//! the thread that waits, in a page that closes, or in a box; channels, which the side that leaves last frees; barriers that
//! whoever leaves last drops. For the eyes of AddressSanitizer and of the kernel.
//!
//! P2616, memgraph #4784, rayon #739, #929, libuv #3102, glibc b02840b, oneshot#74, #87: a last call touched what its waiter
//! had freed, or one side freed what the other still touched.

#![allow(unsafe_code, reason = "raw counts down, and memory that goes away")]

mod common;

use std::future::{Future, IntoFuture};
use std::hint::black_box;
use std::pin::Pin;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use common::barrier::{meet, meet_by_token, poll_token};
use common::latch::wait_for_opening;
use common::oneshot::{Counted, Ledger, borrow, recv, settle};
use common::{Form, Gate, Wait, jitter, rounds, spawn, watchdog};
use waitline::oneshot::{Receiver, RecvFuture, RecvTimeoutError, Sender, channel};
use waitline::{Barrier, Latch};

const ROUNDS: u32 = 2000;

/// Another form each round; the first of them sleeps.
fn form_of(round: u32) -> Form {
    Form::all().nth(round as usize % (Wait::TIMED + 2)).unwrap()
}

/// Waits by every form, the impatient ones again and again.
fn wait_by(latch: &Latch, form: Form) {
    while wait_for_opening(latch, form.start()).is_err() {
        thread::yield_now();
    }
}

/// Rounds in which one thread lives through `life`: makes a latch of two, says where it is, waits by the form, and makes an end
/// of it. Another one counts down, half of the time once the first one sleeps.
fn dies_once_open(what: &str, life: impl Fn(Form, &dyn Fn(*const Latch)) + Sync) {
    let gate = Gate::new(2);
    let address = AtomicPtr::new(std::ptr::null_mut::<Latch>());
    let publish = |latch: *const Latch| {
        address.store(latch.cast_mut(), Relaxed);
        gate.pass();
    };
    thread::scope(|scope| {
        let owner = spawn(scope, format!("{what}: owner"), || {
            (0..rounds(ROUNDS)).for_each(|round| life(form_of(round), &publish));
        });
        for round in 0..rounds(ROUNDS) {
            gate.pass();
            let latch = address.load(Relaxed);
            match round % 12 {
                0 => owner.until_asleep(),
                2 => thread::yield_now(),
                _ => jitter(round),
            }
            if round % 2 == 0 {
                // SAFETY: the owner keeps it until its wait has found it open, which takes both counts.
                assert!(unsafe { Latch::count_down_raw(latch, 2) });
            } else {
                // SAFETY: as above.
                assert!(!unsafe { Latch::count_down_raw(latch, 1) });
                // SAFETY: as above.
                assert!(unsafe { Latch::count_down_raw(latch, 1) });
            }
        }
    });
}

#[test]
fn a_latch_may_die_with_the_frame_of_its_waiter() {
    #[inline(never)]
    fn frame(form: Form, publish: &dyn Fn(*const Latch)) {
        let latch = Latch::new(2);
        publish(&raw const latch);
        wait_by(&latch, form);
    }

    /// Where the other frame was.
    #[inline(never)]
    fn overwrite() {
        black_box([u64::MAX; 64]);
    }

    watchdog("a latch dies with its frame", || {
        dies_once_open("a latch on the stack", |form, publish| {
            frame(form, publish);
            overwrite();
        });
    });
}

#[test]
fn a_latch_may_die_in_its_box() {
    watchdog("a latch dies in its box", || {
        dies_once_open("a latch in a box", |form, publish| {
            let latch = Box::into_raw(Box::new(Latch::new(2)));
            publish(latch);
            // SAFETY: it lives until this thread drops it.
            wait_by(unsafe { &*latch }, form);
            // SAFETY: made of a box above, and open: whoever counted it down does not touch it any more.
            drop(unsafe { Box::from_raw(latch) });
        });
    });
}

/// Any access to a page that is closed ends the process.
#[test]
#[cfg(target_os = "linux")]
fn a_latch_may_die_with_its_page() {
    let page = common::linux::Page::new();
    watchdog("a latch dies with its page", || {
        dies_once_open("a latch in a page", |form, publish| {
            page.open(true);
            let latch: *mut Latch = page.start();
            // SAFETY: the page has room for one, and nobody uses it.
            unsafe { latch.write(Latch::new(2)) };
            publish(latch);
            // SAFETY: it lives until this thread closes the page.
            wait_by(unsafe { &*latch }, form);
            page.open(false);
        });
    });
}

/// In safe code it is an `Arc` that keeps the latch, and the thread that waits may be the last to have it.
#[test]
fn a_latch_may_die_with_its_last_reference() {
    watchdog("a latch dies with its last reference", || {
        let gate = Gate::new(2);
        let (hand_over, latches) = mpsc::channel::<Arc<Latch>>();
        thread::scope(|scope| {
            spawn(scope, "counts down", || {
                for (round, latch) in latches.into_iter().enumerate() {
                    gate.pass();
                    jitter(round as u32);
                    assert!(latch.count_down());
                }
            });
            for round in 0..rounds(ROUNDS) {
                let latch = Arc::new(Latch::new(1));
                hand_over.send(Arc::clone(&latch)).unwrap();
                gate.pass();
                wait_by(&latch, form_of(round));
            }
            drop(hand_over);
        });
    });
}

// Channels.

/// Does nothing, and is dropped by somebody.
struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Nobody>) {}
}

fn poll_once<'a>(future: &mut RecvFuture<Counted<'a>>, ledger: &'a Ledger) {
    let waker = Waker::from(Arc::new(Nobody));
    if let Poll::Ready(Ok(value)) = Pin::new(future).poll(&mut Context::from_waker(&waker)) {
        ledger.receive(value);
    }
}

/// Rounds in which one thread settles a channel, by a value or by leaving, and the other does `receive` with its end at the
/// same moment, which it then drops.
fn settled_while(what: &str, receive: impl for<'a> Fn(Receiver<Counted<'a>>, &'a Ledger, u32)) {
    let ledger = Ledger::default();
    watchdog(what, || {
        let gate = Gate::new(2);
        let (hand_over, senders) = mpsc::channel::<Sender<Counted<'_>>>();
        thread::scope(|scope| {
            spawn(scope, format!("{what}: sender"), || {
                for (round, sender) in (0_u32..).zip(senders) {
                    gate.pass();
                    jitter(round.wrapping_mul(3));
                    if round % 4 == 3 { drop(sender) } else { _ = ledger.send(sender) }
                }
            });
            for round in 0..rounds(ROUNDS) {
                let (sender, receiver) = channel();
                hand_over.send(sender).unwrap();
                gate.pass();
                jitter(round);
                receive(receiver, &ledger, round);
            }
            drop(hand_over);
        });
    });
    ledger.balance(what);
}

#[test]
fn a_channel_may_die_right_after_its_value() {
    settled_while("a receiver that leaves with the value", |receiver, ledger, round| {
        loop {
            match recv(&receiver, form_of(round).start()) {
                Ok(value) => break ledger.receive(value),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => thread::yield_now(),
            }
        }
    });
}

/// oneshot#74, #87: the receiver had registered, and left between the sender's look and its last access.
#[test]
fn a_channel_may_die_after_a_wait_that_timed_out() {
    settled_while("a receiver that leaves in time", |receiver, ledger, round| {
        let wait = Wait::within(Duration::from_nanos(u64::from(round) * 97 % 30_000))[round as usize % Wait::TIMED];
        if round % 3 == 0 {
            let _ = settle(&receiver, wait);
        } else if let Ok(value) = recv(&receiver, wait) {
            ledger.receive(value);
        }
    });
}

#[test]
fn a_channel_may_die_after_a_poll() {
    settled_while("a receiver that is polled and leaves", |receiver, ledger, round| {
        let mut future = receiver.into_future();
        for _ in 0..=round % 3 {
            poll_once(&mut future, ledger);
        }
        // With its waker, or without.
        if round % 2 == 0 { drop(future) } else { drop(future.into_receiver()) }
    });
}

#[test]
fn a_shared_channel_may_die_with_any_of_its_receivers() {
    settled_while("receivers that share and leave", |receiver, _, round| {
        let shared = receiver.share();
        let another = shared.clone();
        thread::scope(|scope| {
            // Threads are dear: in some rounds only.
            if round % 16 == 0 {
                spawn(scope, "shares", move || {
                    let _ = borrow(&another, Wait::For(Duration::from_micros(20)));
                });
            } else {
                drop(another);
            }
            let _ = borrow(&shared, Wait::within(Duration::from_micros(2))[round as usize % Wait::TIMED]);
            drop(shared);
        });
    });
}

// Barriers.

/// Parties that keep it by an `Arc` each, and let go of it as soon as they have met: whoever is last frees it, be it one that
/// was woken, one that timed out before, or one that leaves for good.
#[test]
fn a_barrier_may_die_with_its_last_party() {
    const PARTIES: usize = 3;

    watchdog("a barrier dies with its last party", || {
        let (gate, freed) = (Gate::new(PARTIES), AtomicUsize::new(0));
        let all: Vec<_> = (0..rounds(ROUNDS)).map(|_| Arc::new(Barrier::new(PARTIES))).collect();
        let weak: Vec<_> = all.iter().map(Arc::downgrade).collect();
        let [mine, yours, theirs] = [all.clone(), all.clone(), all];
        thread::scope(|scope| {
            for (number, barriers) in [mine, yours, theirs].into_iter().enumerate() {
                let (gate, freed) = (&gate, &freed);
                spawn(scope, format!("party {number}"), move || {
                    for (round, barrier) in (0_u32..).zip(barriers) {
                        gate.pass();
                        jitter(round.wrapping_mul(number as u32 + 1));
                        // Not without time: three of whom two arrive only as the last one never meet.
                        let timed = Form::Timed((round as usize + number) % Wait::TIMED);
                        match (round + number as u32) % 5 {
                            0 => _ = barrier.arrive_and_drop(),
                            1 => drop(meet_by_token(barrier.arrive(), Wait::Untimed)),
                            2 => {
                                let token = barrier.arrive();
                                while poll_token(&token, timed.start()).is_err() {}
                            }
                            3 => _ = barrier.wait(),
                            _ => while meet(&barrier, timed.start()).is_err() {},
                        }
                        freed.fetch_add(Arc::into_inner(barrier).is_some().into(), Relaxed);
                    }
                });
            }
        });
        assert_eq!(freed.into_inner(), weak.len());
        assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
    });
}
