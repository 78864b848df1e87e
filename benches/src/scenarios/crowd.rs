//! Several threads that want the same thing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::contenders::semaphore::AnySemaphore;
use crate::race::Sample;
use crate::threads::{Meter, wait_until};

/// Threads take the one permit and give it back, with nothing in between.
pub fn contended<S: AnySemaphore>(threads: usize, times: u64) -> Sample {
    let semaphore = CachePadded::new(S::new(true));
    let pass = || {
        semaphore.acquire();
        semaphore.release();
    };
    crowd(threads, times, pass, || {
        if semaphore.try_acquire() {
            semaphore.release();
        }
    })
}

/// The same with std's lock, which is less than a semaphore: whoever takes it must give it back.
pub fn mutex_contended(threads: usize, times: u64) -> Sample {
    let mutex = CachePadded::new(std::sync::Mutex::new(()));
    crowd(threads, times, || drop(mutex.lock().unwrap()), || {})
}

/// The same with parking_lot's lock.
pub fn parking_lot_mutex_contended(threads: usize, times: u64) -> Sample {
    let mutex = CachePadded::new(parking_lot::Mutex::new(()));
    crowd(threads, times, || drop(mutex.lock()), || {})
}

/// How long the threads together need to go through `pass` so many times or a few times more.
///
/// The clock starts when all of them are at it, and they go on until it has stopped, so nobody ever has less company.
///
/// Then `rouse` is called again and again until all have ended. A thread may have fallen asleep for good when the last of
/// the others went: at libstdc++ 12's semaphores with the permit there (GCC PR 104928).
pub fn crowd(threads: usize, times: u64, pass: impl Fn() + Sync, rouse: impl Fn()) -> Sample {
    /// The time between looks at how far they are: rare enough not to disturb them.
    const LOOK: Duration = Duration::from_micros(500);
    /// Passes between a thread's looks at whether it is over.
    const PASSES: u64 = 16;

    let over = AtomicBool::new(false);
    let counts: Vec<CachePadded<AtomicU64>> = (0..threads).map(|_| CachePadded::default()).collect();
    let sum = || counts.iter().map(|count| count.load(Relaxed)).sum::<u64>();
    thread::scope(|scope| {
        let (pass, over) = (&pass, &over);
        let mut threads = Vec::new();
        for count in &counts {
            threads.push(scope.spawn(move || {
                while !over.load(Relaxed) {
                    for _ in 0..PASSES {
                        pass();
                    }
                    count.store(count.load(Relaxed) + PASSES, Relaxed);
                }
            }));
        }
        wait_until(|| counts.iter().all(|count| count.load(Relaxed) > 0));
        let (meter, before) = (Meter::start(), sum());
        let passed = loop {
            thread::sleep(LOOK);
            let passed = sum() - before;
            if passed >= times {
                break passed;
            }
        };
        let sample = meter.stop(passed, false);
        over.store(true, Relaxed);
        wait_until(|| {
            rouse();
            threads.iter().all(|thread| thread.is_finished())
        });
        sample
    })
}
