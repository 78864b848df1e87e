//! Jobs as the deques hold them: a pointer, and what to do with it.

#![allow(unsafe_code, reason = "a job lives on the stack of whoever waits for it, or is freed by who runs it")]

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use waitline::Latch;

use super::worker::Worker;

pub(super) type Panic = Box<dyn Any + Send>;

/// A job that is to be run once.
pub(super) struct JobRef {
    job: *const (),
    run: unsafe fn(*const (), &Worker<'_>),
}

// SAFETY: both kinds of jobs are closures that may be sent.
unsafe impl Send for JobRef {}

impl JobRef {
    /// # Safety
    ///
    /// The job is alive, and nobody has run it.
    #[inline]
    pub(super) unsafe fn run(self, worker: &Worker<'_>) {
        // SAFETY: the caller's promise.
        unsafe { (self.run)(self.job, worker) }
    }

    #[inline]
    pub(super) fn is<F, T>(&self, job: &StackJob<F, T>) -> bool {
        std::ptr::addr_eq(self.job, job)
    }
}

/// Opens a latch that may be gone as soon as it is open, and then wakes the worker that waits for it. (A thread that is no worker
/// sleeps on the latch itself.)
///
/// # Safety
///
/// As for [`Latch::count_down_raw`].
pub(super) unsafe fn count_down(latch: *const Latch, waiter: Option<usize>, worker: &Worker<'_>) {
    // SAFETY: the caller's promise.
    let opened = unsafe { Latch::count_down_raw(latch, 1) };
    if let (true, Some(waiter)) = (opened, waiter) {
        worker.registry.sleep.wake(waiter);
    }
}

/// A job on the stack of the thread that waits for it.
pub(super) struct StackJob<F, T> {
    function: UnsafeCell<Option<F>>,
    /// Of whoever runs the job, until the latch is open.
    outcome: UnsafeCell<Option<thread::Result<T>>>,
    latch: Latch,
    /// The worker that waits, if it is one.
    waiter: Option<usize>,
}

impl<F, T> StackJob<F, T>
where
    F: FnOnce(&Worker<'_>) -> T + Send,
    T: Send,
{
    #[inline]
    pub(super) fn new(function: F, waiter: Option<usize>) -> StackJob<F, T> {
        let function = UnsafeCell::new(Some(function));
        StackJob { function, outcome: UnsafeCell::new(None), latch: Latch::new(1), waiter }
    }

    /// # Safety
    ///
    /// The job stays where it is until its latch is open, or the reference has come back.
    #[inline]
    pub(super) unsafe fn as_ref(&self) -> JobRef {
        JobRef { job: std::ptr::from_ref(self).cast(), run: StackJob::<F, T>::run }
    }

    #[inline]
    pub(super) fn latch(&self) -> &Latch {
        &self.latch
    }

    unsafe fn run(this: *const (), worker: &Worker<'_>) {
        // SAFETY: alive until its latch is open, and not used after that.
        let this = unsafe { &*this.cast::<StackJob<F, T>>() };
        // SAFETY: nobody else runs it, or looks at it before the latch is open.
        let function = unsafe { &mut *this.function.get() }.take().expect("a job runs once");
        let outcome = catch_unwind(AssertUnwindSafe(|| function(worker)));
        // SAFETY: as above.
        unsafe { *this.outcome.get() = Some(outcome) };
        // SAFETY: whoever waits keeps the latch until it has found it open.
        unsafe { count_down(&this.latch, this.waiter, worker) };
    }

    /// For the owner of a job whose reference has come back.
    #[inline]
    pub(super) fn into_function(self) -> F {
        self.function.into_inner().expect("nobody has run it")
    }

    /// For the owner of a job whose latch is open.
    #[inline]
    pub(super) fn into_outcome(self) -> T {
        match self.outcome.into_inner().expect("the latch is open") {
            Ok(value) => value,
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// A job of its own, which is freed by running it. It deals with its panics itself.
pub(super) struct HeapJob<F>(F);

impl<F: FnOnce(&Worker<'_>) + Send> HeapJob<F> {
    /// # Safety
    ///
    /// What the function borrows lives until it has run.
    pub(super) unsafe fn job_ref(function: F) -> JobRef {
        JobRef { job: Box::into_raw(Box::new(HeapJob(function))).cast(), run: HeapJob::<F>::run }
    }

    unsafe fn run(this: *const (), worker: &Worker<'_>) {
        // SAFETY: it was made by `into_raw` of such a box, and is run once.
        let job = unsafe { Box::from_raw(this.cast_mut().cast::<HeapJob<F>>()) };
        (job.0)(worker);
    }
}
