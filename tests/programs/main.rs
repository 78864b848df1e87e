//! Random programs over all primitives at once, against simple models of them. A program that fails is made as small as it
//! gets, and printed with the seed that leads to it.
//!
//! `alone`: one thread, where each call gives what the model says. `together`: several, where the totals have to add up.

#[path = "../common/mod.rs"]
mod common;

mod alone;
mod together;
mod ways;

use std::fmt::Debug;
use std::hash::{BuildHasher, RandomState};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestCaseResult, TestError, TestRunner};

use common::{rounds, watchdog};

/// Runs so many random programs. `PROPTEST_RNG_SEED` says which.
fn run_programs<P: Debug>(
    test: &str,
    programs: u32,
    strategy: impl Strategy<Value = P>,
    run: impl Fn(P) -> TestCaseResult,
) {
    let defaults = Config::default();
    let seed = match defaults.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => RandomState::new().hash_one(programs),
    };
    let config = Config {
        cases: rounds(programs),
        rng_seed: RngSeed::Fixed(seed),
        // The default one would take most of the time.
        rng_algorithm: RngAlgorithm::XorShift,
        failure_persistence: None,
        max_shrink_iters: 5_000,
        ..defaults
    };
    let run = |program: P| {
        let what = format!("PROPTEST_RNG_SEED={seed}, {test}: {program:?}");
        watchdog(&what, || run(program))
    };
    match TestRunner::new(config).run(&strategy, run) {
        Ok(()) => {}
        Err(TestError::Fail(reason, program)) => {
            panic!("{reason}\n{program:#?}\nagain: PROPTEST_RNG_SEED={seed} cargo test --test programs {test}")
        }
        Err(error) => panic!("{error}"),
    }
}
