//! Semaphores: a number between zero and the maximum, and a flag.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use waitline::{BinarySemaphore, Semaphore};

use super::panics_as;
use crate::common::calls::call;
use crate::common::{Call, Counting, Held, Pool, Subject, Wait};
use crate::ways::{Way, ways};

const MAX: usize = Semaphore::MAX_PERMITS;

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// For good.
    Take(Call, Way),
    /// In a guard, which owns its semaphore or borrows it.
    Hold {
        n: usize,
        owned: bool,
        way: Way,
    },
    Release(usize),
    /// One of the guards.
    Drop(usize),
    Forget(usize),
}

pub(super) fn steps() -> impl Strategy<Value = Step> {
    let call = prop_oneof![
        Just(Call::Single),
        numbers().prop_map(Call::Many),
        Just(Call::Permit),
        numbers().prop_map(Call::Permits),
        numbers().prop_map(Call::Owned),
    ];
    prop_oneof![
        (call, ways()).prop_map(|(call, way)| Step::Take(call, way)),
        (numbers(), any::<bool>(), ways()).prop_map(|(n, owned, way)| Step::Hold { n, owned, way }),
        numbers().prop_map(Step::Release),
        any::<usize>().prop_map(Step::Drop),
        any::<usize>().prop_map(Step::Forget),
    ]
}

fn numbers() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0..6_usize, 1 => 60..70_usize, 1 => MAX - 6..=MAX]
}

pub(super) fn starts() -> impl Strategy<Value = usize> {
    prop_oneof![2 => 0..6_usize, 1 => MAX - 6..=MAX]
}

pub(super) struct Machine<'a> {
    semaphore: &'a Arc<Semaphore>,
    available: usize,
    guards: Vec<(usize, Held<'a>)>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(semaphore: &'a Arc<Semaphore>) -> Machine<'a> {
        Machine { semaphore, available: semaphore.available_permits(), guards: Vec::new() }
    }

    pub(super) fn step(&mut self, step: Step) -> TestCaseResult {
        match step {
            Step::Take(call, way) => {
                let pool = Counting { semaphore: Arc::clone(self.semaphore), call };
                let n = pool.size();
                prop_assert_eq!(pool.wait(way.given(n <= self.available)), n <= self.available);
                self.available -= if n <= self.available { n } else { 0 };
            }
            Step::Hold { n, owned, way } => {
                let (semaphore, wait) = (self.semaphore, way.given(n <= self.available));
                let held = if owned {
                    call!(wait, semaphore:
                        acquire_owned try_acquire_owned try_acquire_owned_for try_acquire_owned_until (n))
                    .map(Held::Owned)
                } else {
                    call!(wait, semaphore:
                        acquire_permits try_acquire_permits try_acquire_permits_for try_acquire_permits_until (n))
                    .map(Held::Permit)
                };
                prop_assert_eq!(held.is_some(), n <= self.available);
                self.available -= if held.is_some() { n } else { 0 };
                self.guards.extend(held.map(|held| (n, held)));
            }
            Step::Release(n) => {
                let fits = n <= MAX - self.available;
                panics_as(!fits, || self.semaphore.release_many(n))?;
                self.available += if fits { n } else { 0 };
            }
            Step::Drop(guard) => {
                if let Some((n, held)) = self.guard(guard) {
                    prop_assert_eq!(held.give_back(), n);
                    self.available = (self.available + n).min(MAX); // what does not fit is lost
                }
            }
            Step::Forget(guard) => {
                if let Some((_, held)) = self.guard(guard) {
                    held.keep();
                }
            }
        }
        prop_assert_eq!(self.semaphore.available_permits(), self.available);
        Ok(())
    }

    fn guard(&mut self, number: usize) -> Option<(usize, Held<'a>)> {
        (!self.guards.is_empty()).then(|| self.guards.swap_remove(number % self.guards.len()))
    }
}

#[derive(Clone, Debug)]
pub(super) enum BinaryStep {
    Take(Way),
    Release,
}

pub(super) fn binary_steps() -> impl Strategy<Value = BinaryStep> {
    prop_oneof![ways().prop_map(BinaryStep::Take), Just(BinaryStep::Release)]
}

pub(super) struct BinaryMachine<'a> {
    semaphore: &'a BinarySemaphore,
    available: bool,
}

impl<'a> BinaryMachine<'a> {
    pub(super) fn new(semaphore: &'a BinarySemaphore) -> BinaryMachine<'a> {
        BinaryMachine { semaphore, available: semaphore.is_available() }
    }

    pub(super) fn step(&mut self, step: BinaryStep) -> TestCaseResult {
        let (semaphore, was_available) = (self.semaphore, self.available);
        match step {
            BinaryStep::Take(way) => {
                let wait = way.given(was_available);
                let taken = call!(wait, semaphore: acquire try_acquire try_acquire_for try_acquire_until () => true);
                prop_assert_eq!(taken, was_available);
                self.available = false;
            }
            BinaryStep::Release => {
                prop_assert_eq!(semaphore.release(), !was_available);
                self.available = true;
            }
        }
        prop_assert_eq!(semaphore.is_available(), self.available);
        Ok(())
    }
}
