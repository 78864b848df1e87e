//! Somebody sets the wall clock while threads wait: waits on that clock follow it, and those on the monotonic clock are
//! unmoved.
//!
//! The wall clock is the whole machine's, so these tests want a machine of their own: `.ci/clock` makes one. They set
//! nothing unless the environment has
//!
//! * `WAITLINE_MAY_SET_CLOCK=1`;
//! * `WAITLINE_FUTEX`, the call that all timed waits have to sleep in: `waitv`, `bitset` or `relative`. Those that the
//!   back-end would prefer are refused to the threads that wait.

#![cfg(target_os = "linux")]

mod common;

use std::cell::Cell;
use std::env;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use common::linux::{self, FutexCall, Refused};
use common::threads::Activity;
use common::{Subject, Wait, Worker, spawn, stay_awake_until, subjects, watchdog};
use waitline::Deadline;

const HOUR: Duration = Duration::from_secs(3600);

/// Longer than the slices in which some back-ends sleep on the wall clock.
const OVER_A_SLICE: Duration = Duration::from_millis(1500);

/// glibc 18138: a wait for a time of day that became a relative one, and went on when that time had come.
#[test]
#[ignore = "sets the machine's clock: .ci/clock runs it in a machine of its own"]
fn a_jump_past_a_wall_clock_deadline_ends_the_wait() {
    on_a_clock_that_may_be_set("a jump past wall-clock deadlines", |clock| {
        let waits = on_wall_clock(SystemTime::now() + HOUR);
        let ((), complaints) = while_asleep(&waits, End::TimedOut, |sleepers| {
            // Not as far as the deadline, and away from it.
            clock.set_ahead(HOUR / 2);
            clock.set_back(HOUR);
            clock.set_ahead(HOUR / 2);
            sleepers.sleep_on_until(Instant::now() + OVER_A_SLICE);
            clock.set_ahead(2 * HOUR);
        });
        assert_none(complaints);
    });
}

/// The same the other way round: a wait that ended before the time of day had come.
#[test]
#[ignore = "sets the machine's clock: .ci/clock runs it in a machine of its own"]
fn a_jump_back_prolongs_waits_on_the_wall_clock() {
    on_a_clock_that_may_be_set("a jump back before wall-clock deadlines", |clock| {
        in_time(|little| {
            let start = Instant::now();
            let waits = on_wall_clock(SystemTime::now() + little);
            let (in_time, complaints) = while_asleep(&waits, End::TimedOut, |sleepers| {
                clock.set_back(HOUR);
                let in_time = start.elapsed() < little;
                if in_time {
                    sleepers.sleep_on_until(start + little + OVER_A_SLICE);
                }
                clock.set_right();
                in_time
            });
            in_time.then(|| assert_none(complaints))
        });
    });
}

/// iceoryx#2476, jack2#224, coreclr#12034, abseil 6d41348: a timeout that followed the time of day.
#[test]
#[ignore = "sets the machine's clock: .ci/clock runs it in a machine of its own"]
fn a_jump_ahead_ends_no_wait_on_the_monotonic_clock() {
    on_a_clock_that_may_be_set("a jump ahead during monotonic waits", |clock| {
        let ((), complaints) = while_asleep(&on_monotonic_clock(HOUR), End::Satisfied, |sleepers| {
            clock.set_ahead(2 * HOUR);
            sleepers.sleep_on_until(Instant::now() + OVER_A_SLICE);
            sleepers.satisfy();
        });
        assert_none(complaints);
    });
}

/// The same the other way round: a timeout that an hour was added to.
#[test]
#[ignore = "sets the machine's clock: .ci/clock runs it in a machine of its own"]
fn a_jump_back_prolongs_no_wait_on_the_monotonic_clock() {
    on_a_clock_that_may_be_set("a jump back during monotonic waits", |clock| {
        in_time(|little| {
            let start = Instant::now();
            let (in_time, complaints) = while_asleep(&on_monotonic_clock(little), End::TimedOut, |_| {
                clock.set_back(HOUR);
                start.elapsed() < little
            });
            in_time.then(|| assert_none(complaints))
        });
    });
}

