//! Processes that fork while their threads wait. In the child none of those threads is there: what they left in the words
//! costs a wake-up call in vain, calls that do not wait work on all that was inherited, and everything works on what is new.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "fork")]

mod common;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed},
};
use std::thread::{self, Scope};
use std::time::Duration;

use common::atomic_wait::{Atomic, Notify, atomics};
use common::barrier::{meet, poll_token};
use common::child::{assert_success, in_a_child};
use common::latch::wait_for_opening;
use common::oneshot::{borrow, recv};
use common::threads::until_all_asleep;
use common::{
    Binary, Call, Counting, Pool, Subject, Wait, Worker, drain, jitter, pools, rounds, spawn, subjects, watchdog,
};
use waitline::oneshot::{RecvTimeoutError, Sender, SharedReceiver, channel};
use waitline::{Arrival, Barrier, Latch, Semaphore};

const HOUR: Duration = Duration::from_secs(3600);

/// parking_lot_core keeps its queues over a fork, with the threads that are not there any more, and locks that they hold. So
/// nobody may be woken in a child, nor sleep.
const FORKS_ARE_KNOWN: bool = !cfg!(waitline_force_parking);

/// What is not done in a child, if anything, for whoever reads the test's output.
fn say_what_is_left_out() {
    if !FORKS_ARE_KNOWN {
        println!("only calls that neither wait nor wake: parking_lot_core keeps its queues over a fork");
    }
}

/// Every way to wait for no longer than no time, one after the other.
fn passed() -> impl Iterator<Item = Wait> {
    Wait::passed().into_iter().cycle()
}

/// What threads of the parent sleep on, two on each.
struct Objects {
    pools: Vec<Box<dyn Pool>>,
    latch: Latch,
    barrier: Barrier,
    atomics: Vec<Box<dyn Atomic>>,
}

/// What the thread that forks has in its hands.
struct Ends<'a> {
    /// Of the objects' barrier.
    token: Arrival<'a>,
    /// Others sleep on clones.
    shared: (Sender<u32>, SharedReceiver<u32>),
    /// Somebody sleeps on the receiver.
    to_be_sent: Sender<u32>,
    /// The same.
    to_be_dropped: Sender<u32>,
    /// Nobody waits, but somebody did.
    slept_on: Vec<Box<dyn Subject>>,
}

impl Objects {
    fn new() -> Objects {
        Objects { pools: pools(), latch: Latch::new(2), barrier: Barrier::new(5), atomics: atomics() }
    }

