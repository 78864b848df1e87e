//! What was found, and what it is to be.

use std::path::PathBuf;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::catalogue::{Kind, Scenario};
use crate::machine::Machine;
use crate::race::{Quartiles, Track};

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Results {
    /// Where.
    pub machine: Machine,
    /// How many batches each contender had for each figure.
    pub rounds: usize,
    /// What was found.
    pub figures: Vec<Figure>,
}

/// What one contest brought.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// What was done, to what, in which way, and to how many.
    pub subject: Subject,
    /// What is counted.
    pub unit: String,
    /// What ours has to reach.
    pub targets: Vec<Target>,
    /// Raw operations.
    pub floors: Vec<Track>,
    /// This crate's. The first one is the one that lines are drawn of.
    pub ours: Vec<Track>,
    /// Everybody else's.
    pub peers: Vec<Track>,
    /// Why a peer of that name may be ahead.
    pub explanations: Vec<(String, String)>,
    /// Which line of the README's table it belongs to.
    pub readme: Option<String>,
}

/// What a figure is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What is done.
    pub scenario: Scenario,
    /// To what.
    pub kind: Kind,
    /// In which way, if there are several.
    pub case: String,
    /// With how many of what, if that is varied.
    pub size: Option<(u64, String)>,
}

impl Subject {
    /// As one line.
    pub fn line(&self) -> String {
        format!("{}, {}{}", self.scenario, self.kind, self.within_kind())
    }

    /// What is left to say where scenario and kind are clear.
    pub fn details(&self) -> String {
        self.within_kind().trim_start_matches([':', ',', ' ']).to_owned()
    }

    fn within_kind(&self) -> String {
        let case = if self.case.is_empty() { String::new() } else { format!(": {}", self.case) };
        let size = self.size.as_ref().map_or(String::new(), |(number, what)| match (number, what.as_str()) {
            (1, "parties") => String::from(", 1 party"),
            (1, _) => format!(", 1 {}", what.trim_end_matches('s')),
            _ => format!(", {number} {what}"),
        });
        case + &size
    }
}

/// At most so many times something else in the same race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// So many times.
    pub at_most: f64,
    /// What.
    pub base: Base,
}

/// What ours is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Base {
    /// The raw operation.
    Floor,
    /// The peer of that name.
    Peer(String),
    /// Whichever peer is the best.
    BestPeer,
    /// Nothing: the number itself is to be reached.
    One,
    /// Only what is added to the raw operation, which is not a ratio then but a difference.
    AboveFloor,
}

impl Figure {
    /// The track that ratios to the base are formed with. `None` for the number itself, and where the peer is missing.
    pub fn base(&self, base: &Base) -> Option<&Track> {
        match base {
            Base::Floor | Base::AboveFloor => self.floors.first(),
            Base::Peer(name) => self.peers.iter().find(|peer| peer.name == *name),
            Base::BestPeer => self.peers.iter().min_by(|a, b| a.median().total_cmp(&b.median())),
            Base::One => None,
        }
    }

    /// Of this track to the base.
    pub fn ratio(&self, track: &Track, base: &Base) -> Option<Quartiles> {
        match base {
            Base::One => Some(Quartiles::of(track.each.clone())),
            Base::AboveFloor => self.base(base).map(|floor| track.difference_to(floor)),
            _ => self.base(base).map(|base| track.ratio_to(base)),
        }
    }

    /// The targets with the ratio that each of ours reaches.
    pub fn verdicts(&self) -> Vec<Verdict<'_>> {
        let verdict = |target, ours| Some(Verdict { target, ours, ratio: self.ratio(ours, &target.base)? });
        let of_target = |target| self.ours.iter().filter_map(move |ours| verdict(target, ours));
        self.targets.iter().flat_map(of_target).collect()
    }

    /// Every peer that is ahead of ours: the first of ours, which is what the peers are peers of.
    pub fn losses(&self) -> Vec<Loss<'_>> {
        let Some(ours) = self.ours.first() else { return Vec::new() };
        let mut losses = Vec::new();
        for peer in &self.peers {
            let mut add = |what, ratio: Quartiles| {
                if ratio.median > Loss::NOTABLE {
                    losses.push(Loss { peer, what, ratio, explanation: self.explanation(&peer.name) });
                }
            };
            add(Measure::Value, ours.ratio_to(peer));
            if let Some(ratio) = ours.cpu_ratio_to(peer) {
                add(Measure::Cpu, ratio);
            }
        }
        losses
    }

    fn explanation(&self, peer: &str) -> Option<&str> {
        self.explanations.iter().find(|(name, _)| name == peer).map(|(_, text)| text.as_str())
    }
}

/// What one of ours reaches of a target.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'a> {
    /// What it has to reach.
    pub target: &'a Target,
    /// Which one.
    pub ours: &'a Track,
    /// What it does reach.
    pub ratio: Quartiles,
}

