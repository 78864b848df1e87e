//! What two and three threads can do to each other through one latch: every call that counts against every form of wait,
//! let go at the same moment, many times. One count opens the latch, nobody sleeps on, and nobody goes on too early.

#![allow(unsafe_code, reason = "raw counts down")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use common::latch::wait_for_opening;
use common::{Form, all_at_once, rounds, watchdog};
use waitline::Latch;

/// What one side does with the part of the count that is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Has no part.
    Wait(Form),
    OneByOne,
    AtOnce,
    Raw,
    /// More are awaited, and then all of them come.
    Up(usize),
    /// Has a part of one.
    ArriveAndWait,
}

const COUNTING: [Act; 5] = [Act::OneByOne, Act::AtOnce, Act::Raw, Act::Up(1), Act::Up(5)];

impl Act {
    fn part(self) -> usize {
        match self {
            Act::Wait(_) => 0,
            Act::ArriveAndWait => 1,
            _ => 2,
        }
    }
}

/// A latch, how many calls have said that they opened it, and how many have counted down.
struct Round {
    latch: Latch,
    opened: AtomicUsize,
    arrived: AtomicUsize,
}

impl Round {
    fn act(&self, act: Act, parts: usize) {
        let Round { latch, opened, arrived } = self;
        arrived.fetch_add(act.part(), Relaxed);
        let count = |opened_it: bool| {
            assert!(!opened_it || latch.try_wait(), "{act:?}");
            opened.fetch_add(opened_it.into(), Relaxed);
        };
        match act {
            Act::Wait(form) => {
                let (start, wait) = (Instant::now(), form.start());
                match wait_for_opening(latch, wait) {
                    Ok(()) => assert_eq!(arrived.load(Relaxed), parts, "{act:?}: too early"),
                    Err(_) => assert!(wait.is_due(start), "{act:?}: early"),
                }
            }
            Act::OneByOne => (0..act.part()).for_each(|_| count(latch.count_down())),
            Act::AtOnce => count(latch.count_down_by(act.part())),
            // SAFETY: the latch outlives all calls.
            Act::Raw => count(unsafe { Latch::count_down_raw(latch, act.part()) }),
            Act::Up(n) => {
                latch.count_up(n);
                count(latch.count_down_by(n + act.part()));
            }
            Act::ArriveAndWait => {
                latch.arrive_and_wait();
                assert_eq!(arrived.load(Relaxed), parts, "{act:?}: too early");
            }
        }
    }
}

fn meet(acts: &[Act], times: u32) {
    let parts = acts.iter().map(|act| act.part()).sum();
    let new = || Round { latch: Latch::new(parts), opened: AtomicUsize::new(0), arrived: AtomicUsize::new(0) };
    let all: Vec<_> = (0..rounds(times)).map(|_| new()).collect();
    let sides: Vec<_> = acts.iter().map(|&act| move |round: &Round| round.act(act, parts)).collect();
    let sides: Vec<_> = sides.iter().map(|side| side as &(dyn Fn(&Round) + Sync)).collect();
    all_at_once(&format!("{acts:?}"), &all, &sides);
    for Round { latch, opened, .. } in all {
        assert_eq!(latch.count(), 0, "{acts:?}");
        // It does not tell.
        if !acts.contains(&Act::ArriveAndWait) {
            assert_eq!(opened.into_inner(), 1, "{acts:?}");
        }
    }
}

#[test]
fn a_count_meets_a_waiter() {
    watchdog("a count meets a waiter", || {
        for count in COUNTING {
            for form in Form::all() {
                meet(&[count, Act::Wait(form)], 300);
            }
        }
    });
}

#[test]
fn a_count_meets_two_waiters() {
    watchdog("a count meets two waiters", || {
        for count in COUNTING {
            for form in Form::all() {
                for other in [Form::Untimed, Form::Timed(0), Form::Timed(3)] {
                    meet(&[count, Act::Wait(form), Act::Wait(other)], 60);
                }
            }
        }
    });
}

/// Nobody is let go by the first, and nobody is forgotten by the second.
#[test]
fn two_counts_meet_a_waiter() {
    watchdog("two counts meet a waiter", || {
        for count in COUNTING {
            for other in COUNTING {
                for form in Form::all() {
                    meet(&[count, other, Act::Wait(form)], 40);
                }
            }
        }
    });
}

#[test]
fn those_who_arrive_and_wait_meet_each_other() {
    watchdog("arrive and wait", || {
        meet(&[Act::ArriveAndWait; 2], 200);
        meet(&[Act::ArriveAndWait; 3], 100);
        for count in COUNTING {
            meet(&[Act::ArriveAndWait, count], 50);
            meet(&[Act::ArriveAndWait, count, Act::ArriveAndWait], 30);
        }
        for form in Form::all() {
            meet(&[Act::ArriveAndWait, Act::Wait(form), Act::ArriveAndWait], 50);
        }
    });
}
