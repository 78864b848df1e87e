//! Several threads.

use std::time::Duration;

use super::{Row, runners};
use crate::contenders::Contender;
#[cfg(libstdcxx)]
use crate::contenders::semaphore::Libstdcxx;
use crate::contenders::semaphore::{BinarySemaphore, Glibc, ParkingLotCondvar, Semaphore, StdCondvar, Tokio};
use crate::floor;
use crate::race::{Batch, Runner};
use crate::scenarios;
use crate::threads::{Placement, processors};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    // On one processor two threads do not run at the same time.
    if processors() > 1 {
        rows.extend([ping_pong(Placement::Pinned), ping_pong(Placement::Free)]);
    }
    rows.extend([2, 4, 8].map(contended));
    rows.push(wake_ups());
    rows
}

fn ping_pong(placement: Placement) -> Row {
    let ours = Runner::new(Semaphore::name(), move |times| scenarios::ping_pong::<Semaphore>(placement, times));
    let how = match placement {
        Placement::Free => "free",
        Placement::Pinned => "pinned",
    };
    Row {
        floors: vec![Runner::new("spinning on a flag", move |times| floor::spinning_ping_pong(placement, times))],
        peers: runners![
            |Peer, times| scenarios::ping_pong::<Peer>(placement, times);
            BinarySemaphore,
            StdCondvar,
            ParkingLotCondvar,
            Tokio,
            Glibc,
            #[cfg(libstdcxx)]
            Libstdcxx
        ],
        batch: Batch::Lasting(Duration::from_millis(1)),
        ..Row::new(format!("ping-pong, two running threads, {how}"), 2.0, ours)
    }
}

fn contended(threads: usize) -> Row {
    let ours = Runner::new(Semaphore::name(), move |times| scenarios::contended::<Semaphore>(threads, times));
    let mut floors = vec![
        Runner::new("std Mutex", move |times| scenarios::mutex_contended(threads, times)),
        Runner::new("parking_lot Mutex", move |times| scenarios::parking_lot_mutex_contended(threads, times)),
    ];
    floors.extend(runners![
        |Peer, times| scenarios::contended::<Peer>(threads, times);
        StdCondvar,
        ParkingLotCondvar,
        Tokio,
        Glibc,
        #[cfg(libstdcxx)]
        Libstdcxx
    ]);
    Row {
        floors,
        peers: runners![|Peer, times| scenarios::contended::<Peer>(threads, times); BinarySemaphore],
        batch: Batch::Lasting(Duration::from_millis(20)),
        ..Row::new(format!("{threads} threads take and give back one permit"), 1.5, ours)
    }
}

/// Without libstdc++'s semaphore: in GCC 12 a thread can fall asleep for good with a permit there (PR 104928), and here no
/// other thread would come and wake it.
fn wake_ups() -> Row {
    let ours = Runner::new(Semaphore::name(), scenarios::wake_ups_per_permit::<Semaphore>);
    Row {
        unit: "",
        peers: runners![
            |Peer, times| scenarios::wake_ups_per_permit::<Peer>(times); BinarySemaphore, StdCondvar, ParkingLotCondvar, Tokio, Glibc
        ],
        batch: Batch::Of(50),
        ..Row::new("wake-ups per permit released, 8 sleepers", 1.1, ours)
    }
}
