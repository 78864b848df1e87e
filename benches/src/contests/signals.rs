//! What one thread tells another one.

use std::time::Duration;

use super::{Contest, ping_pongs, runners};
use crate::catalogue::{Kind, Scenario};
use crate::contenders::signal::{Ours, each_signal};
use crate::floor;
use crate::race::Batch;
use crate::scenarios;
use crate::threads::Placement;

pub(super) fn contests() -> Vec<Contest> {
    let mut contests = vec![uncontended()];
    contests.extend(ping_pongs(ping_pong));
    contests
}

fn uncontended() -> Contest {
    Contest::new(Scenario::Uncontended, Kind::Signal, "")
        .floor("fetch_add + compare_exchange", floor::fetch_add_and_compare_exchange)
        .ours(runners![|This, times| scenarios::signal_to_oneself::<This>(times); Ours])
        .peers(each_signal!(runners!(|Peer, times| scenarios::signal_to_oneself::<Peer>(times))))
        .explain(
            "crossbeam",
            "A parker is for one thread, which never leaves while it waits: giving the signal is one exchange of the whole word. A binary semaphore is for any number of threads, which it counts in the same word, so it must keep what it finds there.",
        )
}

fn ping_pong(placement: Placement, case: &str) -> Contest {
    Contest::new(Scenario::PingPong, Kind::Signal, case)
        .ours(runners![|This, times| scenarios::signal_ping_pong::<This>(placement, times); Ours])
        .peers(each_signal!(runners!(|Peer, times| scenarios::signal_ping_pong::<Peer>(placement, times))))
        .batch(Batch::Lasting(Duration::from_millis(2)))
}
