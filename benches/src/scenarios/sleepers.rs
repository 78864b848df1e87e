//! Threads that are asleep when what they wait for comes.

use std::sync::Mutex;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::thread;

use crossbeam_utils::CachePadded;
use nix::unistd::{Pid, gettid};

use super::SMALL_STACK;
use crate::contenders::atomic::AnyAtomic;
use crate::contenders::latch::AnyLatch;
use crate::contenders::semaphore::AnySemaphore;
use crate::race::Sample;
use crate::threads::{Events, Meter, all_others_sleep, sleeps, times_slept, wait_until};

/// How many threads get up for one permit, if eight sleep before each release.
///
/// Every sleep ends with getting up, so sleeps are counted: those of the measured releases, and one more of each
/// thread, which ends with the permit that sends it home.
pub fn wake_ups_per_permit<S: AnySemaphore>(permits: u64) -> Sample {
    const SLEEPERS: usize = 8;
    let semaphore = CachePadded::new(S::new(false));
    let (over, taken) = (AtomicBool::new(false), Events::new());
    let everybody: Mutex<Vec<Pid>> = Mutex::default();
    thread::scope(|scope| {
        let sleeper = || {
            everybody.lock().unwrap().push(gettid());
            let before = times_slept();
            loop {
                semaphore.acquire();
                let slept = times_slept() - before;
                taken.note();
                if over.load(Acquire) {
                    return slept;
                }
            }
        };
        let threads: Vec<_> = (0..SLEEPERS).map(|_| scope.spawn(sleeper)).collect();
        wait_until(|| everybody.lock().unwrap().len() == SLEEPERS);
        let everybody = everybody.lock().unwrap().clone();
        let wait_until_all_sleep = || wait_until(|| everybody.iter().all(|&thread| sleeps(thread)));
        for released in 1..=permits {
            wait_until_all_sleep();
            semaphore.release();
            taken.wait_for(released);
        }
        wait_until_all_sleep();
        over.store(true, Release);
        // One by one, since a binary semaphore holds no more.
        for released in 1..=SLEEPERS as u64 {
            semaphore.release();
            taken.wait_for(permits + released);
        }
        let slept: i64 = threads.into_iter().map(|thread| thread.join().expect("a sleeper does not panic")).sum();
        Sample::counted(slept as f64, permits + SLEEPERS as u64)
    })
}

/// Permits for all of so many sleepers, one after the other: from the first release until all have theirs. Each takes one, so
/// that it is not one of them who takes all.
///
/// Not for binary semaphores, which hold one permit.
pub fn burst_wake<S: AnySemaphore>(sleepers: usize, times: u64) -> Sample {
    let release_all = |semaphore: &S| (0..sleepers).for_each(|_| semaphore.release());
    burst(sleepers, times, || S::new(false), |semaphore| semaphore.acquire(), release_all)
}

/// A latch is opened for so many sleepers: from then until all are through.
pub fn burst_through_latch<L: AnyLatch>(sleepers: usize, times: u64) -> Sample {
    burst(sleepers, times, || L::new(1), |latch| latch.wait(), |latch| L::count_down(latch.ticket()))
}

/// The value that so many sleepers wait for is set, and all are notified: from then until all have seen it.
pub fn burst_on_atomic<A: AnyAtomic>(sleepers: usize, times: u64) -> Sample {
    burst(
        sleepers,
        times,
        A::new,
        |atomic| atomic.wait(false),
        |atomic| {
            atomic.store(true);
            atomic.notify_all();
        },
    )
}

/// Each time with new sleepers, on something new. They stay until the meter has stopped, since to end costs more than to
/// wake up.
fn burst<T: Sync>(
    sleepers: usize,
    times: u64,
    new: impl Fn() -> T,
    wait: impl Fn(&T) + Sync,
    wake: impl Fn(&T),
) -> Sample {
    let mut sample = Sample::default();
    for _ in 0..times {
        let (it, through, over) = (CachePadded::new(new()), Events::new(), AtomicBool::new(false));
        let sleeper = || {
            wait(&it);
            through.note();
            while !over.load(Acquire) {
                thread::park();
            }
        };
        thread::scope(|scope| {
            let start = || thread::Builder::new().stack_size(SMALL_STACK).spawn_scoped(scope, sleeper);
            let threads: Vec<_> = (0..sleepers).map(|_| start().expect("there is room")).collect();
            wait_until(all_others_sleep);
            let mut meter = Meter::start();
            wake(&it);
            meter.look_on();
            sample += meter.stop_once_all_sleep(through.wait_for(sleepers as u64), 1);
            over.store(true, Release);
            threads.iter().for_each(|thread| thread.thread().unpark());
        });
    }
    sample
}
