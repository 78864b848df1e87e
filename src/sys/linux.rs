//! Linux and Android: futex(2), and futex_waitv where the kernel has it.
//!
//! A timed wait takes the best of three calls. Which ones the kernel (or a sandbox around this thread) lacks is
//! found out by use: ENOSYS and EPERM fall one rung for good, any other refusal for that call only.
//!
//! | rung | call | since | why |
//! |------|------|-------|-----|
//! | `Waitv` | futex_waitv, one entry | 5.16 | absolute, and without the 50 µs timer slack of futex(2) |
//! | `Bitset` | FUTEX_WAIT_BITSET | 2.6.28 | absolute, on either clock |
//! | `Relative` | FUTEX_WAIT | ever | relative, so every sleep reads the clock once more |
//!
//! All of them and every wake are process-private and share one queue an address, so rungs may be mixed freely.
//! Untimed waits on 32-bit words and the two usual wakes go through the atomic-wait crate, which makes the same
//! calls.
//!
//! Calls: <https://man7.org/linux/man-pages/man2/futex.2.html>,
//! <https://docs.kernel.org/userspace-api/futex2.html>

#![allow(unsafe_code, reason = "system calls")]

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::Duration;

use libc::{c_int, c_long, c_uint};

use super::Word;
use super::clock::{Clock, KernelTime, KernelTimespec};
use crate::{Deadline, TimedOut};

pub(crate) use super::clock::{monotonic_surely_past, wall_surely_past};
pub(crate) use super::fork::in_forked_child;

pub(crate) fn wait(word: Word<'_>, expected: u32, deadline: Deadline) -> Result<(), TimedOut> {
    wait_from(best_rung(), word, expected, deadline)
}

pub(crate) fn wake(address: *const u32, n: u32) {
    const ALL: u32 = c_int::MAX as u32;
    match n {
        0 => {}
        1 => atomic_wait::wake_one(address.cast()),
        2..ALL => {
            // SAFETY: FUTEX_WAKE takes the address as a key and reads no memory of ours (C5).
            unsafe { libc::syscall(libc::SYS_futex, address, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, n as c_int) };
        }
        // The kernel takes a negative count for one.
        ALL.. => atomic_wait::wake_all(address.cast()),
    }
}

/// Reads affinity masks, and not `available_parallelism`: that one opens files and allocates, which a thread that waits
/// inside an allocator or a sandbox can't afford. Two masks, because in many a pool each thread has a processor of its
/// own: if the main thread and this one are bound to the same, so is the process, as a rule.
pub(crate) fn processors() -> u32 {
    // SAFETY: makes a system call that has no preconditions.
    let main_thread = unsafe { libc::getpid() };
    match (processors_of(0), processors_of(main_thread)) {
        (Some(here), Some(there)) => {
            // SAFETY: reads sets that are initialized.
            let bound_to_the_same = unsafe { libc::CPU_EQUAL(&here, &there) };
            count(&here).max(count(&there)).max(if bound_to_the_same { 1 } else { 2 })
        }
        // More than a set has room for.
        _ => u32::MAX,
    }
}

/// Does not wait for the kernel's pool to be filled, early after the start of the machine: then there is none.
pub(crate) fn random() -> u64 {
    let mut number = 0_u64;
    // Not by the C library's function, which older ones lack.
    // SAFETY: the buffer is `number`, of the size given.
    unsafe { libc::syscall(libc::SYS_getrandom, &raw mut number, size_of_val(&number), libc::GRND_NONBLOCK) };
    number
}

/// Where the thread may run; 0 is this one. `None` on machines with more processors than the set holds.
fn processors_of(thread: libc::pid_t) -> Option<libc::cpu_set_t> {
    // SAFETY: all zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: `set` has room for the size given.
    let status = unsafe { libc::sched_getaffinity(thread, size_of_val(&set), &mut set) };
    (status == 0).then_some(set)
}

fn count(processors: &libc::cpu_set_t) -> u32 {
    // SAFETY: reads a set that is initialized.
    unsafe { libc::CPU_COUNT(processors) as u32 }
}

/// The ways to sleep until a deadline, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Rung {
    Waitv,
    Bitset,
    Relative,
}

impl Rung {
    const fn next(self) -> Option<Rung> {
        match self {
            Rung::Waitv => Some(Rung::Bitset),
            Rung::Bitset => Some(Rung::Relative),
            Rung::Relative => None,
        }
    }
}

/// The best rung that has not failed yet. Relaxed: whoever reads a stale value finds out by itself.
///
/// Android kills a process that makes a call it does not know, so nothing is tried out there, and on its 32-bit
/// systems not even the call with 64-bit times.
static BEST_RUNG: AtomicU8 =
    AtomicU8::new(if cfg!(any(waitline_futex = "relative", all(target_os = "android", target_pointer_width = "32"))) {
        Rung::Relative as u8
    } else if cfg!(any(waitline_futex = "bitset", target_os = "android")) {
        Rung::Bitset as u8
    } else {
        Rung::Waitv as u8
    });

fn best_rung() -> Rung {
    match BEST_RUNG.load(Relaxed) {
        rung if rung == Rung::Waitv as u8 => Rung::Waitv,
        rung if rung == Rung::Bitset as u8 => Rung::Bitset,
        _ => Rung::Relative,
    }
}

