//! Latches and one-shot channels, which are used once each.

use std::time::Duration;

use super::{Row, runners};
use crate::contenders::Contender;
use crate::contenders::latch::{Latch, StdCondvar};
use crate::contenders::oneshot::{Futures, Mpsc, OneshotCrate, Ours, Tokio};
#[cfg(libstdcxx)]
use crate::contenders::{latch, oneshot};
use crate::floor;
use crate::race::{Batch, Runner};
use crate::scenarios;
use crate::threads::{Placement, processors};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![oneshot_life(), oneshot_unused(), latch_life()];
    if processors() > 1 {
        rows.extend([oneshot_round_trip(), latch_round_trip()]);
    }
    rows
}

fn oneshot_life() -> Row {
    Row {
        floors: runners![|Peer, times| scenarios::oneshot_life::<Peer>(times); OneshotCrate],
        peers: runners![
            |Peer, times| scenarios::oneshot_life::<Peer>(times);
            Mpsc,
            Tokio,
            Futures,
            #[cfg(libstdcxx)]
            oneshot::Libstdcxx
        ],
        ..Row::new("oneshot: channel + send + recv", 1.0, Runner::new(Ours::name(), scenarios::oneshot_life::<Ours>))
    }
}

fn oneshot_unused() -> Row {
    Row {
        floors: runners![|Peer, times| scenarios::oneshot_unused::<Peer>(times); OneshotCrate],
        peers: runners![
            |Peer, times| scenarios::oneshot_unused::<Peer>(times);
            Mpsc,
            Tokio,
            Futures,
            #[cfg(libstdcxx)]
            oneshot::Libstdcxx
        ],
        ..Row::new("oneshot: channel + drop both", 1.0, Runner::new(Ours::name(), scenarios::oneshot_unused::<Ours>))
    }
}

fn oneshot_round_trip() -> Row {
    let scenario = |times| scenarios::oneshot_round_trip::<Ours>(Placement::Pinned, times);
    Row {
        floors: vec![spinning()],
        peers: runners![
            |Peer, times| scenarios::oneshot_round_trip::<Peer>(Placement::Pinned, times);
            OneshotCrate,
            Mpsc,
            Tokio,
            Futures,
            #[cfg(libstdcxx)]
            oneshot::Libstdcxx
        ],
        batch: ROUND_TRIPS,
        ..Row::new("oneshot: there and back, two running threads, pinned", None, Runner::new(Ours::name(), scenario))
    }
}

fn latch_life() -> Row {
    Row {
        floors: vec![Runner::new("fetch_add + compare_exchange", floor::fetch_add_and_compare_exchange)],
        peers: runners![
            |Peer, times| scenarios::latch_life::<Peer>(times);
            StdCondvar,
            #[cfg(libstdcxx)]
            latch::Libstdcxx
        ],
        ..Row::new("Latch: new + count_down + wait", None, Runner::new(Latch::name(), scenarios::latch_life::<Latch>))
    }
}

fn latch_round_trip() -> Row {
    let scenario = |times| scenarios::latch_round_trip::<Latch>(Placement::Pinned, times);
    Row {
        floors: vec![spinning()],
        peers: runners![
            |Peer, times| scenarios::latch_round_trip::<Peer>(Placement::Pinned, times);
            StdCondvar,
            #[cfg(libstdcxx)]
            latch::Libstdcxx
        ],
        batch: ROUND_TRIPS,
        ..Row::new("Latch: there and back, two running threads, pinned", None, Runner::new(Latch::name(), scenario))
    }
}

const ROUND_TRIPS: Batch = Batch::Lasting(Duration::from_millis(1));

fn spinning() -> Runner {
    Runner::new("spinning on a flag", |times| floor::spinning_ping_pong(Placement::Pinned, times))
}
