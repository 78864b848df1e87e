//! Waiting on addresses. The model's table has one bucket, which all addresses share.

use super::{Arc, Plain, disturbed, expire, explore, explore_up_to, later, thread};
use crate::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use crate::wait::counted_waiters;
use crate::{AtomicWait, TimedOut};

fn waiter(value: &Arc<AtomicU32>, old: u32) -> thread::JoinHandle<u32> {
    let value = Arc::clone(value);
    thread::spawn(move || value.wait(old, Relaxed))
}

fn timed_waiter(value: &Arc<AtomicU32>, old: u32) -> thread::JoinHandle<Result<u32, TimedOut>> {
    let value = Arc::clone(value);
    thread::spawn(move || value.wait_until(old, Relaxed, later()))
}

/// Nothing but the fences orders the store.
#[test]
fn a_notification_after_a_relaxed_store_is_not_lost() {
    explore(|| {
        let value = Arc::new(AtomicU32::new(0));
        let waiter = waiter(&value, 0);
        value.store(1, Relaxed);
        value.notify_one();
        assert_eq!(waiter.join().unwrap(), 1);
        assert_eq!(counted_waiters(&*value), 0);
    });
}

/// The store comes from the spawned thread, and the waiter is first.
#[test]
fn a_notification_from_either_thread_is_not_lost() {
    explore(|| {
        let value = Arc::new(AtomicU32::new(0));
        let notifier = {
            let value = Arc::clone(&value);
            thread::spawn(move || {
                value.store(1, Relaxed);
                value.notify_all();
            })
        };
        assert_eq!(value.wait(0, Relaxed), 1);
        notifier.join().unwrap();
    });
}

#[test]
fn a_release_store_is_seen_by_an_acquire_wait() {
    explore(|| {
        let (value, plain) = (Arc::new(AtomicU32::new(0)), Plain::new());
        let reader = {
            let (value, plain) = (Arc::clone(&value), plain.clone());
            thread::spawn(move || {
                value.wait(0, Acquire);
                assert_eq!(plain.read(), 7);
            })
        };
        plain.write(7);
        value.store(1, Release);
        value.notify_one();
        reader.join().unwrap();
    });
}

#[test]
fn a_notification_ends_no_wait_on_another_address() {
    explore_up_to(2, || {
        let values = [Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0))];
        let waiters = [waiter(&values[0], 0), waiter(&values[1], 0)];
        values[0].store(1, Relaxed);
        values[0].notify_one();
        let [first, second] = waiters;
        assert_eq!(first.join().unwrap(), 1);
        values[1].store(2, Relaxed);
        values[1].notify_one();
        assert_eq!(second.join().unwrap(), 2);
    });
}

#[test]
fn a_notification_of_all_reaches_all() {
    explore_up_to(2, || {
        let value = Arc::new(AtomicU32::new(0));
        let waiters = [waiter(&value, 0), waiter(&value, 0)];
        value.store(1, Relaxed);
        value.notify_all();
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), 1);
        }
    });
}

#[test]
fn two_notifications_of_one_reach_two() {
    explore_up_to(2, || {
        let value = Arc::new(AtomicU32::new(0));
        let waiters = [waiter(&value, 0), waiter(&value, 0)];
        value.store(1, Relaxed);
        value.notify_one();
        value.notify_one();
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), 1);
        }
    });
}

#[test]
fn a_notification_and_a_timeout_agree() {
    explore_up_to(2, || {
        let value = Arc::new(AtomicU32::new(0));
        let timed = timed_waiter(&value, 0);
        let timer = thread::spawn(expire);
        value.store(1, Relaxed);
        value.notify_one();
        let told = timed.join().unwrap();
        timer.join().unwrap();
        assert!(matches!(told, Ok(1) | Err(TimedOut)));
        assert_eq!(counted_waiters(&*value), 0);
        assert_eq!(value.wait_until(0, Relaxed, later()), Ok(1));
    });
}

#[test]
fn a_change_before_the_time_is_up_is_found() {
    explore_up_to(2, || {
        let value = Arc::new(AtomicU32::new(0));
        let timed = timed_waiter(&value, 0);
        value.store(1, Release);
        value.notify_one();
        expire();
        assert_eq!(timed.join().unwrap(), Ok(1));
    });
}

/// The one notification is for either, and who leaves does not take it along.
#[test]
fn a_waiter_that_times_out_passes_its_notification_on() {
    explore_up_to(2, || {
        let value = Arc::new(AtomicU32::new(0));
        let timed = timed_waiter(&value, 0);
        value.store(1, Relaxed);
        let patient = waiter(&value, 1);
        value.store(0, Relaxed);
        value.notify_one();
        expire();
        let told = timed.join().unwrap();
        if told.is_ok() {
            value.notify_one(); // it found the value between the two stores
        }
        assert_eq!(patient.join().unwrap(), 0);
    });
}

#[test]
fn a_waiter_that_times_out_leaves_the_queue_in_order() {
    explore_up_to(2, || {
        let value = Arc::new(AtomicU32::new(0));
        let timed = timed_waiter(&value, 0);
        let patient = waiter(&value, 0);
        expire();
        let told = timed.join().unwrap();
        value.store(1, Relaxed);
        value.notify_one();
        assert_eq!(patient.join().unwrap(), 1);
        assert_eq!(told, Err(TimedOut));
    });
}

#[test]
fn who_is_up_for_nothing_sleeps_on() {
    explore_up_to(2, || {
        let value = Arc::new(AtomicU32::new(0));
        let shared = Arc::clone(&value);
        disturbed(
            move || assert_eq!(shared.wait(0, Relaxed), 1),
            || {
                value.store(1, Relaxed);
                value.notify_one();
            },
        );
        assert_eq!(counted_waiters(&*value), 0);
    });
}