/// `wait`, with the rung to try first.
pub(super) fn wait_from(mut rung: Rung, word: Word<'_>, expected: u32, deadline: Deadline) -> Result<(), TimedOut> {
    // C2, C6: asked of the clock, by a thread that has not slept in this call.
    if deadline.has_passed() {
        return Err(TimedOut);
    }
    loop {
        let outcome = match KernelTime::of(deadline) {
            KernelTime::Never => {
                // Whatever it says: look again.
                let _ = sleep_untimed(word, expected);
                if word.load() == expected {
                    // Woken for nothing, or no sleep is allowed: as below.
                    std::thread::yield_now();
                }
                return Ok(());
            }
            KernelTime::Passed => return Err(TimedOut),
            KernelTime::At(clock, time) => match rung {
                Rung::Waitv => sleep_waitv(word.address(), expected, clock, &time),
                Rung::Bitset => sleep_bitset(word.address(), expected, clock, &time),
                Rung::Relative => sleep_relative(word.address(), expected, deadline),
            },
        };
        match outcome {
            // Woken, changed, or a signal handler ran (timed futex(2) waits end at every handler, even under
            // SA_RESTART): the deadline is absolute, so looking again costs nothing but the look. Out of time: some
            // kernels say so to a thread that was woken in the same moment (gVisor), some say it early, and the relative
            // rung sleeps in slices.
            Ok(()) | Err(libc::EAGAIN | libc::EINTR | libc::ETIMEDOUT) => return Ok(()),
            Err(errno) => {
                let Some(next) = rung.next() else {
                    // No way to sleep is allowed. A spin beats a crash (C1), and leaves the processor to others.
                    std::thread::yield_now();
                    return Ok(());
                };
                if matches!(errno, libc::ENOSYS | libc::EPERM) {
                    BEST_RUNG.fetch_max(next as u8, Relaxed);
                }
                rung = next;
            }
        }
    }
}

// Each of these makes one system call and answers with its errno.

fn sleep_untimed(word: Word<'_>, expected: u32) -> Result<(), c_int> {
    match word {
        Word::Whole(word) => {
            atomic_wait::wait(word, expected);
            Ok(())
        }
        Word::LowHalf(_) | Word::HighHalf(_) => {
            let forever = core::ptr::null::<RelativeTime>();
            // SAFETY: the address is that of a live word, borrowed for the call; a null timeout means none.
            check(unsafe { libc::syscall(libc::SYS_futex, word.address(), WAIT, expected, forever) })
        }
    }
}

fn sleep_waitv(address: *const u32, expected: u32, clock: Clock, time: &KernelTimespec) -> Result<(), c_int> {
    /// `struct futex_waitv` of linux/futex.h.
    #[repr(C)]
    struct Waiter {
        value: u64,
        address: u64,
        flags: u32,
        reserved: u32,
    }
    const SIZE_U32: u32 = 2;
    const PRIVATE: u32 = 128;

    let waiter =
        Waiter { value: u64::from(expected), address: address as usize as u64, flags: SIZE_U32 | PRIVATE, reserved: 0 };
    // SAFETY: the address is that of a live word, borrowed by the caller for as long as it sleeps; `waiter` and
    // `time` are of the kernel's layout and outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_futex_waitv,
            &raw const waiter,
            1 as c_uint,
            0 as c_uint,
            core::ptr::from_ref(time),
            clock.id(),
        )
    })
}

fn sleep_bitset(address: *const u32, expected: u32, clock: Clock, time: &KernelTimespec) -> Result<(), c_int> {
    let operation = libc::FUTEX_WAIT_BITSET
        | libc::FUTEX_PRIVATE_FLAG
        | match clock {
            Clock::Monotonic => 0,
            Clock::Realtime => libc::FUTEX_CLOCK_REALTIME,
        };
    // SAFETY: as for `sleep_waitv`; this call's timespec is the 64-bit one on every target.
    check(unsafe {
        libc::syscall(
            SYS_FUTEX_TIME64,
            address,
            operation,
            expected,
            core::ptr::from_ref(time),
            core::ptr::null::<u32>(),
            u32::MAX, // any waker
        )
    })
}

fn sleep_relative(address: *const u32, expected: u32, deadline: Deadline) -> Result<(), c_int> {
    // The wall clock may be set while this thread sleeps on the other one: it looks again every second. A sleep
    // on the monotonic clock is capped by what 32 bits of seconds hold.
    let slice = match deadline.moment() {
        crate::deadline::Moment::Wall(_) => Duration::from_secs(1),
        _ => Duration::from_secs(i32::MAX as u64),
    };
    let time = deadline.remaining().map_or(slice, |left| left.min(slice));
    let time =
        RelativeTime { seconds: time.as_secs() as RelativeField, nanoseconds: time.subsec_nanos() as RelativeField };
    // SAFETY: as for `sleep_waitv`; RelativeTime is the timespec of SYS_futex.
    check(unsafe { libc::syscall(libc::SYS_futex, address, WAIT, expected, &raw const time) })
}

fn check(result: c_long) -> Result<(), c_int> {
    if result >= 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

const WAIT: c_int = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;

/// The futex call whose timespec has 64 bits. libc knows it for one 32-bit target only.
const SYS_FUTEX_TIME64: c_long =
    if cfg!(any(target_pointer_width = "64", target_arch = "x86_64")) { libc::SYS_futex } else { 422 };

/// The timespec that SYS_futex takes, which on old 32-bit tables has 32 bits a field.
#[repr(C)]
struct RelativeTime {
    seconds: RelativeField,
    nanoseconds: RelativeField,
}
#[cfg(any(target_pointer_width = "64", target_arch = "x86_64", target_arch = "riscv32"))]
type RelativeField = i64;
#[cfg(not(any(target_pointer_width = "64", target_arch = "x86_64", target_arch = "riscv32")))]
type RelativeField = i32;
