//! Jobs that borrow from whoever waits for them.

#![allow(unsafe_code, reason = "jobs are queued for longer than they may borrow, and end before that shows")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::{forget, take, transmute};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use waitline::Latch;

use super::job::{Job, Panic, Siblings};
use super::{Shared, ThreadPool};

/// To spawn jobs in that end before [`ThreadPool::scope`] does. The lifetimes are those of [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    shared: &'env Shared,
    jobs: Arc<Siblings>,
    frame: Frame,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// What jobs use of the scope after their closure has returned. It is gone as soon as the wait for `pending` is over.
struct Frame {
    pending: Latch,
    /// All of them: dropping one might panic again, which no worker could bear.
    panics: Mutex<Vec<Panic>>,
}

impl ThreadPool {
    /// Calls `body`, and returns when all jobs have ended that it and they have spawned in the scope. Those that no worker has
    /// begun with by then are run here.
    ///
    /// # Panics
    ///
    /// With what `body` or the first job that did has panicked with, when all jobs have ended.
    pub fn scope<'env, T>(&'env self, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
        let frame = Frame { pending: Latch::new(1), panics: Mutex::default() };
        let scope = Scope { shared: &self.shared, jobs: Arc::default(), frame, scope: PhantomData, env: PhantomData };
        let outcome = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        // What a worker's job adds later, that worker runs.
        scope.jobs.run();
        let frame = &scope.frame;
        frame.pending.count_down(); // for the body
        frame.pending.wait();
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
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Queues a job that may borrow whatever outlives the scope, and the scope. The caller runs it itself where the queue
    /// is full or closed.
    pub fn spawn(&'scope self, closure: impl FnOnce() + Send + 'scope) {
        let frame = Pointer(&raw const self.frame);
        // The latch is not open: it counts the body, or the job that calls this.
        self.frame.pending.count_up(1);
        let closure: Box<dyn FnOnce() + Send + 'scope> = Box::new(move || {
            let outcome = catch_unwind(AssertUnwindSafe(closure));
            // SAFETY: the frame lives until this job has been counted down, which is the last that it does.
            unsafe { Frame::end(frame.get(), outcome.err()) };
        });
        // SAFETY: the lifetime is all that changes. Nobody keeps the closure for longer: it runs once, and ends before the scope
        // does, which waits for it, and runs it itself if nobody else does.
        let closure = unsafe { transmute::<Box<dyn FnOnce() + Send + 'scope>, Box<dyn FnOnce() + Send>>(closure) };
        let job = Job::new(closure, Some(Arc::clone(&self.jobs)));
        self.jobs.push(Arc::clone(&job));
        let queue = if self.shared.room.try_acquire() { self.shared.open_queue() } else { None };
        match queue {
            Some(queue) => self.shared.push(queue, job),
            None => job.run(),
        }
    }
}

impl Frame {
    /// # Safety
    ///
    /// The caller's job is one of those that `pending` counts, and does not use the frame any more.
    unsafe fn end(this: *const Frame, panic: Option<Panic>) {
        if let Some(panic) = panic {
            // SAFETY: alive until the job has been counted down.
            let panics = unsafe { &(*this).panics };
            panics.lock().unwrap_or_else(PoisonError::into_inner).push(panic);
        }
        // SAFETY: alive, as above; and a place within it is no access.
        let pending = unsafe { &raw const (*this).pending };
        // SAFETY: the scope keeps the latch until its wait has returned.
        unsafe { Latch::count_down_raw(pending, 1) };
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
