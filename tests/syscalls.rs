//! Calls that have nothing to wait for and nobody to wake make no system call, and allocate nothing: the semaphores, and the
//! proof that it would be seen. Latch, barrier and one-shot are in `syscalls_events.rs`.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "raw releases")]

mod common;

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use common::quiet::{Watched, assert_caught, assert_quiet, forbid_system_calls, passed_deadlines, sleep_once, step};
use common::spawn;
use common::threads::until_all_asleep;
use waitline::{BinarySemaphore, Deadline, Semaphore};

#[global_allocator]
static ALLOCATOR: Watched = Watched;

const ROUNDS: usize = 2_000;

#[test]
fn passed_deadlines_make_no_system_call() {
    assert_quiet("passed_deadlines_make_no_system_call", || {
        let fixture = Fixture::empty();
        forbid_system_calls();
        fixture.take_in_vain();
    });
}

#[test]
fn what_is_there_is_taken_and_given_back_without_a_system_call() {
    assert_quiet("what_is_there_is_taken_and_given_back_without_a_system_call", || {
        let fixture = Fixture::empty();
        forbid_system_calls();
        fixture.give_and_take();
    });
}

#[test]
fn nobody_is_woken_who_slept_and_timed_out() {
    assert_quiet("nobody_is_woken_who_slept_and_timed_out", || {
        let fixture = Fixture::empty();
        let soon = Duration::from_millis(1);
        for _ in 0..3 {
            assert!(!fixture.binary.try_acquire_for(soon));
            assert!(!fixture.binary.try_acquire_until(SystemTime::now() + soon));
            assert!(!fixture.counting.try_acquire_for(soon));
            assert!(!fixture.counting.try_acquire_until(SystemTime::now() + soon));
            assert!(!fixture.counting.try_acquire_many_for(3, soon));
            fixture.counting.release();
            assert!(!fixture.counting.try_acquire_many_until(3, Instant::now() + soon));
            assert!(fixture.counting.try_acquire(), "the piece is given back");
        }
        forbid_system_calls();
        fixture.take_in_vain();
        fixture.give_and_take();
    });
}

#[test]
fn nobody_is_woken_who_was_woken_before() {
    assert_quiet("nobody_is_woken_who_was_woken_before", || {
        let fixture = Fixture::empty();
        thread::scope(|scope| {
            let mut waiters = Vec::new();
            for _ in 0..4 {
                waiters.push(spawn(scope, "one at a time", || (0..100).for_each(|_| fixture.counting.acquire())));
                waiters.push(spawn(scope, "two at a time", || (0..50).for_each(|_| fixture.counting.acquire_many(2))));
                waiters.push(spawn(scope, "the binary one", || fixture.binary.acquire()));
            }
            // So that each has been registered before it takes a permit.
            until_all_asleep(&waiters);
            (0..800).for_each(|_| fixture.counting.release());
            let mut binary = 0;
            while binary < 4 {
                binary += usize::from(fixture.binary.release());
                thread::yield_now();
            }
        });
        forbid_system_calls();
        fixture.take_in_vain();
        fixture.give_and_take();
    });
}

#[test]
fn the_filter_catches_a_call_that_sleeps() {
    assert_caught("the_filter_catches_a_call_that_sleeps", "system call", || {
        let semaphore = Semaphore::new(0);
        sleep_once();
        forbid_system_calls();
        step("sleep");
        semaphore.acquire();
    });
}

#[test]
fn the_filter_catches_a_call_that_wakes() {
    assert_caught("the_filter_catches_a_call_that_wakes", "system call", || {
        let semaphore = Arc::new(BinarySemaphore::new(false));
        sleep_once();
        let sleeper = Arc::clone(&semaphore);
        thread::spawn(move || {
            loop {
                sleeper.acquire();
            }
        });
        forbid_system_calls();
        step("wake");
        // The other thread is given ever more time to fall asleep again, until a release finds that it did.
        for gap in (10..).map(|power| Duration::from_micros(1 << power)) {
            let start = Instant::now();
            while start.elapsed() < gap {}
            semaphore.release();
        }
    });
}

#[test]
fn the_allocator_catches_an_allocation() {
    assert_caught("the_allocator_catches_an_allocation", "an allocation", || {
        forbid_system_calls();
        step("allocate");
        drop(black_box(Box::new(1)));
    });
}

/// What the calls are made on: nothing is available.
struct Fixture {
    counting: Arc<Semaphore>,
    binary: BinarySemaphore,
}

