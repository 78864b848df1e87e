//! Semaphores: permits that some give, some take for good, and some take and give back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use proptest::collection::vec;
use proptest::prelude::*;
use waitline::Semaphore;

use super::{Game, MAX_THREADS, is_for};
use crate::common::plain::Plain;
use crate::common::{Binary, Call, Counting, Pool, Subject, Wait};
use crate::ways::{Way, ways};

pub(super) struct Objects {
    counting: [Arc<Semaphore>; 2],
    binary: [Binary; 2],
}

impl Objects {
    pub(super) fn new() -> Objects {
        Objects {
            counting: [Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(2))],
            binary: [Binary::new(false), Binary::new(true)],
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct PermitPlan {
    pub(super) object: bool,
    gives: Vec<Give>,
    takes: Vec<Take>,
}

#[derive(Clone, Debug)]
struct Give {
    thread: usize,
    permits: usize,
    early: bool,
}

#[derive(Clone, Debug)]
struct Take {
    thread: usize,
    call: Call,
    way: Way,
    gives_back: bool,
}

pub(super) fn permit_plans() -> impl Strategy<Value = PermitPlan> {
    let give = (0..MAX_THREADS, 1..4_usize, any::<bool>()).prop_map(|(thread, permits, early)| Give {
        thread,
        permits,
        early,
    });
    let call = prop_oneof![
        3 => Just(Call::Single),
        2 => (1..4_usize).prop_map(Call::Many),
        1 => Just(Call::Permit),
        1 => (1..4_usize).prop_map(Call::Permits),
        1 => (1..4_usize).prop_map(Call::Owned),
    ];
    let take = (0..MAX_THREADS, call, ways(), any::<bool>()).prop_map(|(thread, call, way, gives_back)| Take {
        thread,
        call,
        way,
        gives_back,
    });
    (any::<bool>(), vec(give, 0..5), vec(take, 0..8)).prop_map(|(object, gives, takes)| PermitPlan {
        object,
        gives,
        takes,
    })
}

pub(super) struct PermitGame<'a> {
    plan: &'a PermitPlan,
    /// What the first thread gives on top of the plan, so that there is enough.
    extra: usize,
    semaphore: &'a Arc<Semaphore>,
    threads: usize,
    before: usize,
    given: AtomicUsize,
    taken: AtomicUsize,
}

impl PermitPlan {
    pub(super) fn start<'a>(&'a self, objects: &'a Objects, threads: usize) -> PermitGame<'a> {
        let semaphore = &objects.counting[usize::from(self.object)];
        let size = |take: &Take| Counting::new(0, take.call).size();
        let for_good: usize = self.takes.iter().filter(|take| !take.gives_back).map(size).sum();
        // The last one that gives back finds what all the others have left.
        let at_once = self.takes.iter().filter(|take| take.gives_back).map(size).max().unwrap_or(0);
        let before = semaphore.available_permits();
        let there: usize = before + self.gives.iter().map(|give| give.permits).sum::<usize>();
        PermitGame {
            plan: self,
            extra: (for_good + at_once).saturating_sub(there),
            semaphore,
            threads,
            before,
            given: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
        }
    }
}

impl Game for PermitGame<'_> {
    fn name(&self) -> &'static str {
        "permits"
    }

    fn give(&self, thread: usize, early: bool) {
        let extra = (thread == 0 && !early).then_some(self.extra);
        let mine = |give: &&Give| is_for(give.thread, thread, self.threads) && give.early == early;
        for permits in self.plan.gives.iter().filter(mine).map(|give| give.permits).chain(extra) {
            self.semaphore.release_many(permits);
            self.given.fetch_add(permits, Relaxed);
        }
    }

    fn take(&self, thread: usize) {
        for take in self.plan.takes.iter().filter(|take| is_for(take.thread, thread, self.threads)) {
            let pool = Counting { semaphore: Arc::clone(self.semaphore), call: take.call };
            match pool.take(take.way.any()) {
                Some(held) if take.gives_back => assert_eq!(held.give_back(), pool.size()),
                Some(held) => {
                    held.keep();
                    self.taken.fetch_add(pool.size(), Relaxed);
                }
                None => assert!(take.way.may_time_out(), "{take:?}"),
            }
        }
    }

    fn check(&self) {
        let (given, taken) = (self.given.load(Relaxed), self.taken.load(Relaxed));
        let left = self.semaphore.available_permits();
        assert_eq!(self.before + given, taken + left, "{} and {given} given, {taken} taken, {left} left", self.before);
    }
}

