//! Fork and join.

#![allow(unsafe_code, reason = "the forked job is on the stack, and is waited for")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Pool;
use super::job::StackJob;
use super::worker::Worker;

impl Pool {
    /// Runs both, at the same time if a worker has nothing else to do, and returns what both return.
    ///
    /// # Panics
    ///
    /// With what either has panicked with, the first one before the second, when both have ended. If the first one panics, the
    /// second may be dropped without having run.
    #[inline]
    pub fn join<A: Send, B: Send>(
        &self,
        first: impl FnOnce() -> A + Send,
        second: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        self.on_worker(|worker| join(worker, first, second))
    }
}

#[inline]
fn join<A: Send, B: Send>(worker: &Worker<'_>, first: impl FnOnce() -> A, second: impl FnOnce() -> B + Send) -> (A, B) {
    let second = StackJob::new(|_: &Worker<'_>| second(), Some(worker.index));
    // SAFETY: it stays until it has come back or its latch is open.
    worker.push(unsafe { second.as_ref() });
    let first = catch_unwind(AssertUnwindSafe(first));
    // What lies above it are jobs of scopes that the first one is in.
    let came_back = loop {
        match worker.pop() {
            Some(job) if job.is(&second) => break true,
            Some(job) => worker.run(job),
            None => break false,
        }
    };
    if !came_back {
        worker.work_until(|| second.latch().try_wait());
    }
    let first = first.unwrap_or_else(|panic| resume_unwind(panic));
    let second = if came_back { second.into_function()(worker) } else { second.into_outcome() };
    (first, second)
}
