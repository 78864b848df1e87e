//! One thread that finds things as it expects them.

#![allow(unsafe_code, reason = "empty instructions")]

use core::arch::asm;
use std::time::Instant;

use crate::contenders::TryNow;
use crate::contenders::atomic::AnyAtomic;
use crate::contenders::latch::AnyLatch;
use crate::contenders::oneshot::AnyOneshot;
use crate::contenders::semaphore::AnySemaphore;
use crate::contenders::signal::AnySignal;
use crate::opaque::{opaque, unexpected};
use crate::race::Sample;
use crate::threads::Disturbance;

/// Times a loop around the operation, in nanoseconds for each.
#[inline(always)]
pub fn one_thread(times: u64, mut operation: impl FnMut()) -> Sample {
    let disturbance = Disturbance::watch();
    let start = Instant::now();
    for _ in 0..times {
        operation();
    }
    let elapsed = start.elapsed();
    Sample::timed(elapsed, times, disturbance.happened())
}

/// As [`one_thread`], for operations of a nanosecond.
///
/// The processor fetches and predicts a loop of a few instructions more or less well depending on where it happens
/// to lie in its 64-byte line, which can double its time. So the loop is there four times, in each of the places
/// that compilers align loops to.
#[inline(always)]
pub fn one_short_thread(times: u64, mut operation: impl FnMut()) -> Sample {
    one_short_loop(times, |times| {
        for _ in 0..times {
            operation();
        }
    })
}

/// As [`one_short_thread`], for a loop that contenders make themselves.
#[inline(always)]
pub(super) fn one_short_loop(times: u64, mut operations: impl FnMut(u64)) -> Sample {
    let part = times.div_ceil(4);
    let mut sample = Sample::default();
    sample += one_thread_at::<0>(part, &mut operations);
    sample += one_thread_at::<16>(part, &mut operations);
    sample += one_thread_at::<32>(part, &mut operations);
    sample += one_thread_at::<48>(part, &mut operations);
    sample
}

#[inline(never)]
fn one_thread_at<const PLACE: usize>(times: u64, operations: &mut impl FnMut(u64)) -> Sample {
    let disturbance = Disturbance::watch();
    let start = Instant::now();
    // SAFETY: nothing but empty instructions, once before the loop.
    unsafe { asm!(".p2align 6", ".rept {place}", "nop", ".endr", place = const PLACE, options(nomem, nostack)) };
    operations(times);
    let elapsed = start.elapsed();
    Sample::timed(elapsed, times, disturbance.happened())
}

/// A permit is released and acquired, and nobody waits.
pub fn uncontended<S: AnySemaphore>(times: u64) -> Sample {
    let semaphore = S::new(false);
    one_thread(times, || {
        let semaphore = opaque(&semaphore);
        semaphore.release();
        semaphore.acquire();
    })
}

/// A signal is given and taken, by one thread.
pub fn signal_to_oneself<S: AnySignal>(times: u64) -> Sample {
    let (giver, waiter) = S::pair();
    one_thread(times, || {
        S::give(opaque(&giver));
        S::wait(opaque(&waiter));
    })
}

/// What is waited for is not there.
pub fn failed_try<T: TryNow>(times: u64) -> Sample {
    let mut contender = T::pending();
    one_short_thread(times, || {
        opaque(&contender);
        if contender.try_now() {
            unexpected();
        }
    })
}

/// A latch is made, opened and waited for.
pub fn latch_life<L: AnyLatch>(times: u64) -> Sample {
    one_thread(times, L::count_down_and_wait)
}

/// A channel is made, and a value goes through it.
pub fn oneshot_life<O: AnyOneshot>(times: u64) -> Sample {
    let value = 1;
    one_thread(times, || {
        if O::send_and_recv(*opaque(&value)) != value {
            unexpected();
        }
    })
}

/// A channel is made, and nothing goes through it.
pub fn oneshot_unused<O: AnyOneshot>(times: u64) -> Sample {
    one_thread(times, O::drop_both)
}

/// One who waits is notified, and nobody waits.
pub fn notify_one<A: AnyAtomic>(times: u64) -> Sample {
    let atomic = A::new();
    one_short_loop(times, |times| atomic.notify_one_times(times))
}

/// All who wait are notified, and nobody waits.
pub fn notify_all<A: AnyAtomic>(times: u64) -> Sample {
    let atomic = A::new();
    one_short_loop(times, |times| atomic.notify_all_times(times))
}

/// Another value is there already.
pub fn changed_value<A: AnyAtomic>(times: u64) -> Sample {
    let atomic = A::new();
    one_short_loop(times, |times| atomic.wait_times(true, times))
}
