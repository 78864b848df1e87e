//! The binary semaphore.

use super::{Arc, Plain, disturbed, expire, explore, explore_up_to, later, thread, woken};
use crate::BinarySemaphore;
use crate::atomic::model::thread::JoinHandle;

fn timed_acquirer(semaphore: &Arc<BinarySemaphore>) -> JoinHandle<bool> {
    let semaphore = Arc::clone(semaphore);
    thread::spawn(move || semaphore.try_acquire_until(later()))
}

fn user(semaphore: &Arc<BinarySemaphore>) -> JoinHandle<()> {
    let semaphore = Arc::clone(semaphore);
    thread::spawn(move || {
        semaphore.acquire();
        semaphore.release();
    })
}

#[test]
fn a_release_ends_a_wait() {
    explore(|| {
        let semaphore = Arc::new(BinarySemaphore::new(false));
        let waiter = user(&semaphore);
        assert!(semaphore.release());
        waiter.join().unwrap();
        assert!(semaphore.is_available());
        assert_eq!(semaphore.registered_waiters(), 0);
        assert!(woken() <= 1);
    });
}

#[test]
fn one_permit_serves_three_threads_in_turn() {
    explore(|| {
        let semaphore = Arc::new(BinarySemaphore::new(true));
        let users = [user(&semaphore), user(&semaphore)];
        semaphore.acquire();
        semaphore.release();
        for user in users {
            user.join().unwrap();
        }
        assert!(semaphore.is_available());
    });
}

/// A barging thread takes the permit from a woken waiter, whose time then comes.
#[test]
fn a_waiter_that_times_out_strands_no_other() {
    explore(|| {
        let semaphore = Arc::new(BinarySemaphore::new(false));
        let timed = timed_acquirer(&semaphore);
        let patient = user(&semaphore);
        semaphore.release();
        expire();
        if timed.join().unwrap() {
            semaphore.release();
        }
        patient.join().unwrap();
        assert_eq!(semaphore.registered_waiters(), 0);
    });
}

#[test]
fn a_thread_that_barges_leaves_no_waiter_behind() {
    explore_up_to(2, || {
        let semaphore = Arc::new(BinarySemaphore::new(false));
        let waiters = [user(&semaphore), user(&semaphore)];
        semaphore.release();
        if semaphore.try_acquire() {
            semaphore.release();
        }
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
}

#[test]
fn a_timeout_and_a_release_share_out_one_permit() {
    explore(|| {
        let semaphore = Arc::new(BinarySemaphore::new(false));
        let waiter = timed_acquirer(&semaphore);
        let timer = thread::spawn(expire);
        assert!(semaphore.release());
        let got = waiter.join().unwrap();
        timer.join().unwrap();
        assert_ne!(semaphore.is_available(), got);
        assert_eq!(semaphore.registered_waiters(), 0);
    });
}

#[test]
fn a_permit_released_before_the_time_is_up_is_taken() {
    explore(|| {
        let semaphore = Arc::new(BinarySemaphore::new(false));
        let waiter = timed_acquirer(&semaphore);
        semaphore.release();
        expire();
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn what_was_done_before_a_release_is_seen_after_the_acquire() {
    explore(|| {
        let semaphore = Arc::new(BinarySemaphore::new(false));
        let plain = Plain::new();
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
        semaphore.release();
        reader.join().unwrap();
        timer.join().unwrap();
    });
}

/// folly's SaturatingSemaphore had to be mended for this: a release too many still publishes what came before it.
#[test]
fn a_release_too_many_orders_too() {
    explore(|| {
        let semaphore = Arc::new(BinarySemaphore::new(true));
        let plain = Plain::new();
        let done = Arc::new(crate::atomic::AtomicU32::new(0));
        let releaser = {
            let (semaphore, plain, done) = (Arc::clone(&semaphore), plain.clone(), Arc::clone(&done));
            thread::spawn(move || {
                plain.write(7);
                semaphore.release();
                done.store(1, crate::atomic::Ordering::Relaxed);
            })
        };
        if done.load(crate::atomic::Ordering::Relaxed) == 1 {
            assert!(semaphore.try_acquire());
            assert_eq!(plain.read(), 7);
        }
        releaser.join().unwrap();
    });
}

#[test]
fn who_is_up_for_nothing_sleeps_on() {
    explore(|| {
        let semaphore = Arc::new(BinarySemaphore::new(false));
        let shared = Arc::clone(&semaphore);
        disturbed(
            move || shared.acquire(),
            || {
                semaphore.release();
            },
        );
        assert_eq!((semaphore.is_available(), semaphore.registered_waiters()), (false, 0));
    });
}
