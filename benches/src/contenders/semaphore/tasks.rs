//! The semaphores of async code, from threads. They can't wait for a limited time without a runtime.

use super::AnySemaphore;
use crate::contenders::Contender;

/// `tokio::sync::Semaphore`.
#[derive(Debug)]
pub struct Tokio(tokio::sync::Semaphore);

impl Contender for Tokio {
    fn name() -> &'static str {
        "tokio"
    }
}

impl AnySemaphore for Tokio {
    fn new(available: bool) -> Tokio {
        Tokio(tokio::sync::Semaphore::new(usize::from(available)))
    }

    #[inline]
    fn acquire(&self) {
        self.0.blocking_acquire().expect("nobody closes it").forget();
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().map(|permit| permit.forget()).is_ok()
    }

    #[inline]
    fn release(&self) {
        self.0.add_permits(1);
    }
}

/// `async_lock::Semaphore`.
#[derive(Debug)]
pub struct AsyncLock(async_lock::Semaphore);

impl Contender for AsyncLock {
    fn name() -> &'static str {
        "async-lock"
    }
}

impl AnySemaphore for AsyncLock {
    fn new(available: bool) -> AsyncLock {
        AsyncLock(async_lock::Semaphore::new(usize::from(available)))
    }

    #[inline]
    fn acquire(&self) {
        self.0.acquire_blocking().forget();
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.0.try_acquire().map(|permit| permit.forget()).is_some()
    }

    #[inline]
    fn release(&self) {
        self.0.add_permits(1);
    }
}
