//! Nobody else is there.

use super::{Row, runners};
use crate::contenders::Contender;
#[cfg(libstdcxx)]
use crate::contenders::semaphore::Libstdcxx;
use crate::contenders::semaphore::{
    AnySemaphore, BinarySemaphore, Glibc, Many, ParkingLotCondvar, Semaphore, StdCondvar, Tokio,
};
use crate::floor;
use crate::race::Runner;
use crate::scenarios;

pub(super) fn rows() -> Vec<Row> {
    vec![release_and_acquire(), try_on_empty::<Semaphore>(), try_on_empty::<Many>(), try_on_empty::<BinarySemaphore>()]
}

fn release_and_acquire() -> Row {
    let ours = Runner::new(Semaphore::name(), scenarios::uncontended::<Semaphore>);
    Row {
        floors: vec![Runner::new("fetch_add + compare_exchange", floor::fetch_add_and_compare_exchange)],
        peers: runners![
            |Peer, times| scenarios::uncontended::<Peer>(times);
            BinarySemaphore,
            Many,
            StdCondvar,
            ParkingLotCondvar,
            Tokio,
            Glibc,
            #[cfg(libstdcxx)]
            Libstdcxx
        ],
        ..Row::new("release + acquire, uncontended", 1.15, ours)
    }
}

fn try_on_empty<S: AnySemaphore>() -> Row {
    let ours = Runner::new(S::name(), scenarios::failed_try::<S>);
    Row {
        floors: vec![Runner::new("load", floor::load)],
        peers: runners![
            |Peer, times| scenarios::failed_try::<Peer>(times);
            StdCondvar,
            ParkingLotCondvar,
            Tokio,
            Glibc,
            #[cfg(libstdcxx)]
            Libstdcxx
        ],
        ..Row::new(format!("{}: try_acquire on empty", S::name()), 2.0, ours)
    }
}
