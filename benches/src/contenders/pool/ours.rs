//! A queue, with idle workers asleep on our semaphore.

use std::collections::VecDeque;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crossbeam_queue::SegQueue;
use crossbeam_utils::CachePadded;
use waitline::Semaphore;

use super::queue::join;
use super::{AnyPool, Job};
use crate::contenders::Contender;

/// The simplest: a permit for each job. A worker that finds no job for its permit is to end.
#[derive(Debug)]
pub struct OnSemaphore {
    shared: Arc<Counted>,
    workers: Vec<JoinHandle<()>>,
}

struct Counted {
    jobs: Mutex<VecDeque<Job>>,
    waiting: Semaphore,
}

impl Contender for OnSemaphore {
    fn name() -> &'static str {
        "Semaphore, one a job"
    }
}

impl AnyPool for OnSemaphore {
    fn new(workers: usize) -> OnSemaphore {
        let shared = Arc::new(Counted { jobs: Mutex::default(), waiting: Semaphore::new(0) });
        let worker = |shared: Arc<Counted>| {
            move || {
                loop {
                    shared.waiting.acquire();
                    let job = shared.jobs.lock().unwrap().pop_front();
                    match job {
                        Some(job) => job(),
                        None => return,
                    }
                }
            }
        };
        let workers = (0..workers).map(|_| thread::spawn(worker(Arc::clone(&shared)))).collect();
        OnSemaphore { shared, workers }
    }

    #[inline]
    fn submit(&self, job: Job) {
        self.shared.jobs.lock().unwrap().push_back(job);
        self.shared.waiting.release();
    }
}

impl Drop for OnSemaphore {
    fn drop(&mut self) {
        self.shared.waiting.release_many(self.workers.len());
        join(&mut self.workers);
    }
}

/// For many small jobs, on a queue without a lock: a permit for each worker that is woken. Nobody is woken while somebody searches,
/// and whoever has found a job by that sends the next one. So a queue that one worker keeps short wakes no others.
#[derive(Debug)]
pub struct OneByOne {
    shared: Arc<Sparing>,
    workers: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Sparing {
    jobs: SegQueue<Job>,
    /// How many workers sleep, or are about to, and have not been woken yet; above [`SEARCHES`], how many that were woken
    /// search.
    state: CachePadded<AtomicU64>,
    woken: Semaphore,
    over: AtomicBool,
}

const SEARCHES: u64 = 1 << 32;

impl Sparing {
    /// After a push, or by one that has stopped to search: wakes one more worker if that may help. The fence is one half of a
    /// pair: either the push sees who sleeps, or who goes to sleep sees the job.
    #[inline]
    fn wake_one(&self) {
        fence(SeqCst);
        let now = self.state.load(Relaxed);
        let is_wanted = |now: u64| now != 0 && now < SEARCHES;
        if is_wanted(now) {
            let search = |now| is_wanted(now).then(|| now - 1 + SEARCHES);
            if self.state.fetch_update(Relaxed, Relaxed, search).is_ok() {
                self.woken.release();
            }
        }
    }

    /// The next job, waited for. `None`: there will be none.
    fn next(&self) -> Option<Job> {
        let mut searches = false;
        loop {
            if let Some(job) = self.jobs.pop() {
                if searches {
                    self.state.fetch_sub(SEARCHES, Relaxed);
                    fence(SeqCst);
                    if !self.jobs.is_empty() {
                        self.wake_one();
                    }
                }
                return Some(job);
            }
            if self.over.load(Acquire) {
                return None;
            }
            self.state.fetch_add(if searches { 1_u64.wrapping_sub(SEARCHES) } else { 1 }, SeqCst);
            fence(SeqCst);
            // Whoever stays up searches on: pushes that saw it search have woken nobody.
            let stays_up = !self.jobs.is_empty() && self.state.fetch_update(Relaxed, Relaxed, stay_up).is_ok();
            if !stays_up {
                // A permit for it is there, or will be.
                self.woken.acquire();
            }
            searches = stays_up || !self.over.load(Acquire);
        }
    }
}

/// Somebody searches who was going to sleep. All who sleep are alike: if none is left, the permit is there that all were given.
fn stay_up(state: u64) -> Option<u64> {
    (state % SEARCHES != 0).then(|| state - 1 + SEARCHES)
}

impl Contender for OneByOne {
    fn name() -> &'static str {
        "Semaphore, one by one"
    }
}

impl AnyPool for OneByOne {
    fn new(workers: usize) -> OneByOne {
        let shared = Arc::new(Sparing::default());
        let worker = |shared: Arc<Sparing>| {
            move || {
                while let Some(job) = shared.next() {
                    job();
                }
            }
        };
        let workers = (0..workers).map(|_| thread::spawn(worker(Arc::clone(&shared)))).collect();
        OneByOne { shared, workers }
    }

    #[inline]
    fn submit(&self, job: Job) {
        self.shared.jobs.push(job);
        self.shared.wake_one();
    }
}

impl Drop for OneByOne {
    fn drop(&mut self) {
        self.shared.over.store(true, Release);
        self.shared.woken.release_many(self.workers.len());
        join(&mut self.workers);
    }
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Sparing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sparing").field("woken", &self.woken).finish_non_exhaustive()
    }
}
