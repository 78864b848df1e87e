//! Several threads that want the same permit.

use std::time::Duration;

use super::{Contest, runners};
use crate::catalogue::{Kind, Scenario};
use crate::contenders::semaphore::{BinarySemaphore, Semaphore, each_semaphore};
use crate::figure::Base;
use crate::floor;
use crate::race::{Batch, Runner};
use crate::scenarios;

pub(super) fn contests() -> Vec<Contest> {
    [1, 2, 4, 8, 16, 64].map(contended).into()
}

fn contended(threads: usize) -> Contest {
    let contest = Contest::new(Scenario::Contended, Kind::Semaphore, "")
        .size(threads, "threads")
        .floor("fetch_add + fetch_sub", move |times| floor::contended_counter(threads, times))
        .ours(runners![|This, times| scenarios::contended::<This>(threads, times); Semaphore, BinarySemaphore])
        .peers(vec![
            Runner::new("std Mutex", move |times| scenarios::mutex_contended(threads, times)),
            Runner::new("parking_lot Mutex", move |times| scenarios::parking_lot_mutex_contended(threads, times)),
        ])
        .peers(each_semaphore!(runners!(|Peer, times| scenarios::contended::<Peer>(threads, times))))
        .batch(Batch::Lasting(Duration::from_millis(20)))
        .explain("std Mutex", IS_LESS)
        .explain("parking_lot Mutex", IS_LESS)
        .explain("async-lock", WAKES_FEWER);
    match threads {
        2 | 4 | 8 => contest.target(1.5, Base::BestPeer).readme(format!("{threads} threads share one permit")),
        _ => contest,
    }
}

const WAKES_FEWER: &str = "It wakes nobody while one that was woken is still on its way. So of several permits that come at once it wakes one thread, and \
     the others sleep on with permits there; ours wakes one for each.";

const IS_LESS: &str = "A mutex is less than a semaphore: only the thread that took it may give it back, and its word need not count. \
     Giving back is a plain exchange, of which the semaphore's `fetch_add` has the same cost, but taking a permit must load \
     the count before it can write it.";
