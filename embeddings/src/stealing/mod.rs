//! A pool for fork and join that steals work. The deques are crossbeam's; all that waits is waitline's:
//!
//! * Each worker sleeps on a [`BinarySemaphore`](waitline::BinarySemaphore) of its own (`sleep.rs`), so whoever has something for a
//!   certain worker wakes that one, and whoever has something for any wakes one that sleeps. A push makes no system call when
//!   nobody sleeps, or when somebody is on the way already.
//! * A [`Latch`](waitline::Latch) on the stack is what a fork is joined by, and a scope. Workers look at it between the jobs
//!   that they do meanwhile; other threads sleep on it. `Latch::count_down_raw` is the last that a job does to it, as the frame may
//!   go at once.
//!
//! A worker that waits runs other jobs, from its own deque and then from others': a job may hold up one that it does not
//! depend on, and must not wait by other means for one that its own thread may have begun with.

#![allow(unsafe_code, reason = "a job that is waited for is on the stack of who waits")]

mod job;
mod join;
mod scope;
mod sleep;
mod worker;

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::{fmt, io};

use self::job::StackJob;
pub use self::scope::Scope;
use self::sleep::MAX_WORKERS;
use self::worker::{Registry, Worker};

/// A number of threads that run what is forked, and steal it from each other.
pub struct Pool {
    registry: Arc<Registry>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// A pool of so many workers.
    ///
    /// # Errors
    ///
    /// If the system has no thread for a worker.
    ///
    /// # Panics
    ///
    /// If there are to be none, or more than 32.
    pub fn new(workers: usize) -> io::Result<Pool> {
        assert!((1..=MAX_WORKERS).contains(&workers), "a pool has 1 to {MAX_WORKERS} workers");
        let (registry, deques) = Registry::new(workers);
        let mut pool = Pool { registry: Arc::new(registry), threads: Vec::with_capacity(workers) };
        for (index, deque) in deques.into_iter().enumerate() {
            let registry = Arc::clone(&pool.registry);
            let thread = thread::Builder::new().name(format!("stealing worker {index}"));
            pool.threads.push(thread.spawn(move || Worker::new(deque, &registry, index).work())?);
        }
        Ok(pool)
    }

    /// Runs `body` on a worker, and waits for that: asleep, or not at all where the caller is a worker of this pool itself.
    ///
    /// # Panics
    ///
    /// With what `body` panicked with.
    pub fn install<T: Send>(&self, body: impl FnOnce() -> T + Send) -> T {
        self.on_worker(|_| body())
    }

    fn on_worker<T: Send>(&self, body: impl FnOnce(&Worker<'_>) -> T + Send) -> T {
        Worker::with_current(&self.registry, |current| match current {
            Some(worker) => body(worker),
            None => {
                let job = StackJob::new(body, None);
                // SAFETY: the job stays here until its latch is open, which is when it has run.
                self.registry.inject(unsafe { job.as_ref() });
                job.latch().wait();
                job.into_outcome()
            }
        })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.registry.close();
        for thread in self.threads.drain(..) {
            thread.join().expect("jobs keep their panics to themselves");
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("workers", &self.threads.len()).finish_non_exhaustive()
    }
}
