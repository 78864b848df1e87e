//! Parties that meet.

use std::time::Duration;

use super::{BATCH, Contest, runners};
use crate::catalogue::{Kind, Scenario};
use crate::contenders::barrier::{Barrier, each_barrier};
use crate::figure::Base;
use crate::floor::SpinningBarrier;
use crate::race::Batch;
use crate::scenarios;

pub(super) fn contests() -> Vec<Contest> {
    [1, 2, 4, 8, 16, 64].map(rounds).into()
}

fn rounds(parties: usize) -> Contest {
    // Most of a round of more parties than processors is the scheduler's work, of which one interruption is no great part.
    let batch = match parties {
        1 => BATCH,
        2 => Batch::Lasting(Duration::from_millis(2)),
        _ => Batch::Lasting(Duration::from_millis(20)),
    };
    let contest = Contest::new(Scenario::Rounds, Kind::Barrier, "")
        .size(parties, "parties")
        .floor("spinning and yielding", move |times| scenarios::rounds::<SpinningBarrier>(parties, times))
        .ours(runners![|This, times| scenarios::rounds::<This>(parties, times); Barrier])
        .peers(each_barrier!(runners!(|Peer, times| scenarios::rounds::<Peer>(parties, times))))
        .batch(batch);
    if parties > 16 {
        return contest;
    }
    let line = if parties == 1 { String::from("1 party") } else { format!("{parties} parties") };
    contest
        .target(0.9, Base::Peer("libstdc++".into()))
        .target(0.5, Base::Peer("std".into()))
        .readme(format!("barrier: a round of {line}"))
}
