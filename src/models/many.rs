//! The counting semaphore, many permits at once.

use super::{Arc, Plain, disturbed, expire, explore, explore_up_to, later, thread, woken};
use crate::Semaphore;
use crate::atomic::model::thread::JoinHandle;

fn acquirer(semaphore: &Arc<Semaphore>, n: usize) -> JoinHandle<()> {
    let semaphore = Arc::clone(semaphore);
    thread::spawn(move || semaphore.acquire_many(n))
}

fn user(semaphore: &Arc<Semaphore>, n: usize) -> JoinHandle<()> {
    let semaphore = Arc::clone(semaphore);
    thread::spawn(move || drop(semaphore.acquire_permits(n)))
}

fn timed_user(semaphore: &Arc<Semaphore>, n: usize) -> JoinHandle<bool> {
    let semaphore = Arc::clone(semaphore);
    thread::spawn(move || semaphore.try_acquire_permits_until(n, later()).is_some())
}

fn assert_at_rest(semaphore: &Semaphore, permits: usize) {
    assert_eq!(semaphore.available_permits(), permits);
    assert_eq!(semaphore.registered_waiters(), 0);
    let woken_before = woken();
    semaphore.release_many(3);
    assert_eq!(woken(), woken_before, "nobody is left to be woken");
}

#[test]
fn single_releases_add_up_to_many() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = acquirer(&semaphore, 2);
        semaphore.release();
        semaphore.release();
        waiter.join().unwrap();
        assert_at_rest(&semaphore, 0);
    });
}

/// marusama #3/#4: one release that satisfies two callers with many.
#[test]
fn one_release_of_four_ends_two_waits_for_two() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiters = [acquirer(&semaphore, 2), acquirer(&semaphore, 2)];
        semaphore.release_many(4);
        for waiter in waiters {
            waiter.join().unwrap();
        }
        assert_at_rest(&semaphore, 0);
    });
}

#[test]
fn callers_for_many_take_turns() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(2));
        let users = [user(&semaphore, 2), user(&semaphore, 2)];
        drop(semaphore.acquire_permits(2));
        for user in users {
            user.join().unwrap();
        }
        assert_at_rest(&semaphore, 2);
    });
}

#[test]
fn a_caller_for_many_and_callers_for_one_get_by() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(2));
        let users = [user(&semaphore, 1), user(&semaphore, 2)];
        drop(semaphore.acquire_permit());
        for user in users {
            user.join().unwrap();
        }
        assert_at_rest(&semaphore, 2);
    });
}

/// Go #37852, embassy#6964: whoever waits for more than there is and gives up, strands nobody.
#[test]
fn pieces_given_back_wake_those_who_wait_for_one() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let greedy = timed_user(&semaphore, 2);
        let modest = user(&semaphore, 1);
        expire();
        assert!(!greedy.join().unwrap());
        modest.join().unwrap();
        assert_at_rest(&semaphore, 1);
    });
}

#[test]
fn a_collector_whose_time_is_up_passes_its_turn_on() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let first = timed_user(&semaphore, 3);
        let second = acquirer(&semaphore, 2);
        expire();
        first.join().unwrap();
        semaphore.release();
        second.join().unwrap();
        assert_at_rest(&semaphore, 0);
    });
}

/// One of three that want two gets them out of turn, after the wake-up on the upper half that was meant for it.
#[test]
fn a_caller_that_leaves_the_queue_passes_its_wake_up_on() {
    explore_up_to(1, || {
        let semaphore = Arc::new(Semaphore::new(1));
        let users = [(); 2].map(|()| user(&semaphore, 2));
        let releaser = {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || semaphore.release())
        };
        drop(semaphore.acquire_permits(2));
        for user in users {
            user.join().unwrap();
        }
        releaser.join().unwrap();
        assert_at_rest(&semaphore, 2);
    });
}

#[test]
fn a_queueing_caller_whose_time_is_up_strands_no_other() {
    explore_up_to(1, || {
        let semaphore = Arc::new(Semaphore::new(2));
        let permits = semaphore.acquire_permits(2);
        let impatient = [timed_user(&semaphore, 2), timed_user(&semaphore, 2)];
        let patient = user(&semaphore, 2);
        drop(permits);
        expire();
        patient.join().unwrap();
        for user in impatient {
            user.join().unwrap();
        }
        assert_at_rest(&semaphore, 2);
    });
}

#[test]
fn a_timeout_and_a_release_share_out_the_permits() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let waiter = {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || semaphore.try_acquire_many_until(2, later()))
        };
        let timer = thread::spawn(expire);
        semaphore.release();
        let got = waiter.join().unwrap();
        timer.join().unwrap();
        assert_at_rest(&semaphore, if got { 0 } else { 2 });
    });
}

#[test]
fn permits_released_before_the_time_is_up_are_taken() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || semaphore.try_acquire_many_until(2, later()))
        };
        semaphore.release();
        semaphore.release();
        expire();
        assert!(waiter.join().unwrap());
    });
}

#[test]
fn a_collector_sees_what_each_releaser_did() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let (here, there) = (Plain::new(), Plain::new());
        let collector = {
            let (semaphore, here, there) = (Arc::clone(&semaphore), here.clone(), there.clone());
            thread::spawn(move || {
                if semaphore.try_acquire_many_until(2, later()) {
                    assert_eq!((here.read(), there.read()), (7, 8));
                }
            })
        };
        let other = {
            let (semaphore, there) = (Arc::clone(&semaphore), there.clone());
            thread::spawn(move || {
                there.write(8);
                semaphore.release();
            })
        };
        here.write(7);
        semaphore.release();
        expire();
        collector.join().unwrap();
        other.join().unwrap();
    });
}

/// What a collector that gives up puts back still carries the order of the release that it came from.
#[test]
fn pieces_given_back_keep_their_releasers_order() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let plain = Plain::new();
        let greedy = timed_user(&semaphore, 2);
        let reader = {
            let (semaphore, plain) = (Arc::clone(&semaphore), plain.clone());
            thread::spawn(move || {
                semaphore.acquire();
                assert_eq!(plain.read(), 7);
            })
        };
        plain.write(7);
        semaphore.release();
        expire();
        reader.join().unwrap();
        assert!(!greedy.join().unwrap());
    });
}

#[test]
fn who_is_up_for_nothing_sleeps_on() {
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let shared = Arc::clone(&semaphore);
        disturbed(move || shared.acquire_many(3), || semaphore.release_many(2));
        assert_eq!((semaphore.available_permits(), semaphore.registered_waiters()), (0, 0));
    });
}
