//! A job, which several threads may try to begin with, and the handle that receives what became of it.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use waitline::Deadline;
use waitline::oneshot::{self, Receiver, RecvTimeoutError};

pub(super) type Panic = Box<dyn Any + Send>;

pub(super) struct Job {
    /// Until somebody begins with it.
    closure: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// The jobs of its scope, if it is of one.
    siblings: Option<Arc<Siblings>>,
}

/// The jobs of one scope, for those who wait for it to run what nobody has begun with. Outlives the scope where a worker still
/// looks for more of them.
#[derive(Default)]
pub(super) struct Siblings(Mutex<Vec<Arc<Job>>>);

impl Siblings {
    pub(super) fn push(&self, job: Arc<Job>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(job);
    }

    /// Runs all that nobody has begun with.
    pub(super) fn run(&self) {
        let next = || self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(job) = next() {
            job.run();
        }
    }
}

impl Job {
    /// Of a closure that deals with its panics itself.
    pub(super) fn new(closure: Box<dyn FnOnce() + Send>, siblings: Option<Arc<Siblings>>) -> Arc<Job> {
        Arc::new(Job { closure: Mutex::new(Some(closure)), siblings })
    }

    pub(super) fn with_handle<T: Send + 'static>(
        closure: impl FnOnce() -> T + Send + 'static,
    ) -> (Arc<Job>, Handle<T>) {
        let (sender, result) = oneshot::channel();
        let closure = move || {
            let outcome = catch_unwind(AssertUnwindSafe(closure));
            let Err(unwanted) = sender.send(outcome) else { return };
            // The handle is gone, and this thread has to outlive also a result that panics when it is dropped.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(unwanted))) {
                std::mem::forget(panic);
            }
        };
        let job = Job::new(Box::new(closure), None);
        let handle = Handle { job: Arc::downgrade(&job), result };
        (job, handle)
    }

    /// Unless somebody has begun with it already.
    pub(super) fn run(&self) {
        let closure = self.closure.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(closure) = closure {
            closure();
        }
    }

    /// As [`run`](Job::run), by a worker. Then it also runs what the job has left to its scope: whoever opened that may sleep by
    /// now, and every other worker may wait for it.
    pub(super) fn run_by_worker(&self) {
        self.run();
        if let Some(siblings) = &self.siblings {
            siblings.run();
        }
    }
}

/// Receives the result of a job. Dropping it lets the job run on its own.
pub struct Handle<T> {
    /// Only the queue keeps it alive, so that a job that is discarded is gone at once.
    job: Weak<Job>,
    result: Receiver<thread::Result<T>>,
}

/// The pool was shut down before anybody had begun with the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discarded;

impl<T> Handle<T> {
    /// The result of the job, or its panic. Runs it here if nobody has begun with it.
    ///
    /// # Errors
    ///
    /// If the job has been discarded.
    ///
    /// # Panics
    ///
    /// With what the job has panicked with.
    pub fn join(self) -> Result<T, Discarded> {
        if !self.is_finished() {
            if let Some(job) = self.job.upgrade() {
                job.run();
            }
        }
        self.result.recv().map(or_panic).map_err(|_| Discarded)
    }

    /// The result of the job, or its panic, as soon as it is there, until the deadline.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] if the job has not ended until then; [`RecvTimeoutError::Disconnected`] if it has
    /// been discarded, or if the result was handed out before.
    ///
    /// # Panics
    ///
    /// With what the job has panicked with.
    pub fn join_until(&self, deadline: impl Into<Deadline>) -> Result<T, RecvTimeoutError> {
        self.result.recv_until(deadline).map(or_panic)
    }

    /// Whether [`join`](Handle::join) would neither wait nor run anything.
    pub fn is_finished(&self) -> bool {
        self.result.is_ready()
    }
}

fn or_panic<T>(outcome: thread::Result<T>) -> T {
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

impl fmt::Display for Discarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pool was shut down before the job began")
    }
}

impl std::error::Error for Discarded {}
