//! Every other platform, through parking_lot_core: its queues for every operation, on every word.
//!
//! A wake may come late, to an address that is somebody else's by then (C5). Where addresses have 64 bits, no object lies
//! across the top one, so keys have it flipped, and a late wake can't reach a queue of another crate that uses
//! parking_lot_core in the same process. On smaller targets both halves may be in use: there a key is the address, and a
//! late wake may be a spurious one elsewhere, as parking_lot_core's own users expect. Tokens are always the default one.

#![allow(unsafe_code, reason = "parking_lot_core's calls")]

use std::time::Instant;

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, FilterOp};

use super::{Word, portable};
use crate::deadline::Moment;
use crate::{Deadline, TimedOut};

pub(crate) use super::portable::{in_forked_child, monotonic_surely_past, processors, random, wall_surely_past};

pub(crate) fn wait(word: Word<'_>, expected: u32, deadline: Deadline) -> Result<(), TimedOut> {
    // C2, C6: asked of the clock, by a thread that has not slept in this call.
    if deadline.has_passed() {
        return Err(TimedOut);
    }
    let timeout = match deadline.moment() {
        Moment::Monotonic(instant) => Some(instant),
        _ => portable::longest_sleep(deadline).and_then(|time| Instant::now().checked_add(time)),
    };
    // C3: the comparison happens under the queue's lock, which every wake takes.
    // SAFETY: the callbacks neither panic nor call back into parking_lot_core, and all parking on this key is done
    // here, since it is an address of ours.
    let _result = unsafe {
        parking_lot_core::park(
            key(word.address()),
            || word.load() == expected,
            || {},
            |_, _| {},
            DEFAULT_PARK_TOKEN,
            timeout,
        )
    };
    Ok(())
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

pub(super) fn key(address: *const u32) -> usize {
    const TOP_BIT: usize = if usize::BITS == 64 { 1 << (usize::BITS - 1) } else { 0 };
    address as usize ^ TOP_BIT
}
