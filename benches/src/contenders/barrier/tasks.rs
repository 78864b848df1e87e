//! tokio's barrier, from threads.

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
