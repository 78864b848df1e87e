//! Every other platform, through parking_lot_core: its queues for every operation, on every word.
//!
//! Keys are addresses with the top bit flipped. A wake may come late, to an address that is somebody else's by then
//! (C5); flipped, it can never reach a queue of another crate that uses parking_lot_core in the same process, since
//! no object lies across that bit. Tokens are always the default one.

#![allow(unsafe_code, reason = "parking_lot_core's calls")]

use std::time::{Duration, Instant};

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, FilterOp, ParkResult};

use super::Word;
use crate::deadline::Moment;
use crate::{Deadline, TimedOut};

/// How long a wall-clock wait sleeps before it looks at that clock again.
const SLICE: Duration = Duration::from_secs(1);

pub(crate) fn wait(word: Word<'_>, expected: u32, deadline: Deadline) -> Result<(), TimedOut> {
    loop {
        let timeout = match deadline.moment() {
            Moment::Never => None,
            Moment::Passed => return Err(TimedOut),
            Moment::Monotonic(instant) => Some(instant),
            Moment::Wall(_) => match deadline.remaining() {
                Some(Duration::ZERO) => return Err(TimedOut),
                left => Instant::now().checked_add(left.map_or(SLICE, |left| left.min(SLICE))),
            },
        };
        // C3: the comparison happens under the queue's lock, which every wake takes.
        // SAFETY: the callbacks neither panic nor call back into parking_lot_core, and all parking on this key is
        // done here, since it is an address of ours.
        let result = unsafe {
            parking_lot_core::park(
                key(word.address()),
                || word.load() == expected,
                || {},
                |_, _| {},
                DEFAULT_PARK_TOKEN,
                timeout,
            )
        };
        match result {
            ParkResult::Unparked(_) | ParkResult::Invalid => return Ok(()),
            // C2: a slice may be over, or the park early.
            ParkResult::TimedOut if deadline.has_passed() => return Err(TimedOut),
            ParkResult::TimedOut => {}
        }
    }
}

pub(crate) fn wake(address: *const u32, n: u32) {
    let mut left = n;
    let next = |_| {
        if left == 0 {
            return FilterOp::Stop;
        }
        left -= 1;
        FilterOp::Unpark
    };
    // SAFETY: as in `wait`.
    unsafe { parking_lot_core::unpark_filter(key(address), next, |_| DEFAULT_UNPARK_TOKEN) };
}

/// The precise clocks are the cheapest that std has.
pub(crate) fn surely_passed(deadline: Deadline) -> bool {
    deadline.has_passed()
}

pub(crate) fn only_one_processor() -> bool {
    std::thread::available_parallelism().is_ok_and(|n| n.get() == 1)
}

fn key(address: *const u32) -> usize {
    address as usize ^ (1 << (usize::BITS - 1))
}
