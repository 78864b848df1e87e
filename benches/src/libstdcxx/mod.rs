//! What libstdc++ has of what is measured: objects of C++ in the hands of Rust.
//!
//! The build script leaves this module out where no compiler makes `peers.cpp` of it.

#![allow(unsafe_code, reason = "another language's functions")]

mod atomic;

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char};
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;
use std::time::Duration;

pub use self::atomic::AtomicRef;

/// A class of C++.
pub trait Class {
    /// What tables and messages call it.
    const NAME: &'static str;

    /// # Safety
    ///
    /// The object was made by C++'s `new`, and nobody uses it any more.
    unsafe fn delete(object: *mut Self);
}

/// An object on the heap of C++.
pub struct Owned<T: Class>(NonNull<T>);

impl<T: Class> Owned<T> {
    fn new(object: *mut T) -> Owned<T> {
        Owned(NonNull::new(object).expect("where there is no memory, C++ throws"))
    }
}

impl<T: Class> Deref for Owned<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `new` was given an object that is this value's own until it is dropped. Rust knows no bytes of it.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Class> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: it came from C++, and whoever has borrowed it has given it back.
        unsafe { T::delete(self.0.as_ptr()) };
    }
}

// SAFETY: as a box.
unsafe impl<T: Class + Send> Send for Owned<T> {}
// SAFETY: as a box.
unsafe impl<T: Class + Sync> Sync for Owned<T> {}

impl<T: Class> fmt::Debug for Owned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(T::NAME).finish()
    }
}

