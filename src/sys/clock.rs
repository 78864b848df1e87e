//! Deadlines as the clocks of Linux and FreeBSD count them, and their coarse clocks.
//!
//! std keeps what an `Instant` holds to itself, but on these systems it is a reading of CLOCK_MONOTONIC. So there is one
//! `Instant` at which that clock reads zero, and the time since it *is* the kernel's absolute time: no second
//! clock read, and no anchor to add. `monotonic_zero` finds it once, from outside, and checks it.

#![allow(unsafe_code, reason = "system calls")]

use core::time::Duration;
use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::Deadline;
use crate::deadline::Moment;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    Monotonic,
    Realtime,
}

impl Clock {
    pub(super) fn id(self) -> libc::clockid_t {
        match self {
            Clock::Monotonic => libc::CLOCK_MONOTONIC,
            Clock::Realtime => libc::CLOCK_REALTIME,
        }
    }
}

/// A reading of one of them. Of this layout is Linux's `struct __kernel_timespec`, whatever libc's `timespec` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct KernelTimespec {
    pub(super) seconds: i64,
    pub(super) nanoseconds: i64,
}

/// A deadline in the kernel's terms. Negative seconds can't be said, nor zero, which some kernels take for no timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KernelTime {
    Never,
    Passed,
    At(Clock, KernelTimespec),
}

/// More than a century. In some time namespaces Linux overflows with times that are centuries ahead.
const FAR: Duration = Duration::from_secs(u32::MAX as u64);

/// Whether it is so long until then. A clock that reads much itself, as in a time namespace, is no reason.
#[cold]
fn is_far(deadline: Deadline) -> bool {
    deadline.remaining().is_none_or(|left| left > FAR)
}

impl KernelTime {
    pub(super) fn of(deadline: Deadline) -> KernelTime {
        let (clock, time) = match deadline.moment() {
            Moment::Never => return KernelTime::Never,
            Moment::Passed => return KernelTime::Passed,
            Moment::Wall(time) => (Clock::Realtime, time.duration_since(UNIX_EPOCH).ok()),
            Moment::Monotonic(instant) => match monotonic_zero() {
                Some(zero) => (Clock::Monotonic, instant.checked_duration_since(zero)),
                None => (Clock::Monotonic, Some(by_reading_both_clocks(instant))),
            },
        };
        // The clock's zero is in the past, and so is all before.
        let Some(time) = time.filter(|time| !time.is_zero()) else { return KernelTime::Passed };
        if time > FAR && is_far(deadline) {
            return KernelTime::Never;
        }
        let (seconds, nanoseconds) = (time.as_secs() as i64, time.subsec_nanos().into());
        KernelTime::At(clock, KernelTimespec { seconds, nanoseconds })
    }
}

/// Whether a coarse clock has reached the moment.
///
/// The coarse clocks stand still between ticks and never run ahead of the precise ones, so they can prove "passed" and never
/// "not yet". Readings are turned into std's types and not moments into readings, because adding and comparing is cheaper
/// there than subtracting (5 ns against 7, for the wall clock against 12).
#[inline]
pub(crate) fn monotonic_surely_past(instant: Instant) -> bool {
    let Some(zero) = monotonic_zero() else { return false };
    read(libc::CLOCK_MONOTONIC_COARSE).and_then(|now| zero.checked_add(now)).is_some_and(|now| now >= instant)
}

/// As [`monotonic_surely_past`].
#[inline]
pub(crate) fn wall_surely_past(time: SystemTime) -> bool {
    read(libc::CLOCK_REALTIME_COARSE).and_then(|now| UNIX_EPOCH.checked_add(now)).is_some_and(|now| now >= time)
}

/// The `Instant` at which CLOCK_MONOTONIC reads zero; `None` where std's `Instant` turns out to be something else.
fn monotonic_zero() -> Option<Instant> {
    static ZERO: OnceLock<Option<Instant>> = OnceLock::new();
    match ZERO.get() {
        Some(zero) => *zero,
        None => find_and_keep(&ZERO),
    }
}

/// Found outside the cell: every thread finds the same, so nobody waits while another one searches.
#[cold]
fn find_and_keep(cell: &OnceLock<Option<Instant>>) -> Option<Instant> {
    let zero = find_monotonic_zero();
    let _ = cell.set(zero);
    zero
}

fn find_monotonic_zero() -> Option<Instant> {
    let before = read(libc::CLOCK_MONOTONIC)?;
    let now = Instant::now();
    let after = read(libc::CLOCK_MONOTONIC)?;
    let reading = reading_of(now)?;
    if before <= reading && reading <= after { now.checked_sub(reading) } else { None }
}

/// What the clock read at `instant`, if an `Instant` holds 64-bit seconds and nanoseconds of it: the distance to the
/// greatest such value, which is where `checked_add` starts to fail.
fn reading_of(instant: Instant) -> Option<Duration> {
    let fits = |room| instant.checked_add(room).is_some();
    let seconds = greatest(i64::MAX as u64, |seconds| fits(Duration::from_secs(seconds)));
    let nanoseconds = greatest(999_999_999, |nanoseconds| fits(Duration::new(seconds, nanoseconds as u32)));
    Duration::new(i64::MAX as u64, 999_999_999).checked_sub(Duration::new(seconds, nanoseconds as u32))
}