impl Fixture {
    fn empty() -> Fixture {
        Fixture { counting: Arc::new(Semaphore::new(0)), binary: BinarySemaphore::new(false) }
    }

    /// Every call that may fail, with every way to have no time left.
    fn take_in_vain(&self) {
        let Fixture { counting, binary } = self;
        for round in 0..ROUNDS {
            step("try_");
            assert!(!counting.try_acquire() && !counting.try_acquire_many(2) && !binary.try_acquire());
            assert!(counting.try_acquire_permit().is_none() && counting.try_acquire_permits(2).is_none());
            assert!(counting.try_acquire_owned(2).is_none());
            step("_for(ZERO)");
            assert!(!counting.try_acquire_for(Duration::ZERO) && !counting.try_acquire_many_for(2, Duration::ZERO));
            assert!(!binary.try_acquire_for(Duration::ZERO));
            assert!(counting.try_acquire_permit_for(Duration::ZERO).is_none());
            assert!(counting.try_acquire_permits_for(2, Duration::ZERO).is_none());
            assert!(counting.try_acquire_owned_for(1, Duration::ZERO).is_none());
            for (kind, deadline) in passed_deadlines(round as u64) {
                step(kind);
                assert!(!counting.try_acquire_until(deadline) && !counting.try_acquire_many_until(2, deadline));
                assert!(!binary.try_acquire_until(deadline));
                assert!(counting.try_acquire_permit_until(deadline).is_none());
                assert!(counting.try_acquire_permits_until(2, deadline).is_none());
                assert!(counting.try_acquire_owned_until(1, deadline).is_none());
            }
        }
    }

    /// Every call that gives, with nobody asleep, and every call that takes what is there.
    fn give_and_take(&self) {
        const ENOUGH: Duration = Duration::from_secs(60);
        let Fixture { counting, binary } = self;
        for round in 0..ROUNDS {
            step("release, acquire");
            (0..3).for_each(|_| counting.release());
            counting.acquire();
            assert!(counting.try_acquire() && counting.try_acquire_for(ENOUGH));
            step("release_many, acquire_many");
            counting.release_many(9);
            counting.acquire_many(3);
            assert!(counting.try_acquire_many(3) && counting.try_acquire_many_for(3, ENOUGH));
            step("release_many of many, and of nothing");
            counting.release_many(Semaphore::MAX_PERMITS);
            counting.acquire_many(Semaphore::MAX_PERMITS);
            counting.release_many(0);
            counting.acquire_many(0);
            step("release_raw");
            // SAFETY: both semaphores outlive the calls.
            unsafe { Semaphore::release_raw(Arc::as_ptr(counting), 1) };
            // SAFETY: as above.
            assert!(unsafe { BinarySemaphore::release_raw(binary) });
            counting.acquire();
            binary.acquire();
            step("the binary release, acquire");
            assert!(binary.release() && !binary.release());
            assert!(binary.try_acquire());
            assert!(binary.release() && binary.try_acquire_for(ENOUGH));
            step("permits");
            counting.release_many(3);
            drop((counting.acquire_permit(), counting.acquire_permits(2)));
            drop((counting.try_acquire_permit(), counting.try_acquire_permits(2)));
            drop((counting.try_acquire_permit_for(ENOUGH), counting.try_acquire_permits_for(2, ENOUGH)));
            drop((counting.acquire_owned(1), counting.try_acquire_owned(1), counting.try_acquire_owned_for(1, ENOUGH)));
            counting.acquire_owned(2).forget();
            counting.acquire_permit().forget();
            for (kind, deadline) in passed_deadlines(round as u64).into_iter().chain([("never", Deadline::NEVER)]) {
                step(kind);
                counting.release_many(3);
                assert!(counting.try_acquire_until(deadline) && counting.try_acquire_many_until(2, deadline));
                assert!(binary.release() && binary.try_acquire_until(deadline));
                counting.release_many(3);
                let permit = counting.try_acquire_permit_until(deadline);
                let permits = counting.try_acquire_permits_until(1, deadline);
                let owned = counting.try_acquire_owned_until(1, deadline);
                assert!(permit.is_some() && permits.is_some() && owned.is_some());
                drop((permit, permits, owned));
                counting.acquire_many(3);
            }
        }
        assert_eq!((counting.available_permits(), binary.is_available()), (0, false));
    }
}
