//! Latches, which are used once each.

use std::time::Duration;

use super::{Contest, ping_pongs, runners};
use crate::catalogue::{Kind, Scenario};
use crate::contenders::latch::{Latch, each_latch};
use crate::floor::{self, SpinningLatch};
use crate::race::Batch;
use crate::scenarios;
use crate::threads::Placement;

pub(super) fn contests() -> Vec<Contest> {
    let mut contests = vec![life(), failed_try()];
    contests.extend(ping_pongs(round_trip));
    contests.extend([1, 2, 4, 8, 16, 64].map(fan_in));
    contests
}

fn life() -> Contest {
    Contest::new(Scenario::Uncontended, Kind::Latch, "new, count down, wait")
        .floor("fetch_add + compare_exchange", floor::fetch_add_and_compare_exchange)
        .ours(runners![|This, times| scenarios::latch_life::<This>(times); Latch])
        .peers(each_latch!(runners!(|Peer, times| scenarios::latch_life::<Peer>(times))))
}

fn failed_try() -> Contest {
    Contest::new(Scenario::FailedTry, Kind::Latch, "")
        .floor("load", floor::load)
        .ours(runners![|This, times| scenarios::failed_try::<This>(times); Latch])
}

fn round_trip(placement: Placement, case: &str) -> Contest {
    Contest::new(Scenario::PingPong, Kind::Latch, case)
        .ours(runners![|This, times| scenarios::latch_round_trip::<This>(placement, times); Latch])
        .peers(each_latch!(runners!(|Peer, times| scenarios::latch_round_trip::<Peer>(placement, times))))
        .batch(Batch::Lasting(Duration::from_millis(1)))
}

fn fan_in(threads: usize) -> Contest {
    Contest::new(Scenario::FanIn, Kind::Latch, "")
        .size(threads, "threads")
        .floor("spinning on a counter", move |times| scenarios::fan_in::<SpinningLatch>(threads, times))
        .ours(runners![|This, times| scenarios::fan_in::<This>(threads, times); Latch])
        .peers(each_latch!(runners!(|Peer, times| scenarios::fan_in::<Peer>(threads, times))))
        .batch(Batch::Of(10))
        .explain("std Mutex + Condvar", SLEEPS_AT_ONCE)
        .explain("crossbeam", SLEEPS_AT_ONCE)
}

const SLEEPS_AT_ONCE: &str = "Who waits there goes to sleep at once. Ours offers the processor to others some times before, which spares \
     the sleep where those that it waits for are quick.";