/// The greatest number up to `limit` for which `holds` does, given that it holds for 0 and up to some bound.
fn greatest(limit: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut holding, mut beyond) = (0, limit + 1);
    while beyond - holding > 1 {
        let middle = holding + (beyond - holding) / 2;
        if holds(middle) { holding = middle } else { beyond = middle }
    }
    holding
}

/// In this order the result can be late by what passes between the two reads, and never early. If the clock can't be read, it
/// has passed as far as the kernel goes: the caller keeps looking.
fn by_reading_both_clocks(instant: Instant) -> Duration {
    let left = instant.saturating_duration_since(Instant::now());
    read(libc::CLOCK_MONOTONIC).unwrap_or_default().saturating_add(left)
}

#[inline]
fn read(clock: libc::clockid_t) -> Option<Duration> {
    // No literal: where times were made longer, the type has padding of its own.
    // SAFETY: all zeroes is a time.
    let mut time: libc::timespec = unsafe { core::mem::zeroed() };
    // SAFETY: the call writes one timespec, to memory that is ours.
    let status = unsafe { libc::clock_gettime(clock, &mut time) };
    if status != 0 {
        return read_beyond_31_bits(clock);
    }
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec as u32))
}

/// What a C library with 32-bit times can't say: a wall clock after 2038, a monotonic one that began before it should have, in a
/// time namespace.
#[cold]
fn read_beyond_31_bits(clock: libc::clockid_t) -> Option<Duration> {
    #[cfg(all(target_os = "linux", target_pointer_width = "32", not(target_arch = "x86_64")))]
    {
        /// Of the same number wherever there are 32-bit times.
        const SYS_CLOCK_GETTIME64: libc::c_long = 403;

        let mut time = KernelTimespec { seconds: 0, nanoseconds: 0 };
        // SAFETY: the call writes one timespec of the kernel's, to memory that is ours.
        let status = unsafe { libc::syscall(SYS_CLOCK_GETTIME64, clock, &raw mut time) };
        if status == 0 {
            return Some(Duration::new(time.seconds.try_into().ok()?, time.nanoseconds as u32));
        }
    }
    let _ = clock;
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_holds_what_the_clock_read() {
        for _ in 0..1000 {
            let before = read(libc::CLOCK_MONOTONIC).unwrap();
            let instant = Instant::now();
            let after = read(libc::CLOCK_MONOTONIC).unwrap();
            let zero = monotonic_zero().expect("std's Instant is CLOCK_MONOTONIC here");
            let held = instant.duration_since(zero);
            assert!((before..=after).contains(&held), "{before:?} <= {held:?} <= {after:?}");
            let paired = by_reading_both_clocks(instant);
            assert!(paired >= held, "the way out may be late, never early");
        }
    }

    #[test]
    fn the_greatest_that_holds_is_found() {
        for last in 0..=10 {
            assert_eq!(greatest(10, |number| number <= last), last);
        }
    }

    #[test]
    fn extremes_never_reach_the_kernel() {
        let now = Instant::now();
        let zero = monotonic_zero().unwrap();
        let second = Duration::from_secs(1);
        assert_eq!(KernelTime::of(Deadline::NEVER), KernelTime::Never);
        assert_eq!(KernelTime::of(Deadline::PASSED), KernelTime::Passed);
        for passed in [Deadline::from(zero), UNIX_EPOCH.into(), zero.checked_sub(second).unwrap().into()] {
            assert_eq!(KernelTime::of(passed), KernelTime::Passed);
        }
        assert_eq!(KernelTime::of(UNIX_EPOCH.checked_sub(second).unwrap().into()), KernelTime::Passed);
        let least = Duration::from_nanos(1);
        for deadline in [Deadline::from(zero + least), (UNIX_EPOCH + least).into(), (now + second).into()] {
            let KernelTime::At(_, time) = KernelTime::of(deadline) else { panic!("{deadline:?}") };
            assert!(time.seconds >= 0 && (0..1_000_000_000).contains(&time.nanoseconds));
        }
        // By the time until then, whatever the clock reads.
        assert!(!is_far((now + second).into()) && is_far((now + 2 * FAR).into()));
        for seconds in [1 << 33, (1 << 34) - 1, i64::MAX as u64 - (1 << 40)] {
            let far = Duration::from_secs(seconds);
            assert_eq!(KernelTime::of(now.checked_add(far).unwrap().into()), KernelTime::Never);
            assert_eq!(KernelTime::of(UNIX_EPOCH.checked_add(far).unwrap().into()), KernelTime::Never);
        }
    }

    #[test]
    fn the_coarse_clocks_prove_only_what_is_true() {
        for _ in 0..10_000 {
            let soon = Instant::now() + Duration::from_micros(1);
            assert!(!monotonic_surely_past(soon) || Instant::now() >= soon);
            let soon = SystemTime::now() + Duration::from_micros(1);
            assert!(!wall_surely_past(soon) || SystemTime::now() >= soon);
        }
        assert!(monotonic_surely_past(monotonic_zero().unwrap()));
        assert!(wall_surely_past(UNIX_EPOCH));
    }
}
