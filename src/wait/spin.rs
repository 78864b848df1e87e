//! How long a thread stays awake before it sleeps.

use core::time::Duration;

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::Waiter;
use crate::{Deadline, sys};

/// Rounds of pauses between looks.
const PAUSES: u32 = 12;
/// Then times that the processor is offered to others.
const YIELDS: u32 = 16;
/// A deadline nearer than this is slept for at once.
const LONGEST_SPIN: Duration = Duration::from_micros(20);

/// Looks a few times more before the caller sleeps.
pub(super) fn spin<'a, W: Waiter<'a>>(waiter: &mut W, deadline: Deadline) -> Option<W::Output> {
    if single_processor() || waiter.others_sleep() || deadline.remaining().is_some_and(|left| left < LONGEST_SPIN) {
        return None;
    }
    for _ in 0..PAUSES {
        core::hint::spin_loop();
        if let Some(output) = waiter.attempt() {
            return Some(output);
        }
    }
    for _ in 0..YIELDS {
        std::thread::yield_now();
        if let Some(output) = waiter.attempt() {
            return Some(output);
        }
    }
    None
}

/// Asked of the platform once a process. Relaxed: every thread finds the same.
fn single_processor() -> bool {
    const UNKNOWN: u8 = 0;
    const ONE: u8 = 1;
    const SEVERAL: u8 = 2;
    static PROCESSORS: AtomicU8 = AtomicU8::new(UNKNOWN);
    match PROCESSORS.load(Relaxed) {
        UNKNOWN => {
            let single = sys::only_one_processor();
            PROCESSORS.store(if single { ONE } else { SEVERAL }, Relaxed);
            single
        }
        known => known == ONE,
    }
}
