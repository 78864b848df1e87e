//! The barrier: every way to wait until all have arrived.

use std::sync::{Mutex, PoisonError};

use waitline::{Arrival, Barrier, BarrierWaitResult, Deadline, TimedOut};

use super::calls::{Subject, Wait, call_as_result};
use super::stay_awake_until;

/// Arrives and waits for the others, by the form of the call that `wait` names. An attempt is a wait without time.
pub(crate) fn meet<F: FnMut()>(barrier: &Barrier<F>, wait: Wait) -> Result<BarrierWaitResult, TimedOut> {
    call_as_result!(wait, barrier: Ok(barrier.wait()), barrier.wait_until(Deadline::PASSED), wait_for wait_until)
}

/// Waits for the others after the arrival. The untimed form uses the token up; what is left of it otherwise comes back.
pub(crate) fn meet_by_token(
    token: Arrival<'_>,
    wait: Wait,
) -> (Result<BarrierWaitResult, TimedOut>, Option<Arrival<'_>>) {
    match wait {
        Wait::Untimed => (Ok(token.wait()), None),
        wait => (poll_token(&token, wait), Some(token)),
    }
}

/// The forms that leave the token what it is.
pub(crate) fn poll_token(token: &Arrival<'_>, wait: Wait) -> Result<BarrierWaitResult, TimedOut> {
    call_as_result!(wait, token: unreachable!(), token.wait_until(Deadline::PASSED), wait_for wait_until)
}

/// Returns once so many are missing. On platforms that do not tell who sleeps, it tells at least who has arrived.
pub(crate) fn until_missing<F>(barrier: &Barrier<F>, parties: usize) {
    stay_awake_until(|| format!("{barrier:?}").contains(&format!("missing: {parties},")));
}

/// A meeting of two, of which one comes by the call under test.
pub(crate) struct Meeting(Barrier);

impl Meeting {
    pub(crate) fn new() -> Meeting {
        Meeting(Barrier::new(2))
    }
}

impl Subject for Meeting {
    fn name(&self) -> String {
        "Barrier".to_owned()
    }

    fn wait(&self, wait: Wait) -> bool {
        meet(&self.0, wait).is_ok()
    }

    fn satisfy(&self) {
        drop(self.0.arrive());
    }

    fn fresh(&self) -> Box<dyn Subject> {
        Box::new(Meeting::new())
    }

    /// The other one has been met, or still waits to be met.
    fn adds_up(&self, came: bool) -> bool {
        self.wait(Wait::Try) != came
    }
}

/// A meeting of two, of which one has arrived and holds the token that the calls under test wait on.
pub(crate) struct Token {
    barrier: &'static Barrier,
    arrival: Mutex<Option<Arrival<'static>>>,
}

impl Token {
    pub(crate) fn new() -> Token {
        // A token borrows its barrier, and the table wants both in one.
        let barrier: &Barrier = Box::leak(Box::new(Barrier::new(2)));
        Token { barrier, arrival: Mutex::new(Some(barrier.arrive())) }
    }

    fn take(&self) -> Option<Arrival<'static>> {
        self.arrival.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Subject for Token {
    fn name(&self) -> String {
        "Arrival".to_owned()
    }

    fn wait(&self, wait: Wait) -> bool {
        let mut arrival = self.arrival.lock().unwrap_or_else(PoisonError::into_inner);
        let (outcome, left) = meet_by_token(arrival.take().expect("an untimed wait comes last"), wait);
        *arrival = left;
        outcome.is_ok()
    }

    fn satisfy(&self) {
        drop(self.barrier.arrive());
    }

    fn fresh(&self) -> Box<dyn Subject> {
        Box::new(Token::new())
    }

    /// The token knows that all have arrived, also if the call came too early to say so; and nobody has arrived for the
    /// phase that follows.
    fn adds_up(&self, came: bool) -> bool {
        let complete = self.take().map_or(came, |arrival| arrival.is_complete() && arrival.withdraw().is_err());
        complete && self.barrier.wait_until(Deadline::PASSED).is_err()
    }
}
