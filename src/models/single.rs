//! The counting semaphore, one permit at a time.

use super::{Arc, Plain, disturbed, expire, explore, later, thread, woken};
use crate::Semaphore;
use crate::atomic::model::thread::JoinHandle;

fn acquirer(semaphore: &Arc<Semaphore>) -> JoinHandle<()> {
    let semaphore = Arc::clone(semaphore);
    thread::spawn(move || semaphore.acquire())
}

fn timed_acquirer(semaphore: &Arc<Semaphore>) -> JoinHandle<bool> {
    let semaphore = Arc::clone(semaphore);
    thread::spawn(move || semaphore.try_acquire_until(later()))
}

#[test]
fn a_release_ends_a_wait() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = acquirer(&semaphore);
        semaphore.release();
        waiter.join().unwrap();
        assert_eq!(semaphore.available_permits(), 0);
        assert!(woken() <= 1);
    });
}

/// llvm #46357: the second of two releases finds the first one's permit still there.
#[test]
fn two_releases_end_two_waits() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiters = [acquirer(&semaphore), acquirer(&semaphore)];
        semaphore.release();
        semaphore.release();
        for waiter in waiters {
            waiter.join().unwrap();
        }
        assert!(woken() <= 2);
    });
}

#[test]
fn one_release_of_two_ends_two_waits() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiters = [acquirer(&semaphore), acquirer(&semaphore)];
        semaphore.release_many(2);
        for waiter in waiters {
            waiter.join().unwrap();
        }
        assert!(woken() <= 2);
    });
}

/// The releaser that is behind another one's back wakes by itself: nobody depends on a stalled waker (musl 882aedf).
#[test]
fn releases_from_two_threads_end_two_waits() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = acquirer(&semaphore);
        let releaser = {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || semaphore.release())
        };
        semaphore.release();
        semaphore.acquire();
        waiter.join().unwrap();
        releaser.join().unwrap();
    });
}

#[test]
fn a_barging_thread_leaves_no_waiter_behind() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let users = [(); 2].map(|()| {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || {
                semaphore.acquire();
                semaphore.release();
            })
        });
        if semaphore.try_acquire() {
            semaphore.release();
        }
        for user in users {
            user.join().unwrap();
        }
        assert_eq!(semaphore.available_permits(), 1);
    });
}

#[test]
fn a_timeout_and_a_release_share_out_one_permit() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = timed_acquirer(&semaphore);
        let timer = thread::spawn(expire);
        semaphore.release();
        let got = waiter.join().unwrap();
        timer.join().unwrap();
        assert_eq!(semaphore.available_permits() + usize::from(got), 1);
        // Nobody is registered any more: a release has nobody to wake.
        let woken_before = woken();
        semaphore.release();
        assert_eq!(woken(), woken_before);
        assert_eq!(semaphore.registered_waiters(), 0);
    });
}

/// A last look after the platform has said that the time is up: a permit released before that is not left behind.
#[test]
fn a_permit_released_before_the_time_is_up_is_taken() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = timed_acquirer(&semaphore);
        semaphore.release();
        expire();
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn a_waiter_that_times_out_strands_no_other() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let timed = timed_acquirer(&semaphore);
        let patient = acquirer(&semaphore);
        semaphore.release();
        expire();
        assert!(woken() <= 1, "one release, one wake-up");
        if timed.join().unwrap() {
            semaphore.release();
        }
        patient.join().unwrap();
        assert_eq!(semaphore.available_permits(), 0);
        assert_eq!(semaphore.registered_waiters(), 0);
    });
}

#[test]
fn what_was_done_before_a_release_is_seen_after_the_acquire() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let plain = Plain::new();
        let reader = {
            let (semaphore, plain) = (Arc::clone(&semaphore), plain.clone());
            thread::spawn(move || {
                semaphore.acquire();
                assert_eq!(plain.read(), 7);
            })
        };
        plain.write(7);
        semaphore.release();
        reader.join().unwrap();
    });
}

#[test]
fn a_large_release_orders_as_a_small_one_does() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let plain = Plain::new();
        let reader = {
            let (semaphore, plain) = (Arc::clone(&semaphore), plain.clone());
            thread::spawn(move || {
                if semaphore.try_acquire() {
                    assert_eq!(plain.read(), 7);
                }
            })
        };
        plain.write(7);
        semaphore.release_many(1000);
        reader.join().unwrap();
    });
}

#[test]
fn a_timed_acquire_and_a_dropped_permit_order_as_acquire_and_release_do() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let plain = Plain::new();
        let permit = semaphore.acquire_permit();
        let reader = {
            let (semaphore, plain) = (Arc::clone(&semaphore), plain.clone());
            thread::spawn(move || {
                if semaphore.try_acquire_until(later()) {
                    assert_eq!(plain.read(), 7);
                }
            })
        };
        let timer = thread::spawn(expire);
        plain.write(7);
        drop(permit);
        reader.join().unwrap();
        timer.join().unwrap();
    });
}

/// An acquire synchronizes with every release before it, not only with the last one.
#[test]
fn an_acquire_sees_what_every_earlier_releaser_did() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let plain = Plain::new();
        let early = {
            let (semaphore, plain) = (Arc::clone(&semaphore), plain.clone());
            thread::spawn(move || {
                plain.write(7);
                semaphore.release();
            })
        };
        let late = {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || semaphore.release())
        };
        semaphore.acquire();
        semaphore.acquire();
        assert_eq!(plain.read(), 7);
        early.join().unwrap();
        late.join().unwrap();
    });
}

#[test]
fn who_is_up_for_nothing_sleeps_on() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let shared = Arc::clone(&semaphore);
        disturbed(move || shared.acquire(), || semaphore.release());
        assert_eq!((semaphore.available_permits(), semaphore.registered_waiters()), (0, 0));
    });
}
