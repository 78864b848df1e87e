//! Jobs that borrow from whoever waits for all of them.

#![allow(unsafe_code, reason = "jobs are forgotten by the compiler, and waited for")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::{forget, take};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use waitline::Latch;

use super::Pool;
use super::job::{HeapJob, Panic, count_down};
use super::worker::{Registry, Worker};

/// To spawn jobs in that end before [`Pool::scope`] does. The lifetimes are those of [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    registry: &'env Registry,
    frame: Frame,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// What jobs use of the scope after their closure has returned. It is gone as soon as `pending` has been found open.
struct Frame {
    /// The body, and jobs that have not ended.
    pending: Latch,
    /// The worker that waits.
    waiter: usize,
    /// All of them: dropping one might panic again, which no worker could bear.
    panics: Mutex<Vec<Panic>>,
}

impl Pool {
    /// Calls `body` on a worker, and returns when all jobs have ended that it and they have spawned in the scope.
    ///
    /// # Panics
    ///
    /// With what `body` or the first job that did has panicked with, when all jobs have ended.
    pub fn scope<'env, T: Send>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T + Send,
    ) -> T {
        self.on_worker(|worker| {
            let frame = Frame { pending: Latch::new(1), waiter: worker.index, panics: Mutex::default() };
            let scope = Scope { registry: &self.registry, frame, scope: PhantomData, env: PhantomData };
            let outcome = catch_unwind(AssertUnwindSafe(|| body(&scope)));
            let frame = &scope.frame;
            if !frame.pending.count_down() {
                worker.work_until(|| frame.pending.try_wait());
            }
            let mut panics = take(&mut *frame.panics.lock().unwrap_or_else(PoisonError::into_inner)).into_iter();
            let panic = match (outcome, panics.next()) {
                (Ok(value), None) => return value,
                (Err(panic), also) => {
                    forget(also);
                    panic
                }
                (Ok(_), Some(panic)) => panic,
            };
            // One that panics when it is dropped would end the process, since another one is on its way.
            panics.for_each(forget);
            resume_unwind(panic)
        })
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a job that may borrow whatever outlives the scope, and the scope.
    pub fn spawn(&'scope self, closure: impl FnOnce() + Send + 'scope) {
        let frame = Pointer(&raw const self.frame);
        // The latch is not open: it counts the body, or the job that calls this.
        self.frame.pending.count_up(1);
        let function = move |worker: &Worker<'_>| {
            let outcome = catch_unwind(AssertUnwindSafe(closure));
            // SAFETY: the frame lives until this job has been counted down, which is the last that it does.
            unsafe { Frame::end(frame.get(), outcome.err(), worker) };
        };
        // SAFETY: the scope waits for its jobs.
        let job = unsafe { HeapJob::job_ref(function) };
        Worker::with_current(self.registry, |current| match current {
            Some(worker) => worker.push(job),
            None => self.registry.inject(job),
        });
    }
}

impl Frame {
    /// # Safety
    ///
    /// The caller's job is one of those that `pending` counts, and does not use the frame any more.
    unsafe fn end(this: *const Frame, panic: Option<Panic>, worker: &Worker<'_>) {
        if let Some(panic) = panic {
            // SAFETY: alive until the job has been counted down.
            let panics = unsafe { &(*this).panics };
            panics.lock().unwrap_or_else(PoisonError::into_inner).push(panic);
        }
        // SAFETY: alive, as above.
        let Frame { pending, waiter, .. } = unsafe { &*this };
        // SAFETY: the scope keeps the latch until it has found it open.
        unsafe { count_down(pending, Some(*waiter), worker) };
    }
}

#[derive(Clone, Copy)]
struct Pointer(*const Frame);

// SAFETY: a frame is made for several threads.
unsafe impl Send for Pointer {}

impl Pointer {
    /// By value, so that a closure captures the whole and not the pointer in it.
    fn get(self) -> *const Frame {
        self.0
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("pending", &self.frame.pending.count()).finish_non_exhaustive()
    }
}
