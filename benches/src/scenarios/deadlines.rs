//! One thread and its limited patience.

use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::contenders::semaphore::AnySemaphore;
use crate::contenders::{TimedFor, TimedUntil};
use crate::opaque::{opaque, unexpected};
use crate::race::{Quartiles, Sample};
use crate::scenarios::{one_short_thread, one_thread};
use crate::threads::thread_time;

/// Nothing comes, and the deadline has passed.
pub fn expired_deadline<C: Clock, T: TimedUntil<C>>(deadline: fn() -> C, times: u64) -> Sample {
    /// A coarse clock stands still for a millisecond or more. Deadlines are made anew so often that hardly one that
    /// has just passed is older than that.
    const CALLS: u64 = 1000;

    let contender = T::pending();
    let mut sample = Sample::default();
    while sample.times < times {
        let deadline = T::deadline(deadline());
        sample += one_thread(CALLS.min(times - sample.times), || {
            if opaque(&contender).wait_until(*opaque(&deadline)) {
                unexpected();
            }
        });
    }
    sample
}

/// Nothing comes, and the deadline has just passed, or passed long ago, in turn: whoever guesses which from the
/// calls before is wrong.
pub fn mixed_deadlines<C: Clock, T: TimedUntil<C>>(times: u64) -> Sample {
    const CALLS: u64 = 1000;

    let contender = T::pending();
    let mut sample = Sample::default();
    while sample.times < times {
        let deadlines = [T::deadline(C::now()), T::deadline(C::a_while_ago())];
        let mut turn = 0;
        sample += one_thread(CALLS.min(times - sample.times), || {
            turn ^= 1;
            if opaque(&contender).wait_until(*opaque(&deadlines[turn])) {
                unexpected();
            }
        });
    }
    sample
}

/// A round of looks at so many things of which none has come, with a deadline that is made for each round: now. One time is
/// one look.
pub fn polling<T: TimedUntil<Instant>>(objects: usize, times: u64) -> Sample {
    let contenders: Vec<T> = (0..objects).map(|_| T::pending()).collect();
    let rounds = times.div_ceil(objects as u64);
    let sample = one_thread(rounds, || {
        let deadline = T::deadline(Instant::now());
        for contender in opaque(&contenders) {
            if contender.wait_until(deadline) {
                unexpected();
            }
        }
    });
    Sample { times: rounds * objects as u64, ..sample }
}

/// The same with no time at all.
pub fn polling_without_time<T: TimedFor>(objects: usize, times: u64) -> Sample {
    let contenders: Vec<T> = (0..objects).map(|_| T::pending()).collect();
    let rounds = times.div_ceil(objects as u64);
    let sample = one_thread(rounds, || {
        for contender in opaque(&contenders) {
            if contender.wait_for(Duration::ZERO) {
                unexpected();
            }
        }
    });
    Sample { times: rounds * objects as u64, ..sample }
}

/// Nothing is there, and no time, as a poll is written.
pub fn zero_timeout<T: TimedFor>(times: u64) -> Sample {
    let contender = T::pending();
    one_short_thread(times, || {
        if opaque(&contender).wait_for(Duration::ZERO) {
            unexpected();
        }
    })
}

/// Nothing comes, and next to no time is left.
pub fn one_nanosecond<T: TimedFor>(times: u64) -> Sample {
    let contender = T::pending();
    let timeout = Duration::from_nanos(1);
    one_thread(times, || {
        if opaque(&contender).wait_for(*opaque(&timeout)) {
            unexpected();
        }
    })
}

/// A permit is there in time, and given back.
pub fn timed_success<C: Clock, S: AnySemaphore + TimedUntil<C>>(times: u64) -> Sample {
    let semaphore = S::new(true);
    let deadline = S::deadline(C::far_ahead());
    one_thread(times, || {
        let semaphore = opaque(&semaphore);
        if !semaphore.wait_until(*opaque(&deadline)) {
            unexpected();
        }
        semaphore.release();
    })
}

/// How long after its time a wait ends that nobody else ends.
pub fn lateness<T: TimedFor>(timeout: Duration, times: u64) -> Sample {
    let contender = T::pending();
    lateness_by(timeout, times, || {
        if contender.wait_for(timeout) {
            unexpected();
        }
    })
}

/// What a wait that ends at its deadline takes of the processor: with what it spins before it sleeps, and with the kernel's work.
pub fn cpu_per_sleep<T: TimedFor>(timeout: Duration, times: u64) -> Sample {
    let contender = T::pending();
    cpu_per_sleep_by(times, || {
        if contender.wait_for(timeout) {
            unexpected();
        }
    })
}

/// The median of a few waits.
pub fn cpu_per_sleep_by(times: u64, mut wait: impl FnMut()) -> Sample {
    let each = (0..times).map(|_| {
        let before = thread_time();
        wait();
        (thread_time() - before).as_nanos() as f64
    });
    Sample::counted(Quartiles::of(each.collect()).median, 1)
}

/// The median lateness of a few waits: one that is disturbed tells more of others' work than of its own.
pub fn lateness_by(timeout: Duration, times: u64, mut wait: impl FnMut()) -> Sample {
    let each = (0..times).map(|_| {
        let start = Instant::now();
        wait();
        start.elapsed().saturating_sub(timeout)
    });
    let late = Quartiles::of(each.map(|late| late.as_nanos() as f64).collect());
    Sample::counted(late.median, 1)
}