/// What a call learned about a deadline does not outlast the clock that it learned it from.
#[test]
#[ignore = "sets the machine's clock: .ci/clock runs it in a machine of its own"]
fn a_deadline_that_has_passed_comes_again_after_a_jump_back() {
    on_a_clock_that_may_be_set("a passed wall-clock deadline comes again", |clock| {
        let time = SystemTime::now() - HOUR / 2;
        let deadline = Deadline::from(time);
        for subject in subjects() {
            for wait in on_wall_clock(time) {
                assert!(!subject.wait(wait), "{}, {wait:?}", subject.name());
            }
        }
        assert!(deadline.has_passed());
        clock.set_back(HOUR);
        assert!(!deadline.has_passed());
        assert!(deadline.remaining().unwrap() > HOUR / 4);
        let ((), complaints) = while_asleep(&on_wall_clock(time), End::TimedOut, |sleepers| {
            sleepers.sleep_on_until(Instant::now());
            clock.set_right();
        });
        assert_none(complaints);
    });
}

fn on_wall_clock(time: SystemTime) -> [Wait; 2] {
    [Wait::UntilTime(time), Wait::Until(time.into())]
}

fn on_monotonic_clock(timeout: Duration) -> [Wait; 3] {
    [Wait::For(timeout), Wait::Until(Deadline::after(timeout)), Wait::UntilInstant(Instant::now() + timeout)]
}

/// Something that has to happen within a little time to say anything. It gets more and more of it until it has.
fn in_time<T>(attempt: impl Fn(Duration) -> Option<T>) -> T {
    let mut little = Duration::from_secs(1);
    loop {
        match attempt(little) {
            Some(outcome) => return outcome,
            None => little *= 2,
        }
    }
}

#[track_caller]
fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

// Threads that sleep.

/// How a wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Satisfied,
    /// With the time come, by the clock that was named.
    TimedOut,
    TimedOutEarly,
}

/// A call, on an object of its own.
struct Call {
    subject: Box<dyn Subject>,
    wait: Wait,
}

impl Call {
    fn all(subject: &dyn Subject, waits: &[Wait]) -> Vec<Call> {
        waits.iter().map(|&wait| Call { subject: subject.fresh(), wait }).collect()
    }

    fn name(&self) -> String {
        format!("{}, {:?}", self.subject.name(), self.wait)
    }

    fn make(&self) -> End {
        let start = Instant::now();
        if self.subject.wait(self.wait) {
            End::Satisfied
        } else if self.wait.is_due(start) {
            End::TimedOut
        } else {
            End::TimedOutEarly
        }
    }
}

/// Lets every subject wait in each of these forms, a thread each, and does `meanwhile` while they sleep. Returns once
/// all have ended, with complaints about those that did so before they should, or not as `expected`.
///
/// Complaints and not assertions: who sleeps for an hour has to be let go before a test can fail.
fn while_asleep<T>(waits: &[Wait], expected: End, meanwhile: impl FnOnce(&Sleepers<'_>) -> T) -> (T, Vec<String>) {
    let calls: Vec<Call> = subjects().iter().flat_map(|subject| Call::all(&**subject, waits)).collect();
    thread::scope(|scope| {
        let start = |call| {
            let worker = spawn(scope, Call::name(call), || {
                let refused = refused();
                if !refused.is_empty() {
                    linux::sandbox(refused, libc::ENOSYS).unwrap();
                }
                call.make()
            });
            Sleeper { call, worker, woke_up: Cell::new(false) }
        };
        let sleepers = Sleepers(calls.iter().map(start).collect());
        sleepers.until_asleep_or_over();
        let outcome = meanwhile(&sleepers);
        (outcome, sleepers.0.into_iter().filter_map(|sleeper| sleeper.complaint(expected)).collect())
    })
}

struct Sleeper<'scope> {
    call: &'scope Call,
    worker: Worker<'scope, End>,
    /// Whether it did not sleep on when it should have.
    woke_up: Cell<bool>,
}