    /// Threads that sleep on all of it, each of which says whether it has got what it waited for.
    fn occupy<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> (Vec<Worker<'scope, bool>>, Ends<'scope>) {
        let mut sleepers = Vec::new();
        let mut sleep = |name: String, body: Box<dyn Fn(Wait) -> bool + Send + 'scope>| {
            let wait = [Wait::Untimed, Wait::For(HOUR)][sleepers.len() % 2];
            sleepers.push(spawn(scope, format!("{name}, {wait:?}, in the parent"), move || body(wait)));
        };
        for pool in &self.pools {
            // Of those who want several, one has the others wait, and a piece of what it wants.
            pool.give(pool.size() - 1, true);
            (0..2).for_each(|_| sleep(pool.name(), Box::new(|wait| pool.wait(wait))));
        }
        for atomic in &self.atomics {
            (0..2)
                .for_each(|_| sleep(atomic.name().into(), Box::new(|wait| atomic.wait_by(0, Acquire, wait) == Ok(1))));
        }
        for _ in 0..2 {
            sleep("Latch".into(), Box::new(|wait| wait_for_opening(&self.latch, wait).is_ok()));
            sleep("Barrier".into(), Box::new(|wait| meet(&self.barrier, wait).is_ok()));
        }
        let (sender, receiver) = channel();
        let shared = receiver.share();
        for _ in 0..2 {
            let shared = shared.clone();
            sleep("SharedReceiver".into(), Box::new(move |wait| borrow(&shared, wait) == Ok(&1)));
        }
        let (to_be_sent, receiver) = channel();
        sleep("Receiver".into(), Box::new(move |wait| recv(&receiver, wait) == Ok(1)));
        let (to_be_dropped, receiver) = channel::<u32>();
        sleep(
            "Receiver, left alone".into(),
            Box::new(move |wait| recv(&receiver, wait) == Err(RecvTimeoutError::Disconnected)),
        );
        let slept_on = subjects();
        for wait in Wait::within(Duration::from_micros(200)) {
            assert!(slept_on.iter().all(|subject| !subject.wait(wait)), "{wait:?}");
        }
        let token = self.barrier.arrive();
        (sleepers, Ends { token, shared: (sender, shared), to_be_sent, to_be_dropped, slept_on })
    }

    /// Nothing has come, and every way to ask says so, at once.
    fn say_no(&self, ends: &Ends<'_>) {
        for wait in Wait::passed() {
            for pool in &self.pools {
                assert!(pool.others().iter().all(|pool| !pool.wait(wait)), "{}, {wait:?}", pool.name());
                assert_eq!(pool.available(), 0, "{}", pool.name());
            }
            for atomic in &self.atomics {
                assert!(atomic.wait_by(0, Relaxed, wait).is_err(), "{}, {wait:?}", atomic.name());
            }
            assert!(wait_for_opening(&self.latch, wait).is_err(), "{wait:?}");
            assert!(meet(&self.barrier, wait).is_err() && poll_token(&ends.token, wait).is_err(), "{wait:?}");
            assert_eq!(borrow(&ends.shared.1, wait), Err(RecvTimeoutError::Timeout), "{wait:?}");
            assert!(ends.slept_on.iter().all(|subject| !subject.wait(wait)), "{wait:?}");
        }
        assert!(!ends.token.is_complete());
        assert!(![&ends.shared.0, &ends.to_be_sent, &ends.to_be_dropped].iter().any(|sender| sender.is_closed()));
    }

    /// What is given in the child is there for the child to take, whoever of the parent's is counted as waiting for it.
    fn serve_the_child(&self, ends: Ends<'_>, round: u32) {
        let mut passed = passed().skip(round as usize);
        let mut next = || passed.next().unwrap();
        for pool in self.pools.iter().flat_map(|pool| pool.others()) {
            let size = pool.size();
            assert_eq!(pool.give(size, size % 2 == 0), size, "{}", pool.name());
            let wait = next();
            assert!(pool.wait(wait) && drain(&*pool) == 0, "{}, {wait:?}", pool.name());
        }
        for (number, atomic) in self.atomics.iter().enumerate() {
            atomic.change(1, Notify::ALL[(number + round as usize) % Notify::ALL.len()]);
            assert_eq!(atomic.wait_by(0, Relaxed, next()), Ok(1), "{}", atomic.name());
        }
        assert!(!self.latch.count_down() && self.latch.count_down());
        assert!(wait_for_opening(&self.latch, next()).is_ok());
        self.meet_in_the_child(ends.token, &mut next);

        let (sender, receiver) = ends.shared;
        sender.send(1).unwrap();
        assert_eq!(borrow(&receiver.clone(), next()), Ok(&1));
        ends.to_be_sent.send(1).unwrap();
        drop(ends.to_be_dropped);
    }

    /// Three of five have arrived in the parent.
    fn meet_in_the_child(&self, token: Arrival<'_>, next: &mut dyn FnMut() -> Wait) {
        drop(self.barrier.arrive());
        assert!(poll_token(&token, next()).is_err());
        assert!(meet(&self.barrier, next()).unwrap().is_leader());
        assert!(!poll_token(&token, next()).unwrap().is_leader() && token.is_complete());
        assert!(token.withdraw().is_err());
        let tokens = [(); 4].map(|()| self.barrier.arrive());
        assert!(meet(&self.barrier, next()).unwrap().is_leader());
        assert!(tokens.iter().all(Arrival::is_complete));
    }

    /// The same in the parent, whose threads have slept all the time.
    fn serve_the_parent(&self, ends: Ends<'_>) {
        for pool in &self.pools {
            let mut missing = pool.size() + 1;
            while missing > 0 {
                missing -= pool.give(1, true); // which counts for nothing while a binary semaphore has its permit
                thread::yield_now();
            }
        }
        self.atomics.iter().for_each(|atomic| atomic.change(1, Notify::All));
        assert!(self.latch.count_down_by(2));
        drop(self.barrier.arrive());
        assert!(self.barrier.wait().is_leader() && ends.token.is_complete());
        ends.shared.0.send(1).unwrap();
        ends.to_be_sent.send(1).unwrap();
        drop(ends.to_be_dropped);
    }
}

