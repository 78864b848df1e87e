//! What the parties of a barrier can do to each other: every way to arrive, to wait, to give up and to leave against every
//! other, let go at the same moment, many times. Arrivals that stand end phases, those that were taken back do not, one leads
//! each phase, nobody sleeps on, and what was written before an arrival is there after the phase.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use common::barrier::{meet, meet_by_token, poll_token};
use common::panics::panic_of;
use common::plain::Plain;
use common::{Form, Wait, all_at_once, rounds, watchdog};
use waitline::{Barrier, BarrierWaitResult};

/// What a party does in its one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Arrives and waits, once.
    Wait(Form),
    /// Again, until all have arrived.
    Insist(Form),
    /// Arrives, waits by the token, and lets the arrival stand.
    Token(Form),
    /// Arrives, waits by the token, and takes the arrival back if that was in vain.
    Withdraw(Form),
    Arrive,
    Leave,
}

impl Act {
    /// Those whose arrival stands in the end. (Attempts without time are not among them: two of those never meet.)
    fn certain() -> Vec<Act> {
        let mut all = vec![Act::Arrive, Act::Leave, Act::Wait(Form::Untimed)];
        all.extend((0..Wait::TIMED).map(|form| Act::Insist(Form::Timed(form))));
        all.extend(Form::all().map(Act::Token));
        all
    }

    /// Those that give up.
    fn tentative() -> Vec<Act> {
        let timed = || Form::all().filter(|form| *form != Form::Untimed);
        timed().map(Act::Wait).chain(timed().map(Act::Withdraw)).collect()
    }

    /// Those that do not wait for parties that might give up.
    fn ends_alone(self) -> bool {
        matches!(self, Act::Arrive | Act::Leave | Act::Token(Form::Try | Form::Timed(_)))
    }
}

/// A barrier, and what its parties have counted.
struct Round<F: FnMut()> {
    barrier: Barrier<F>,
    completed: Arc<AtomicUsize>,
    /// Written by each party before its arrival.
    cells: Arc<Vec<Plain<u32>>>,
    standing: AtomicUsize,
    leaders: AtomicUsize,
    left: AtomicUsize,
}

impl<F: FnMut()> Round<F> {
    fn stands(&self, result: Option<BarrierWaitResult>) {
        self.standing.fetch_add(1, Relaxed);
        self.leaders.fetch_add(result.is_some_and(|result| result.is_leader()).into(), Relaxed);
    }

    fn act(&self, number: usize, act: Act, all_certain: bool) {
        let barrier = &self.barrier;
        self.cells[number].set(1);
        let ended = match act {
            Act::Wait(form) | Act::Insist(form) => loop {
                let (start, wait) = (Instant::now(), form.start());
                match meet(barrier, wait) {
                    Ok(result) => {
                        self.stands(Some(result));
                        break true;
                    }
                    Err(_) => assert!(wait.is_due(start), "{wait:?}: early"),
                }
                if matches!(act, Act::Wait(_)) {
                    break false;
                }
                thread::yield_now();
            },
            Act::Token(form) => {
                let (start, wait) = (Instant::now(), form.start());
                let (outcome, _token) = meet_by_token(barrier.arrive(), wait);
                assert!(outcome.is_ok() || wait.is_due(start), "{wait:?}: early");
                let ended = outcome.is_ok();
                self.stands(outcome.ok());
                ended
            }
            Act::Withdraw(form) => {
                let token = barrier.arrive();
                match poll_token(&token, form.start()).or_else(|_| token.withdraw().err().ok_or(())) {
                    Ok(result) => {
                        self.stands(Some(result));
                        true
                    }
                    Err(()) => false,
                }
            }
            Act::Arrive => {
                let outcome = poll_token(&barrier.arrive(), Wait::Try);
                let ended = outcome.is_ok();
                self.stands(outcome.ok());
                ended
            }
            Act::Leave => {
                self.left.fetch_add(1, Relaxed);
                let result = barrier.arrive_and_drop();
                let ended = result.is_leader();
                self.stands(Some(result));
                ended
            }
        };
        if ended && all_certain {
            assert!(self.cells.iter().all(|cell| cell.get() == 1), "{act:?}");
        }
    }

    /// How many must arrive now for the phase to end: as many as the counts say.
    fn check(self, what: &str, parties: usize, has_completion: bool) {
        let [standing, leaders, left] = [self.standing, self.leaders, self.left].map(AtomicUsize::into_inner);
        let phases = standing / parties;
        assert_eq!(leaders, phases, "{what}: {standing} of {parties} stand");
        assert_eq!(self.completed.load(Relaxed), if has_completion { phases } else { 0 }, "{what}");
        let expected = if phases > 0 { parties - left } else { parties };
        if expected == 0 {
            assert!(panic_of(|| self.barrier.arrive()).message.contains("left"), "{what}");
            return;
        }
        let missing = expected - standing % parties;
        let tokens: Vec<_> = (1..missing).map(|_| self.barrier.arrive()).collect();
        assert!(tokens.iter().all(|token| !token.is_complete()), "{what}: more were there");
        assert!(meet(&self.barrier, Wait::Try).is_ok(), "{what}: fewer were there");
    }
}

