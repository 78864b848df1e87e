//! Barriers: E1 and E2 of `src/barrier.rs`, with and without a completion function.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use waitline::{Arrival, Barrier};

use crate::common::barrier::{meet, meet_by_token, poll_token};
use crate::common::plain::Plain;
use crate::common::{Form, all_at_once, jitter, rounds, spawn, watchdog};

/// How a party comes through a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Arrives and waits, again if need be.
    Meet(Form),
    /// Arrives once, and waits by the token, again if need be.
    Token(Form),
    /// Arrives once, and asks.
    Ask,
    /// Takes its arrival back, and arrives again, until that is too late.
    Withdraw,
}

impl Way {
    fn all() -> Vec<Way> {
        let forms = Form::all().map(Way::Meet).chain(Form::all().map(Way::Token));
        forms.chain([Way::Ask, Way::Withdraw]).collect()
    }

    fn come_through<F: FnMut()>(self, barrier: &Barrier<F>) {
        match self {
            Way::Meet(form) => while_in_vain(|| meet(barrier, form.start()).is_ok()),
            Way::Token(form) => {
                let mut token = Some(barrier.arrive());
                while_in_vain(|| {
                    let (outcome, left) = meet_by_token(token.take().expect("it came back"), form.start());
                    token = left;
                    outcome.is_ok()
                });
            }
            Way::Ask => {
                let token = barrier.arrive();
                while_in_vain(|| token.is_complete());
            }
            Way::Withdraw => while_in_vain(|| barrier.arrive().withdraw().is_err()),
        }
    }
}

fn while_in_vain(mut attempt: impl FnMut() -> bool) {
    while !attempt() {
        thread::yield_now();
    }
}

const PARTIES: usize = 3;

/// What the parties write, and the completion function after them, in turns: who writes for a phase has come through the one
/// before, and so has everybody read what was written two phases ago.
#[derive(Default)]
struct Pages {
    parties: [[Plain<u32>; PARTIES]; 2],
    function: [Plain<u32>; 2],
}

impl Pages {
    fn of(&self, phase: u32) -> &[Plain<u32>; PARTIES] {
        &self.parties[phase as usize % 2]
    }

    #[track_caller]
    fn check(&self, phase: u32) {
        assert_eq!(self.of(phase).each_ref().map(Plain::get), [phase; PARTIES]);
    }
}

/// Nothing but the barrier is between the parties, phase after phase. One comes by the way under test, the others by those
/// that follow of the ways that arrive for good.
fn go_through_phases<F: FnMut() + Send>(way: Way, barrier: &Barrier<F>, pages: &Pages, has_function: bool) {
    let patient: Vec<_> =
        Way::all().into_iter().filter(|way| !matches!(way, Way::Meet(Form::Try) | Way::Withdraw)).collect();
    thread::scope(|scope| {
        for party in 0..PARTIES {
            let patient = &patient;
            spawn(scope, format!("party {party}, {way:?}, function: {has_function}"), move || {
                for phase in 1..=rounds(40) {
                    let nth = phase as usize;
                    let way = if nth % PARTIES == party { way } else { patient[(nth + 5 * party) % patient.len()] };
                    jitter(phase.wrapping_mul(party as u32 + 1));
                    pages.of(phase)[party].set(phase);
                    way.come_through(barrier);
                    pages.check(phase);
                    if has_function {
                        assert_eq!(pages.function[nth % 2].get(), phase, "{way:?}");
                    }
                }
            });
        }
    });
}

/// From each arrival to the end of every wait, and to the call that completes the phase.
#[test]
fn e1_e2_what_was_written_before_an_arrival_is_there_after_the_phase() {
    watchdog("arrivals and ends", || {
        for way in Way::all() {
            go_through_phases(way, &Barrier::new(PARTIES), &Pages::default(), false);
        }
    });
}

/// From each arrival to the completion function (E1), and from that to the end of every wait (E2). What it keeps for itself goes
/// from thread to thread with it.
#[test]
fn e1_e2_the_completion_function_is_between_arrivals_and_ends() {
    watchdog("arrivals, the function and ends", || {
        for way in Way::all() {
            let pages = Pages::default();
            let mut phase = 0;
            let function = || {
                phase += 1;
                pages.check(phase);
                pages.function[phase as usize % 2].set(phase);
            };
            go_through_phases(way, &Barrier::with_completion(PARTIES, function), &pages, true);
        }
    });
}

/// A token goes to another thread, which sees by it what all have written.
#[test]
fn e2_a_token_may_be_asked_by_another_thread() {
    struct Round<'a> {
        number: u32,
        barrier: &'a Barrier,
        token: Arrival<'a>,
        cell: Plain<u32>,
    }

    watchdog("a token asked by another thread", || {
        for form in Form::all().skip(1) {
            let barriers: Vec<_> = (1..=rounds(60)).map(|_| Barrier::new(2)).collect();
            let all: Vec<_> = (1..)
                .zip(&barriers)
                .map(|(number, barrier)| Round { number, barrier, token: barrier.arrive(), cell: Plain::new(0) })
                .collect();
            let arrive = |round: &Round<'_>| {
                round.cell.set(round.number);
                drop(round.barrier.arrive());
            };
            let ask = |round: &Round<'_>| {
                while_in_vain(|| poll_token(&round.token, form.start()).is_ok());
                assert_eq!(round.cell.get(), round.number);
            };
            all_at_once(&format!("a token, {form:?}"), &all, &[&arrive, &ask, &ask]);
        }
    });
}

/// `arrive_and_drop` is an arrival too, and sees the others' if it completes the phase.
#[test]
fn e1_e2_who_leaves_for_good_has_arrived() {
    struct Round<F: FnMut()> {
        number: u32,
        barrier: Barrier<F>,
        cells: [Plain<u32>; 2],
    }

    impl<F: FnMut()> Round<F> {
        fn leave(&self, party: usize) {
            self.cells[party].set(self.number);
            if self.barrier.arrive_and_drop().is_leader() {
                self.check();
            }
        }

        fn stay(&self, way: Way) {
            self.cells[0].set(self.number);
            way.come_through(&self.barrier);
            self.check();
        }

        fn check(&self) {
            assert_eq!(self.cells.each_ref().map(Plain::get), [self.number; 2]);
        }
    }

    fn run<F: FnMut() + Send>(what: &str, new: impl Fn() -> Barrier<F>) {
        let all = || -> Vec<_> {
            let round = |number| Round { number, barrier: new(), cells: [Plain::new(0), Plain::new(0)] };
            (1..=rounds(40)).map(round).collect()
        };
        let leave = |round: &Round<F>| round.leave(1);
        for way in Way::all() {
            all_at_once(&format!("{way:?}, {what}"), &all(), &[&|round: &Round<F>| round.stay(way), &leave]);
        }
        all_at_once(what, &all(), &[&|round: &Round<F>| round.leave(0), &leave]);
    }

    watchdog("who leaves for good", || {
        let called = AtomicBool::new(false);
        run("no function", || Barrier::new(2));
        run("a function", || Barrier::with_completion(2, || called.store(true, Relaxed)));
        assert!(called.into_inner());
    });
}
