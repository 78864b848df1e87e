//! How long a thread stays awake before it sleeps.
//!
//! By counts and not by the clock, once a call. What the counts rest on was measured on 2 vCPUs (AMD EPYC, Linux 6.18): a
//! pause lasts 28 ns, a yield with nobody else to run 650 ns; a word goes from one running thread to the other and back in 75
//! to 480 ns, by where the host puts the processors; a sleep and its wake-up cost 10 µs and more. Figures are ratios of two
//! or three runs: two threads that pass permits to and fro against two that spin on a flag, and threads that share one permit
//! against the best mutex.
//!
//! | pauses before each look | yields | to and fro | 2 threads share | 4 threads | 8 threads |
//! |-------------------------|--------|------------|-----------------|-----------|-----------|
//! | 30 times 1              | 8      | 1.0–2.4    | 1.0–2.6         | 1.0–1.9   | 1.2–2.5   |
//! | 1 2 4 8                 | 16     | 2.5–2.9    | 1.1–1.2         |           | 1.0       |
//! | 1 1 1 1 2 4 8           | 16     | 1.1–2.1    | 1.0–1.1         | 1.0–1.1   | 1.0–1.1   |
//! | **1 1 1 2 4 8**         | **8**  | 1.2–1.5    | 1.0–1.1         | 1.0       | 1.1–1.2   |
//! | 30 times 1              | 4      | 1.0–1.4    | 1.1–1.7         | 1.5–1.7   | 1.7–1.8   |
//!
//! So every look takes the word away from whoever uses it, and must become rare; early looks serve a partner that runs, the
//! yields a holder that does not. All of it burns at most 6 µs of a processor that nobody else wants.
//!
//! The parties of a barrier want something else, unless only one of them is missing. Rounds beside those of libstdc++'s barrier:
//!
//! | who pauses              | yields | 2 parties | 4         | 8         | 16        |
//! |-------------------------|--------|-----------|-----------|-----------|-----------|
//! | everybody               | 8      | 0.2       | 0.8       | 1.0       | 1.0       |
//! | **when one is missing** | **8**  | 0.1       | 0.7–0.8   | 0.8–0.9   | 0.8–0.9   |
//! | when one is missing     | 40     | 0.2       | 0.7       | 0.8–0.9   | 0.8       |
//! | nobody                  | 40     | 0.4–0.7   | 0.6–0.7   | 0.7–0.8   | 0.9       |

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;

use super::Waiter;
use crate::{Deadline, sys};

/// Pauses before each look.
const PAUSES: [u32; 6] = [1, 1, 1, 2, 4, 8];
/// After those, times that the processor is offered to others, with a look after each.
const YIELDS: u32 = 8;
/// For a deadline nearer than this a thread does not stay awake: the spin could outlast it.
const TOO_NEAR_TO_SPIN: Duration = Duration::from_micros(20);
/// For a deadline nearer than this it does not yield either: others may keep the processor for a time slice.
const TOO_NEAR_TO_YIELD: Duration = Duration::from_millis(10);

/// Whether a call stays awake for a while.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awake {
    /// It sleeps at once.
    Not,
    /// One other thread has to act, which may be running.
    ForOne,
    /// Several others have to act, some of which may want this processor.
    ForMany,
}

/// Looks a few times more before the caller sleeps.
pub(super) fn spin<'a, W: Waiter<'a>>(waiter: &mut W, deadline: Deadline) -> Option<W::Output> {
    let awake = waiter.stay_awake();
    // Nobody else can run meanwhile.
    if single_processor() || awake == Awake::Not {
        return None;
    }
    let left = deadline.remaining().unwrap_or(Duration::MAX);
    if left < TOO_NEAR_TO_SPIN {
        return None;
    }
    if awake == Awake::ForOne {
        for pauses in PAUSES {
            for _ in 0..pauses {
                core::hint::spin_loop();
            }
            if let Some(output) = waiter.attempt() {
                return Some(output);
            }
        }
    }
    if left < TOO_NEAR_TO_YIELD {
        return None;
    }
    for _ in 0..YIELDS {
        std::thread::yield_now();
        if let Some(output) = waiter.attempt() {
            return Some(output);
        }
    }
    None
}

/// Only "several" is remembered: a pinned thread may see one processor where the others see more.
pub(super) fn single_processor() -> bool {
    static SEVERAL: AtomicBool = AtomicBool::new(false);
    if SEVERAL.load(Relaxed) {
        return false;
    }
    let single = sys::only_one_processor();
    if !single {
        SEVERAL.store(true, Relaxed);
    }
    single
}
