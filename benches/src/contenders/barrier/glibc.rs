//! glibc's `pthread_barrier_t`.

#![allow(unsafe_code, reason = "a C library's calls")]

use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use core::ptr;

use libc::pthread_barrier_t;

use super::AnyBarrier;
use crate::contenders::Contender;

/// `pthread_barrier_t` of pthread.h, private to the process.
pub struct Glibc(Box<Padded>);

/// Alone on its cache lines, wherever the allocator puts it.
#[repr(align(128))]
struct Padded(UnsafeCell<MaybeUninit<pthread_barrier_t>>);

// SAFETY: POSIX makes every call on a barrier safe from any thread.
unsafe impl Send for Glibc {}
// SAFETY: as above.
unsafe impl Sync for Glibc {}

impl Glibc {
    #[inline]
    fn raw(&self) -> *mut pthread_barrier_t {
        self.0.0.get().cast()
    }
}

impl Contender for Glibc {
    fn name() -> &'static str {
        "pthread_barrier_t"
    }
}

impl AnyBarrier for Glibc {
    fn new(parties: usize) -> Glibc {
        let barrier = Glibc(Box::new(Padded(UnsafeCell::new(MaybeUninit::uninit()))));
        let parties = parties.try_into().expect("a number of threads");
        // SAFETY: memory of the right size and alignment, which no other call knows yet.
        let status = unsafe { libc::pthread_barrier_init(barrier.raw(), ptr::null(), parties) };
        assert_eq!(status, 0, "pthread_barrier_init");
        barrier
    }

    #[inline]
    fn wait(&self) {
        // SAFETY: initialized by `new`, at this address ever since.
        unsafe { libc::pthread_barrier_wait(self.raw()) };
    }
}

impl Drop for Glibc {
    fn drop(&mut self) {
        // SAFETY: initialized by `new`, and nobody waits at what is dropped.
        unsafe { libc::pthread_barrier_destroy(self.raw()) };
    }
}

impl fmt::Debug for Glibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Glibc")
    }
}
