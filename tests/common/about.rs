//! What a thread is about just now, for the watchdog's report: it prints the names of all threads, as the kernel has them.

#![allow(unsafe_code, reason = "the kernel's name of a thread")]

/// Names what this thread does next. The kernel keeps fifteen bytes of it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn about(what: &str) {
    let mut name = [0; 16];
    let length = what.len().min(name.len() - 1);
    name[..length].copy_from_slice(&what.as_bytes()[..length]);
    // SAFETY: the name ends with a zero, and the kernel copies it.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// Nobody would read it.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn about(_what: &str) {}
