//! The platform, as a few free functions: sleep on a word, wake sleepers by address, prove that time has passed.
//!
//! Every back-end has these functions, of exactly these signatures:
//!
//! * `wait(word, expected, deadline)` puts the calling thread to sleep while `word` holds `expected`;
//! * `wake(address, n)` wakes threads that sleep on that word;
//! * `monotonic_surely_past(instant)` and `wall_surely_past(time)` say `true` if the cheapest clock there is proves that the
//!   moment has passed; `false` proves nothing;
//! * `processors()` says how many processors this process can run on, as far as that can be told cheaply;
//! * `random()` makes a number that nobody can guess, or zero if there is no source of such;
//! * `in_forked_child(reset)` has `reset` called in the child of every fork from now on, where the platform tells of forks.
//!
//! # Contract
//!
//! * C1. `Ok` from wait means "look again": the value differed, a wake, the time, a signal, or nothing at all. The word is
//!   the truth. The caller looks, and sleeps again on the same deadline.
//! * C2. `TimedOut` comes only once the deadline's own clock has reached it: the clock is asked, not the kernel believed,
//!   and before the word is compared, so that a word which keeps changing keeps nobody beyond the deadline.
//! * C3. For a change of the word that is sequenced before a wake, every waiter either compares the word after
//!   that change, or is asleep and counted by that wake.
//! * C4. Nothing else is ordered by either call: the callers' own atomics carry every edge.
//! * C5. A wake may name memory that is gone: the address is a key and is never read.
//! * C6. `wake(address, n)` wakes exactly min(n, threads asleep on that word), and a wake-up is never used up by a thread
//!   that reports `TimedOut`: only a call that has not slept reports it. So who is out of time looks once more than it
//!   would have to, and no kernel's way with a wake that meets a timeout matters.
//!
//! There is one back-end in a process and never two mechanisms on one word. `conformance` checks the contract
//! on every back-end that the machine can run. No trait: there is one implementation a build, and the pins below
//! keep the signatures the same.

use std::time::{Instant, SystemTime};

use crate::atomic::{AtomicU32, AtomicU64, Ordering, race_window};
use crate::{Deadline, TimedOut};

// The back-ends. The portable one is also compiled for its tests, where the platform has something better.

#[cfg(all(target_os = "freebsd", not(all(test, waitline_loom))))]
#[cfg_attr(waitline_force_parking, allow(dead_code, unused_imports, reason = "the portable back-end is forced"))]
mod freebsd;
#[cfg(all(any(target_os = "linux", target_os = "android"), not(all(test, waitline_loom))))]
#[cfg_attr(waitline_force_parking, allow(dead_code, unused_imports, reason = "the portable back-end is forced"))]
mod linux;
#[cfg(all(test, waitline_loom))]
pub(crate) mod model;
#[cfg(all(
    any(
        test,
        waitline_force_parking,
        not(any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            windows,
            all(target_family = "wasm", not(target_feature = "atomics"))
        ))
    ),
    not(all(test, waitline_loom))
))]
#[cfg_attr(not(waitline_force_parking), allow(dead_code, unused_imports, reason = "compiled for its tests only"))]
mod parking;
#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
#[cfg_attr(waitline_force_parking, allow(dead_code, unused_imports, reason = "the portable back-end is forced"))]
mod threadless;
#[cfg(all(windows, not(all(test, waitline_loom))))]
#[cfg_attr(waitline_force_parking, allow(dead_code, unused_imports, reason = "the portable back-end is forced"))]
mod windows;

// What several of them share.

#[cfg(all(any(target_os = "linux", target_os = "android", target_os = "freebsd"), not(all(test, waitline_loom))))]
#[cfg_attr(waitline_force_parking, allow(dead_code, reason = "the portable back-end is forced"))]
mod clock;
#[cfg(all(any(target_os = "linux", target_os = "android", target_os = "freebsd"), not(all(test, waitline_loom))))]
#[cfg_attr(waitline_force_parking, allow(dead_code, reason = "the portable back-end is forced"))]
mod fork;
#[cfg(all(
    any(test, waitline_force_parking, not(any(target_os = "linux", target_os = "android"))),
    not(all(test, waitline_loom))
))]
#[cfg_attr(not(waitline_force_parking), allow(dead_code, reason = "each back-end uses a part"))]
mod portable;

#[cfg(all(test, not(waitline_loom)))]
mod conformance;

