//! Waits on atomics: a value, which differs from the old one or not.

use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::common::atomic_wait::{Atomic, Notify, OF_LOADS, atomics};
use crate::ways::{Way, ways};

/// So many kinds there are.
pub(super) const KINDS: usize = 12;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Set(u64),
    Notify(usize),
    /// For another value than this.
    Wait {
        old: u64,
        order: usize,
        way: Way,
    },
}

pub(super) fn steps() -> impl Strategy<Value = Step> {
    // So that they meet often enough.
    let values = || prop_oneof![4 => 0..3_u64, 1 => u64::MAX - 1..=u64::MAX, 1 => (0..64_u32).prop_map(|bit| 1 << bit)];
    prop_oneof![
        2 => values().prop_map(Step::Set),
        1 => any::<usize>().prop_map(Step::Notify),
        3 => (values(), any::<usize>(), ways()).prop_map(|(old, order, way)| Step::Wait { old, order, way }),
    ]
}

pub(super) struct Machine {
    atomic: Box<dyn Atomic>,
    value: u64,
}

impl Machine {
    pub(super) fn new(kind: usize) -> Machine {
        let mut all = atomics();
        assert_eq!(all.len(), KINDS);
        Machine { atomic: all.swap_remove(kind), value: 0 }
    }

    pub(super) fn step(&mut self, step: Step) -> TestCaseResult {
        match step {
            Step::Set(value) => {
                self.value = value & self.atomic.max();
                self.atomic.set(self.value, Relaxed);
            }
            Step::Notify(call) => self.atomic.notify(Notify::ALL[call % Notify::ALL.len()]),
            Step::Wait { old, order, way } => {
                let old = old & self.atomic.max();
                let found = self.atomic.wait_by(old, OF_LOADS[order % OF_LOADS.len()], way.given(old != self.value));
                prop_assert_eq!(found.ok(), (old != self.value).then_some(self.value), "{}", self.atomic.name());
            }
        }
        prop_assert_eq!(self.atomic.get(), self.value);
        Ok(())
    }
}
