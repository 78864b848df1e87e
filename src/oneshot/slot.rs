//! Room for one value, which two sides fill and empty. Who has it when is for `channel.rs` to say.

#![allow(unsafe_code, reason = "whether it is full is known elsewhere")]

use core::mem::MaybeUninit;

use crate::atomic::UnsafeCell;

pub(super) struct Slot<T>(UnsafeCell<MaybeUninit<T>>);

impl<T> Slot<T> {
    pub(super) fn empty() -> Slot<T> {
        Slot(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// # Safety
    ///
    /// The caller has the slot to itself, and it is empty.
    #[inline]
    pub(super) unsafe fn put(&self, value: T) {
        self.0.with_mut(|slot| {
            // SAFETY: nobody else accesses it, by the caller's promise.
            let slot = unsafe { &mut *slot };
            slot.write(value);
        });
    }

    /// # Safety
    ///
    /// The caller has the slot to itself, and it is full. It is empty afterwards.
    #[inline]
    pub(super) unsafe fn take(&self) -> T {
        self.0.with_mut(|slot| {
            // SAFETY: nobody else accesses it, by the caller's promise.
            let slot = unsafe { &*slot };
            // SAFETY: full, by the caller's promise, and not read again.
            unsafe { slot.assume_init_read() }
        })
    }

    /// # Safety
    ///
    /// The slot is full, and nobody changes that while the value is borrowed.
    #[inline]
    pub(super) unsafe fn lend(&self) -> &T {
        self.0.with(|slot| {
            // SAFETY: nobody writes, by the caller's promise.
            let slot = unsafe { &*slot };
            // SAFETY: full, by the caller's promise.
            unsafe { slot.assume_init_ref() }
        })
    }

    /// # Safety
    ///
    /// As for `take`.
    pub(super) unsafe fn drop_in_place(&self) {
        self.0.with_mut(|slot| {
            // SAFETY: nobody else accesses it, by the caller's promise.
            let slot = unsafe { &mut *slot };
            // SAFETY: full, by the caller's promise, and not used again.
            unsafe { slot.assume_init_drop() };
        });
    }
}