/// Objects of no use to anybody any more are used by calls that do not wait, as if they were new.
fn serve_quiet_ones(ends: &Ends<'_>) {
    let mut passed = passed();
    for subject in &ends.slept_on {
        subject.satisfy();
        let wait = passed.next().unwrap();
        let came = subject.wait(wait);
        assert!(came && subject.adds_up(true), "{}, {wait:?}", subject.name());
    }
}

/// Threads of the child wait, to the end of their time and for each other, which may see to it that they sleep.
fn wait_on_new_objects(see_to_it: bool) {
    for subject in subjects() {
        for wait in Wait::within(Duration::from_micros(100)) {
            assert!(!subject.wait(wait), "{}, {wait:?}", subject.name());
        }
        for wait in Wait::within(HOUR).into_iter().chain([Wait::Untimed]) {
            let subject = subject.fresh();
            thread::scope(|scope| {
                let waiter = spawn(scope, format!("{}, {wait:?}, in the child", subject.name()), || subject.wait(wait));
                if see_to_it {
                    waiter.until_asleep();
                }
                subject.satisfy();
                assert!(waiter.join() && subject.adds_up(true), "{}, {wait:?}", subject.name());
            });
        }
    }
}

/// Runs `body` in a child of this process, and expects it to come to its end.
fn in_a_fork(what: &str, body: impl FnOnce()) {
    // SAFETY: what the child does needs no locks but those of the crate and the allocator's, which a fork leaves free.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: the watchdog: ends the process if it hangs.
            unsafe { libc::alarm(30) };
            let ended = catch_unwind(AssertUnwindSafe(body));
            // SAFETY: nothing of this process is to be cleaned up.
            unsafe { libc::_exit(ended.is_err().into()) }
        }
        child => {
            assert!(child > 0, "{}", io::Error::last_os_error());
            let mut status = 0;
            // SAFETY: a child of this process, and room for its status.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "{what}: how the child ended");
        }
    }
}

#[test]
fn a_child_can_use_what_threads_of_its_parent_wait_on() {
    let output = in_a_child("a_child_can_use_what_threads_of_its_parent_wait_on", || {
        say_what_is_left_out();
        watchdog("forks among waiters", || {
            let objects = Objects::new();
            thread::scope(|scope| {
                let (sleepers, ends) = objects.occupy(scope);
                let mut ends = Some(ends);
                until_all_asleep(&sleepers);
                for round in 0..rounds(40) {
                    in_a_fork(&format!("round {round}"), || {
                        let ends = ends.take().unwrap(); // as far as the child knows
                        objects.say_no(&ends);
                        serve_quiet_ones(&ends);
                        if FORKS_ARE_KNOWN {
                            objects.serve_the_child(ends, round);
                        }
                        if FORKS_ARE_KNOWN && round % 8 == 0 {
                            wait_on_new_objects(true);
                        }
                    });
                }
                let ends = ends.unwrap();
                until_all_asleep(&sleepers);
                objects.say_no(&ends);
                serve_quiet_ones(&ends);
                objects.serve_the_parent(ends);
                for (number, sleeper) in sleepers.into_iter().enumerate() {
                    assert!(sleeper.join(), "number {number}");
                }
            });
        });
    });
    assert_success(output);
}

