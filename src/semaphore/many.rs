//! Many permits at once: all or none, collected piece by piece.
//!
//! A call for n permits that can't have them in one write gets `TURN`, which one thread holds, and takes what there is
//! until it has n. It sleeps on the permits half like a call for one, so every sleeper there can use any one permit
//! (I3 of `counting.rs`). The others that want many sleep on the upper half until `TURN` is free.
//!
//! # Invariants, beyond those of `counting.rs`
//!
//! * I6. Whoever sleeps on the upper half set `QUEUE` (or found it set) in the value that it sleeps on, which has `TURN`.
//! * I7. The write that clears `TURN` clears `QUEUE`, and if that was set wakes one thread on the upper half.
//! * I8. A thread that has slept on the upper half may have used up that one wake-up, while others still sleep there. So
//!   it takes `TURN` only together with `QUEUE`, and if it takes its permits out of turn it wakes one thread there. If it
//!   sleeps again, `QUEUE` is set by then (I6). If its time has come, it is told so instead of a sleep (C6 of `sys`), and
//!   whoever has `TURN` finds `QUEUE` set.
//! * I9. A collector whose time is up gives everything back, deregisters and clears `TURN` in one write, and wakes as if
//!   it had released the pieces.
//!
//! # Memory ordering
//!
//! The write that takes the last piece is the acquiring end of E1. Earlier pieces, `TURN`, `QUEUE` and pieces given back
//! are Relaxed: all writes are read-modify-writes, so the releases' sequences run through them (I5).

use core::time::Duration;

use super::counting::{Semaphore, checked};
use super::state::{self, State};
use crate::Deadline;
use crate::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};
use crate::sys::{self, Word};
use crate::wait::{Awake, Step, Waiter};

/// Many permits in one call.
impl Semaphore {
    /// Takes `n` permits, waiting for them as long as it takes. Taking none is a no-op.
    ///
    /// Returns when this thread has taken all `n`. Everything before each release so far happens before that.
    ///
    /// If fewer than `n` are available, the call collects what there is, piece by piece, so that a stream of calls for
    /// single permits starves it no more than it starves a call for one. One call at a time collects; others that want
    /// many wait until it is done, and take theirs meanwhile only if all of it is there at once. So permits that are
    /// being collected are held back from everybody else until the call has all of them.
    ///
    /// A thread that holds permits and waits for more can deadlock with another one that does the same, as with any
    /// lock: take all at once.
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let memory = Semaphore::new(100);
    /// memory.acquire_many(60);
    /// assert_eq!(memory.available_permits(), 40);
    /// ```
    #[inline]
    #[track_caller]
    pub fn acquire_many(&self, n: usize) {
        let n = checked(n);
        if !self.take(n) {
            self.take_slow(n, Deadline::NEVER);
        }
    }

    /// Takes `n` permits if as many are available now, or none. Taking none is a no-op that succeeds.
    ///
    /// Never waits. `true` orders memory as [`acquire_many`](Semaphore::acquire_many) does, `false` orders nothing.
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS).
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(3);
    /// assert!(!semaphore.try_acquire_many(4));
    /// assert!(semaphore.try_acquire_many(3));
    /// assert!(semaphore.try_acquire_many(0));
    /// ```
    #[must_use = "whether the permits were taken"]
    #[inline]
    #[track_caller]
    pub fn try_acquire_many(&self, n: usize) -> bool {
        self.take(checked(n))
    }

    /// Takes `n` permits, waiting for them no longer than `timeout` on the monotonic clock.
    ///
    /// Returns as [`try_acquire_for`](Semaphore::try_acquire_for) does: all `n` or none. Waits as
    /// [`acquire_many`](Semaphore::acquire_many) does, so what is being collected is held back until the time is up,
    /// and then given back at once. Orders memory as [`try_acquire_many`](Semaphore::try_acquire_many).
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitline::Semaphore;
    ///
    /// let semaphore = Semaphore::new(2);
    /// assert!(!semaphore.try_acquire_many_for(3, Duration::from_millis(1)));
    /// assert_eq!(semaphore.available_permits(), 2);
    /// ```
    #[must_use = "whether the permits were taken"]
    #[inline]
    #[track_caller]
    pub fn try_acquire_many_for(&self, n: usize, timeout: Duration) -> bool {
        self.take_for(checked(n), timeout)
    }

    /// Takes `n` permits, waiting for them no longer than until `deadline`, on the deadline's clock.
    ///
    /// Returns as [`try_acquire_until`](Semaphore::try_acquire_until) does, and waits as
    /// [`try_acquire_many_for`](Semaphore::try_acquire_many_for) does. Orders memory as
    /// [`try_acquire_many`](Semaphore::try_acquire_many).
    ///
    /// # Panics
    ///
    /// If `n` is greater than [`MAX_PERMITS`](Semaphore::MAX_PERMITS), at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use waitline::{Deadline, Semaphore};
    ///
    /// let semaphore = Semaphore::new(2);
    /// assert!(semaphore.try_acquire_many_until(2, Deadline::PASSED));
    /// ```
    #[must_use = "whether the permits were taken"]
    #[inline]
    #[track_caller]
    pub fn try_acquire_many_until(&self, n: usize, deadline: impl Into<Deadline>) -> bool {
        self.take_until(checked(n), deadline)
    }
}

