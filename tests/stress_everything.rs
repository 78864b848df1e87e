//! All primitives at once, on objects that all threads share, for a while: every call in every form, inside each other where one
//! holds something. What must hold is looked at throughout, and the totals at the end.
//!
//! Sized by `WAITLINE_STRESS_THREADS` and `WAITLINE_STRESS_SECONDS`, as `stress.rs` is. Should it hang, the watchdog's report has
//! the call that each thread is in as the name of the thread.

mod common;

use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use common::about::about;
use common::atomic_wait::{Atomic, Notify, atomics, wait_by};
use common::barrier::{meet, poll_token};
use common::latch::wait_for_opening;
use common::oneshot::{Counted, Ledger, borrow, recv};
use common::plain::Plain;
use common::random::{Random, for_a_while};
use common::{Binary, Call, Counting, Pool, Subject, Wait, spawn};
use waitline::oneshot::{Receiver, RecvTimeoutError, Sender, channel};
use waitline::{Barrier, BarrierWaitResult, Latch, Semaphore};

/// What all threads share.
struct Load<'a, F> {
    borrowed: Borrowed,
    signals: Signals,
    meeting: Meeting<'a, F>,
    openings: Openings,
    channels: Channels<'a>,
    values: Values,
}

impl<F: FnMut() + Send> Load<'_, F> {
    /// Something, by a call of any form: whoever waits without an end gets what `keep_going` gives.
    fn step(&self, random: &mut Random) {
        match random.below(7) {
            0 => self.borrowed.hold_permits(random, |random| self.impatient_step(random)),
            1 => self.borrowed.hold_the_lock(random, |random| self.impatient_step(random)),
            _ => {
                let wait = random.form();
                self.wait_or_give(random, wait);
            }
        }
    }

    /// While others wait for what this thread holds.
    fn impatient_step(&self, random: &mut Random) {
        let wait = random.impatient_form();
        self.wait_or_give(random, wait);
    }

    fn wait_or_give(&self, random: &mut Random, wait: Wait) {
        match random.below(5) {
            0 => self.signals.step(random, wait),
            1 => self.meeting.step(random, wait),
            2 => self.openings.step(random, wait),
            3 => self.channels.step(random, wait),
            _ => self.values.step(random, wait),
        }
    }

    /// A little of everything that threads wait for, lest all of them do at once.
    fn keep_going(&self) {
        self.signals.give(1);
        self.meeting.arrive();
        self.openings.count_down();
        self.channels.settle_one(0, true);
        self.values.change_all();
    }

    fn check(self) {
        self.borrowed.check();
        self.signals.check();
        self.meeting.check();
        self.channels.check();
    }
}

/// Permits and a lock that go back to where they came from.
struct Borrowed {
    permits: Arc<Semaphore>,
    held: AtomicUsize,
    lock: Binary,
    inside: Plain<usize>,
    entered: AtomicUsize,
}

impl Borrowed {
    const PERMITS: usize = 6;

    fn new() -> Borrowed {
        Borrowed {
            permits: Arc::new(Semaphore::new(Borrowed::PERMITS)),
            held: AtomicUsize::new(0),
            lock: Binary::new(true),
            inside: Plain::new(0),
            entered: AtomicUsize::new(0),
        }
    }

    fn hold_permits(&self, random: &mut Random, meanwhile: impl Fn(&mut Random)) {
        let size = 1 + random.below(Borrowed::PERMITS);
        let call =
            [Call::Single, Call::Many(size), Call::Permit, Call::Permits(size), Call::Owned(size)][random.below(5)];
        let pool = Counting { semaphore: Arc::clone(&self.permits), call };
        about("takes permits");
        let Some(held) = pool.take(random.form()) else { return };
        let now = self.held.fetch_add(pool.size(), SeqCst) + pool.size();
        assert!(now <= Borrowed::PERMITS, "{now} permits held");
        meanwhile(random);
        self.held.fetch_sub(pool.size(), SeqCst);
        assert_eq!(held.give_back(), pool.size());
    }

    fn hold_the_lock(&self, random: &mut Random, meanwhile: impl Fn(&mut Random)) {
        about("takes the lock");
        let Some(held) = self.lock.take(random.form()) else { return };
        let count = self.inside.get();
        meanwhile(random);
        assert_eq!(self.inside.get(), count, "somebody else was inside");
        self.inside.set(count + 1);
        self.entered.fetch_add(1, Relaxed);
        assert_eq!(held.give_back(), 1);
    }

