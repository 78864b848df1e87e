//! The barriers of async code, from threads.

use futures::executor::block_on;

use super::AnyBarrier;
use crate::contenders::Contender;

/// `tokio::sync::Barrier`, each party a thread that blocks on its future.
#[derive(Debug)]
pub struct Tokio(tokio::sync::Barrier);

impl Contender for Tokio {
    fn name() -> &'static str {
        "tokio"
    }
}

impl AnyBarrier for Tokio {
    fn new(parties: usize) -> Tokio {
        Tokio(tokio::sync::Barrier::new(parties))
    }

    #[inline]
    fn wait(&self) {
        block_on(self.0.wait());
    }
}

/// `async_lock::Barrier`.
#[derive(Debug)]
pub struct AsyncLock(async_lock::Barrier);

impl Contender for AsyncLock {
    fn name() -> &'static str {
        "async-lock"
    }
}

impl AnyBarrier for AsyncLock {
    fn new(parties: usize) -> AsyncLock {
        AsyncLock(async_lock::Barrier::new(parties))
    }

    #[inline]
    fn wait(&self) {
        self.0.wait_blocking();
    }
}
