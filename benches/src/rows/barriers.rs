//! Parties that meet.

use std::time::Duration;

use super::{BATCH, Row, runners};
use crate::contenders::Contender;
#[cfg(libstdcxx)]
use crate::contenders::barrier::Libstdcxx;
use crate::contenders::barrier::{Barrier, Glibc, Std, Tokio};
use crate::race::{Batch, Runner};
use crate::scenarios::rounds;

pub(super) fn rows() -> Vec<Row> {
    [1, 2, 4, 8, 16].into_iter().flat_map(rows_of).collect()
}

/// Two rows, since each floor has a target of its own.
fn rows_of(parties: usize) -> Vec<Row> {
    Vec::from([
        #[cfg(libstdcxx)]
        beside("libstdc++", 0.9, parties, runners![|Peer, times| rounds::<Peer>(parties, times); Libstdcxx]),
        Row {
            peers: runners![|Peer, times| rounds::<Peer>(parties, times); Glibc, Tokio],
            ..beside("std", 0.5, parties, runners![|Peer, times| rounds::<Peer>(parties, times); Std])
        },
    ])
}

fn beside(name: &str, target: f64, parties: usize, floors: Vec<Runner>) -> Row {
    // Most of a round of more parties than processors is the scheduler's work, of which one interruption is no great part.
    let batch = match parties {
        1 => BATCH,
        2 => Batch::Lasting(Duration::from_millis(2)),
        _ => Batch::Lasting(Duration::from_millis(20)),
    };
    let ours = Runner::new(Barrier::name(), move |times| rounds::<Barrier>(parties, times));
    let parties = if parties == 1 { String::from("1 party") } else { format!("{parties} parties") };
    Row { floors, batch, ..Row::new(format!("Barrier: a round of {parties}, beside {name}"), target, ours) }
}
