//! Latches and barriers: everybody comes who is expected, and whoever waits for that gets to know.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use proptest::collection::vec;
use proptest::prelude::*;
use waitline::{Arrival, Barrier, BarrierWaitResult, Latch};

use super::{Game, MAX_THREADS, is_for};
use crate::common::Wait;
use crate::common::barrier::{meet, poll_token};
use crate::common::latch::wait_for_opening;
use crate::common::panics::outcome_of;
use crate::common::plain::Plain;
use crate::ways::{Way, ways};

/// A latch of its own for each phase.
#[derive(Clone, Debug)]
pub(super) struct LatchPlan {
    counts: Vec<Count>,
    /// Those that count down by one as they begin to wait, the first time for each thread.
    arriving: Vec<usize>,
    waits: Vec<(usize, Way)>,
}

#[derive(Clone, Debug)]
struct Count {
    thread: usize,
    down: usize,
    /// By so many more, and down again, while its own counts hold the latch closed.
    up: usize,
    early: bool,
}

pub(super) fn latch_plans() -> impl Strategy<Value = LatchPlan> {
    let thread = 0..MAX_THREADS;
    let count = (thread.clone(), 1..3_usize, 0..3_usize, any::<bool>()).prop_map(|(thread, down, up, early)| Count {
        thread,
        down,
        up,
        early,
    });
    (vec(count, 0..6), vec(thread.clone(), 0..3), vec((thread, ways()), 0..6))
        .prop_map(|(counts, arriving, waits)| LatchPlan { counts, arriving, waits })
}

pub(super) struct LatchGame<'a> {
    plan: &'a LatchPlan,
    threads: usize,
    latch: Latch,
    arrives: Vec<bool>,
    opened: AtomicUsize,
    /// Written before the count of that number.
    messages: Vec<Plain<bool>>,
}

impl LatchPlan {
    pub(super) fn start(&self, threads: usize) -> LatchGame<'_> {
        let arrives = |thread| self.arriving.iter().any(|planned| is_for(*planned, thread, threads));
        let arrives: Vec<_> = (0..threads).map(arrives).collect();
        let arriving = arrives.iter().filter(|arrives| **arrives).count();
        LatchGame {
            plan: self,
            threads,
            latch: Latch::new(self.counts.iter().map(|count| count.down).sum::<usize>() + arriving),
            arrives,
            opened: AtomicUsize::new(0),
            messages: self.counts.iter().map(|_| Plain::new(false)).collect(),
        }
    }
}

impl Game for LatchGame<'_> {
    fn name(&self) -> &'static str {
        "latch"
    }

    fn give(&self, thread: usize, early: bool) {
        for (count, message) in self.plan.counts.iter().zip(&self.messages) {
            if is_for(count.thread, thread, self.threads) && count.early == early {
                message.set(true);
                self.latch.count_up(count.up);
                assert!(!self.latch.count_down_by(count.up));
                self.opened.fetch_add(self.latch.count_down_by(count.down).into(), Relaxed);
            }
        }
    }

    fn take(&self, thread: usize) {
        if self.arrives[thread] {
            self.latch.arrive_and_wait();
        }
        for &(waiter, way) in &self.plan.waits {
            if is_for(waiter, thread, self.threads) {
                match wait_for_opening(&self.latch, way.any()) {
                    Ok(()) => assert!(self.messages.iter().all(Plain::get), "not all is there that was done before"),
                    Err(_) => assert!(way.may_time_out(), "{way:?}"),
                }
            }
        }
    }

    fn check(&self) {
        assert_eq!(self.latch.count(), 0);
        let opened = self.opened.load(Relaxed);
        // Those that arrive and wait do not say whether they have opened it.
        let all_say_so = !self.plan.counts.is_empty() && !self.arrives.contains(&true);
        assert!(if all_say_so { opened == 1 } else { opened <= 1 }, "opened {opened} times");
    }
}

pub(super) type Completion<'a> = Box<dyn FnMut() + Send + 'a>;

pub(super) struct Objects<'a> {
    pair: Barrier,
    trio: Barrier<Completion<'a>>,
    completions: &'a AtomicUsize,
}

