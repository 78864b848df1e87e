//! The latch: what each call promises.

#![allow(unsafe_code, reason = "raw counts down")]

mod common;

use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread::{self, Scope};
use std::time::{Duration, Instant, SystemTime};

use common::latch::wait_for_opening;
use common::panics::assert_refused;
use common::threads::until_all_asleep;
use common::{Gate, PassedAfter, Wait, jitter, rounds, spawn, watchdog};
use proptest::prelude::*;
use waitline::{Deadline, Latch, TimedOut};

const MAX: usize = Latch::MAX_COUNT;

/// Every form that can see the latch open, and waits for that as long as it takes.
fn patient_forms() -> Vec<Wait> {
    [Wait::Untimed, Wait::For(Duration::MAX)].into_iter().chain(Wait::within(Duration::from_secs(3600))).collect()
}

#[test]
fn it_opens_when_all_are_counted_down() {
    let latch = Latch::new(6);
    assert_eq!(latch.count(), 6);
    assert!(!latch.count_down());
    assert!(!latch.count_down_by(2));
    latch.count_up(4);
    assert_eq!(latch.count(), 7);
    assert!(!latch.try_wait());
    assert_eq!(latch.wait_for(Duration::ZERO), Err(TimedOut));
    assert_eq!(latch.wait_until(Deadline::PASSED), Err(TimedOut));
    assert_eq!(latch.wait_for(Duration::from_millis(1)), Err(TimedOut));
    assert!(!latch.count_down_by(6));
    assert_eq!(format!("{latch:?}"), "Latch { count: 1, .. }");
    assert!(latch.count_down());
    assert_eq!(latch.count(), 0);
    assert_eq!(format!("{latch:?}"), "Latch { count: 0, .. }");
}

#[test]
fn open_is_for_ever_and_for_every_form() {
    watchdog("open is for ever and for every form", || {
        let counted = Latch::new(1);
        assert!(counted.count_down());
        for latch in [counted, Latch::new(0)] {
            for wait in Wait::passed().into_iter().chain(Wait::endless()) {
                assert_eq!(wait_for_opening(&latch, wait), Ok(()), "{wait:?}");
            }
            assert_eq!(latch.count(), 0);
        }
    });
}

/// once_cell#243: a `static` latch is one.
#[test]
fn a_static_is_one_latch() {
    static ONE: Latch = Latch::new(2);

    assert!(!thread::spawn(|| ONE.count_down()).join().unwrap());
    assert!(ONE.count_down());
    assert!(thread::spawn(|| ONE.try_wait()).join().unwrap());
}

#[test]
fn zero_is_a_no_op() {
    for count in [0, 1, MAX] {
        let latch = Latch::new(count);
        latch.count_up(0);
        assert!(!latch.count_down_by(0));
        // SAFETY: the latch outlives the call.
        assert!(!unsafe { Latch::count_down_raw(&latch, 0) });
        assert_eq!(latch.count(), count);
    }
}

/// GCC PR 98749: the greatest count could not be represented.
#[test]
fn the_maximum_is_within_reach() {
    let latch = Latch::new(MAX);
    assert_eq!(latch.count(), MAX);
    assert!(!latch.count_down_by(MAX - 1));
    latch.count_up(MAX - 1);
    assert_eq!(latch.count(), MAX);
    assert!(latch.count_down_by(MAX));
    const { assert!(MAX >= 1 << 30) };
}

/// Whatever is refused is refused before it changes anything, and says at which line.
#[test]
fn counts_beyond_the_limits_panic_and_change_nothing() {
    for too_many in [MAX + 1, u32::MAX as usize, (u32::MAX as usize).saturating_add(2), usize::MAX / 2 + 2, usize::MAX]
    {
        assert_refused!(Latch::new(too_many), "latch", "2^31 - 1");
        for count in [1, 7, MAX] {
            let latch = Latch::new(count);
            assert_refused!(latch.count_up(too_many), "latch", "2^31 - 1");
            assert_refused!(latch.count_down_by(too_many), "latch");
            assert_eq!(latch.count(), count);
        }
    }
    for (count, up) in [(MAX, 1), (MAX - 1, 2), (1, MAX), (MAX, MAX)] {
        let latch = Latch::new(count);
        assert_refused!(latch.count_up(up), "latch", "2^31 - 1");
        assert_eq!(latch.count(), count);
    }
    for (count, down) in [(1, 2), (5, 6), (5, MAX), (MAX - 1, MAX)] {
        let latch = Latch::new(count);
        assert_refused!(latch.count_down_by(down), "latch");
        // SAFETY: the latch outlives the call.
        assert_refused!(unsafe { Latch::count_down_raw(&latch, down) }, "latch");
        assert_eq!(latch.count(), count);
        assert!(latch.count_down_by(count));
    }
}