#[derive(Clone, Debug)]
pub(super) struct BinaryPlan {
    pub(super) object: bool,
    /// If the permit is not there at first: who releases, and whether early. One of them at least.
    releases: Vec<(usize, bool)>,
    /// Who takes the permit. The first of them for good, if it was not there at first; else all give it back.
    takes: Vec<(usize, Way)>,
    /// Whether it is gone for the next phase.
    taken_at_last: bool,
}

pub(super) fn binary_plans() -> impl Strategy<Value = BinaryPlan> {
    let thread = 0..MAX_THREADS;
    (any::<bool>(), vec((thread.clone(), any::<bool>()), 1..4), vec((thread, ways()), 0..8), any::<bool>())
        .prop_map(|(object, releases, takes, taken_at_last)| BinaryPlan { object, releases, takes, taken_at_last })
}

pub(super) struct BinaryGame<'a> {
    plan: &'a BinaryPlan,
    semaphore: &'a Binary,
    threads: usize,
    /// It is a lock then, and else a signal: more than one who waits for a signal, and some might wait for ever, since
    /// releases do not add up.
    was_available: bool,
    inside: Plain<usize>,
    entered: AtomicUsize,
    counted: AtomicUsize,
    taken: AtomicUsize,
}

impl BinaryPlan {
    pub(super) fn start<'a>(&'a self, objects: &'a Objects, threads: usize) -> BinaryGame<'a> {
        let semaphore = &objects.binary[usize::from(self.object)];
        BinaryGame {
            plan: self,
            semaphore,
            threads,
            was_available: semaphore.available() == 1,
            inside: Plain::new(0),
            entered: AtomicUsize::new(0),
            counted: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
        }
    }
}

impl Game for BinaryGame<'_> {
    fn name(&self) -> &'static str {
        "binary"
    }

    fn give(&self, thread: usize, early: bool) {
        let mine = |release: &&(usize, bool)| is_for(release.0, thread, self.threads) && release.1 == early;
        for _ in self.plan.releases.iter().filter(mine) {
            if !self.was_available {
                self.counted.fetch_add(self.semaphore.give(1, true), Relaxed);
            }
        }
    }

    fn take(&self, thread: usize) {
        let takers = if self.was_available { usize::MAX } else { 1 };
        for &(taker, way) in self.plan.takes.iter().take(takers) {
            if !is_for(taker, thread, self.threads) {
                continue;
            }
            let taken = self.semaphore.wait(way.any());
            assert!(taken || way.may_time_out(), "{way:?}");
            if taken && self.was_available {
                self.inside.set(self.inside.get() + 1);
                self.entered.fetch_add(1, Relaxed);
                assert_eq!(self.semaphore.give(1, true), 1);
            } else {
                self.taken.fetch_add(taken.into(), Relaxed);
            }
        }
    }

    fn check(&self) {
        assert_eq!(self.inside.get(), self.entered.load(Relaxed), "times that somebody was inside");
        let (counted, taken) = (self.counted.load(Relaxed), self.taken.load(Relaxed));
        let left = self.semaphore.available();
        assert_eq!(
            usize::from(self.was_available) + counted,
            taken + left,
            "{counted} given, {taken} taken, {left} left"
        );
        if self.plan.taken_at_last {
            assert_eq!(self.semaphore.wait(Wait::Try), left == 1);
        }
    }
}