/// A class whose objects only C++ looks into.
macro_rules! class {
    ($(#[$attribute:meta])* $class:ident, $delete:ident) => {
        $(#[$attribute])*
        #[derive(Debug)]
        #[repr(C)]
        pub struct $class(UnsafeCell<[u8; 0]>);

        impl Class for $class {
            const NAME: &'static str = concat!("libstdc++ ", stringify!($class));

            unsafe fn delete(object: *mut $class) {
                // SAFETY: as the caller promises.
                unsafe { $delete(object) };
            }
        }
    };
}

class! {
    /// `std::counting_semaphore`. The binary one is the same class with another bound.
    Semaphore, libstdcxx_semaphore_delete
}

class! {
    /// `std::barrier`.
    Barrier, libstdcxx_barrier_delete
}

class! {
    /// `std::latch`.
    Latch, libstdcxx_latch_delete
}

class! {
    /// `std::promise<uint64_t>`.
    Promise, libstdcxx_promise_delete
}

class! {
    /// `std::future<uint64_t>`.
    Future, libstdcxx_future_delete
}

// SAFETY: C++20 lets any threads call everything but the destructor at a time.
unsafe impl Sync for Semaphore {}
// SAFETY: as above.
unsafe impl Sync for Barrier {}
// SAFETY: as above.
unsafe impl Sync for Latch {}

// SAFETY of the calls declared safe: they get what is alive, and hold on to nothing. Where more is asked of their callers,
// libstdc++ throws, which ends the process, or counts on without harm to memory.
unsafe extern "C" {
    safe fn libstdcxx_version() -> *const c_char;

    safe fn libstdcxx_semaphore_new(permits: isize) -> *mut Semaphore;
    fn libstdcxx_semaphore_delete(it: *mut Semaphore);
    safe fn libstdcxx_semaphore_acquire(it: &Semaphore);
    safe fn libstdcxx_semaphore_try_acquire(it: &Semaphore) -> bool;
    safe fn libstdcxx_semaphore_try_acquire_for(it: &Semaphore, timeout: i64) -> bool;
    safe fn libstdcxx_semaphore_try_acquire_until(it: &Semaphore, wall: bool, deadline: i64) -> bool;
    safe fn libstdcxx_semaphore_release(it: &Semaphore);

    safe fn libstdcxx_barrier_new(parties: isize) -> *mut Barrier;
    fn libstdcxx_barrier_delete(it: *mut Barrier);
    safe fn libstdcxx_barrier_wait(it: &Barrier, times: u64);

    safe fn libstdcxx_latch_new(count: isize) -> *mut Latch;
    fn libstdcxx_latch_delete(it: *mut Latch);
    safe fn libstdcxx_latch_count_down(it: &Latch);
    safe fn libstdcxx_latch_wait(it: &Latch);
    safe fn libstdcxx_latch_count_down_and_wait();

    safe fn libstdcxx_promise_new() -> *mut Promise;
    safe fn libstdcxx_promise_get_future(it: &Promise) -> *mut Future;
    fn libstdcxx_promise_delete(it: *mut Promise);
    safe fn libstdcxx_promise_set_value(it: &Promise, value: u64);
    fn libstdcxx_future_delete(it: *mut Future);
    safe fn libstdcxx_future_get(it: &Future) -> u64;
    safe fn libstdcxx_future_wait_for(it: &Future, timeout: i64) -> bool;
    safe fn libstdcxx_future_wait_until(it: &Future, wall: bool, deadline: i64) -> bool;
    safe fn libstdcxx_promise_and_future(value: u64) -> u64;
    safe fn libstdcxx_promise_and_future_unused();
}

/// Which one it is, and by which compiler.
pub fn version() -> &'static str {
    // SAFETY: a string literal.
    unsafe { CStr::from_ptr(libstdcxx_version()) }.to_str().unwrap_or("libstdc++")
}

/// A duration, or the time since a clock's zero, as C++ keeps it.
pub fn nanoseconds(time: Duration) -> i64 {
    time.as_nanos().try_into().unwrap_or(i64::MAX)
}

impl Semaphore {
    /// With so many permits.
    pub fn new(permits: isize) -> Owned<Semaphore> {
        Owned::new(libstdcxx_semaphore_new(permits))
    }

    /// Takes a permit, asleep for as long as there is none.
    #[inline]
    pub fn acquire(&self) {
        libstdcxx_semaphore_acquire(self);
    }

    /// Takes a permit if there is one.
    #[inline]
    pub fn try_acquire(&self) -> bool {
        libstdcxx_semaphore_try_acquire(self)
    }

    /// Takes a permit if one comes in time.
    #[inline]
    pub fn try_acquire_for(&self, nanoseconds: i64) -> bool {
        libstdcxx_semaphore_try_acquire_for(self, nanoseconds)
    }

    /// Takes a permit if one comes in time, by the wall clock or by the steady one.
    #[inline]
    pub fn try_acquire_until(&self, wall: bool, nanoseconds: i64) -> bool {
        libstdcxx_semaphore_try_acquire_until(self, wall, nanoseconds)
    }

    /// Gives a permit.
    #[inline]
    pub fn release(&self) {
        libstdcxx_semaphore_release(self);
    }
}

impl Barrier {
    /// For so many parties.
    pub fn new(parties: isize) -> Owned<Barrier> {
        Owned::new(libstdcxx_barrier_new(parties))
    }

    /// Arrives and waits for the others, so many times.
    #[inline]
    pub fn wait(&self, times: u64) {
        libstdcxx_barrier_wait(self, times);
    }
}

impl Latch {
    /// With that count.
    pub fn new(count: isize) -> Owned<Latch> {
        Owned::new(libstdcxx_latch_new(count))
    }

    /// One less.
    #[inline]
    pub fn count_down(&self) {
        libstdcxx_latch_count_down(self);
    }

    /// Until the count is zero.
    #[inline]
    pub fn wait(&self) {
        libstdcxx_latch_wait(self);
    }

    /// The life of a latch with a count of one, on the stack.
    #[inline]
    pub fn count_down_and_wait() {
        libstdcxx_latch_count_down_and_wait();
    }
}

impl Promise {
    /// Both sides, each on the heap.
    pub fn new() -> (Owned<Promise>, Owned<Future>) {
        let promise = Owned::new(libstdcxx_promise_new());
        let future = Owned::new(libstdcxx_promise_get_future(&promise));
        (promise, future)
    }

    /// Gives the value. A second one ends the process.
    #[inline]
    pub fn set_value(&self, value: u64) {
        libstdcxx_promise_set_value(self, value);
    }

    /// The life of both sides on the stack, through which the value goes.
    #[inline]
    pub fn send_and_recv(value: u64) -> u64 {
        libstdcxx_promise_and_future(value)
    }

    /// The life of both sides on the stack, without any value.
    #[inline]
    pub fn drop_both() {
        libstdcxx_promise_and_future_unused();
    }
}

impl Future {
    /// Takes the value, asleep until it is there. A second call ends the process.
    #[inline]
    pub fn get(&self) -> u64 {
        libstdcxx_future_get(self)
    }

    /// Whether the value comes in time.
    #[inline]
    pub fn wait_for(&self, nanoseconds: i64) -> bool {
        libstdcxx_future_wait_for(self, nanoseconds)
    }

    /// Whether the value comes in time, by the wall clock or by the steady one.
    #[inline]
    pub fn wait_until(&self, wall: bool, nanoseconds: i64) -> bool {
        libstdcxx_future_wait_until(self, wall, nanoseconds)
    }
}
