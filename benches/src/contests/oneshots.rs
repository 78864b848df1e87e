//! One-shot channels.

use std::time::Duration;

use super::{Contest, ping_pongs, runners};
use crate::catalogue::{Kind, Scenario};
use crate::contenders::oneshot::{Awaited, Ours, each_oneshot, each_polled_receiver};
use crate::figure::Base;
use crate::floor;
use crate::race::Batch;
use crate::scenarios;
use crate::threads::Placement;

pub(super) fn contests() -> Vec<Contest> {
    let mut contests = vec![life(), unused(), failed_try()];
    contests.extend(ping_pongs(round_trip));
    contests
}

fn life() -> Contest {
    Contest::new(Scenario::Uncontended, Kind::Oneshot, "channel, send, receive")
        .floor("allocation", floor::allocation)
        .ours(runners![|This, times| scenarios::oneshot_life::<This>(times); Ours])
        .peers(each_oneshot!(runners!(|Peer, times| scenarios::oneshot_life::<Peer>(times))))
        .target(1.0, Base::Peer("oneshot crate".into()))
        .readme("one-shot: channel, send, receive")
}

fn unused() -> Contest {
    Contest::new(Scenario::Uncontended, Kind::Oneshot, "channel, drop both")
        .floor("allocation", floor::allocation)
        .ours(runners![|This, times| scenarios::oneshot_unused::<This>(times); Ours])
        .peers(each_oneshot!(runners!(|Peer, times| scenarios::oneshot_unused::<Peer>(times))))
        .target(1.0, Base::Peer("oneshot crate".into()))
        .readme("one-shot: channel, drop both")
}

fn failed_try() -> Contest {
    Contest::new(Scenario::FailedTry, Kind::Oneshot, "")
        .floor("load", floor::load)
        .ours(runners![|This, times| scenarios::failed_try::<This>(times); Awaited<Ours>])
        .peers(each_polled_receiver!(runners!(|Peer, times| scenarios::failed_try::<Peer>(times))))
}

fn round_trip(placement: Placement, case: &str) -> Contest {
    Contest::new(Scenario::PingPong, Kind::Oneshot, case)
        .ours(runners![|This, times| scenarios::oneshot_round_trip::<This>(placement, times); Ours])
        .peers(each_oneshot!(runners!(|Peer, times| scenarios::oneshot_round_trip::<Peer>(placement, times))))
        .batch(Batch::Lasting(Duration::from_millis(1)))
}
