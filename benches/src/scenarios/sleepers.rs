//! Threads that are asleep when permits come.

use std::sync::Mutex;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Release},
};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use nix::unistd::{Pid, gettid};

use crate::contenders::semaphore::AnySemaphore;
use crate::race::Sample;
use crate::threads::{sleeps, times_slept, wait_until};

const SLEEPERS: usize = 8;

/// How many threads get up for one permit, if eight sleep before each release.
///
/// Every sleep ends with getting up, so sleeps are counted: those of the measured releases, and one more of each
/// thread, which ends with the permit that sends it home.
pub fn wake_ups_per_permit<S: AnySemaphore>(permits: u64) -> Sample {
    let (slept, _) = sleepers::<S>(permits, 1);
    Sample { total: slept as f64, times: permits + SLEEPERS as u64, disturbed: false }
}

/// Permits for all of eight sleepers, one after the other: from the first release until all have theirs.
///
/// Not for binary semaphores, which hold one permit.
pub fn burst_wake<S: AnySemaphore>(times: u64) -> Sample {
    let (_, on_their_way) = sleepers::<S>(times, SLEEPERS as u64);
    Sample::timed(on_their_way, times, false)
}

/// Releases `burst` permits as often as told, always to eight sleepers. Says how often they slept in all, and for how
/// long permits were on their way.
fn sleepers<S: AnySemaphore>(times: u64, burst: u64) -> (i64, Duration) {
    let semaphore = CachePadded::new(S::new(false));
    let (over, taken) = (AtomicBool::new(false), CachePadded::new(AtomicU64::new(0)));
    let everybody: Mutex<Vec<Pid>> = Mutex::default();
    thread::scope(|scope| {
        let threads = [(); SLEEPERS].map(|()| {
            scope.spawn(|| {
                everybody.lock().unwrap().push(gettid());
                let before = times_slept();
                loop {
                    semaphore.acquire();
                    let slept = times_slept() - before;
                    taken.fetch_add(1, Release);
                    if over.load(Acquire) {
                        return slept;
                    }
                }
            })
        });
        wait_until(|| everybody.lock().unwrap().len() == SLEEPERS);
        let everybody = everybody.lock().unwrap().clone();
        let wait_until_all_sleep = || wait_until(|| everybody.iter().all(|&thread| sleeps(thread)));
        let mut on_their_way = Duration::ZERO;
        let mut released = 0;
        let mut release = |permits: u64| {
            let start = Instant::now();
            for _ in 0..permits {
                semaphore.release();
            }
            released += permits;
            wait_until(|| taken.load(Acquire) == released);
            start.elapsed()
        };
        for _ in 0..times {
            wait_until_all_sleep();
            on_their_way += release(burst);
        }
        wait_until_all_sleep();
        over.store(true, Release);
        // One by one, since a binary semaphore holds no more.
        for _ in 0..SLEEPERS {
            release(1);
        }
        let slept = threads.map(|thread| thread.join().expect("a sleeper does not panic")).into_iter().sum();
        (slept, on_their_way)
    })
}
