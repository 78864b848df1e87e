//! Models: the real code, on modelled atomics and a modelled platform, through every schedule with a few preemptions
//! (`cargo loom`).
//!
//! Each model is a small program of two or three threads. Deadlines come when a model calls [`expire`], which the
//! checker puts at every point of the other threads' progress, so that a timeout is explored before, during and after
//! each step of whatever it races with. A model that is right only because it never looked is no use: every ordering,
//! wake and last look that these rest on has a mutant in `.ci/mutants` that one of them must fail.

mod barrier;
mod binary;
mod latch;
mod many;
mod oneshot;
mod platform;
mod single;
mod table;

use core::time::Duration;

use crate::Deadline;
use crate::atomic::model::{Arc, UnsafeCell, thread};
use crate::sys::model::{disturb, expire, wake_calls, woken};

/// A deadline that comes when the model says so: the clock itself is far from it.
fn later() -> Deadline {
    Deadline::after(Duration::from_secs(3600))
}

/// Runs `program` through every schedule with at most as many preemptions as LOOM_MAX_PREEMPTIONS says.
fn explore(program: impl Fn() + Send + Sync + 'static) {
    crate::atomic::model::model(program);
}

/// The same with a bound of its own, for programs of so many threads that the usual one takes too long.
fn explore_up_to(preemptions: usize, program: impl Fn() + Send + Sync + 'static) {
    crate::atomic::model::model_up_to(preemptions, program);
}

/// A wait that is ended by `end`, and disturbed in between.
fn disturbed(wait: impl FnOnce() + 'static, end: impl FnOnce()) {
    let waiter = thread::spawn(wait);
    let signal = thread::spawn(disturb);
    end();
    waiter.join().unwrap();
    signal.join().unwrap();
}

/// A plain variable: the checker reports an access that no edge orders.
#[derive(Clone)]
struct Plain(Arc<UnsafeCell<u32>>);

impl Plain {
    fn new() -> Plain {
        Plain(Arc::new(UnsafeCell::new(0)))
    }

    #[allow(unsafe_code, reason = "what the models are for")]
    fn write(&self, value: u32) {
        // SAFETY: the checker fails if another access is not ordered with this one.
        self.0.with_mut(|place| unsafe { *place = value });
    }

    #[allow(unsafe_code, reason = "what the models are for")]
    fn read(&self) -> u32 {
        // SAFETY: as for `write`.
        self.0.with(|place| unsafe { *place })
    }
}
