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
//! | 1 1 1 2 4 8             | 5      | 1.2–1.3    | 1.1–1.2         | 2.5–2.7   | 2.7–3.0   |
//! | 30 times 1              | 4      | 1.0–1.4    | 1.1–1.7         | 1.5–1.7   | 1.7–1.8   |
//!
//! So every look takes the word away from whoever uses it, and must become rare; early looks serve a partner that runs, the
//! yields a holder that does not. All of it burns at most 6 µs of a processor that nobody else wants.
//!
//! Where others do want it, a yield can last for several time slices, and a thread that yields gets no such preference as one
//! that is woken. So whoever waits for something that comes once yields no more, for a while, after a yield that took long.
//! With 16 busy threads beside it, an opened latch was left after 0.13 ms by the median, as with a condition variable; it was
//! 6 ms otherwise. Who waits for a permit goes on: most often it is those busy threads who have it and give it back in between,
//! and each would have to wake the sleeper every time (8 threads share: 1.1–1.2 of the best mutex, or else 7 to 10).
//!
//! The parties of a barrier want something else, unless each can have a processor: a pause keeps those from theirs that have yet
//! to arrive. Rounds beside those of libstdc++'s barrier, which pauses 12 times and yields 4 times, medians of 81 pairs:
//!
//! | who pauses                | yields | 2 parties | 4        | 8        | 16       | sleeps a round, 4 parties |
//! |---------------------------|--------|-----------|----------|----------|----------|---------------------------|
//! | everybody                 | 8      | **0.10**  | 1.12     | 1.07     | 1.13     | 0.35                      |
//! | who misses one other only | 8      | 0.13      | 0.98     | 0.88     | 0.86     | 0.42                      |
//! | who misses one other only | 12     | 0.13      | 0.79     | 0.88     | 0.86     | 0.00                      |
//! | nobody                    | 8      | 0.33      | **0.74** | **0.82** | **0.84** | 0.00                      |
//! | nobody                    | 40     | 0.33      | 0.72     | 0.82     | 0.87     | 0.00                      |

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use core::time::Duration;
use std::time::Instant;

use super::Waiter;
use crate::{Deadline, sys};

/// Pauses before each look.
const PAUSES: [u32; 6] = [1, 1, 1, 2, 4, 8];
/// After those, times that the processor is offered to others, with a look after each.
const YIELDS: u32 = 8;
/// For a deadline nearer than this a thread does not stay awake: the spin could outlast it.
const TOO_NEAR_TO_SPIN: Duration = Duration::from_micros(20);
/// For a deadline nearer than this it does not yield: others may keep the processor for several time slices.
const TOO_NEAR_TO_YIELD: Duration = Duration::from_millis(100);
/// A yield that takes longer has met somebody who wants the processor for a time slice. Among themselves, parties that meet come
/// back much sooner.
const LONG_YIELD: Duration = Duration::from_millis(1);
/// After one, so many calls do not yield. The one that then tries it again pays for all of them.
const WARY_CALLS: u32 = 64;

/// Whether a call stays awake for a while.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awake {
    /// It sleeps at once.
    Not,
    /// Somebody has to give back what he took. He may be running, and will come back for it.
    ForReturn,
    /// So many others have to act. They may be running, unless they are too many for the processors.
    ForOthers(u32),
}

/// Looks a few times more before the caller sleeps.
pub(super) fn spin<'a, W: Waiter<'a>>(waiter: &mut W, deadline: Deadline) -> Option<W::Output> {
    let awake = waiter.stay_awake();
    if awake == Awake::Not {
        return None;
    }
    let processors = processors();
    if processors == 1 {
        return None; // nobody else can run meanwhile
    }
    let left = deadline.remaining().unwrap_or(Duration::MAX);
    if left < TOO_NEAR_TO_SPIN {
        return None;
    }
    let all_can_run = !matches!(awake, Awake::ForOthers(others) if others >= processors);
    if all_can_run {
        for pauses in PAUSES {
            for _ in 0..pauses {
                core::hint::spin_loop();
            }
            if let Some(output) = waiter.attempt() {
                return Some(output);
            }
        }
    }
    let patience = left.checked_sub(TOO_NEAR_TO_YIELD)?;
    yield_and_look(waiter, patience, awake != Awake::ForReturn)
}

fn yield_and_look<'a, W: Waiter<'a>>(waiter: &mut W, patience: Duration, is_wary: bool) -> Option<W::Output> {
    /// How many calls are yet to come that do not yield.
    static WARY: AtomicU32 = AtomicU32::new(0);

    let wary = WARY.load(Relaxed);
    if is_wary && wary > 0 {
        WARY.store(wary - 1, Relaxed);
        return None;
    }
    let start = Instant::now();
    let mut before = start;
    for _ in 0..YIELDS {
        std::thread::yield_now();
        let now = Instant::now();
        let took_long = is_wary && now.duration_since(before) > LONG_YIELD;
        if took_long {
            WARY.store(WARY_CALLS, Relaxed);
        }
        let found = waiter.attempt();
        if found.is_some() || took_long || now.duration_since(start) >= patience {
            return found;
        }
        before = now;
    }
    None
}

/// How many processors this process has. Several are remembered for good, and one for some calls only: a pinned thread may
/// see one processor where others see more.
pub(super) fn processors() -> u32 {
    const CALLS: u32 = 64;
    static SEVERAL: AtomicU32 = AtomicU32::new(0);
    static SINGLE: AtomicU32 = AtomicU32::new(0);

    let known = SEVERAL.load(Relaxed);
    if known > 0 {
        return known;
    }
    let believed = SINGLE.load(Relaxed);
    if believed > 0 {
        SINGLE.store(believed - 1, Relaxed);
        return 1;
    }
    let number = sys::processors();
    let (memory, value) = if number == 1 { (&SINGLE, CALLS) } else { (&SEVERAL, number) };
    memory.store(value, Relaxed);
    number
}
