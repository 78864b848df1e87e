//! The latch.

use super::{Arc, Plain, disturbed, expire, explore, later, thread, woken};
use crate::Latch;
use crate::atomic::model::thread::JoinHandle;

fn waiter(latch: &Arc<Latch>) -> JoinHandle<()> {
    let latch = Arc::clone(latch);
    thread::spawn(move || latch.wait())
}

fn counter(latch: &Arc<Latch>) -> JoinHandle<bool> {
    let latch = Arc::clone(latch);
    thread::spawn(move || latch.count_down())
}

#[test]
fn the_last_count_down_wakes_everybody() {
    explore(|| {
        let latch = Arc::new(Latch::new(1));
        let waiters = [waiter(&latch), waiter(&latch)];
        assert!(latch.count_down());
        for waiter in waiters {
            waiter.join().unwrap();
        }
        assert!(woken() <= 2);
    });
}

#[test]
fn one_of_two_count_downs_opens() {
    explore(|| {
        let latch = Arc::new(Latch::new(2));
        let waiter = waiter(&latch);
        let other = counter(&latch);
        let opened = latch.count_down();
        assert_ne!(other.join().unwrap(), opened);
        waiter.join().unwrap();
        assert_eq!(latch.count(), 0);
    });
}

#[test]
fn a_count_down_that_opens_nothing_wakes_nobody() {
    explore(|| {
        let latch = Arc::new(Latch::new(2));
        let waiter = waiter(&latch);
        assert!(!latch.count_down());
        assert_eq!(woken(), 0);
        assert!(latch.count_down());
        waiter.join().unwrap();
    });
}

#[test]
fn a_count_up_keeps_it_closed() {
    explore(|| {
        let latch = Arc::new(Latch::new(1));
        let plain = Plain::new();
        let job = {
            let (latch, plain) = (Arc::clone(&latch), plain.clone());
            thread::spawn(move || {
                latch.count_up(1);
                assert!(!latch.count_down());
                plain.write(7);
                assert!(latch.count_down());
            })
        };
        latch.wait();
        assert_eq!(plain.read(), 7);
        job.join().unwrap();
    });
}

#[test]
fn all_that_was_done_before_is_seen_by_who_waits_and_by_who_opens() {
    explore(|| {
        let latch = Arc::new(Latch::new(2));
        let (mine, others) = (Plain::new(), Plain::new());
        let other = {
            let (latch, mine, others) = (Arc::clone(&latch), mine.clone(), others.clone());
            thread::spawn(move || {
                others.write(7);
                if latch.count_down() {
                    assert_eq!(mine.read(), 7);
                }
            })
        };
        let reader = {
            let (latch, mine, others) = (Arc::clone(&latch), mine.clone(), others.clone());
            thread::spawn(move || {
                latch.wait();
                assert_eq!((mine.read(), others.read()), (7, 7));
            })
        };
        mine.write(7);
        if latch.count_down() {
            assert_eq!(others.read(), 7);
        }
        other.join().unwrap();
        reader.join().unwrap();
    });
}

#[test]
fn a_timed_wait_sees_all_or_is_told_so() {
    explore(|| {
        let latch = Arc::new(Latch::new(1));
        let plain = Plain::new();
        let timed = {
            let (latch, plain) = (Arc::clone(&latch), plain.clone());
            thread::spawn(move || {
                if latch.wait_until(later()).is_ok() {
                    assert_eq!(plain.read(), 7);
                }
            })
        };
        let timer = thread::spawn(expire);
        plain.write(7);
        latch.count_down();
        timed.join().unwrap();
        timer.join().unwrap();
    });
}

#[test]
fn an_opening_before_the_time_is_up_is_found() {
    explore(|| {
        let latch = Arc::new(Latch::new(1));
        let timed = {
            let latch = Arc::clone(&latch);
            thread::spawn(move || latch.wait_until(later()))
        };
        latch.count_down();
        expire();
        assert!(timed.join().unwrap().is_ok());
    });
}

#[test]
fn a_waiter_that_times_out_strands_no_other() {
    explore(|| {
        let latch = Arc::new(Latch::new(1));
        let timed = {
            let latch = Arc::clone(&latch);
            thread::spawn(move || latch.wait_until(later()).is_ok())
        };
        let patient = waiter(&latch);
        expire();
        latch.count_down();
        timed.join().unwrap();
        patient.join().unwrap();
    });
}

#[test]
fn who_is_up_for_nothing_sleeps_on() {
    explore(|| {
        let latch = Arc::new(Latch::new(2));
        let shared = Arc::clone(&latch);
        disturbed(
            move || shared.wait(),
            || {
                latch.count_down();
                latch.count_down();
            },
        );
    });
}
