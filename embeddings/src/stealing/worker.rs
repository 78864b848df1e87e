//! A worker's loop: its own jobs, then others', then sleep.

#![allow(unsafe_code, reason = "jobs are run once, and the current worker is found by a pointer")]

use std::cell::Cell;
use std::iter;
use std::ptr;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::thread;

use crossbeam_deque::{Injector, Steal, Stealer, Worker as Deque};

use super::job::JobRef;
use super::sleep::Sleep;

/// How often a worker that finds nothing offers the processor to others before it sleeps. The semaphore that it sleeps on
/// spins for a moment by itself.
const ROUNDS: u32 = 32;

/// What the workers of a pool share.
pub(super) struct Registry {
    injected: Injector<JobRef>,
    stealers: Box<[Stealer<JobRef>]>,
    pub(super) sleep: Sleep,
    closed: AtomicBool,
}

impl Registry {
    pub(super) fn new(workers: usize) -> (Registry, Vec<Deque<JobRef>>) {
        let deques: Vec<Deque<JobRef>> = (0..workers).map(|_| Deque::new_lifo()).collect();
        let registry = Registry {
            injected: Injector::new(),
            stealers: deques.iter().map(Deque::stealer).collect(),
            sleep: Sleep::new(workers),
            closed: AtomicBool::new(false),
        };
        (registry, deques)
    }

    /// From a thread that is no worker.
    pub(super) fn inject(&self, job: JobRef) {
        self.injected.push(job);
        self.sleep.pushed();
    }

    /// Sends the workers home. There are no jobs any more: whoever brings one waits for it, and borrows the pool meanwhile.
    pub(super) fn close(&self) {
        self.closed.store(true, Release);
        (0..self.stealers.len()).for_each(|index| self.sleep.wake(index));
    }

    fn has_work(&self) -> bool {
        !self.injected.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }
}

pub(super) struct Worker<'pool> {
    deque: Deque<JobRef>,
    pub(super) registry: &'pool Registry,
    pub(super) index: usize,
    random: Cell<u32>,
}

thread_local! {
    static CURRENT: Cell<*const Worker<'static>> = const { Cell::new(ptr::null()) };
}

impl<'pool> Worker<'pool> {
    pub(super) fn new(deque: Deque<JobRef>, registry: &'pool Registry, index: usize) -> Worker<'pool> {
        Worker { deque, registry, index, random: Cell::new(index as u32 + 1) }
    }

    /// The worker that the calling thread is, if it is one of this pool.
    #[inline]
    pub(super) fn with_current<T>(registry: &Registry, body: impl FnOnce(Option<&Worker<'_>>) -> T) -> T {
        let current = CURRENT.get();
        // SAFETY: it is set while the worker is at work, which all that it runs is within. The lifetime of the body's reference
        // is one that the body can't choose.
        let current: Option<&Worker<'_>> = unsafe { current.as_ref() };
        body(current.filter(|worker| ptr::eq(worker.registry, registry)))
    }

    /// Until the pool is closed.
    pub(super) fn work(self) {
        CURRENT.set(ptr::from_ref(&self).cast());
        self.work_until(|| self.registry.closed.load(Acquire));
        CURRENT.set(ptr::null());
    }

    #[inline]
    pub(super) fn push(&self, job: JobRef) {
        self.deque.push(job);
        self.registry.sleep.pushed();
    }

    /// The last that was pushed, unless it has been stolen.
    #[inline]
    pub(super) fn pop(&self) -> Option<JobRef> {
        self.deque.pop()
    }

    /// Runs jobs until `done`. Whoever makes that true wakes this worker after it.
    #[cold]
    pub(super) fn work_until(&self, done: impl Fn() -> bool) {
        while !done() {
            // A worker that finds something at once does not say that it searches: it would do so for each job.
            match self.pop().or_else(|| self.steal()).or_else(|| self.search(&done)) {
                Some(job) => self.run(job),
                None => return,
            }
        }
    }

    pub(super) fn run(&self, job: JobRef) {
        // SAFETY: it came out of a deque, which hands out each once.
        unsafe { job.run(self) }
    }

    /// A job of somebody else's, or `None` once `done`.
    fn search(&self, done: impl Fn() -> bool) -> Option<JobRef> {
        let registry = self.registry;
        registry.sleep.start_search();
        let mut round = 0;
        let job = loop {
            if done() {
                break None;
            }
            if let Some(job) = self.steal() {
                break Some(job);
            }
            if round < ROUNDS {
                round += 1;
                thread::yield_now();
            } else {
                round = 0;
                registry.sleep.sleep(self.index, || done() || registry.has_work());
            }
        };
        registry.sleep.end_search(|| registry.has_work());
        job
    }

    /// From each of the others, beginning with any.
    fn steal(&self) -> Option<JobRef> {
        let (stealers, injected) = (&self.registry.stealers, &self.registry.injected);
        let start = self.random() as usize % stealers.len();
        let others = stealers[start..].iter().chain(&stealers[..start]);
        loop {
            let mut again = false;
            // Lazily: what is taken is not given back.
            for stolen in others.clone().map(Stealer::steal).chain(iter::once_with(|| injected.steal())) {
                match stolen {
                    Steal::Success(job) => return Some(job),
                    Steal::Retry => again = true,
                    Steal::Empty => {}
                }
            }
            if !again {
                return None;
            }
        }
    }

    /// Marsaglia's xorshift.
    fn random(&self) -> u32 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        self.random.replace(random)
    }
}
