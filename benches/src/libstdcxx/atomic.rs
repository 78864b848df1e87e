//! The atomics of both languages, which are the same bytes.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};

/// What `std::atomic_ref` makes of one of Rust's atomics: an integer of its width. Of its values these calls use two, 0 and 1.
///
/// It waits and notifies by the functions by which `std::atomic` does.
#[derive(Clone, Copy, Debug)]
pub struct AtomicRef<'a> {
    bytes: *mut c_void,
    width: usize,
    atomic: PhantomData<&'a AtomicBool>,
}

macro_rules! of {
    ($($atomic:ident $(<$parameter:ident>)?),*) => {$(
        impl<'a $(, $parameter)?> From<&'a $atomic$(<$parameter>)?> for AtomicRef<'a> {
            #[inline]
            fn from(atomic: &'a $atomic$(<$parameter>)?) -> AtomicRef<'a> {
                AtomicRef { bytes: atomic.as_ptr().cast(), width: size_of_val(atomic), atomic: PhantomData }
            }
        }
    )*};
}
of!(AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, AtomicPtr<T>);

unsafe extern "C" {
    fn libstdcxx_atomic_store(it: *mut c_void, width: usize, value: bool);
    fn libstdcxx_atomic_wait(it: *mut c_void, width: usize, old: bool);
    fn libstdcxx_atomic_wait_times(it: *mut c_void, width: usize, old: bool, times: u64);
    fn libstdcxx_atomic_notify_one_times(it: *mut c_void, width: usize, times: u64);
    fn libstdcxx_atomic_notify_all_times(it: *mut c_void, width: usize, times: u64);
    fn libstdcxx_atomic_serve(it: *mut c_void, width: usize, times: u64);
    fn libstdcxx_atomic_reply(it: *mut c_void, width: usize, times: u64);
}

// Every call gets a live atomic of that width, which C++ accesses by atomic operations only, as Rust does. 0 and 1 are values
// of each of them.
impl AtomicRef<'_> {
    /// By the strongest order, as whenever users of C++ name none.
    #[inline]
    pub fn store(self, value: bool) {
        // SAFETY: as above.
        unsafe { libstdcxx_atomic_store(self.bytes, self.width, value) };
    }

    /// Until the value is not the old one.
    #[inline]
    pub fn wait(self, old: bool) {
        // SAFETY: as above.
        unsafe { libstdcxx_atomic_wait(self.bytes, self.width, old) };
    }

    /// The same so many times.
    #[inline]
    pub fn wait_times(self, old: bool, times: u64) {
        // SAFETY: as above.
        unsafe { libstdcxx_atomic_wait_times(self.bytes, self.width, old, times) };
    }

    /// One waiter, so many times.
    #[inline]
    pub fn notify_one_times(self, times: u64) {
        // SAFETY: as above.
        unsafe { libstdcxx_atomic_notify_one_times(self.bytes, self.width, times) };
    }

    /// All waiters, so many times.
    #[inline]
    pub fn notify_all_times(self, times: u64) {
        // SAFETY: as above.
        unsafe { libstdcxx_atomic_notify_all_times(self.bytes, self.width, times) };
    }

    /// Sets it, notifies and waits until it is not set any more, so many times.
    #[inline]
    pub fn serve(self, times: u64) {
        // SAFETY: as above.
        unsafe { libstdcxx_atomic_serve(self.bytes, self.width, times) };
    }

    /// Waits until it is set, clears it and notifies, so many times.
    #[inline]
    pub fn reply(self, times: u64) {
        // SAFETY: as above.
        unsafe { libstdcxx_atomic_reply(self.bytes, self.width, times) };
    }
}
