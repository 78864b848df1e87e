//! Windows 8 and newer: WaitOnAddress, for every operation.
//!
//! Its timeouts are relative, in whole milliseconds, and may end a tick of the system's clock early. So they are rounded up,
//! and a thread whose sleep ended asks the deadline's own clock before it reports anything (C2). A wake-up at a change of the
//! wall clock is not to be had: waits on that clock sleep in slices. Time that the machine spends asleep is not counted by
//! the timeout.
//!
//! Imported by windows-link, which needs no import library. The atomic-wait crate makes the same calls, without deadlines,
//! and would bring an old windows-sys with its import libraries along.
//!
//! Calls: <https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-waitonaddress>

#![allow(unsafe_code, reason = "system calls")]

use core::ffi::c_void;
use core::time::Duration;

use super::{Word, portable};
use crate::atomic::{Ordering, fence};
use crate::{Deadline, TimedOut};

pub(crate) use super::portable::{in_forked_child, monotonic_surely_past, processors, random, wall_surely_past};

windows_link::link!("api-ms-win-core-synch-l1-2-0.dll" "system" fn WaitOnAddress(
    address: *const c_void, compare: *const c_void, size: usize, milliseconds: u32,
) -> i32);
windows_link::link!("api-ms-win-core-synch-l1-2-0.dll" "system" fn WakeByAddressSingle(address: *const c_void));
windows_link::link!("api-ms-win-core-synch-l1-2-0.dll" "system" fn WakeByAddressAll(address: *const c_void));

/// The number of milliseconds that stands for no timeout.
const INFINITE: u32 = u32::MAX;

/// More threads than there can be: the system's table of their ids has room for 2^24.
const ALL: u32 = 1 << 24;

pub(crate) fn wait(word: Word<'_>, expected: u32, deadline: Deadline) -> Result<(), TimedOut> {
    // C2, C6: asked of the clock, by a thread that has not slept in this call.
    if deadline.has_passed() {
        return Err(TimedOut);
    }
    let milliseconds = portable::longest_sleep(deadline).map_or(INFINITE, round_up);
    // SAFETY: both addresses are those of four live bytes, borrowed by the caller or of this frame.
    unsafe { WaitOnAddress(word.address().cast(), (&raw const expected).cast(), size_of::<u32>(), milliseconds) };
    // Woken, changed, out of time or nothing of it: look again (C1).
    Ok(())
}

pub(crate) fn wake(address: *const u32, n: u32) {
    // C3: nothing is promised about the order of the caller's change and the look for sleepers.
    fence(Ordering::SeqCst);
    if n >= ALL {
        // SAFETY: the address is a key and is not read (C5).
        unsafe { WakeByAddressAll(address.cast()) };
        return;
    }
    for _ in 0..n {
        // SAFETY: as above.
        unsafe { WakeByAddressSingle(address.cast()) };
    }
}

/// Up to the longest timeout that is one: after that much, the thread looks again.
fn round_up(time: Duration) -> u32 {
    let milliseconds = time.as_nanos().div_ceil(1_000_000);
    u32::try_from(milliseconds).map_or(INFINITE - 1, |milliseconds| milliseconds.min(INFINITE - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_timeout_is_shorter_than_asked_or_endless() {
        let cases = [
            (Duration::from_nanos(1), 1),
            (Duration::from_millis(1), 1),
            (Duration::from_nanos(1_000_001), 2),
            (Duration::from_millis(u64::from(INFINITE) - 1), INFINITE - 1),
            (Duration::from_millis(u64::from(INFINITE)), INFINITE - 1),
            (Duration::MAX, INFINITE - 1),
        ];
        for (time, milliseconds) in cases {
            assert_eq!(round_up(time), milliseconds, "{time:?}");
        }
    }
}