    fn check(&self) {
        assert_eq!((self.permits.available_permits(), Arc::strong_count(&self.permits)), (Borrowed::PERMITS, 1));
        assert!(self.lock.wait(Wait::Try));
        assert_eq!(self.inside.get(), self.entered.load(Relaxed));
    }
}

/// Permits that are taken for good.
struct Signals {
    semaphore: Arc<Semaphore>,
    given: AtomicUsize,
    taken: AtomicUsize,
}

impl Signals {
    fn new() -> Signals {
        Signals { semaphore: Arc::new(Semaphore::new(0)), given: AtomicUsize::new(0), taken: AtomicUsize::new(0) }
    }

    fn step(&self, random: &mut Random, wait: Wait) {
        let n = 1 + random.below(3);
        if random.below(2) == 0 {
            return self.give(n);
        }
        about("takes signals");
        let pool = Counting { semaphore: Arc::clone(&self.semaphore), call: [Call::Single, Call::Many(n)][n % 2] };
        if pool.wait(wait) {
            let taken = self.taken.fetch_add(pool.size(), SeqCst) + pool.size();
            let given = self.given.load(SeqCst);
            assert!(taken <= given, "{taken} taken of {given}");
        }
    }

    fn give(&self, n: usize) {
        self.given.fetch_add(n, SeqCst);
        self.semaphore.release_many(n);
    }

    fn check(&self) {
        let left = self.semaphore.available_permits();
        assert_eq!(self.given.load(Relaxed), self.taken.load(Relaxed) + left, "{left} left");
    }
}

/// A barrier with fewer parties than threads.
struct Meeting<'a, F> {
    barrier: Barrier<F>,
    completions: &'a AtomicUsize,
    standing: AtomicUsize,
    leaders: AtomicUsize,
}

const PARTIES: usize = 5;

impl<F: FnMut()> Meeting<'_, F> {
    fn step(&self, random: &mut Random, wait: Wait) {
        about("meets");
        let before = self.completions.load(SeqCst);
        match random.below(4) {
            0 | 1 => {
                if let Ok(result) = meet(&self.barrier, wait) {
                    self.count(&result);
                    assert!(self.completions.load(SeqCst) > before, "a phase without an end");
                }
            }
            2 => {
                let token = self.barrier.arrive();
                match token.withdraw() {
                    Ok(()) => {}
                    Err(result) => self.count(&result),
                }
            }
            _ => self.arrive(),
        }
    }

    fn count(&self, result: &BarrierWaitResult) {
        self.standing.fetch_add(1, Relaxed);
        self.leaders.fetch_add(result.is_leader().into(), Relaxed);
    }

    /// Without a wait. A leader knows that it is one.
    fn arrive(&self) {
        let token = self.barrier.arrive();
        self.standing.fetch_add(1, Relaxed);
        let result = poll_token(&token, Wait::Try);
        self.leaders.fetch_add(result.is_ok_and(|result| result.is_leader()).into(), Relaxed);
    }

    fn check(&self) {
        let [standing, leaders, completions] =
            [&self.standing, &self.leaders, self.completions].map(|count| count.load(Relaxed));
        assert_eq!((leaders, completions), (standing / PARTIES, standing / PARTIES), "{standing} arrivals");
    }
}

/// One latch after the other.
struct Openings(Mutex<Arc<Opening>>);

struct Opening {
    latch: Latch,
    /// How many have not begun to count down.
    left: AtomicUsize,
    /// Written before the count of that number.
    messages: [Plain<bool>; Opening::COUNT],
}

impl Opening {
    const COUNT: usize = 4;

    fn new() -> Arc<Opening> {
        let (latch, left) = (Latch::new(Opening::COUNT), AtomicUsize::new(Opening::COUNT));
        Arc::new(Opening { latch, left, messages: Default::default() })
    }
}

impl Openings {
    fn step(&self, random: &mut Random, wait: Wait) {
        if random.below(3) == 0 {
            return self.count_down();
        }
        let opening = Arc::clone(&self.0.lock().unwrap());
        about("at a latch");
        if wait_for_opening(&opening.latch, wait).is_ok() {
            assert!(opening.messages.iter().all(Plain::get) && opening.latch.count() == 0);
        }
    }

    fn count_down(&self) {
        let opening = Arc::clone(&self.0.lock().unwrap());
        let ticket = opening.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        if let Ok(ticket) = ticket {
            opening.messages[ticket - 1].set(true);
            if opening.latch.count_down() {
                *self.0.lock().unwrap() = Opening::new();
            }
        }
    }
}

