//! Ours: a binary semaphore that both sides share.

use std::sync::Arc;

use waitline::BinarySemaphore;

use super::{AnySignal, Awaited};
use crate::contenders::{Contender, timed};

/// `BinarySemaphore`, in an `Arc` as long as there are two sides.
#[derive(Debug)]
pub struct Ours;

impl Contender for Ours {
    fn name() -> &'static str {
        "BinarySemaphore"
    }
}

impl AnySignal for Ours {
    type Giver = Arc<BinarySemaphore>;
    type Waiter = Arc<BinarySemaphore>;

    fn pair() -> (Self::Giver, Self::Waiter) {
        let signal = Arc::new(BinarySemaphore::new(false));
        (Arc::clone(&signal), signal)
    }

    #[inline]
    fn give(giver: &Self::Giver) {
        giver.release();
    }

    #[inline]
    fn wait(waiter: &Self::Waiter) {
        waiter.acquire();
    }
}

timed! {
    Awaited<Ours>,
    |it, timeout| it.waiter.try_acquire_for(timeout),
    |it, deadline| it.waiter.try_acquire_until(deadline)
}
