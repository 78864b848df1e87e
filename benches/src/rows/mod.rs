//! The figures to reach: rows of a floor, ours and the peers, with a target for the ratio of ours to the floor.

mod atomics;
mod barriers;
mod deadlines;
#[cfg(libstdcxx)]
mod libstdcxx;
mod oneshots;
mod threads;
mod uncontended;

use std::time::Duration;

use crate::race::{Batch, Quartiles, Runner, Track, race};

/// One figure to reach.
#[derive(Debug)]
pub struct Row {
    /// What is done.
    pub operation: String,
    /// At most so many times the floor. `None`: just to know.
    pub target: Option<f64>,
    /// What is counted.
    pub unit: &'static str,
    /// What ours is compared with: of several, the best. With none, the value itself has to reach the target.
    floors: Vec<Runner>,
    ours: Runner,
    peers: Vec<Runner>,
    batch: Batch,
}

/// Long enough for the clock and for warm caches, and short enough to come to its end between two interruptions.
const BATCH: Batch = Batch::Lasting(Duration::from_micros(200));

impl Row {
    fn new(operation: impl Into<String>, target: impl Into<Option<f64>>, ours: Runner) -> Row {
        Row {
            operation: operation.into(),
            target: target.into(),
            unit: "ns",
            floors: Vec::new(),
            ours,
            peers: Vec::new(),
            batch: BATCH,
        }
    }

    /// Takes the figure.
    pub fn run(self, rounds: usize) -> Figure {
        let floors = self.floors.len();
        // The floor runs next to ours.
        let runners = self.floors.into_iter().chain([self.ours]).chain(self.peers).collect();
        let mut tracks = race(runners, rounds, self.batch);
        let mut peers = tracks.split_off(floors + 1);
        let ours = tracks.pop().expect("one of the runners is ours");
        tracks.sort_by(|a, b| b.median().total_cmp(&a.median()));
        let floor = tracks.pop();
        peers.append(&mut tracks);
        Figure { operation: self.operation, target: self.target, unit: self.unit, floor, ours, peers }
    }
}

/// A row with its figures taken.
#[derive(Debug)]
pub struct Figure {
    /// What is done.
    pub operation: String,
    /// At most so many times the floor. `None`: just to know.
    pub target: Option<f64>,
    /// What is counted.
    pub unit: &'static str,
    /// What ours is compared with.
    pub floor: Option<Track>,
    /// This crate's.
    pub ours: Track,
    /// Everybody else's.
    pub peers: Vec<Track>,
}

impl Figure {
    /// Of this track to the floor.
    pub fn ratio(&self, track: &Track) -> Quartiles {
        match &self.floor {
            Some(floor) => track.ratio_to(floor),
            None => Quartiles::of(track.each.clone()),
        }
    }

    /// Whether the median of the ratios reaches the target, if there is one.
    pub fn is_met(&self) -> Option<bool> {
        self.target.map(|target| self.ratio(&self.ours).median <= target)
    }
}

/// Every row, in the order in which they are taken.
pub fn all() -> Vec<Row> {
    let rows = [
        atomics::rows_of_the_untouched(),
        uncontended::rows(),
        oneshots::rows(),
        deadlines::rows(),
        threads::rows(),
        barriers::rows(),
        atomics::rows(),
        #[cfg(libstdcxx)]
        libstdcxx::rows(),
    ];
    rows.into_iter().flatten().collect()
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