/// A call that waits for more than one permit.
pub(super) struct Collector<'a> {
    state: &'a AtomicU64,
    wanted: u32,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Stage {
    /// Has neither `TURN` nor any piece.
    Queueing {
        /// May have used up a wake-up on the upper half (I8).
        slept: bool,
    },
    /// Has `TURN`, is registered on the permits half, and has fewer pieces than wanted.
    Collecting { pieces: u32 },
}

impl<'a> Collector<'a> {
    pub(super) fn new(state: &'a AtomicU64, wanted: u32) -> Collector<'a> {
        Collector { state, wanted, stage: Stage::Queueing { slept: false } }
    }

    /// Out of turn, all at once; else takes `TURN`, and what there is; else queues.
    fn take_turn_or_queue(&mut self, slept: bool) -> Step<'a, ()> {
        let moved = state::transition(self.state, |now| {
            if let Some(taken) = now.take(self.wanted) {
                Some((taken, Acquire /* E1 */))
            } else if now.has_turn() {
                (!now.has_queue()).then(|| (now.set_queue(), Relaxed)) // I6
            } else {
                let turn = now.take_all().add_waiter().set_turn();
                let turn = if slept { turn.set_queue() } else { turn }; // I8
                Some((turn, Relaxed))
            }
        });
        let (Ok(before) | Err(before)) = moved;
        if before.permits() >= self.wanted {
            if slept {
                self.wake_next_in_queue(); // I8
            }
            Step::Done(())
        } else if before.has_turn() {
            self.stage = Stage::Queueing { slept: true };
            Step::Sleep(Word::HighHalf(self.state), before.set_queue().waiting_half()) // I6
        } else {
            self.stage = Stage::Collecting { pieces: before.permits() };
            Step::Sleep(Word::LowHalf(self.state), 0) // I2
        }
    }

    /// The write that ends the collecting with all pieces in hand, or none.
    fn finish(&self, taken: State) -> State {
        taken.remove_waiter().clear_turn_and_queue() // I4, I7
    }

    fn collect(&mut self, pieces: u32) -> Step<'a, ()> {
        let missing = self.wanted - pieces;
        let moved = state::transition(self.state, |now| match now.take(missing) {
            Some(taken) => Some((self.finish(taken), Acquire /* E1 */)),
            None if now.permits() > 0 => Some((now.take_all(), Relaxed)),
            None => None,
        });
        match moved {
            Ok(before) if before.permits() >= missing => {
                self.pass_turn_on(before);
                Step::Done(())
            }
            Ok(before) => {
                self.stage = Stage::Collecting { pieces: pieces + before.permits() };
                Step::Sleep(Word::LowHalf(self.state), 0)
            }
            Err(_) => Step::Sleep(Word::LowHalf(self.state), 0),
        }
    }

    fn collect_or_give_back(&mut self, pieces: u32) -> Option<()> {
        let missing = self.wanted - pieces;
        let moved = state::transition(self.state, |now| {
            Some(match now.take(missing) {
                Some(taken) => (self.finish(taken), Acquire /* E1 */),
                // All of them fit: fewer than `missing` are there.
                None => (self.finish(now.give_what_fits(pieces)), Relaxed /* I9 */),
            })
        });
        let (Ok(before) | Err(before)) = moved;
        let taken = before.permits() >= missing;
        if !taken {
            let others = before.waiters() - 1;
            sys::wake(Word::LowHalf(self.state).address(), pieces.min(others)); // I9
        }
        self.pass_turn_on(before);
        taken.then_some(())
    }

    fn pass_turn_on(&self, before: State) {
        if before.has_queue() {
            self.wake_next_in_queue(); // I7
        }
    }

    fn wake_next_in_queue(&self) {
        sys::wake(Word::HighHalf(self.state).address(), 1);
    }
}

impl<'a> Waiter<'a> for Collector<'a> {
    type Output = ();

    fn attempt(&mut self) -> Option<()> {
        state::transition(self.state, |now| Some((now.take(self.wanted)?, Acquire /* E1 */))).ok().map(drop)
    }

    fn stay_awake(&self) -> Awake {
        let now = state::load(self.state);
        if now.waiters() > 0 || now.has_queue() { Awake::Not } else { Awake::ForReturn }
    }

    fn attempt_or_announce(&mut self) -> Step<'a, ()> {
        match self.stage {
            Stage::Queueing { slept } => self.take_turn_or_queue(slept),
            Stage::Collecting { pieces } => self.collect(pieces),
        }
    }

    fn attempt_or_leave(&mut self) -> Option<()> {
        match self.stage {
            Stage::Queueing { .. } => self.attempt(), // I8
            Stage::Collecting { pieces } => self.collect_or_give_back(pieces),
        }
    }
}