#[test]
fn an_open_latch_counts_neither_up_nor_down() {
    let counted = Latch::new(2);
    assert!(counted.count_down_by(2));
    for latch in [counted, Latch::new(0)] {
        for n in [1, 2, MAX, MAX + 1] {
            assert_refused!(latch.count_up(n), "latch");
            assert_refused!(latch.count_down_by(n), "latch");
        }
        assert_refused!(latch.count_down(), "latch");
        assert_refused!(latch.arrive_and_wait(), "latch");
        assert!(latch.try_wait());
    }
}

/// A refused call leaves those alone who sleep, and what they sleep for.
#[test]
fn refused_calls_leave_waiters_alone() {
    watchdog("refused calls beside waiters", || {
        let latch = Latch::new(2);
        thread::scope(|scope| {
            let latch = &latch;
            let waiters: Vec<_> = (patient_forms().into_iter())
                .map(|wait| spawn(scope, format!("Latch, {wait:?}"), move || wait_for_opening(latch, wait)))
                .collect();
            until_all_asleep(&waiters);
            assert_refused!(latch.count_down_by(3), "latch");
            assert_refused!(latch.count_up(MAX - 1), "latch");
            assert_eq!(latch.count(), 2);
            until_all_asleep(&waiters);
            assert!(latch.count_down_by(2));
        });
    });
}

/// Everybody asleep: counting down wakes nobody before the last count, and then all of them.
#[test]
fn the_last_count_wakes_everybody() {
    #[cfg(target_os = "linux")]
    use common::threads::Activity;

    watchdog("the last count wakes everybody", || {
        for _ in 0..rounds(10) {
            let latch = Latch::new(3);
            thread::scope(|scope| {
                let latch = &latch;
                let waiters: Vec<_> = (patient_forms().into_iter())
                    .map(|wait| spawn(scope, format!("Latch, {wait:?}"), move || wait_for_opening(latch, wait)))
                    .collect();
                until_all_asleep(&waiters);
                #[cfg(target_os = "linux")]
                let before: Vec<_> = waiters.iter().map(|one| Activity::of(one.id())).collect();
                assert!(!latch.count_down());
                latch.count_up(1);
                assert!(!latch.count_down_by(2));
                until_all_asleep(&waiters);
                #[cfg(target_os = "linux")]
                assert_eq!(before, waiters.iter().map(|one| Activity::of(one.id())).collect::<Vec<_>>());
                assert!(latch.count_down());
                for waiter in waiters {
                    assert_eq!(waiter.join(), Ok(()));
                }
            });
        }
    });
}

/// Of all the counts, one opens: the one that says so.
#[test]
fn one_count_opens() {
    const COUNTERS: usize = 4;

    watchdog("one count opens", || {
        let rounds = rounds(300);
        let latches: Vec<_> = (0..rounds).map(|_| Latch::new(COUNTERS * 3)).collect();
        let (gate, opened) = (Gate::new(COUNTERS), AtomicUsize::new(0));
        thread::scope(|scope| {
            for number in 0..COUNTERS {
                let (latches, gate, opened) = (&latches, &gate, &opened);
                spawn(scope, format!("counter {number}"), move || {
                    for (round, latch) in latches.iter().enumerate() {
                        gate.pass();
                        jitter((round as u32).wrapping_mul(number as u32 + 1));
                        let by_me = match number {
                            0 => latch.count_down_by(3),
                            // SAFETY: the latch outlives the call.
                            1 => unsafe { Latch::count_down_raw(latch, 3) },
                            _ => latch.count_down() | latch.count_down() | latch.count_down(),
                        };
                        assert!(!by_me || latch.try_wait());
                        opened.fetch_add(by_me.into(), Relaxed);
                    }
                });
            }
        });
        assert_eq!(opened.into_inner(), latches.len());
        assert!(latches.iter().all(Latch::try_wait));
    });
}

