//! Semaphores, by one thread or two.

use std::time::Duration;

use super::{Contest, runners};
use crate::catalogue::{Kind, Scenario};
use crate::contenders::semaphore::{BinarySemaphore, Many, Semaphore, each_semaphore};
use crate::figure::Base;
use crate::floor;
use crate::race::Batch;
use crate::scenarios;
use crate::threads::{Placement, processors};

pub(super) fn contests() -> Vec<Contest> {
    let mut contests = vec![uncontended(), uncontended_by_several(), failed_try()];
    // On one processor two threads do not run at the same time.
    if processors() > 1 {
        contests.extend([running(Placement::Pinned, "running, pinned"), running(Placement::Free, "running, free")]);
    }
    contests.push(asleep());
    contests
}

fn uncontended() -> Contest {
    Contest::new(Scenario::Uncontended, Kind::Semaphore, "release and acquire")
        .floor("fetch_add + compare_exchange", floor::fetch_add_and_compare_exchange)
        .ours(runners![|This, times| scenarios::uncontended::<This>(times); Semaphore, BinarySemaphore])
        .peers(each_semaphore!(runners!(|Peer, times| scenarios::uncontended::<Peer>(times))))
        .target(1.15, Base::Floor)
        .readme("semaphore: release and acquire, nobody waiting")
}

/// The floor is that of one operation on one word, whatever the number of permits.
fn uncontended_by_several() -> Contest {
    Contest::new(Scenario::Uncontended, Kind::Semaphore, "release and acquire two permits at once")
        .floor("fetch_add + compare_exchange", floor::fetch_add_and_compare_exchange)
        .ours(runners![|This, times| scenarios::uncontended::<This>(times); Many])
}

fn failed_try() -> Contest {
    Contest::new(Scenario::FailedTry, Kind::Semaphore, "")
        .floor("load", floor::load)
        .ours(runners![|This, times| scenarios::failed_try::<This>(times); Semaphore, Many, BinarySemaphore])
        .peers(each_semaphore!(runners!(|Peer, times| scenarios::failed_try::<Peer>(times))))
        .target(2.0, Base::Floor)
        .readme("semaphore: `try_acquire` in vain")
}

fn running(placement: Placement, case: &str) -> Contest {
    let contest = Contest::new(Scenario::PingPong, Kind::Semaphore, case)
        .floor("spinning on a flag", move |times| floor::spinning_ping_pong(placement, times))
        .ours(runners![|This, times| scenarios::ping_pong::<This>(placement, times); Semaphore, BinarySemaphore])
        .peers(each_semaphore!(runners!(|Peer, times| scenarios::ping_pong::<Peer>(placement, times))))
        .batch(Batch::Lasting(Duration::from_millis(1)));
    match placement {
        Placement::Pinned => {
            contest.target(2.0, Base::Floor).readme("semaphore: permits passed to and fro by two running threads")
        }
        _ => contest,
    }
}

fn asleep() -> Contest {
    let together = Placement::Together;
    Contest::new(Scenario::PingPong, Kind::Semaphore, "asleep")
        .floor("futex(2)", move |times| floor::futex_ping_pong(together, times))
        .ours(runners![|This, times| scenarios::ping_pong::<This>(together, times); Semaphore, BinarySemaphore])
        .peers(each_semaphore!(runners!(|Peer, times| scenarios::ping_pong::<Peer>(together, times))))
        .batch(Batch::Lasting(Duration::from_millis(5)))
}