#[cfg(all(target_os = "freebsd", not(any(waitline_force_parking, all(test, waitline_loom)))))]
use freebsd as native;
#[cfg(all(
    any(target_os = "linux", target_os = "android"),
    not(any(waitline_force_parking, all(test, waitline_loom)))
))]
use linux as native;
#[cfg(all(test, waitline_loom))]
use model as native;
#[cfg(all(
    any(
        waitline_force_parking,
        not(any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            windows,
            all(target_family = "wasm", not(target_feature = "atomics"))
        ))
    ),
    not(all(test, waitline_loom))
))]
use parking as native;
#[cfg(all(target_family = "wasm", not(any(target_feature = "atomics", waitline_force_parking))))]
use threadless as native;
#[cfg(all(windows, not(any(waitline_force_parking, all(test, waitline_loom)))))]
use windows as native;

pub(crate) use native::{in_forked_child, monotonic_surely_past, processors, random, wall_surely_past};

/// Sleeps while the word holds `expected`: see the contract.
#[inline]
pub(crate) fn wait(word: Word<'_>, expected: u32, deadline: Deadline) -> Result<(), TimedOut> {
    race_window();
    let result = native::wait(word, expected, deadline);
    race_window();
    result
}

/// Wakes up to `n` threads that sleep on the word of that address: see the contract.
#[inline]
pub(crate) fn wake(address: *const u32, n: u32) {
    race_window();
    native::wake(address, n);
}

/// Whether there can be a thread to wake another one.
pub(crate) const HAS_THREADS: bool = cfg!(not(all(target_family = "wasm", not(target_feature = "atomics"))));

const _: () = {
    let _: for<'a> fn(Word<'a>, u32, Deadline) -> Result<(), TimedOut> = native::wait;
    let _: fn(*const u32, u32) = native::wake;
    let _: fn(Instant) -> bool = monotonic_surely_past;
    let _: fn(SystemTime) -> bool = wall_surely_past;
    let _: fn() -> u32 = processors;
    let _: fn() -> u64 = random;
    let _: fn(extern "C" fn()) = in_forked_child;
};

/// What a thread can sleep on: 32 bits, alone or as one half of an aligned 64-bit word.
///
/// Rust code never reads a half as 32 bits, because mixed-size accesses are data races in its memory model. Only
/// the kernel does, through the address; a back-end that compares in user space loads the whole word.
#[derive(Clone, Copy)]
pub(crate) enum Word<'a> {
    Whole(&'a AtomicU32),
    LowHalf(&'a AtomicU64),
    HighHalf(&'a AtomicU64),
}

impl Word<'_> {
    /// The key under which its sleepers are known: the address of the four bytes that the kernel compares.
    ///
    /// Stays a valid key when the word is gone (C5), so a waker computes it before the write that allows
    /// others to free the word.
    #[inline]
    pub(crate) fn address(self) -> *const u32 {
        match self {
            Word::Whole(word) => core::ptr::from_ref(word).cast(),
            Word::LowHalf(word) => half_address(word, cfg!(target_endian = "big")),
            Word::HighHalf(word) => half_address(word, cfg!(target_endian = "little")),
        }
    }

    /// The 32 bits, for back-ends that compare in user space. Relaxed: C4.
    #[cfg_attr(
        not(any(target_os = "linux", target_os = "android")),
        allow(dead_code, reason = "others may have no use for it")
    )]
    pub(crate) fn load(self) -> u32 {
        match self {
            Word::Whole(word) => word.load(Ordering::Relaxed),
            Word::LowHalf(word) => word.load(Ordering::Relaxed) as u32,
            Word::HighHalf(word) => (word.load(Ordering::Relaxed) >> 32) as u32,
        }
    }
}

/// Of a 64-bit word, the half that stands first in memory, or the one that stands second.
#[inline]
fn half_address(word: &AtomicU64, second: bool) -> *const u32 {
    core::ptr::from_ref(word).cast::<u32>().wrapping_add(usize::from(second))
}

#[cfg(all(test, not(waitline_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_half_lies_where_the_byte_order_puts_it() {
        let word = AtomicU64::new(0x1111_1111_2222_2222);
        let start = core::ptr::from_ref(&word).cast::<u32>();
        let bytes = 0x1111_1111_2222_2222_u64.to_ne_bytes();
        for (half, value) in [(Word::LowHalf(&word), 0x2222_2222), (Word::HighHalf(&word), 0x1111_1111)] {
            let offset = half.address() as usize - start as usize;
            let there = u32::from_ne_bytes(bytes[offset..offset + 4].try_into().unwrap());
            assert_eq!((there, half.load()), (value, value));
        }
    }
}
