//! A small complete thread pool. It is a folder that can be copied, and needs nothing but waitline.
//!
//! * [`ThreadPool::spawn`] returns a handle that receives the result, or the panic, from a one-shot.
//! * [`ThreadPool::scope`] is for jobs that borrow. It waits for them on a latch on its stack.
//! * The queue is bounded. Where it is full, the caller runs the job itself, or waits for room until a deadline.
//! * [`ThreadPool::shut_down`] lets the workers finish what is queued, until a deadline.
//!
//! Who waits for what:
//!
//! | what | is waited on by | one permit or count is |
//! |------|-----------------|------------------------|
//! | semaphore `ready` | idle workers | a queued job; in the end, one a worker to leave by |
//! | semaphore `room` | who spawns until a deadline | a free place in the queue |
//! | latch `at_work` | who shuts down | a worker that has not left |
//! | latch `pending` of a scope | who opened the scope | a job of it that has not ended, and the scope's own body |
//! | one-shot of a job | who joins it | |
//!
//! So a job that is queued wakes one idle worker, and no system call is made where none sleeps.
//!
//! # Waits within jobs
//!
//! A job may join other jobs, open scopes and spawn, on a pool of one thread too. Whoever waits without a deadline first runs
//! what it waits for itself, if nobody has begun with that. It runs nothing else, so no job is held up by one that it does
//! not wait for. Waits with a deadline run nothing, since it might take longer: within jobs they can time out for no other reason
//! than that all workers are in such waits, and with a deadline that never comes they may not end.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "this is the public part of a crate that could be")]

mod job;
mod scope;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::{fmt, io};

use waitline::{Deadline, Latch, Semaphore, TimedOut};

use self::job::Job;
pub use self::job::{Discarded, Handle};
pub use self::scope::Scope;

/// A number of threads that run jobs. Dropping it discards the jobs that nobody has begun with, and waits for the others.
pub struct ThreadPool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

struct Shared {
    queue: Mutex<Queue>,
    ready: Semaphore,
    room: Semaphore,
    at_work: Latch,
}

struct Queue {
    jobs: VecDeque<Arc<Job>>,
    /// From then on nothing is queued any more, and each worker leaves as soon as it finds the queue empty.
    closed: bool,
}

/// The pool has been shut down, or its queue stayed full until the deadline. Holds what was to be run.
pub struct Refused<F>(pub F);

impl ThreadPool {
    /// A pool of so many `workers`, with a queue of at most `capacity` jobs.
    ///
    /// # Errors
    ///
    /// If the system has no thread for a worker.
    ///
    /// # Panics
    ///
    /// If either number is zero, or both together are not less than [`Semaphore::MAX_PERMITS`].
    pub fn new(workers: usize, capacity: usize) -> io::Result<ThreadPool> {
        assert!(workers > 0 && capacity > 0, "a pool needs workers and a queue");
        assert!(
            capacity < Semaphore::MAX_PERMITS - workers,
            "a permit for each place and each worker, and one to close with"
        );
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue { jobs: VecDeque::new(), closed: false }),
            ready: Semaphore::new(0),
            room: Semaphore::new(capacity),
            at_work: Latch::new(workers),
        });
        let mut pool = ThreadPool { shared, workers: Vec::with_capacity(workers) };
        for number in 0..workers {
            let shared = Arc::clone(&pool.shared);
            let worker = thread::Builder::new().name(format!("pool worker {number}"));
            // Should it fail, the drop of the pool sends the others home.
            pool.workers.push(worker.spawn(move || shared.work())?);
        }
        Ok(pool)
    }

    /// Queues a job. The caller runs it itself where the queue is full, which slows it down as much as waiting for room would,
    /// and needs no other thread. So it must not hold a lock that the job takes, nor be what the job waits for; and where each job
    /// spawns the next one, they may pile up on one stack.
    ///
    /// # Errors
    ///
    /// If the pool has been shut down.
    pub fn spawn<T, F>(&self, job: F) -> Result<Handle<T>, Refused<F>>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        if self.shared.room.try_acquire() {
            return self.spawn_in_room(job);
        }
        if self.shared.queue().closed {
            return Err(Refused(job));
        }
        let (job, handle) = Job::with_handle(job);
        job.run();
        Ok(handle)
    }

    /// Queues a job, and waits for room until the deadline.
    ///
    /// # Errors
    ///
    /// If there was no room until then, or the pool has been shut down.
    pub fn spawn_until<T, F>(&self, job: F, deadline: impl Into<Deadline>) -> Result<Handle<T>, Refused<F>>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        if self.shared.room.try_acquire_until(deadline) { self.spawn_in_room(job) } else { Err(Refused(job)) }
    }

    /// With a permit of `room`.
    fn spawn_in_room<T, F>(&self, job: F) -> Result<Handle<T>, Refused<F>>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let Some(queue) = self.shared.open_queue() else { return Err(Refused(job)) };
        let (job, handle) = Job::with_handle(job);
        self.shared.push(queue, job);
        Ok(handle)
    }

    /// Takes no more jobs, and waits until the workers have run all that are queued, and have left.
    ///
    /// Scopes that are open need no worker to come to their end. A job of the pool that calls this waits for itself.
    ///
    /// # Errors
    ///
    /// If that was not so at the deadline. What nobody had begun with by then is discarded, and a worker that has a job
    /// leaves after that.
    pub fn shut_down(&self, deadline: impl Into<Deadline>) -> Result<(), TimedOut> {
        self.close();
        self.shared.at_work.wait_until(deadline).inspect_err(|_| self.discard())
    }

    fn close(&self) {
        let mut queue = self.shared.queue();
        if !queue.closed {
            queue.closed = true;
            drop(queue);
            self.shared.ready.release_many(self.workers.len());
            // It goes from one who waits for room to the next.
            self.shared.room.release();
        }
    }

    fn discard(&self) {
        let jobs = std::mem::take(&mut self.shared.queue().jobs);
        self.shared.room.release_many(jobs.len());
        drop(jobs); // outside of the lock: this runs drops of foreign values
    }
}

impl Shared {
    /// What a worker does.
    fn work(&self) {
        loop {
            self.ready.acquire();
            let Some(job) = self.queue().jobs.pop_front() else { break };
            self.room.release();
            job.run_by_worker();
        }
        self.at_work.count_down();
    }

    /// With a permit of `room`, which is for the next one if the queue is closed: all who wait for it shall find out.
    fn open_queue(&self) -> Option<MutexGuard<'_, Queue>> {
        let queue = self.queue();
        if queue.closed {
            drop(queue);
            self.room.release();
            return None;
        }
        Some(queue)
    }

    fn push(&self, mut queue: MutexGuard<'_, Queue>, job: Arc<Job>) {
        queue.jobs.push_back(job);
        drop(queue);
        self.ready.release();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("no foreign code runs under this lock")
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.close();
        self.discard();
        for worker in self.workers.drain(..) {
            // The last owner of the pool may be a job of it.
            if worker.thread().id() != thread::current().id() {
                worker.join().expect("jobs keep their panics to themselves");
            }
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool").field("at_work", &self.shared.at_work.count()).finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refused")
    }
}

impl<F> fmt::Display for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pool takes no job now")
    }
}

impl<F> std::error::Error for Refused<F> {}
