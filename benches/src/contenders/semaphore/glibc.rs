//! glibc's `sem_t`.

#![allow(unsafe_code, reason = "a C library's calls")]

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use std::time::Duration;

use libc::{clockid_t, sem_t, timespec};

use super::AnySemaphore;
use crate::clock::{Clock, now_in_c};
use crate::contenders::{Contender, TimedFor, TimedUntil};

/// `sem_t` of semaphore.h, private to the process.
pub struct Glibc(Box<Padded>);

/// Alone on its cache lines, wherever the allocator puts it.
#[repr(align(128))]
struct Padded(UnsafeCell<MaybeUninit<sem_t>>);

// SAFETY: POSIX makes every call on a semaphore safe from any thread.
unsafe impl Send for Glibc {}
// SAFETY: as above.
unsafe impl Sync for Glibc {}

unsafe extern "C" {
    /// Since glibc 2.30; the libc crate does not have it.
    fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, deadline: *const timespec) -> libc::c_int;
}

impl Glibc {
    #[inline]
    fn raw(&self) -> *mut sem_t {
        self.0.0.get().cast()
    }

    #[inline]
    fn wait(&self, clock: clockid_t, deadline: &timespec) -> bool {
        // SAFETY: initialized by `new`, at this address ever since.
        unsafe { sem_clockwait(self.raw(), clock, deadline) == 0 }
    }
}

impl Contender for Glibc {
    fn name() -> &'static str {
        "glibc sem_t"
    }
}

impl AnySemaphore for Glibc {
    fn new(available: bool) -> Glibc {
        let semaphore = Glibc(Box::new(Padded(UnsafeCell::new(MaybeUninit::uninit()))));
        // SAFETY: memory of the right size and alignment, which no other call knows yet.
        let status = unsafe { libc::sem_init(semaphore.raw(), 0, available.into()) };
        assert_eq!(status, 0, "sem_init: {}", std::io::Error::last_os_error());
        semaphore
    }

    #[inline]
    fn acquire(&self) {
        // SAFETY: initialized by `new`. It fails only when a signal handler has run.
        while unsafe { libc::sem_wait(self.raw()) } != 0 {}
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // SAFETY: initialized by `new`.
        unsafe { libc::sem_trywait(self.raw()) == 0 }
    }

    #[inline]
    fn release(&self) {
        // SAFETY: initialized by `new`.
        unsafe { libc::sem_post(self.raw()) };
    }
}

impl TimedFor for Glibc {
    #[inline]
    fn wait_for(&self, timeout: Duration) -> bool {
        self.wait(libc::CLOCK_MONOTONIC, &to_timespec(now_in_c(libc::CLOCK_MONOTONIC) + timeout))
    }
}

impl<C: Clock> TimedUntil<C> for Glibc {
    type Deadline = timespec;

    fn deadline(at: C) -> timespec {
        to_timespec(at.in_c())
    }

    #[inline]
    fn wait_until(&self, deadline: timespec) -> bool {
        self.wait(C::ID, &deadline)
    }
}

impl Drop for Glibc {
    fn drop(&mut self) {
        // SAFETY: initialized by `new`, and nobody waits on what is dropped.
        unsafe { libc::sem_destroy(self.raw()) };
    }
}

impl fmt::Debug for Glibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Glibc")
    }
}

#[inline]
fn to_timespec(time: Duration) -> timespec {
    timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos().into() }
}
