//! How things are measured: short batches of every contender in turn, and medians over many rounds.
//!
//! Batches that lie next to each other see the same machine, whatever else it does, so a ratio is formed within
//! each round. A batch in which the scheduler took the processor away says nothing and is made again.

use core::fmt;
use core::ops::AddAssign;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// What one batch found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Nanoseconds, or whatever else is counted, for all operations together.
    pub total: f64,
    /// How many operations there were.
    pub times: u64,
    /// Somebody else's work ran in between.
    pub disturbed: bool,
    /// What the operations cost besides time, where that is another matter.
    pub effort: Option<Effort>,
}

/// What a batch takes of the machine. Time alone would flatter whoever spins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Nanoseconds of processors, of all threads together.
    pub cpu: f64,
    /// How often a thread fell asleep, which is as often as one was woken.
    pub sleeps: f64,
}

impl Sample {
    /// So many operations in that time.
    pub fn timed(elapsed: Duration, times: u64, disturbed: bool) -> Sample {
        Sample { total: elapsed.as_nanos() as f64, times, disturbed, effort: None }
    }

    /// So much of whatever is counted.
    pub fn counted(total: f64, times: u64) -> Sample {
        Sample { total, times, disturbed: false, effort: None }
    }

    /// For one operation.
    pub fn each(self) -> f64 {
        self.total / self.times as f64
    }

    /// For as many operations as told, if nanoseconds were counted.
    pub fn elapsed_for(self, times: u64) -> Duration {
        Duration::from_nanos((self.each() * times as f64) as u64)
    }
}

impl AddAssign for Sample {
    fn add_assign(&mut self, other: Sample) {
        self.total += other.total;
        self.times += other.times;
        self.disturbed |= other.disturbed;
        if let Some(more) = other.effort {
            let effort = self.effort.get_or_insert_default();
            effort.cpu += more.cpu;
            effort.sleeps += more.sleeps;
        }
    }
}

/// How much is done in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// As many operations as fill about this time.
    Lasting(Duration),
    /// So many operations.
    Of(u64),
}

/// Somebody who takes part, through a batch of as many operations as it is told to make.
pub struct Runner {
    /// How tables call it.
    pub name: String,
    batch: Box<dyn FnMut(u64) -> Sample>,
}

impl Runner {
    /// `batch` makes as many operations as it is told, or a few more.
    pub fn new(name: impl Into<String>, batch: impl FnMut(u64) -> Sample + 'static) -> Runner {
        Runner { name: name.into(), batch: Box::new(batch) }
    }

    /// How many operations make a batch. Some are made for that already, so that everything is warm.
    fn times_for(&mut self, batch: Batch) -> u64 {
        const MOST_AT_ONCE: f64 = 16.0;
        /// Nothing much beside a batch that lasts longer than this.
        const AN_INTERRUPTION: Duration = Duration::from_millis(5);
        let time = match batch {
            Batch::Of(times) => {
                (self.batch)(times);
                return times;
            }
            Batch::Lasting(time) => time,
        };
        // An interruption makes a batch look longer than it is, so the shortest of a few counts.
        let attempts = if time < AN_INTERRUPTION { 3 } else { 1 };
        let mut times = 1;
        loop {
            let durations = (0..attempts).map(|_| (self.batch)(times).elapsed_for(times));
            let shortest = durations.min().unwrap_or_default();
            let scale = time.as_secs_f64() / shortest.as_secs_f64().max(f64::MIN_POSITIVE);
            if scale <= 2.0 {
                return ((times as f64 * scale) as u64).max(1);
            }
            // What a few operations take tells little of many.
            times = (times as f64 * scale.min(MOST_AT_ONCE)) as u64;
        }
    }

