//! Permits that give themselves back.

mod common;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use common::{Call, Counting, Held, Pool, Wait, rounds, spawn, watchdog};
use waitline::{OwnedPermit, Permit, Semaphore};

const MAX: usize = Semaphore::MAX_PERMITS;

/// Every call that makes a guard.
const GUARDS: [Call; 5] = [Call::Permit, Call::Permits(1), Call::Permits(3), Call::Owned(1), Call::Owned(3)];

/// Every form that can take what is there.
fn forms() -> Vec<Wait> {
    let mut all = vec![Wait::Untimed, Wait::Try, Wait::For(Duration::MAX)];
    all.extend(Wait::within(Duration::from_secs(1)));
    all
}

#[test]
fn a_guard_gives_back_what_it_holds() {
    for pool in GUARDS.map(|call| Counting::new(5, call)) {
        for wait in forms() {
            let held = pool.take(wait).unwrap();
            let number = match &held {
                Held::Plain(_) => unreachable!(),
                Held::Permit(permit) => permit.num_permits(),
                Held::Owned(permit) => permit.num_permits(),
            };
            assert_eq!(number, pool.size(), "{pool}, {wait:?}");
            assert_eq!(pool.available(), 5 - pool.size(), "{pool}, {wait:?}");
            drop(held);
            assert_eq!(pool.available(), 5, "{pool}, {wait:?}");
        }
    }
}

#[test]
fn a_guard_that_is_forgotten_gives_nothing_back() {
    for pool in GUARDS.map(|call| Counting::new(30, call)) {
        for (times, wait) in forms().into_iter().enumerate() {
            pool.take(wait).unwrap().keep();
            assert_eq!(pool.available(), 30 - (times + 1) * pool.size(), "{pool}, {wait:?}");
        }
    }
}

#[test]
fn there_is_no_guard_without_permits() {
    for pool in GUARDS.map(|call| Counting::new(0, call)) {
        for wait in Wait::passed().into_iter().chain(Wait::within(Duration::from_micros(100))) {
            assert!(pool.take(wait).is_none(), "{pool}, {wait:?}");
        }
    }
}

#[test]
fn an_empty_guard_holds_nothing() {
    let semaphore = Arc::new(Semaphore::new(0));
    assert_eq!(semaphore.acquire_permits(0).num_permits(), 0);
    assert_eq!(semaphore.acquire_owned(0).num_permits(), 0);
    semaphore.acquire_owned(0).forget();
    semaphore.acquire_permits(0).forget();
    assert_eq!(semaphore.available_permits(), 0);
}

/// tokio#2340, #8542, asyncband#41: a permit leaked on panic.
#[test]
fn a_panic_gives_back() {
    for pool in GUARDS.map(|call| Counting::new(5, call)) {
        let panic = common::panics::panic_of(|| {
            let _held = pool.take(Wait::Untimed);
            panic!("with a permit in hand");
        });
        assert_eq!(panic.message, "with a permit in hand");
        assert_eq!(pool.available(), 5, "{pool}");
    }
}

/// A guard's drop is a release: it wakes who waits for it, in any thread.
#[test]
fn a_drop_elsewhere_wakes_the_waiter() {
    watchdog("a drop elsewhere", || {
        for pool in GUARDS.map(|call| Counting::new(3, call)) {
            for wait in forms() {
                let wait = if let Wait::Untimed | Wait::For(_) = wait { wait } else { Wait::For(Duration::MAX) };
                let held = pool.take(Wait::Try).unwrap();
                thread::scope(|scope| {
                    let all = Counting { semaphore: Arc::clone(&pool.semaphore), call: Call::Many(3) };
                    let waiter = spawn(scope, format!("all of {pool}, {wait:?}"), move || all.take(wait).is_some());
                    waiter.until_asleep();
                    spawn(scope, "drops the guard", move || drop(held));
                    assert!(waiter.join());
                });
                assert_eq!(pool.give(3, true), 3);
            }
        }
    });
}