/// Whether it takes all of them to end the phase, and they will.
fn all_stand(parties: usize, acts: &[Act]) -> bool {
    acts.len() == parties && acts.iter().all(|act| Act::certain().contains(act) || *act == Act::Insist(Form::Try))
}

/// Lets the acts meet at a barrier for so many parties, with a completion function and without.
fn meet_at(parties: usize, acts: &[Act], times: u32) {
    let cells = || Arc::new(acts.iter().map(|_| Plain::new(0)).collect::<Vec<_>>());
    let all_certain = all_stand(parties, acts);
    run(parties, acts, times, false, &|| round(Barrier::new(parties), Arc::new(AtomicUsize::new(0)), cells()));
    run(parties, acts, times, true, &|| {
        let (completed, cells) = (Arc::new(AtomicUsize::new(0)), cells());
        let (count, written) = (Arc::clone(&completed), Arc::clone(&cells));
        let completion = move || {
            assert!(!all_certain || written.iter().all(|cell| cell.get() == 1));
            count.fetch_add(1, Relaxed);
        };
        round(Barrier::with_completion(parties, completion), completed, cells)
    });

    fn round<F: FnMut()>(barrier: Barrier<F>, completed: Arc<AtomicUsize>, cells: Arc<Vec<Plain<u32>>>) -> Round<F> {
        let [standing, leaders, left] = [0; 3].map(AtomicUsize::new);
        Round { barrier, completed, cells, standing, leaders, left }
    }

    fn run<F>(parties: usize, acts: &[Act], times: u32, has_completion: bool, new: &dyn Fn() -> Round<F>)
    where
        F: FnMut() + Send,
    {
        let what = format!("{acts:?} for {parties}, function: {has_completion}");
        let all_certain = all_stand(parties, acts);
        let all: Vec<_> = (0..rounds(times)).map(|_| new()).collect();
        let sides: Vec<_> = acts
            .iter()
            .enumerate()
            .map(|(number, &act)| move |round: &Round<F>| round.act(number, act, all_certain))
            .collect();
        let sides: Vec<_> = sides.iter().map(|side| side as &(dyn Fn(&Round<F>) + Sync)).collect();
        all_at_once(&what, &all, &sides);
        all.into_iter().for_each(|round| round.check(&what, parties, has_completion));
    }
}

#[test]
fn a_party_meets_another() {
    watchdog("a party meets another", || {
        for first in Act::certain() {
            for second in Act::certain() {
                meet_at(2, &[first, second], 20);
            }
            meet_at(2, &[first, Act::Insist(Form::Try)], 20);
        }
    });
}

/// tokio#8370, #6493: one gives up in the moment in which the other arrives. The phase ends for both, or for none.
#[test]
fn a_party_meets_one_that_gives_up() {
    watchdog("a party meets one that gives up", || {
        for first in Act::tentative() {
            let others = Act::certain().into_iter().filter(|act| act.ends_alone());
            for second in others.chain(Act::tentative()) {
                meet_at(2, &[first, second], 25);
            }
        }
    });
}

#[test]
fn three_parties_meet() {
    watchdog("three parties meet", || {
        let some = [Act::Wait(Form::Untimed), Act::Insist(Form::Timed(0)), Act::Token(Form::Timed(3)), Act::Leave];
        for first in Act::certain() {
            for second in some {
                for third in some {
                    meet_at(3, &[first, second, third], 6);
                }
            }
        }
    });
}

/// Two are there for good, and the third makes up its mind. And two that give up, beside one that is there.
#[test]
fn three_parties_meet_some_of_whom_give_up() {
    watchdog("three parties meet, and some give up", || {
        for first in Act::tentative() {
            for second in [Act::Arrive, Act::Leave, Act::Token(Form::Timed(1)), Act::Wait(Form::Timed(2))] {
                for third in [Act::Arrive, Act::Withdraw(Form::Timed(0)), Act::Wait(Form::Try)] {
                    meet_at(3, &[first, second, third], 10);
                }
            }
        }
    });
}

/// One more than the phase has room for: it counts in the next phase, also when it comes while the function runs.
#[test]
fn more_threads_than_parties_meet() {
    watchdog("more threads than parties meet", || {
        let enders = || Act::certain().into_iter().filter(|act| act.ends_alone() && *act != Act::Leave);
        for first in Act::tentative().into_iter().chain(enders()) {
            for second in [Act::Arrive, Act::Token(Form::Timed(1)), Act::Wait(Form::Timed(2)), Act::Withdraw(Form::Try)]
            {
                for third in [Act::Arrive, Act::Withdraw(Form::Timed(3)), Act::Wait(Form::Try)] {
                    meet_at(2, &[first, second, third], 10);
                }
            }
        }
    });
}
