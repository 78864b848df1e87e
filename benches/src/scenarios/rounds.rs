//! Threads that meet again and again.

use core::hint::spin_loop;
use core::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Release},
};
use std::thread;

use crossbeam_utils::CachePadded;

use crate::contenders::barrier::AnyBarrier;
use crate::race::Sample;
use crate::threads::{Disturbance, Meter, processors};

/// All parties of a barrier meet, each on a thread of its own, with nothing to do in between.
pub fn rounds<B: AnyBarrier>(parties: usize, times: u64) -> Sample {
    /// Which threads share a processor is decided while they start, and makes a difference. So with more of them than
    /// processors a batch is divided among several teams.
    const TEAMS: u64 = 4;
    let all_can_run = parties <= processors();
    let teams = if all_can_run { 1 } else { TEAMS.min(times) };
    let mut sample = Sample::default();
    for _ in 0..teams {
        sample += rounds_of_team::<B>(parties, times.div_ceil(teams), all_can_run);
    }
    sample
}

/// Some rounds go before, so that all threads are there when the clock starts, and running if there are processors for
/// all of them. What becomes of them then is up to the barrier.
fn rounds_of_team<B: AnyBarrier>(parties: usize, times: u64, all_can_run: bool) -> Sample {
    const MOST_BEFORE: u64 = 20;
    let barrier = CachePadded::new(B::new(parties));
    let running = AtomicUsize::new(0);
    let party = || {
        barrier.wait_times(times.min(MOST_BEFORE));
        let disturbance = Disturbance::watch();
        if all_can_run {
            running.fetch_add(1, Release);
            while running.load(Acquire) < parties {
                spin_loop();
            }
        }
        let meter = Meter::start();
        barrier.wait_times(times);
        // With more parties than processors, each round makes them take the processor away from each other.
        meter.stop(times, disturbance.happened() && all_can_run)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..parties).map(|_| scope.spawn(party)).collect();
        let samples = threads.into_iter().map(|thread| thread.join().expect("a party does not panic"));
        let longest = |a: Sample, b: Sample| Sample {
            disturbed: a.disturbed | b.disturbed,
            ..if a.total < b.total { b } else { a }
        };
        samples.reduce(longest).expect("there is a party")
    })
}
