#![doc = include_str!("../README.md")]

mod atomic;
mod barrier;
mod deadline;
mod error;
pub mod guide;
mod latch;
#[cfg(all(test, waitline_loom))]
mod models;
pub mod oneshot;
mod semaphore;
mod sys;
mod wait;

pub use barrier::{Arrival, Barrier, BarrierWaitResult};
pub use deadline::Deadline;
pub use error::TimedOut;
pub use latch::Latch;
pub use semaphore::{BinarySemaphore, OwnedPermit, Permit, Semaphore};
pub use wait::AtomicWait;
