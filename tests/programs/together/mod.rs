//! Several threads: whatever the schedule, what was given is what was taken and what is left, and nobody waits for ever.
//!
//! A program goes through phases. In each, every object in use has one *game*, in which some threads give something, some take
//! something, and some do both. Games of a phase have an order, in which each thread goes through them: in each it gives before
//! it takes, and it may give early, before all games. So a phase ends, if a game's takers need no more than what its givers
//! give: of all games in which somebody waits, look at the first. Nobody is before it any more, so all have given.

mod meetings;
mod messages;
mod permits;

use std::sync::{Mutex, PoisonError};
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use self::meetings::{LatchPlan, LeavingPlan, MeetingPlan};
use self::messages::{AtomicPlan, ChannelPlan};
use self::permits::{BinaryPlan, PermitPlan};
use crate::common::about::about;
use crate::common::panics::outcome_of;
use crate::common::{Gate, jitter, spawn};
use crate::run_programs;

const MAX_THREADS: usize = 4;

/// What the threads do to one object in one phase.
trait Game: Sync {
    fn name(&self) -> &'static str;

    /// What this thread can do without a wait: the part that it does before all games, or the rest.
    fn give(&self, thread: usize, early: bool);

    /// What it may have to wait for.
    fn take(&self, thread: usize);

    /// Asserts that the totals add up, once everybody is through.
    fn check(&self);
}

#[derive(Clone, Debug)]
enum Plan {
    Permits(PermitPlan),
    Binary(BinaryPlan),
    Latch(LatchPlan),
    Meeting(MeetingPlan),
    Leaving(LeavingPlan),
    Channel(ChannelPlan),
    Atomic(AtomicPlan),
}

#[derive(Clone, Debug)]
struct Program {
    threads: usize,
    phases: Vec<Vec<Plan>>,
}

fn programs() -> impl Strategy<Value = Program> {
    let plan = prop_oneof![
        3 => permits::permit_plans().prop_map(Plan::Permits),
        2 => permits::binary_plans().prop_map(Plan::Binary),
        2 => meetings::latch_plans().prop_map(Plan::Latch),
        3 => meetings::meeting_plans().prop_map(Plan::Meeting),
        1 => meetings::leaving_plans().prop_map(Plan::Leaving),
        2 => messages::channel_plans().prop_map(Plan::Channel),
        2 => messages::atomic_plans().prop_map(Plan::Atomic),
    ];
    (2..=MAX_THREADS, vec(vec(plan, 1..8), 1..4)).prop_map(|(threads, phases)| Program { threads, phases })
}

/// Of a plan's threads, whose numbers go up to the maximum, those that the program has.
fn is_for(planned: usize, thread: usize, threads: usize) -> bool {
    planned % threads == thread
}

/// The objects that outlive a phase.
struct World<'a> {
    permits: permits::Objects,
    meetings: meetings::Objects<'a>,
    messages: messages::Objects,
}

impl Program {
    fn run(self) -> TestCaseResult {
        let completions = Default::default();
        let world = World {
            permits: permits::Objects::new(),
            meetings: meetings::Objects::new(&completions),
            messages: messages::Objects::new(),
        };
        for (number, phase) in self.phases.iter().enumerate() {
            let mut in_use = Vec::new();
            let games: Vec<_> = phase
                .iter()
                .filter(|plan| {
                    // One game an object.
                    let object = plan.object();
                    let is_free = object.is_none() || !in_use.contains(&object);
                    in_use.push(object);
                    is_free
                })
                .map(|plan| plan.start(&world, self.threads))
                .collect();
            play(&games, self.threads, number)?;
        }
        world.messages.check();
        Ok(())
    }
}

impl Plan {
    /// The object that it is about, if that is not its own.
    fn object(&self) -> Option<(&'static str, usize)> {
        match self {
            Plan::Permits(plan) => Some(("semaphore", plan.object.into())),
            Plan::Binary(plan) => Some(("binary semaphore", plan.object.into())),
            Plan::Meeting(plan) => Some(("barrier", plan.object.into())),
            Plan::Atomic(plan) => Some(("atomic", plan.object)),
            Plan::Latch(_) | Plan::Leaving(_) | Plan::Channel(_) => None,
        }
    }

    fn start<'a>(&'a self, world: &'a World<'_>, threads: usize) -> Box<dyn Game + 'a> {
        match self {
            Plan::Permits(plan) => Box::new(plan.start(&world.permits, threads)),
            Plan::Binary(plan) => Box::new(plan.start(&world.permits, threads)),
            Plan::Latch(plan) => Box::new(plan.start(threads)),
            Plan::Meeting(plan) => plan.start(&world.meetings, threads),
            Plan::Leaving(plan) => Box::new(plan.start(threads)),
            Plan::Channel(plan) => Box::new(plan.start(&world.messages, threads)),
            Plan::Atomic(plan) => Box::new(plan.start(&world.messages, threads)),
        }
    }
}

/// One phase, to the end of all threads.
fn play(games: &[Box<dyn Game + '_>], threads: usize, phase: usize) -> TestCaseResult {
    let (gate, failures) = (Gate::new(threads), Mutex::new(Vec::new()));
    let part = |what: &str, game: &dyn Game, body: &dyn Fn()| {
        about(&format!("{what} {}", game.name()));
        if let Err(panic) = outcome_of(body) {
            let failure = format!("phase {phase}, {what} {}: {panic}", game.name());
            failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
        }
    };
    thread::scope(|scope| {
        for thread in 0..threads {
            let (part, gate) = (&part, &gate);
            spawn(scope, format!("thread {thread} in phase {phase}"), move || {
                gate.pass();
                jitter(thread as u32 + 1);
                for game in games {
                    part("give", &**game, &|| game.give(thread, true));
                }
                for game in games {
                    part("give", &**game, &|| game.give(thread, false));
                    part("take", &**game, &|| game.take(thread));
                }
            });
        }
    });
    for game in games {
        part("check", &**game, &|| game.check());
    }
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    prop_assert!(failures.is_empty(), "{failures:#?}");
    Ok(())
}

#[test]
fn several_threads_lose_nothing() {
    run_programs("several_threads_lose_nothing", 300, programs(), Program::run);
}
