//! Who meets whom in which scenario, and what ours has to reach there.

mod atomics;
mod barriers;
mod contention;
mod deadlines;
mod latches;
mod oneshots;
mod pools;
mod semaphores;
mod signals;
mod sleeps;

use std::time::Duration;

use crate::catalogue::{Kind, Scenario};
use crate::figure::{Base, Figure, Subject, Target};
use crate::floor;
use crate::race::{Batch, Runner, Sample, Track, race, walk_through};
use crate::threads::{Placement, processors};

/// One scenario for one kind of primitive, and all who take part.
#[derive(Debug)]
pub struct Contest {
    subject: Subject,
    unit: &'static str,
    targets: Vec<Target>,
    floors: Vec<Runner>,
    ours: Vec<Runner>,
    peers: Vec<Runner>,
    batch: Batch,
    explanations: Vec<(String, String)>,
    readme: Option<String>,
}

/// Long enough for the clock and for warm caches, and short enough to come to its end between two interruptions.
const BATCH: Batch = Batch::Lasting(Duration::from_micros(200));

/// A size that is no number of threads or objects.
const MICROSECONDS: &str = "µs";

impl Contest {
    fn new(scenario: Scenario, kind: Kind, case: impl Into<String>) -> Contest {
        Contest {
            subject: Subject { scenario, kind, case: case.into(), size: None },
            unit: "ns",
            targets: Vec::new(),
            floors: Vec::new(),
            ours: Vec::new(),
            peers: Vec::new(),
            batch: BATCH,
            explanations: Vec::new(),
            readme: None,
        }
    }

    /// With how many of what.
    fn size(mut self, number: usize, what: &str) -> Contest {
        self.subject.size = Some((number as u64, what.into()));
        self
    }

    /// The raw operation that nothing can be cheaper than.
    fn floor(mut self, name: &str, batch: impl FnMut(u64) -> Sample + 'static) -> Contest {
        self.floors.push(Runner::new(name, batch));
        self
    }

    fn ours(mut self, ours: Vec<Runner>) -> Contest {
        self.ours.extend(ours);
        self
    }

    fn peers(mut self, peers: Vec<Runner>) -> Contest {
        self.peers.extend(peers);
        self
    }

    /// What each of ours has to reach.
    fn target(mut self, at_most: f64, base: Base) -> Contest {
        self.targets.push(Target { at_most, base });
        self
    }

    fn batch(mut self, batch: Batch) -> Contest {
        self.batch = batch;
        self
    }

    /// What is counted, if it is not nanoseconds.
    fn counts(mut self, unit: &'static str) -> Contest {
        self.unit = unit;
        self
    }

    /// Why this peer may be ahead. For the page, which says "not explained" otherwise.
    fn explain(mut self, peer: &str, why: &str) -> Contest {
        self.explanations.push((peer.into(), why.into()));
        self
    }

    /// The line of the README's table that shows it, with others of the same line.
    fn readme(mut self, line: impl Into<String>) -> Contest {
        self.readme = Some(line.into());
        self
    }

    /// What it is about.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Whether it is about so many that a smaller one shows as well that it works.
    pub fn is_crowded(&self) -> bool {
        const MANY: u64 = 16;
        self.subject.size.as_ref().is_some_and(|(number, what)| *number > MANY && what != MICROSECONDS)
    }

    /// Takes the figure.
    pub fn run(self, rounds: usize) -> Figure {
        let batch = self.batch;
        self.run_by(|runners| race(runners, rounds, batch))
    }

    /// Does everything once, which says whether it works, and nothing of how fast it is.
    pub fn try_out(self) -> Figure {
        self.run_by(walk_through)
    }

    fn run_by(self, run: impl FnOnce(Vec<Runner>) -> Vec<Track>) -> Figure {
        let (floors, ours) = (self.floors.len(), self.ours.len());
        // The floor runs next to ours.
        let mut floors_first = run(self.floors.into_iter().chain(self.ours).chain(self.peers).collect());
        let peers = floors_first.split_off(floors + ours);
        let ours = floors_first.split_off(floors);
        Figure {
            subject: self.subject,
            unit: self.unit.into(),
            targets: self.targets,
            floors: floors_first,
            ours,
            peers,
            explanations: self.explanations,
            readme: self.readme,
        }
    }
}

/// Every contest, in the order in which they are held.
pub fn all() -> Vec<Contest> {
    let contests = [
        atomics::untouched(),
        semaphores::contests(),
        signals::contests(),
        oneshots::contests(),
        deadlines::contests(),
        latches::contests(),
        atomics::contests(),
        contention::contests(),
        barriers::contests(),
        sleeps::contests(),
        pools::contests(),
    ];
    contests.into_iter().flatten().collect()
}

/// What two threads pass to and fro, in each placement: running, if there are processors for both, and asleep.
fn ping_pongs(contest: impl Fn(Placement, &str) -> Contest) -> Vec<Contest> {
    let mut contests = Vec::new();
    if processors() > 1 {
        for (placement, case) in [(Placement::Pinned, "running, pinned"), (Placement::Free, "running, free")] {
            let spinning = move |times| floor::spinning_ping_pong(placement, times);
            contests.push(contest(placement, case).floor("spinning on a flag", spinning));
        }
    }
    let together = Placement::Together;
    let futex = move |times| floor::futex_ping_pong(together, times);
    contests.push(contest(together, "asleep").floor("futex(2)", futex));
    contests
}

/// A runner for each contender of a list.
macro_rules! runners {
    (|$this:ident, $times:pat_param| $batch:expr; $($(#[$attribute:meta])* $contender:ty),* $(,)?) => {
        Vec::from([$(
            $(#[$attribute])*
            {
                type $this = $contender;
                $crate::race::Runner::new(<$this as $crate::contenders::Contender>::name(), move |$times| $batch)
            }
        ),*])
    };
}
use runners;