/// A scope whose jobs spawn jobs: each announces its own before it is done, so nobody who waits goes on too early.
#[test]
fn jobs_that_spawn_jobs_are_waited_for() {
    const DEPTH: u32 = 4;

    fn job<'scope>(depth: u32, scope: &'scope Scope<'scope, '_>, latch: &'scope Latch, done: &'scope AtomicUsize) {
        if depth > 0 {
            latch.count_up(2);
            for side in ["left", "right"] {
                spawn(scope, format!("{side} job, {depth} above the last"), move || job(depth - 1, scope, latch, done));
            }
        }
        thread::yield_now();
        done.fetch_add(1, Relaxed);
        latch.count_down();
    }

    watchdog("jobs that spawn jobs", || {
        for round in 0..rounds(20) {
            let (latch, done) = (Latch::new(1), AtomicUsize::new(0));
            thread::scope(|scope| {
                let wait = patient_forms()[round as usize % patient_forms().len()];
                let (latch, done) = (&latch, &done);
                let waiter = spawn(scope, format!("all jobs, {wait:?}"), move || {
                    assert_eq!(wait_for_opening(latch, wait), Ok(()));
                    done.load(Relaxed)
                });
                job(DEPTH, scope, latch, done);
                latch.wait();
                assert_eq!(done.load(Relaxed), (2 << DEPTH) - 1);
                assert_eq!(waiter.join(), (2 << DEPTH) - 1);
            });
        }
    });
}

/// All go on together, once, the last one without having slept.
#[test]
fn arrive_and_wait_meets_once() {
    const PARTIES: usize = 5;

    watchdog("arrive_and_wait", || {
        for _ in 0..rounds(50) {
            let (latch, here) = (Latch::new(PARTIES), AtomicUsize::new(0));
            thread::scope(|scope| {
                for number in 0..PARTIES {
                    let (latch, here) = (&latch, &here);
                    spawn(scope, format!("party {number}"), move || {
                        here.fetch_add(1, Relaxed);
                        latch.arrive_and_wait();
                        assert_eq!(here.load(Relaxed), PARTIES);
                    });
                }
            });
        }
        Latch::new(1).arrive_and_wait();
    });
}

/// Darksonn/watch#4, libdispatch #878: each wake-up restarted the timeout. Others count up and down, more often than the
/// timeout is long, for as long as the waiter waits.
#[test]
fn counts_that_do_not_open_restart_no_timeout() {
    watchdog("counts that do not open", || {
        for form in 0..Wait::TIMED {
            let (latch, over) = (Latch::new(1), AtomicBool::new(false));
            thread::scope(|scope| {
                spawn(scope, "counts up and down", || {
                    while !over.load(Acquire) {
                        latch.count_up(2);
                        assert!(!latch.count_down_by(2));
                        thread::yield_now();
                    }
                });
                let start = Instant::now();
                let wait = Wait::within(Duration::from_millis(10))[form];
                assert_eq!(wait_for_opening(&latch, wait), Err(TimedOut));
                assert!(wait.is_due(start), "{wait:?}: early");
                over.store(true, Release);
            });
            assert_eq!(latch.count(), 1);
        }
    });
}

/// What comes between the first look and that at the clock is seen.
#[test]
fn what_comes_before_the_clock_is_read_is_seen() {
    let latch = Latch::new(2);
    let count = || _ = latch.count_down();
    assert_eq!(latch.wait_until(PassedAfter(&count)), Err(TimedOut));
    assert_eq!(latch.wait_until(PassedAfter(&count)), Ok(()));
    // Open already: nobody asks when.
    assert_eq!(latch.wait_until(SystemTime::UNIX_EPOCH), Ok(()));
}

proptest! {
    /// On one thread it is a number that ends at zero.
    #[test]
    fn it_agrees_with_a_number(
        start in prop_oneof![0..6_usize, MAX - 6..=MAX],
        steps in proptest::collection::vec((any::<bool>(), prop_oneof![0..4_usize, MAX - 6..=MAX + 1]), 0..40),
    ) {
        let latch = Latch::new(start);
        let mut count = start;
        for (up, n) in steps {
            let allowed = n == 0 || if up { count > 0 && n <= MAX - count } else { n <= count };
            if !allowed {
                common::panics::panic_of(|| if up { latch.count_up(n) } else { _ = latch.count_down_by(n) });
            } else if up {
                latch.count_up(n);
                count += n;
            } else {
                count -= n;
                prop_assert_eq!(latch.count_down_by(n), n > 0 && count == 0);
            }
            prop_assert_eq!(latch.count(), count);
            for wait in Wait::passed() {
                prop_assert_eq!(wait_for_opening(&latch, wait).is_ok(), count == 0);
            }
        }
    }
}
