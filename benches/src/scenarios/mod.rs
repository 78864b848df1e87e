//! What is measured. Each scenario is one generic function, so that contenders differ in nothing but themselves.

mod crowd;
mod deadlines;
mod herd;
mod pair;
mod rounds;
mod single;
mod sleepers;

pub use self::crowd::{contended, crowd, mutex_contended, parking_lot_mutex_contended};
pub use self::deadlines::{
    expired_deadline, lateness, lateness_by, mixed_deadlines, one_nanosecond, timed_success, zero_timeout,
};
pub use self::herd::{Herd, make_somebody_wait};
pub use self::pair::{
    latch_round_trip, notify_one_side_by_side, oneshot_round_trip, ping_pong, turns_on_one_atomic, two_threads,
};
pub use self::rounds::rounds;
pub use self::single::{
    changed_value, failed_try, latch_life, notify_all, notify_one, one_short_thread, one_thread, oneshot_life,
    oneshot_unused, uncontended,
};
pub use self::sleepers::{burst_wake, wake_ups_per_permit};
