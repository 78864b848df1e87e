//! What std can tell, for back-ends whose platform tells nothing better.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use super::HAS_THREADS;
use crate::Deadline;
use crate::deadline::Moment;

/// How long a wait sleeps before it looks at the wall clock again, which may have been set.
const SLICE: Duration = Duration::from_secs(1);

/// How long a thread may sleep that can't be told of changes to the wall clock; `None` if there is no end to it.
pub(super) fn longest_sleep(deadline: Deadline) -> Option<Duration> {
    let left = deadline.remaining();
    match deadline.moment() {
        Moment::Wall(_) => left.map(|left| left.min(SLICE)),
        _ => left,
    }
}

/// The precise clocks are the cheapest that std has.
pub(crate) fn monotonic_surely_past(instant: Instant) -> bool {
    Instant::now() >= instant
}

/// As [`monotonic_surely_past`].
pub(crate) fn wall_surely_past(time: SystemTime) -> bool {
    SystemTime::now() >= time
}

/// Asked of std once, which may read files and allocate.
pub(crate) fn processors() -> u32 {
    static NUMBER: OnceLock<u32> = OnceLock::new();
    *NUMBER.get_or_init(|| {
        if !HAS_THREADS {
            return 1;
        }
        match std::thread::available_parallelism() {
            Ok(number) => number.get().try_into().unwrap_or(u32::MAX),
            Err(_) => 2, // nobody knows: as on most
        }
    })
}

pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// For platforms that do not fork, or whose sleepers are known to somebody who does not forget them over a fork.
pub(crate) fn in_forked_child(_: extern "C" fn()) {}
