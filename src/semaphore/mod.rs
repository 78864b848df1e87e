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

/// For the models: how many threads are registered.
#[cfg(all(test, waitline_loom))]
pub(crate) fn registered_waiters(semaphore: &Semaphore) -> u32 {
    state::load(&semaphore.state).waiters()
}
