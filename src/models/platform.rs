//! The modelled platform keeps the contract of `sys` that the other models rest on.

use super::{Arc, Deadline, expire, explore, later, thread, woken};
use crate::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::sys::{self, Word};

#[test]
fn a_change_before_a_wake_is_seen_or_ends_the_sleep() {
    explore(|| {
        let word = Arc::new(AtomicU32::new(0));
        let waiter = {
            let word = Arc::clone(&word);
            thread::spawn(move || {
                while word.load(Relaxed) == 0 {
                    sys::wait(Word::Whole(&word), 0, Deadline::NEVER).unwrap();
                }
            })
        };
        word.store(1, Relaxed);
        sys::wake(Word::Whole(&word).address(), 1);
        waiter.join().unwrap();
    });
}

#[test]
fn a_wake_or_the_time_ends_a_sleep_and_a_timeout_uses_up_no_wake() {
    explore(|| {
        let word = Arc::new(AtomicU64::new(0));
        let waiter = {
            let word = Arc::clone(&word);
            thread::spawn(move || sys::wait(Word::HighHalf(&word), 0, later()).is_ok())
        };
        let timer = thread::spawn(expire);
        sys::wake(Word::LowHalf(&word).address(), 1); // the other half: nobody's
        sys::wake(Word::HighHalf(&word).address(), 2);
        let slept = waiter.join().unwrap();
        timer.join().unwrap();
        assert!(woken() <= 1);
        assert!(slept || woken() == 0);
    });
}
