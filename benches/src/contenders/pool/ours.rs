//! A queue under a mutex, with idle workers asleep on our semaphore.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

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
        "Semaphore"
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

/// For many small jobs: a permit for each worker that is woken. They are woken one after the other, the next one by the one
/// before, and only while jobs are left. So a queue that one worker keeps short wakes no others.
#[derive(Debug)]
pub struct OneByOne {
    shared: Arc<Sparing>,
    workers: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Sparing {
    queue: Mutex<Queue>,
    asleep: Semaphore,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Workers that sleep, or are about to, and that nobody has woken yet.
    idle: usize,
    /// One was woken, and has not been here since.
    waking: bool,
    over: bool,
}

impl Sparing {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap()
    }

    /// Unlocks the queue, and wakes one more worker if that may help.
    fn unlock(&self, mut queue: MutexGuard<'_, Queue>) {
        let wakes = !queue.jobs.is_empty() && queue.idle > 0 && !queue.waking;
        if wakes {
            queue.idle -= 1;
            queue.waking = true;
        }
        drop(queue);
        if wakes {
            self.asleep.release();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                self.unlock(queue);
                return Some(job);
            }
            if queue.over {
                return None;
            }
            queue.idle += 1;
            drop(queue);
            self.asleep.acquire();
            queue = self.lock();
            queue.waking = false;
        }
    }
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
        let mut queue = self.shared.lock();
        queue.jobs.push_back(job);
        self.shared.unlock(queue);
    }
}

impl Drop for OneByOne {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.asleep.release_many(self.workers.len());
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
        f.debug_struct("Sparing").field("asleep", &self.asleep).finish_non_exhaustive()
    }
}