/// What threads of the parent are busy with when it forks.
struct Rush {
    /// All calls on one semaphore.
    calls: Vec<Box<dyn Pool>>,
    lock: Binary,
    atomics: Vec<Box<dyn Atomic>>,
    over: AtomicBool,
}

impl Rush {
    const PERMITS: usize = 3;

    fn new() -> Rush {
        let calls = Counting::new(Rush::PERMITS, Call::Single).others();
        Rush { calls, lock: Binary::new(true), atomics: atomics(), over: AtomicBool::new(false) }
    }

    fn join(&self, number: usize) {
        let mut step = number;
        while !self.over.load(Relaxed) {
            step = step.wrapping_add(7);
            let wait = Wait::within(Duration::from_micros(step as u64 % 30))[step % Wait::TIMED];
            for pool in [&*self.calls[step % self.calls.len()], &self.lock] {
                if let Some(held) = pool.take(wait) {
                    held.give_back();
                }
            }
            let atomic = &self.atomics[step % self.atomics.len()];
            atomic.change((step / 8) as u64 % 2, Notify::All);
            let _ = atomic.wait_by(1, Relaxed, wait);
        }
    }

    /// In a child of that moment nobody goes on, and what threads had in their hands is gone. What is left, calls that do not
    /// wait can have, and change.
    fn look_in_the_child(&self) {
        let left = drain(&*self.calls[0]);
        assert!(left <= Rush::PERMITS);
        let _ = self.lock.wait(Wait::Try);
        for wait in Wait::passed() {
            assert!(self.calls.iter().all(|pool| !pool.wait(wait)) && !self.lock.wait(wait), "{wait:?}");
            for atomic in &self.atomics {
                let now = atomic.get();
                assert!(atomic.wait_by(now, Relaxed, wait).is_err(), "{}, {wait:?}", atomic.name());
                assert_eq!(atomic.wait_by(1 - now, Relaxed, wait), Ok(now), "{}, {wait:?}", atomic.name());
            }
        }
        if !FORKS_ARE_KNOWN {
            return;
        }
        for pool in &self.calls {
            pool.give(pool.size(), false);
            assert!(pool.wait(Wait::Try) && pool.available() == 0, "{}", pool.name());
        }
        assert!(self.lock.give(1, true) == 1 && self.lock.give(1, true) == 0 && self.lock.wait(Wait::Try));
        for (number, atomic) in self.atomics.iter().enumerate() {
            atomic.change(1, Notify::ALL[number % Notify::ALL.len()]);
        }
    }
}

/// Words and locks are as the parent's threads have them just then.
#[test]
fn a_fork_may_come_at_any_moment() {
    let output = in_a_child("a_fork_may_come_at_any_moment", || {
        say_what_is_left_out();
        watchdog("forks at any moment", || {
            let (rush, function_ends) = (Rush::new(), Semaphore::new(0));
            let barrier = Barrier::with_completion(2, || function_ends.acquire());
            thread::scope(|scope| {
                for number in 0..2 {
                    let rush = &rush;
                    spawn(scope, format!("busy in the parent: {number}"), move || rush.join(number));
                }
                let token = barrier.arrive();
                let leader = spawn(scope, "runs a completion function in the parent", || drop(barrier.arrive()));
                leader.until_asleep();
                for round in 0..rounds(50) {
                    jitter(round);
                    in_a_fork(&format!("round {round}"), || {
                        rush.look_in_the_child();
                        for wait in Wait::passed() {
                            assert!(meet(&barrier, wait).is_err() && poll_token(&token, wait).is_err(), "{wait:?}");
                        }
                        if FORKS_ARE_KNOWN && round % 8 == 0 {
                            wait_on_new_objects(false);
                        }
                    });
                }
                rush.over.store(true, Relaxed);
                function_ends.release();
            });
            assert_eq!(rush.calls[0].available(), Rush::PERMITS);
            assert_eq!(rush.lock.available(), 1);
        });
    });
    assert_success(output);
}
