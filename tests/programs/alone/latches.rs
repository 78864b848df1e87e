//! Latches: a number that stays zero once it is.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use waitline::Latch;

use super::panics_as;
use crate::common::latch::wait_for_opening;
use crate::ways::{Way, ways};

const MAX: usize = Latch::MAX_COUNT;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Up(usize),
    Down(usize),
    Wait(Way),
    /// Where it does not wait.
    ArriveAndWait,
}

pub(super) fn steps() -> impl Strategy<Value = Step> {
    let numbers = || prop_oneof![8 => 0..4_usize, 1 => MAX - 6..=MAX + 1];
    prop_oneof![
        2 => numbers().prop_map(Step::Up),
        3 => numbers().prop_map(Step::Down),
        3 => ways().prop_map(Step::Wait),
        1 => Just(Step::ArriveAndWait),
    ]
}

pub(super) fn starts() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..8_usize, 1 => MAX - 6..=MAX]
}

pub(super) struct Machine<'a> {
    latch: &'a Latch,
    count: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(latch: &'a Latch) -> Machine<'a> {
        Machine { latch, count: latch.count() }
    }

    pub(super) fn step(&mut self, step: Step) -> TestCaseResult {
        let (latch, count) = (self.latch, self.count);
        match step {
            Step::Up(n) => {
                let allowed = n == 0 || (count > 0 && n <= MAX - count);
                panics_as(!allowed, || latch.count_up(n))?;
                self.count += if allowed { n } else { 0 };
            }
            Step::Down(n) => {
                let opened = panics_as(n > count, || if n == 1 { latch.count_down() } else { latch.count_down_by(n) })?;
                if let Some(opened) = opened {
                    self.count -= n;
                    prop_assert_eq!(opened, n > 0 && self.count == 0);
                }
            }
            Step::Wait(way) => {
                prop_assert_eq!(wait_for_opening(latch, way.given(count == 0)).is_ok(), count == 0);
            }
            Step::ArriveAndWait if count > 1 => {}
            Step::ArriveAndWait => {
                panics_as(count == 0, || latch.arrive_and_wait())?;
                self.count = 0;
            }
        }
        prop_assert_eq!((latch.count(), latch.try_wait()), (self.count, self.count == 0));
        Ok(())
    }
}
