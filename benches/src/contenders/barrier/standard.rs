//! std's barrier.

use super::AnyBarrier;
use crate::contenders::Contender;

/// `std::sync::Barrier`.
#[derive(Debug)]
pub struct Std(std::sync::Barrier);

impl Contender for Std {
    fn name() -> &'static str {
        "std"
    }
}

impl AnyBarrier for Std {
    fn new(parties: usize) -> Std {
        Std(std::sync::Barrier::new(parties))
    }

    #[inline]
    fn wait(&self) {
        self.0.wait();
    }
}