/// Owned permits keep their semaphore, and let go of it, forgotten or not.
#[test]
fn an_owned_permit_keeps_the_semaphore_alive() {
    let semaphore = Arc::new(Semaphore::new(3));
    let watch = Arc::downgrade(&semaphore);
    let (dropped, forgotten) = (semaphore.acquire_owned(1), semaphore.acquire_owned(2));
    assert_eq!(Arc::strong_count(&semaphore), 3);
    drop(semaphore);
    assert_eq!(watch.upgrade().unwrap().available_permits(), 0);
    thread::spawn(move || drop(dropped)).join().unwrap();
    assert_eq!(watch.upgrade().unwrap().available_permits(), 1);
    forgotten.forget();
    assert!(watch.upgrade().is_none());
}

/// Refused and failed calls keep nothing either.
#[test]
fn a_call_that_fails_keeps_no_reference() {
    let semaphore = Arc::new(Semaphore::new(1));
    for wait in Wait::passed().into_iter().chain(Wait::within(Duration::from_micros(100))) {
        let pool = Counting { semaphore: Arc::clone(&semaphore), call: Call::Owned(2) };
        assert!(pool.take(wait).is_none());
    }
    common::panics::panic_of(|| semaphore.acquire_owned(MAX + 1));
    assert_eq!(Arc::strong_count(&semaphore), 1);
}

/// Others have filled the semaphore meanwhile: what does not fit is lost, and the drop does not panic, since it may run
/// in an unwinding already.
#[test]
fn a_drop_on_a_full_semaphore_does_not_panic() {
    for (size, room) in [(1, 0), (3, 0), (3, 2), (64, 63), (65, 1)] {
        for call in [Call::Permits(size), Call::Owned(size)] {
            let pool = Counting::new(size, call);
            let held = pool.take(Wait::Untimed).unwrap();
            pool.semaphore.release_many(MAX - room);
            drop(held);
            assert_eq!(pool.available(), MAX, "{pool}");
        }
    }
}

/// At most so many at a time, through guards, whatever the form.
#[test]
fn guards_bound_who_is_inside() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    const BOUND: usize = 3;

    watchdog("guards bound who is inside", || {
        let semaphore = Arc::new(Semaphore::new(BOUND));
        let inside = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in 0..8 {
                let (semaphore, inside, rounds) = (&semaphore, &inside, rounds(200));
                spawn(scope, format!("number {number}"), move || {
                    for round in 0..rounds {
                        let call = GUARDS[(number + round as usize) % GUARDS.len()];
                        let pool = Counting { semaphore: Arc::clone(semaphore), call };
                        let wait = Wait::within(Duration::from_micros(50))[number % Wait::TIMED];
                        if let Some(held) = pool.take(if number % 2 == 0 { Wait::Untimed } else { wait }) {
                            let now = inside.fetch_add(pool.size(), Relaxed) + pool.size();
                            assert!(now <= BOUND, "{now} inside");
                            thread::yield_now();
                            inside.fetch_sub(pool.size(), Relaxed);
                            drop(held);
                        }
                    }
                });
            }
        });
        assert_eq!(semaphore.available_permits(), BOUND);
    });
}

/// Both can be handed to other threads and stored without the semaphore's borrow, or with it.
#[test]
fn guards_travel() {
    let semaphore = Arc::new(Semaphore::new(4));
    let owned: Vec<OwnedPermit> = (0..2).map(|_| semaphore.acquire_owned(1)).collect();
    let borrowed: Vec<Permit<'_>> = (0..2).map(|_| semaphore.acquire_permit()).collect();
    let asked = thread::scope(|scope| {
        let ask = || borrowed.iter().map(Permit::num_permits).sum::<usize>();
        scope.spawn(ask).join().unwrap()
    });
    assert_eq!(asked, 2);
    thread::scope(|scope| {
        scope.spawn(move || drop(borrowed));
        scope.spawn(move || drop(owned));
    });
    assert_eq!(semaphore.available_permits(), 4);
}
