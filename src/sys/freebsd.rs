//! FreeBSD: `_umtx_op`, for every operation.
//!
//! Words are `UMTX_OP_WAIT_UINT_PRIVATE` and woken by `UMTX_OP_WAKE_PRIVATE`; deadlines are absolute, on either clock. The
//! kernel follows the wall clock when it is set, and takes a monotonic time beyond 31 bits of seconds for none. Newer kernels
//! have no timer slack; older ones sleep in whole ticks. The atomic-wait crate makes the same calls, without deadlines: next to these it would save nothing.
//!
//! Call: <https://man.freebsd.org/cgi/man.cgi?query=_umtx_op&sektion=2>

#![allow(unsafe_code, reason = "system calls")]

use core::ffi::{c_int, c_ulong, c_void};
use core::ptr::{null_mut, without_provenance_mut};

use super::Word;
use super::clock::{Clock, KernelTime, KernelTimespec};
use crate::{Deadline, TimedOut};

pub(crate) use super::clock::{monotonic_surely_past, wall_surely_past};
pub(crate) use super::fork::in_forked_child;
pub(crate) use super::portable::{processors, random};

pub(crate) fn wait(word: Word<'_>, expected: u32, deadline: Deadline) -> Result<(), TimedOut> {
    // C2, C6: asked of the clock, by a thread that has not slept in this call.
    if deadline.has_passed() {
        return Err(TimedOut);
    }
    let outcome = match KernelTime::of(deadline) {
        KernelTime::Never => sleep(word.address(), expected, None),
        KernelTime::Passed => return Err(TimedOut),
        KernelTime::At(clock, time) => sleep(word.address(), expected, Some(umtx_time(clock, time))),
    };
    match outcome {
        // Woken, or the word differs (which is no error here); a signal handler ran (none restarts this call); out of time,
        // as the kernel says.
        Ok(()) | Err(libc::EINTR | libc::ETIMEDOUT) => {}
        // No sleep is to be had. A spin beats a crash (C1), and leaves the processor to others.
        Err(_) => std::thread::yield_now(),
    }
    Ok(())
}

pub(crate) fn wake(address: *const u32, n: u32) {
    // The kernel takes zero for one.
    if n == 0 {
        return;
    }
    let n = n.min(c_int::MAX as u32);
    // SAFETY: a private wake takes the address as a key and reads no memory (C5).
    unsafe {
        libc::_umtx_op(address.cast_mut().cast(), libc::UMTX_OP_WAKE_PRIVATE, n as c_ulong, null_mut(), null_mut())
    };
}

/// Makes one system call and answers with its errno.
fn sleep(address: *const u32, expected: u32, until: Option<libc::_umtx_time>) -> Result<(), c_int> {
    // The size of the time tells which of its forms is meant, and goes where an address would.
    let (size, time) = match &until {
        Some(time) => (size_of_val(time), core::ptr::from_ref(time).cast_mut().cast::<c_void>()),
        None => (0, null_mut()),
    };
    // SAFETY: the address is that of a live word, borrowed by the caller for as long as it sleeps; `time` is null, for no
    // timeout, or a time of the size given, and is only read.
    let status = unsafe {
        libc::_umtx_op(
            address.cast_mut().cast(),
            libc::UMTX_OP_WAIT_UINT_PRIVATE,
            expected as c_ulong,
            without_provenance_mut(size),
            time,
        )
    };
    if status == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)) }
}

fn umtx_time(clock: Clock, time: KernelTimespec) -> libc::_umtx_time {
    // Where seconds have 32 bits, the last of them is the latest time that the kernel can be told. It is looked at again.
    let tv_sec = libc::time_t::try_from(time.seconds).unwrap_or(libc::time_t::MAX);
    let timeout = libc::timespec { tv_sec, tv_nsec: time.nanoseconds as _ };
    libc::_umtx_time { _timeout: timeout, _flags: libc::UMTX_ABSTIME, _clockid: clock.id() as u32 }
}