/// Channels whose ends go from hand to hand.
struct Channels<'a> {
    ledger: &'a Ledger,
    senders: Mutex<Vec<Sender<Counted<'a>>>>,
    receivers: Mutex<Vec<Receiver<Counted<'a>>>>,
}

impl<'a> Channels<'a> {
    /// Few enough for the two ends of a channel to be in use at the same time.
    const ROOM: usize = 16;

    fn new(ledger: &'a Ledger) -> Channels<'a> {
        Channels { ledger, senders: Mutex::new(Vec::new()), receivers: Mutex::new(Vec::new()) }
    }

    fn step(&self, random: &mut Random, wait: Wait) {
        let number = random.below(Channels::ROOM);
        match random.below(4) {
            0 => {
                let mut senders = self.senders.lock().unwrap();
                if senders.len() < Channels::ROOM {
                    let (sender, receiver) = channel();
                    senders.push(sender);
                    self.receivers.lock().unwrap().push(receiver);
                }
            }
            1 => self.settle_one(number, number > 1),
            _ => {
                let Some(receiver) = any(&self.receivers, number) else { return };
                about("receives");
                self.receive(receiver, number, wait);
            }
        }
    }

    fn receive(&self, receiver: Receiver<Counted<'a>>, number: usize, wait: Wait) {
        match number % 4 {
            0 => _ = borrow(&receiver.share(), wait),
            1 => drop(receiver),
            _ => match recv(&receiver, wait) {
                Ok(value) => self.ledger.receive(value),
                Err(RecvTimeoutError::Disconnected) => {}
                Err(RecvTimeoutError::Timeout) => self.receivers.lock().unwrap().push(receiver),
            },
        }
    }

    fn settle_one(&self, number: usize, sends: bool) {
        match any(&self.senders, number) {
            Some(sender) if sends => _ = self.ledger.send(sender),
            sender => drop(sender),
        }
    }

    fn check(self) {
        drop((self.senders, self.receivers));
        self.ledger.balance("channels");
    }
}

fn any<T>(bag: &Mutex<Vec<T>>, number: usize) -> Option<T> {
    let mut bag = bag.lock().unwrap();
    let index = number.checked_rem(bag.len())?;
    Some(bag.swap_remove(index))
}

/// Atomics of every kind that change to and fro, and one that only grows.
struct Values {
    all: Vec<Box<dyn Atomic>>,
    clock: AtomicU64,
}

impl Values {
    fn step(&self, random: &mut Random, wait: Wait) {
        let value = random.below(4) as u64;
        let atomic = &self.all[random.below(self.all.len())];
        match random.below(4) {
            0 => atomic.change(value & atomic.max(), Notify::All),
            1 => self.tick(),
            2 => {
                about("at a value");
                let old = value & atomic.max();
                assert!(
                    atomic.wait_by(old, Acquire, wait).is_ok_and(|new| new != old) || !matches!(wait, Wait::Untimed)
                );
            }
            _ => {
                about("at the clock");
                let now = self.clock.load(Relaxed);
                assert!(
                    wait_by(&self.clock, now, Acquire, wait).is_ok_and(|new| new > now)
                        || !matches!(wait, Wait::Untimed)
                );
            }
        }
    }

    fn tick(&self) {
        self.clock.fetch_add(1, Release);
        Notify::All.call(&self.clock);
    }

    fn change_all(&self) {
        for atomic in &self.all {
            // Not by the order of bits, lest some value is never left.
            let next = (atomic.get() + 1) & atomic.max();
            atomic.change(next, Notify::AllRaw);
        }
        self.tick();
    }
}

#[test]
fn everything_at_once_adds_up() {
    let (completions, ledger, over) = (AtomicUsize::new(0), Ledger::default(), AtomicBool::new(false));
    let load = Load {
        borrowed: Borrowed::new(),
        signals: Signals::new(),
        meeting: Meeting {
            barrier: Barrier::with_completion(PARTIES, || _ = completions.fetch_add(1, SeqCst)),
            completions: &completions,
            standing: AtomicUsize::new(0),
            leaders: AtomicUsize::new(0),
        },
        openings: Openings(Mutex::new(Opening::new())),
        channels: Channels::new(&ledger),
        values: Values { all: atomics(), clock: AtomicU64::new(0) },
    };
    thread::scope(|scope| {
        spawn(scope, "keeps the others going", || {
            while !over.load(Relaxed) {
                load.keep_going();
                // How much it gives, no order depends on.
                thread::sleep(Duration::from_micros(200));
            }
        });
        for_a_while("everything at once", 1, |random| load.step(random));
        over.store(true, Relaxed);
    });
    load.check();
}