impl<'a> Objects<'a> {
    pub(super) fn new(completions: &'a AtomicUsize) -> Objects<'a> {
        let count: Completion<'a> = Box::new(|| _ = completions.fetch_add(1, Relaxed));
        Objects { pair: Barrier::new(2), trio: Barrier::with_completion(3, count), completions }
    }
}

/// Arrivals at one barrier: a multiple of its parties, since the first thread makes up for what is missing.
#[derive(Clone, Debug)]
pub(super) struct MeetingPlan {
    pub(super) object: bool,
    arrivals: Vec<ArrivalPlan>,
}

#[derive(Clone, Debug)]
struct ArrivalPlan {
    thread: usize,
    how: How,
    way: Way,
    early: bool,
}

/// How a party arrives. In the end its arrival stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// And waits later.
    ByToken,
    /// And takes it back, if it can, and arrives again.
    Wavering,
    /// And waits, after all others of the thread have arrived. If the time is up, again, as long as it takes.
    Waiting,
}

fn arrival_plans() -> impl Strategy<Value = ArrivalPlan> {
    let how = prop_oneof![2 => Just(How::ByToken), 1 => Just(How::Wavering), 3 => Just(How::Waiting)];
    (0..MAX_THREADS, how, ways(), any::<bool>()).prop_map(|(thread, how, way, early)| ArrivalPlan {
        thread,
        how,
        way,
        early,
    })
}

pub(super) fn meeting_plans() -> impl Strategy<Value = MeetingPlan> {
    (any::<bool>(), vec(arrival_plans(), 0..8)).prop_map(|(object, arrivals)| MeetingPlan { object, arrivals })
}

impl MeetingPlan {
    pub(super) fn start<'a>(&'a self, objects: &'a Objects<'_>, threads: usize) -> Box<dyn Game + 'a> {
        if self.object {
            Box::new(MeetingGame::new(self, &objects.trio, 3, Some(objects.completions), threads))
        } else {
            Box::new(MeetingGame::new(self, &objects.pair, 2, None, threads))
        }
    }
}

struct MeetingGame<'a, F> {
    plan: &'a MeetingPlan,
    barrier: &'a Barrier<F>,
    parties: usize,
    completions: Option<(&'a AtomicUsize, usize)>,
    threads: usize,
    tokens: Vec<Tokens<'a>>,
    arrivals: AtomicUsize,
    leaders: AtomicUsize,
}

/// A thread's.
type Tokens<'a> = Mutex<Vec<(Arrival<'a>, How, Way)>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a, F> MeetingGame<'a, F> {
    fn new(
        plan: &'a MeetingPlan,
        barrier: &'a Barrier<F>,
        parties: usize,
        completions: Option<&'a AtomicUsize>,
        threads: usize,
    ) -> MeetingGame<'a, F> {
        MeetingGame {
            plan,
            barrier,
            parties,
            completions: completions.map(|completions| (completions, completions.load(Relaxed))),
            threads,
            tokens: (0..threads).map(|_| Tokens::default()).collect(),
            arrivals: AtomicUsize::new(0),
            leaders: AtomicUsize::new(0),
        }
    }
}

impl<F> MeetingGame<'_, F> {
    fn met(&self, result: &BarrierWaitResult) {
        self.leaders.fetch_add(result.is_leader().into(), Relaxed);
    }
}

