//! Barriers: how many are missing and how many are expected, phase by phase.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use waitline::{Arrival, Barrier, Deadline};

use super::panics_as;
use crate::common::Wait;
use crate::common::barrier::{meet, poll_token};
use crate::ways::{Way, ways};

#[derive(Clone, Debug)]
pub(super) enum Step {
    Meet(Way),
    Arrive,
    /// For good.
    Leave,
    Token(usize, OfToken),
}

/// What is done with a token.
#[derive(Clone, Debug)]
pub(super) enum OfToken {
    Look,
    Poll(Way),
    /// Where it does not wait.
    Wait,
    Withdraw,
    Drop,
}

pub(super) fn steps() -> impl Strategy<Value = Step> {
    let of_token = prop_oneof![
        Just(OfToken::Look),
        ways().prop_map(OfToken::Poll),
        Just(OfToken::Wait),
        Just(OfToken::Withdraw),
        Just(OfToken::Drop),
    ];
    prop_oneof![
        6 => ways().prop_map(Step::Meet),
        6 => Just(Step::Arrive),
        1 => Just(Step::Leave),
        6 => (any::<usize>(), of_token).prop_map(|(token, act)| Step::Token(token, act)),
    ]
}

/// A barrier whose function counts its calls, and panics in one of them.
pub(super) fn with_completion(
    parties: usize,
    calls: &AtomicUsize,
    panics_at: Option<usize>,
) -> Barrier<impl FnMut() + '_> {
    Barrier::with_completion(parties, move || {
        let call = calls.fetch_add(1, Relaxed) + 1;
        assert_ne!(Some(call), panics_at, "as the program wants it");
    })
}

/// How a phase stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Ended,
    Poisoned,
}

pub(super) struct Machine<'a, F> {
    barrier: &'a Barrier<F>,
    /// The calls of the completion function, and the one that panics.
    completion: Option<(&'a AtomicUsize, Option<usize>)>,
    /// How many phases have ended.
    phase: usize,
    missing: usize,
    expected: usize,
    /// In the phase before this one.
    poisoned: bool,
    /// With its phase, and whether it is the leader's.
    tokens: Vec<(Arrival<'a>, usize, bool)>,
}

impl<'a, F: FnMut()> Machine<'a, F> {
    pub(super) fn new(
        barrier: &'a Barrier<F>,
        parties: usize,
        completion: Option<(&'a AtomicUsize, Option<usize>)>,
    ) -> Machine<'a, F> {
        let parties = parties.max(1);
        Machine {
            barrier,
            completion,
            phase: 0,
            missing: parties,
            expected: parties,
            poisoned: false,
            tokens: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, step: Step) -> TestCaseResult {
        match step {
            Step::Meet(way) => self.meet(way)?,
            Step::Arrive => {
                let phase = self.phase;
                let (leader, panics) = self.arrival();
                let token = panics_as(panics, || self.barrier.arrive())?;
                self.tokens.extend(token.map(|token| (token, phase, leader)));
            }
            Step::Leave => {
                self.expected = self.expected.saturating_sub(1);
                let (leader, panics) = self.arrival();
                let result = panics_as(panics, || self.barrier.arrive_and_drop())?;
                prop_assert!(result.is_none_or(|result| result.is_leader() == leader));
            }
            Step::Token(number, act) if !self.tokens.is_empty() => self.token(number % self.tokens.len(), act)?,
            Step::Token(..) => {}
        }
        self.look()
    }

    /// What the next arrival changes; whether it is the leader, and whether it panics.
    fn arrival(&mut self) -> (bool, bool) {
        if self.poisoned || self.missing == 0 {
            return (false, true);
        }
        self.missing -= 1;
        if self.missing > 0 {
            return (false, false);
        }
        self.phase += 1;
        self.missing = self.expected;
        self.poisoned = self.completion.is_some_and(|(_, panics_at)| panics_at == Some(self.phase));
        (true, self.poisoned)
    }

    /// Nobody comes meanwhile: the arrival completes the phase, or is taken back.
    fn meet(&mut self, way: Way) -> TestCaseResult {
        let refused = self.poisoned || self.missing == 0;
        if self.missing > 1 && !refused {
            let result = meet(self.barrier, way.impatient());
            prop_assert!(result.is_err());
            return Ok(());
        }
        let (leader, panics) = self.arrival();
        let result = panics_as(panics, || meet(self.barrier, way.any()))?;
        prop_assert!(result.is_none_or(|result| result.is_ok_and(|result| result.is_leader() == leader)));
        Ok(())
    }

    fn end_of(&self, phase: usize) -> End {
        match () {
            () if phase == self.phase => End::Open,
            () if self.poisoned && phase + 1 == self.phase => End::Poisoned,
            () => End::Ended,
        }
    }

    fn token(&mut self, number: usize, act: OfToken) -> TestCaseResult {
        let (token, phase, leader) = &self.tokens[number];
        let (end, leader) = (self.end_of(*phase), *leader);
        let (is_open, panics) = (end == End::Open, end == End::Poisoned);
        match act {
            OfToken::Look => {
                let complete = panics_as(panics, || token.is_complete())?;
                prop_assert!(complete.is_none_or(|complete| complete != is_open));
            }
            OfToken::Poll(way) => {
                let wait = match way.given(!is_open) {
                    Wait::Untimed => Wait::Until(Deadline::NEVER), // the untimed form uses the token up
                    wait => wait,
                };
                let result = panics_as(panics, || poll_token(token, wait))?;
                let result = result.map(|result| result.ok().map(|result| result.is_leader()));
                prop_assert!(result.is_none_or(|result| result == (!is_open).then_some(leader)));
            }
            OfToken::Wait if is_open => {}
            OfToken::Wait => {
                let (token, ..) = self.tokens.swap_remove(number);
                let result = panics_as(panics, || token.wait())?;
                prop_assert!(result.is_none_or(|result| result.is_leader() == leader));
            }
            OfToken::Withdraw => {
                let (token, ..) = self.tokens.swap_remove(number);
                let result = panics_as(panics, || token.withdraw())?;
                self.missing += usize::from(is_open);
                let result = result.map(|result| result.err().map(|result| result.is_leader()));
                prop_assert!(result.is_none_or(|result| result == (!is_open).then_some(leader)));
            }
            OfToken::Drop => drop(self.tokens.swap_remove(number)),
        }
        Ok(())
    }

    fn look(&self) -> TestCaseResult {
        let said = format!("{:?}", self.barrier);
        let expected = match self.poisoned {
            true => "poisoned: true".to_owned(),
            false => format!("missing: {}, expected: {}", self.missing, self.expected),
        };
        prop_assert!(said.contains(&expected), "{said}, not {expected}");
        if let Some((calls, _)) = self.completion {
            prop_assert_eq!(calls.load(Relaxed), self.phase);
        }
        Ok(())
    }
}
