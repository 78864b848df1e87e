//! WebAssembly without threads: nobody can wake this thread, so that a sleep lasts until its deadline.
//!
//! Waits without one are refused before they come here ([`HAS_THREADS`](super::HAS_THREADS)). Where std has no clock either,
//! timed calls that do not succeed at once panic when they read it.

use super::{Word, portable};
use crate::{Deadline, TimedOut};

pub(crate) use super::portable::{in_forked_child, monotonic_surely_past, processors, random, wall_surely_past};

pub(crate) fn wait(_: Word<'_>, _: u32, deadline: Deadline) -> Result<(), TimedOut> {
    if deadline.has_passed() {
        return Err(TimedOut);
    }
    std::thread::sleep(portable::longest_sleep(deadline).expect("a wait without a deadline is refused"));
    Ok(())
}

pub(crate) fn wake(_: *const u32, _: u32) {}