impl<F: FnMut() + Send> Game for MeetingGame<'_, F> {
    fn name(&self) -> &'static str {
        "barrier"
    }

    fn give(&self, thread: usize, early: bool) {
        let mut tokens = lock(&self.tokens[thread]);
        let mut arrive = |how, way| tokens.push((self.barrier.arrive(), how, way));
        for plan in &self.plan.arrivals {
            if is_for(plan.thread, thread, self.threads) && plan.how != How::Waiting && plan.early == early {
                arrive(plan.how, plan.way);
            }
        }
        if thread == 0 && !early {
            let extra = self.plan.arrivals.len().next_multiple_of(self.parties) - self.plan.arrivals.len();
            (0..extra).for_each(|_| arrive(How::ByToken, Way::Untimed));
        }
    }

    fn take(&self, thread: usize) {
        let mut tokens = std::mem::take(&mut *lock(&self.tokens[thread]));
        self.arrivals.fetch_add(tokens.len(), Relaxed);
        let mut last = None;
        for plan in &self.plan.arrivals {
            if is_for(plan.thread, thread, self.threads) && plan.how == How::Waiting {
                self.arrivals.fetch_add(1, Relaxed);
                // Of several that wait, all but the last one arrive now, lest one waits for another.
                let before = last.replace(plan.way);
                tokens.extend(before.map(|way| (self.barrier.arrive(), How::ByToken, way)));
            }
        }
        for (token, how, way) in std::mem::take(&mut tokens) {
            match how {
                How::Wavering => match token.withdraw() {
                    Ok(()) => tokens.push((self.barrier.arrive(), how, way)),
                    Err(result) => self.met(&result),
                },
                How::ByToken | How::Waiting => tokens.push((token, how, way)),
            }
        }
        if let Some(way) = last {
            let result = meet(self.barrier, way.any());
            assert!(result.is_ok() || way.may_time_out(), "{way:?}");
            self.met(&result.unwrap_or_else(|_| self.barrier.wait()));
        }
        for (token, _, way) in tokens {
            if way.may_time_out() {
                if let Ok(result) = poll_token(&token, way.any()) {
                    assert!(token.is_complete());
                    assert_eq!(poll_token(&token, Wait::Try).unwrap().is_leader(), result.is_leader());
                }
            }
            self.met(&token.wait());
        }
    }

    fn check(&self) {
        let (arrivals, leaders) = (self.arrivals.load(Relaxed), self.leaders.load(Relaxed));
        assert_eq!(leaders * self.parties, arrivals, "{leaders} leaders of {arrivals}");
        if let Some((completions, before)) = self.completions {
            assert_eq!(completions.load(Relaxed) - before, leaders, "completions");
        }
        let missing = format!("missing: {}, expected: {0}", self.parties);
        assert!(format!("{:?}", self.barrier).contains(&missing), "{:?}, {arrivals} arrivals", self.barrier);
    }
}

/// One phase of a barrier for as many as there are, some of whom leave for good.
#[derive(Clone, Debug)]
pub(super) struct LeavingPlan {
    leave: Vec<(usize, bool)>,
    /// Whether that thread is one more party, and how it waits.
    stay: [Option<Way>; MAX_THREADS],
}

pub(super) fn leaving_plans() -> impl Strategy<Value = LeavingPlan> {
    let stay = || proptest::option::of(ways());
    (vec((0..MAX_THREADS, any::<bool>()), 1..5), [stay(), stay(), stay(), stay()])
        .prop_map(|(leave, stay)| LeavingPlan { leave, stay })
}

pub(super) struct LeavingGame<'a> {
    plan: &'a LeavingPlan,
    threads: usize,
    barrier: Barrier,
    leaders: AtomicUsize,
}

impl LeavingPlan {
    fn staying(&self, threads: usize) -> usize {
        self.stay[..threads].iter().flatten().count()
    }

    pub(super) fn start(&self, threads: usize) -> LeavingGame<'_> {
        let barrier = Barrier::new(self.leave.len() + self.staying(threads));
        LeavingGame { plan: self, threads, barrier, leaders: AtomicUsize::new(0) }
    }
}

impl Game for LeavingGame<'_> {
    fn name(&self) -> &'static str {
        "leaving"
    }

    fn give(&self, thread: usize, early: bool) {
        for _ in self.plan.leave.iter().filter(|leave| is_for(leave.0, thread, self.threads) && leave.1 == early) {
            self.leaders.fetch_add(self.barrier.arrive_and_drop().is_leader().into(), Relaxed);
        }
    }

    fn take(&self, thread: usize) {
        if let Some(way) = self.plan.stay[thread] {
            let result = meet(&self.barrier, way.any());
            assert!(result.is_ok() || way.may_time_out(), "{way:?}");
            let result = result.unwrap_or_else(|_| self.barrier.wait());
            self.leaders.fetch_add(result.is_leader().into(), Relaxed);
        }
    }

    fn check(&self) {
        assert_eq!(self.leaders.load(Relaxed), 1, "leaders");
        // The next phase is for those who have stayed.
        match (0..self.plan.staying(self.threads)).map(|_| self.barrier.arrive()).last() {
            Some(last) => assert!(last.is_complete()),
            None => assert!(outcome_of(|| self.barrier.arrive()).is_err(), "all have left"),
        }
    }
}
