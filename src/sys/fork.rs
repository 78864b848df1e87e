//! Being told of forks, by the C library.

#![allow(unsafe_code, reason = "a call of the C library")]

pub(crate) fn in_forked_child(reset: extern "C" fn()) {
    let reset: unsafe extern "C" fn() = reset;
    // SAFETY: `reset` is there as long as this code is. It fails when there is no memory: forks are rarer than that.
    unsafe { libc::pthread_atfork(None, None, Some(reset)) };
}