impl Verdict<'_> {
    /// Whether that is enough.
    pub fn is_met(&self) -> bool {
        self.ratio.median <= self.target.at_most
    }
}

/// What a peer is ahead in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// What the figure is about: time, mostly.
    Value,
    /// Processor time.
    Cpu,
}

/// A peer that is ahead.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    /// Who.
    pub peer: &'a Track,
    /// In what.
    pub what: Measure,
    /// Ours to the peer's.
    pub ratio: Quartiles,
    /// Why.
    pub explanation: Option<&'a str>,
}

impl Loss<'_> {
    /// Medians that lie nearer to each other than this come out one way or the other from run to run.
    pub const NOTABLE: f64 = 1.03;

    /// What is counted there.
    pub fn unit<'b>(&self, figure: &'b Figure) -> &'b str {
        match self.what {
            Measure::Value => &figure.unit,
            Measure::Cpu => "ns of a processor",
        }
    }
}

impl Results {
    /// Keeps them for the page.
    pub fn save(&self) -> io::Result<PathBuf> {
        let path = Results::path()?;
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(&path, serde_json::to_vec(self)?)?;
        Ok(path)
    }

    /// Those that were kept last.
    pub fn load() -> io::Result<Results> {
        Ok(serde_json::from_slice(&fs::read(Results::path()?)?)?)
    }

    /// Below cargo's target folder, wherever that is: this program lies somewhere in it.
    fn path() -> io::Result<PathBuf> {
        let program = std::env::current_exe()?;
        let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
        let target = target.ok_or_else(|| io::Error::other("the program lies in no target folder of cargo's"))?;
        Ok(target.join("waitline-bench").join("results.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(name: &str, each: [f64; 3]) -> Track {
        Track { name: name.into(), each: each.into(), ..Track::default() }
    }

    fn figure() -> Figure {
        let subject = Subject {
            scenario: Scenario::Contended,
            kind: Kind::Semaphore,
            case: String::new(),
            size: Some((2, "threads".into())),
        };
        Figure {
            subject,
            unit: "ns".into(),
            targets: Vec::new(),
            floors: vec![track("floor", [1.0, 2.0, 3.0])],
            ours: vec![track("ours", [3.0, 6.0, 9.0])],
            peers: vec![track("slow", [30.0, 60.0, 90.0]), track("fast", [2.0, 4.0, 6.0])],
            explanations: vec![("fast".into(), "It does less.".into())],
            readme: None,
        }
    }

    fn is_met(at_most: f64, base: Base) -> Vec<bool> {
        let figure = Figure { targets: vec![Target { at_most, base }], ..figure() };
        figure.verdicts().iter().map(Verdict::is_met).collect()
    }

    #[test]
    fn targets_are_met_or_not() {
        assert_eq!(is_met(3.0, Base::Floor), [true]);
        assert_eq!(is_met(2.9, Base::Floor), [false]);
        assert_eq!(is_met(1.5, Base::BestPeer), [true]);
        assert_eq!(is_met(1.4, Base::BestPeer), [false]);
        assert_eq!(is_met(0.1, Base::Peer("slow".into())), [true]);
        assert_eq!(is_met(0.09, Base::Peer("slow".into())), [false]);
        assert_eq!(is_met(6.0, Base::One), [true]);
        assert_eq!(is_met(5.9, Base::One), [false]);
        assert_eq!(is_met(4.0, Base::AboveFloor), [true]);
        assert_eq!(is_met(3.9, Base::AboveFloor), [false]);
        assert!(is_met(1.0, Base::Peer("missing".into())).is_empty());
    }

    #[test]
    fn whoever_is_faster_or_takes_less_of_the_processors_is_ahead() {
        let mut figure = figure();
        let names = |figure: &Figure| -> Vec<_> {
            figure.losses().iter().map(|loss| (loss.peer.name.clone(), loss.what, loss.explanation.is_some())).collect()
        };
        assert_eq!(names(&figure), [("fast".into(), Measure::Value, true)]);
        figure.ours[0].cpu = vec![2.0; 3];
        figure.peers[0].cpu = vec![1.0; 3];
        figure.peers[1].cpu = vec![2.0; 3];
        assert_eq!(names(&figure), [("slow".into(), Measure::Cpu, false), ("fast".into(), Measure::Value, true)]);
    }

    #[test]
    fn a_subject_is_one_line() {
        let mut subject = figure().subject;
        assert_eq!(
            (subject.line().as_str(), subject.details().as_str()),
            ("contended, semaphore, 2 threads", "2 threads")
        );
        subject.case = "free".into();
        subject.size = Some((1, "threads".into()));
        assert_eq!(subject.line(), "contended, semaphore: free, 1 thread");
    }
}