    /// One undisturbed batch; after a while of vain attempts a disturbed one, or a machine that others keep busy would
    /// never come to an end.
    fn sample(&mut self, times: u64) -> Sample {
        const PATIENCE: Duration = Duration::from_millis(50);
        let start = Instant::now();
        loop {
            let sample = (self.batch)(times);
            if !sample.disturbed || start.elapsed() > PATIENCE {
                return sample;
            }
        }
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What one runner needed for one operation, round by round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Track {
    /// How tables call it.
    pub name: String,
    /// One value a round.
    pub each: Vec<f64>,
    /// The processor time of one operation in nanoseconds, one value a round, where it was measured.
    pub cpu: Vec<f64>,
    /// How often threads fell asleep for one operation, one value a round, where that was counted.
    pub sleeps: Vec<f64>,
    /// In how many rounds only disturbed batches could be had.
    pub disturbed: usize,
}

impl Track {
    fn push(&mut self, sample: Sample) {
        self.each.push(sample.each());
        self.disturbed += usize::from(sample.disturbed);
        if let Some(effort) = sample.effort {
            self.cpu.push(effort.cpu / sample.times as f64);
            self.sleeps.push(effort.sleeps / sample.times as f64);
        }
    }

    /// Over all rounds.
    pub fn median(&self) -> f64 {
        Quartiles::of(self.each.clone()).median
    }

    /// How many times as much as `other`, compared within each round.
    pub fn ratio_to(&self, other: &Track) -> Quartiles {
        ratios(&self.each, &other.each)
    }

    /// How much more than `other`, compared within each round.
    pub fn difference_to(&self, other: &Track) -> Quartiles {
        Quartiles::of(self.each.iter().zip(&other.each).map(|(mine, theirs)| mine - theirs).collect())
    }

    /// How many times as much processor time as `other`, if both were measured.
    pub fn cpu_ratio_to(&self, other: &Track) -> Option<Quartiles> {
        let measured = !self.cpu.is_empty() && self.cpu.len() == other.cpu.len();
        measured.then(|| ratios(&self.cpu, &other.cpu))
    }
}

/// Round by round. What could not be told from nothing is taken for a picosecond.
fn ratios(mine: &[f64], theirs: &[f64]) -> Quartiles {
    const NEXT_TO_NOTHING: f64 = 1e-3;
    let ratio = |(mine, theirs): (&f64, &f64)| mine.max(NEXT_TO_NOTHING) / theirs.max(NEXT_TO_NOTHING);
    Quartiles::of(mine.iter().zip(theirs).map(ratio).collect())
}

/// All of them in turn, for as many rounds as told, each with one batch.
pub fn race(mut runners: Vec<Runner>, rounds: usize, batch: Batch) -> Vec<Track> {
    let times: Vec<u64> = runners.iter_mut().map(|runner| runner.times_for(batch)).collect();
    let mut tracks = tracks_of(&runners);
    for round in 0..rounds {
        // Forwards and backwards, so that nobody always runs in another's wake.
        let mut order: Vec<usize> = (0..runners.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            tracks[index].push(runners[index].sample(times[index]));
        }
    }
    tracks
}

/// One operation of each of them, or a few: to see that it comes to an end.
pub fn walk_through(mut runners: Vec<Runner>) -> Vec<Track> {
    let mut tracks = tracks_of(&runners);
    for (track, runner) in tracks.iter_mut().zip(&mut runners) {
        track.push((runner.batch)(1));
    }
    tracks
}

fn tracks_of(runners: &[Runner]) -> Vec<Track> {
    runners.iter().map(|runner| Track { name: runner.name.clone(), ..Track::default() }).collect()
}

/// The middle of a set of values, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// A quarter lies below.
    pub lower: f64,
    /// Half of them lie below.
    pub median: f64,
    /// A quarter lies above.
    pub upper: f64,
}

impl Quartiles {
    /// # Panics
    ///
    /// If there is no value.
    pub fn of(mut values: Vec<f64>) -> Quartiles {
        values.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let position = part * (values.len() - 1) as f64;
            let (below, above) = (values[position.floor() as usize], values[position.ceil() as usize]);
            below + (above - below) * position.fract()
        };
        Quartiles { lower: at(0.25), median: at(0.5), upper: at(0.75) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_the_values_they_part() {
        assert_eq!(Quartiles::of(vec![7.0]), Quartiles { lower: 7.0, median: 7.0, upper: 7.0 });
        assert_eq!(Quartiles::of(vec![4.0, 1.0, 3.0, 2.0]), Quartiles { lower: 1.75, median: 2.5, upper: 3.25 });
        assert_eq!(Quartiles::of(vec![5.0, 1.0, 4.0, 2.0, 3.0]), Quartiles { lower: 2.0, median: 3.0, upper: 4.0 });
    }

    #[test]
    fn ratios_are_formed_within_each_round() {
        let track = |each: &[f64]| Track { each: each.to_vec(), ..Track::default() };
        let (slow, fast) = (track(&[20.0, 200.0, 2.0]), track(&[10.0, 100.0, 1.0]));
        assert_eq!(slow.ratio_to(&fast), Quartiles { lower: 2.0, median: 2.0, upper: 2.0 });
        assert_eq!(slow.median(), 20.0);
    }

    #[test]
    fn a_disturbed_batch_is_made_again() {
        let mut batches = 0;
        let runner = Runner::new("disturbed at first", move |times| {
            batches += 1;
            let disturbed = batches % 3 != 0;
            Sample { disturbed, ..Sample::counted(if disturbed { 1e9 } else { 5.0 } * times as f64, times) }
        });
        let tracks = race(vec![runner], 4, Batch::Of(10));
        assert_eq!((tracks[0].each.as_slice(), tracks[0].disturbed), ([5.0; 4].as_slice(), 0));
    }
}
