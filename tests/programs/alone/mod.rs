//! One thread: each call gives what the model says, on several objects at once, whose guards, tokens and ends live as long as
//! the program wants.

mod atomics;
mod barriers;
mod channels;
mod latches;
mod semaphores;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use waitline::{BinarySemaphore, Latch, Semaphore};

use crate::common::panics::outcome_of;
use crate::run_programs;

/// A step on one of the objects of a kind.
#[derive(Clone, Debug)]
enum Step {
    Semaphore(bool, semaphores::Step),
    Binary(bool, semaphores::BinaryStep),
    Latch(bool, latches::Step),
    /// Of the two, one has a completion function.
    Barrier(bool, barriers::Step),
    Channel(bool, channels::Step),
    Atomic(bool, atomics::Step),
}

/// What there is at first, two of each.
#[derive(Clone, Debug)]
struct Program {
    permits: [usize; 2],
    available: [bool; 2],
    counts: [usize; 2],
    parties: [usize; 2],
    /// The call of the completion function that panics, if it comes to that.
    panics_at: Option<usize>,
    /// Of which kind they are.
    atomics: [usize; 2],
    steps: Vec<Step>,
}

fn programs() -> impl Strategy<Value = Program> {
    let object = any::<bool>;
    let step = prop_oneof![
        3 => (object(), semaphores::steps()).prop_map(|(object, step)| Step::Semaphore(object, step)),
        2 => (object(), semaphores::binary_steps()).prop_map(|(object, step)| Step::Binary(object, step)),
        2 => (object(), latches::steps()).prop_map(|(object, step)| Step::Latch(object, step)),
        4 => (object(), barriers::steps()).prop_map(|(object, step)| Step::Barrier(object, step)),
        4 => (object(), channels::steps()).prop_map(|(object, step)| Step::Channel(object, step)),
        2 => (object(), atomics::steps()).prop_map(|(object, step)| Step::Atomic(object, step)),
    ];
    let two = |number: BoxedStrategy<usize>| [number.clone(), number];
    (
        two(semaphores::starts().boxed()),
        any::<[bool; 2]>(),
        two(latches::starts().boxed()),
        two((0..5_usize).boxed()),
        prop_oneof![3 => Just(None), 1 => (1..6_usize).prop_map(Some)],
        two((0..atomics::KINDS).boxed()),
        vec(step, 0..150),
    )
        .prop_map(|(permits, available, counts, parties, panics_at, atomics, steps)| Program {
            permits,
            available,
            counts,
            parties,
            panics_at,
            atomics,
            steps,
        })
}

impl Program {
    fn run(self) -> TestCaseResult {
        let permits = self.permits.map(|permits| Arc::new(Semaphore::new(permits)));
        let binary = self.available.map(BinarySemaphore::new);
        let latches = self.counts.map(Latch::new);
        let calls = AtomicUsize::new(0);
        let plain = waitline::Barrier::new(self.parties[0]);
        let completing = barriers::with_completion(self.parties[1], &calls, self.panics_at);

        let mut permits = permits.each_ref().map(semaphores::Machine::new);
        let mut binary = binary.each_ref().map(semaphores::BinaryMachine::new);
        let mut latches = latches.each_ref().map(latches::Machine::new);
        let mut plain = barriers::Machine::new(&plain, self.parties[0], None);
        let mut completing = barriers::Machine::new(&completing, self.parties[1], Some((&calls, self.panics_at)));
        let mut channels = [(); 2].map(|()| channels::Machine::new());
        let mut atomics = self.atomics.map(atomics::Machine::new);
        for step in self.steps {
            match step {
                Step::Semaphore(object, step) => permits[usize::from(object)].step(step)?,
                Step::Binary(object, step) => binary[usize::from(object)].step(step)?,
                Step::Latch(object, step) => latches[usize::from(object)].step(step)?,
                Step::Barrier(false, step) => plain.step(step)?,
                Step::Barrier(true, step) => completing.step(step)?,
                Step::Channel(object, step) => channels[usize::from(object)].step(step)?,
                Step::Atomic(object, step) => atomics[usize::from(object)].step(step)?,
            }
        }
        Ok(())
    }
}

/// Whether the call panics, and that this is what should be.
fn panics_as<T>(expected: bool, call: impl FnOnce() -> T) -> Result<Option<T>, TestCaseError> {
    let outcome = outcome_of(call);
    prop_assert_eq!(outcome.is_err(), expected, "panics: {:?}", outcome.err());
    Ok(outcome.ok())
}

#[test]
fn one_thread_gets_what_the_model_says() {
    run_programs("one_thread_gets_what_the_model_says", 250, programs(), Program::run);
}
