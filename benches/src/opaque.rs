//! Values that the compiler knows nothing about.

#![allow(unsafe_code, reason = "an empty piece of assembly")]

use core::arch::asm;

/// The same reference, of unknown origin: whatever is reached through it must be read again.
///
/// [`std::hint::black_box`] does the same but sends the value through the stack, which costs more than the loads that
/// are measured here. This one leaves it in its register, so it costs nothing, to the floor and to contenders alike.
#[inline(always)]
pub fn opaque<T>(reference: &T) -> &T {
    let mut pointer = core::ptr::from_ref(reference);
    // SAFETY: no instruction at all; the register keeps what it holds.
    unsafe { asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
    // SAFETY: it still holds the address of the borrowed value.
    unsafe { &*pointer }
}

/// Uses the value, whatever the compiler may think of it.
#[inline(always)]
pub fn consume<T>(value: T) {
    opaque(&value);
}

/// The end of a scenario that did not go as it must.
#[cold]
#[inline(never)]
pub fn unexpected() -> ! {
    panic!("a scenario went another way than it must, so its figure would mean nothing");
}
