//! The raw operations that no primitive can be cheaper than.

#![allow(unsafe_code, reason = "a system call")]

use core::hint::spin_loop;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};
use std::time::{Duration, Instant};

use crate::opaque::{consume, opaque, unexpected};
use crate::race::Sample;
use crate::scenarios::{lateness_by, one_short_thread, one_thread, two_threads};
use crate::threads::Placement;

/// One read-modify-write that gives, one that takes.
pub fn fetch_add_and_compare_exchange(times: u64) -> Sample {
    let word = AtomicU64::new(0);
    one_thread(times, || {
        let word = opaque(&word);
        let before = word.fetch_add(1, Release);
        if word.compare_exchange(before + 1, before, Acquire, Relaxed).is_err() {
            unexpected();
        }
    })
}

/// One load, and the branch on what it found.
pub fn load(times: u64) -> Sample {
    let word = AtomicU64::new(0);
    one_short_thread(times, || {
        if opaque(&word).load(Relaxed) != 0 {
            unexpected();
        }
    })
}

/// What nobody who notifies can do without: stores made before come before a look whether somebody waits.
pub fn fence_and_load(times: u64) -> Sample {
    let word = AtomicU64::new(0);
    one_short_thread(times, || {
        fence(SeqCst);
        if opaque(&word).load(Relaxed) != 0 {
            unexpected();
        }
    })
}

/// One look at the precise clock.
pub fn instant_now(times: u64) -> Sample {
    one_thread(times, || consume(Instant::now()))
}

/// Two threads that spin on one flag and pass it to and fro.
pub fn spinning_ping_pong(placement: Placement, times: u64) -> Sample {
    let flag = AtomicU32::new(0);
    let set_and_await = |mine: u32, theirs: u32| {
        flag.store(mine, Release);
        while flag.load(Acquire) != theirs {
            spin_loop();
        }
    };
    two_threads(
        placement,
        times,
        || set_and_await(1, 0),
        || {
            while flag.load(Acquire) != 1 {
                spin_loop();
            }
            flag.store(0, Release);
        },
    )
}

/// How late a plain futex(2) wait ends.
pub fn futex_lateness(timeout: Duration, times: u64) -> Sample {
    let word = AtomicU32::new(0);
    let time = libc::timespec { tv_sec: timeout.as_secs() as libc::time_t, tv_nsec: timeout.subsec_nanos().into() };
    lateness_by(timeout, times, || {
        let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word and the time are alive for as long as the call takes.
        let status = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, 0_u32, &raw const time) };
        if status != -1 {
            unexpected();
        }
    })
}
