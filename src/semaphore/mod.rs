//! Semaphores: the counting one with its permits, and the binary one.

mod binary;
mod counting;
mod give;
mod many;
mod permit;
mod single;
mod state;

pub use binary::BinarySemaphore;
pub use counting::Semaphore;
pub use permit::{OwnedPermit, Permit};
