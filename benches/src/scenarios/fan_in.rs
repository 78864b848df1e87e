//! One thread that waits for all of several others.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::thread;
use std::time::Instant;

use crossbeam_utils::CachePadded;

use super::SMALL_STACK;
use crate::contenders::latch::AnyLatch;
use crate::race::Sample;
use crate::threads::{Meter, all_others_sleep, wait_until};

/// So many threads are sent off, each of which counts a latch down, and one more waits for it. One time is one latch.
///
/// The threads sleep in between, and are woken in the same way for every contender, one by one.
pub fn fan_in<L: AnyLatch>(threads: usize, times: u64) -> Sample {
    let latches: Vec<_> = (0..times).map(|_| CachePadded::new(L::new(threads))).collect();
    let round = AtomicU64::new(0);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                let tickets: Vec<_> = latches.iter().map(|latch| latch.ticket()).collect();
                let worker = || {
                    for (index, ticket) in (1..).zip(tickets) {
                        while round.load(Acquire) < index {
                            thread::park();
                        }
                        L::count_down(ticket);
                    }
                };
                thread::Builder::new().stack_size(SMALL_STACK).spawn_scoped(scope, worker).expect("there is room")
            })
            .collect();
        let mut sample = Sample::default();
        for latch in &latches {
            wait_until(all_others_sleep);
            let meter = Meter::start();
            round.fetch_add(1, Release);
            workers.iter().for_each(|worker| worker.thread().unpark());
            latch.wait();
            sample += meter.stop_once_all_sleep(Instant::now(), 1);
        }
        sample
    })
}