impl Sleeper<'_> {
    fn complaint(self, expected: End) -> Option<String> {
        let name = self.call.name();
        match (self.woke_up.get(), self.worker.join()) {
            (true, end) => Some(format!("{name}: {end:?} instead of asleep")),
            (false, end) if end != expected => Some(format!("{name}: {end:?} instead of {expected:?}")),
            (false, _) => None,
        }
    }
}

struct Sleepers<'scope>(Vec<Sleeper<'scope>>);

impl Sleepers<'_> {
    /// Whoever has ended by then is complained about. The time that passes is what this is about; it orders no threads.
    fn sleep_on_until(&self, then: Instant) {
        thread::sleep(then.saturating_duration_since(Instant::now()));
        // Those whose timers have run out get to the end of it.
        self.until_asleep_or_over();
        for sleeper in self.0.iter().filter(|sleeper| sleeper.worker.has_ended()) {
            sleeper.woke_up.set(true);
        }
    }

    fn satisfy(&self) {
        self.0.iter().for_each(|sleeper| sleeper.call.subject.satisfy());
    }

    /// Asleep is who was seen so twice without having run in between, in the call that is under test.
    fn until_asleep_or_over(&self) {
        for Sleeper { worker, .. } in &self.0 {
            let id = worker.id();
            let mut before = None;
            stay_awake_until(|| {
                let now = Activity::of(id);
                let asleep = now == before && now.is_some_and(|now| now.sleeps());
                before = now;
                asleep && FutexCall::of(id) == Some(futex_call()) || worker.has_ended()
            });
        }
    }
}

// The environment.

fn futex_call() -> FutexCall {
    match env::var("WAITLINE_FUTEX").as_deref() {
        Ok("waitv") => FutexCall::Waitv,
        Ok("bitset") => FutexCall::WaitBitset,
        Ok("relative") => FutexCall::Wait,
        other => panic!("WAITLINE_FUTEX is {other:?}, which names no call to sleep in"),
    }
}

/// The calls that are better than the one under test.
fn refused() -> &'static [Refused] {
    match futex_call() {
        FutexCall::Waitv => &[],
        FutexCall::WaitBitset => &[Refused::Waitv],
        FutexCall::Wait => &[Refused::Waitv, Refused::WaitBitset],
    }
}

/// The wall clock, for one test at a time.
struct WallClock {
    right: SystemTime,
    then: Instant,
    _alone: MutexGuard<'static, ()>,
}

fn on_a_clock_that_may_be_set(what: &str, test: impl FnOnce(&WallClock)) {
    static CLOCK: Mutex<()> = Mutex::new(());

    assert_eq!(env::var("WAITLINE_MAY_SET_CLOCK").as_deref(), Ok("1"), "so this test does not set the machine's clock");
    let alone = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
    watchdog(&format!("{what}, with sleepers in {:?}", futex_call()), || {
        test(&WallClock { right: SystemTime::now(), then: Instant::now(), _alone: alone });
    });
}

impl WallClock {
    fn set_ahead(&self, by: Duration) {
        set(self.right_time() + by);
    }

    fn set_back(&self, by: Duration) {
        set(self.right_time() - by);
    }

    fn set_right(&self) {
        set(self.right_time());
    }

    /// What it would show if nobody had set it.
    fn right_time(&self) -> SystemTime {
        self.right + self.then.elapsed()
    }
}

impl Drop for WallClock {
    fn drop(&mut self) {
        self.set_right();
    }
}

fn set(time: SystemTime) {
    linux::set_wall_clock(time).expect("the wall clock can be set");
}
