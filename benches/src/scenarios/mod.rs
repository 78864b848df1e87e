//! What is measured. Each scenario is one generic function, so that contenders differ in nothing but themselves.

mod crowd;
mod deadlines;
mod fan_in;
mod herd;
mod jobs;
mod pair;
mod rounds;
mod single;
mod sleepers;

pub use self::crowd::{contended, crowd, mutex_contended, parking_lot_mutex_contended};
pub use self::deadlines::{
    cpu_per_sleep, cpu_per_sleep_by, expired_deadline, lateness, lateness_by, mixed_deadlines, one_nanosecond, polling,
    polling_without_time, timed_success, zero_timeout,
};
pub use self::fan_in::fan_in;
pub use self::herd::{Herd, make_somebody_wait};
pub use self::jobs::{job_latency, job_throughput};
pub use self::pair::{
    latch_round_trip, notify_one_side_by_side, oneshot_round_trip, ping_pong, signal_ping_pong, turns_on_one_atomic,
    two_threads,
};
pub use self::rounds::rounds;
pub use self::single::{
    changed_value, failed_try, latch_life, notify_all, notify_one, one_short_thread, one_thread, oneshot_life,
    oneshot_unused, signal_to_oneself, uncontended,
};
pub use self::sleepers::{burst_on_atomic, burst_through_latch, burst_wake, wake_ups_per_permit};

/// A thousand threads with stacks of this size fit in everywhere.
const SMALL_STACK: usize = 64 * 1024;
