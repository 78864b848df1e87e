//! Waiting on atomics, by many threads for a while: programs that people make of it by hand.
//!
//! Sized by `WAITLINE_STRESS_THREADS` and `WAITLINE_STRESS_SECONDS`, as `stress.rs` is.

mod common;

use std::sync::atomic::{
    AtomicU8, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;
use std::time::Instant;

use common::atomic_wait::{Notify, atomics, wait_by};
use common::plain::Plain;
use common::random::{Random, for_a_while};
use common::{Wait, from_environment, rounds, spawn, watchdog};
use waitline::{AtomicWait, TimedOut};

/// Those that last as long as the environment says.
const TESTS: u32 = 3;

/// A lock of one byte: free, held, or held and others may wait.
#[derive(Default)]
struct Lock(AtomicU8);

impl Lock {
    const FREE: u8 = 0;
    const HELD: u8 = 1;
    const CONTENDED: u8 = 2;

    /// Locks, by the form of the wait, unless its time is up.
    fn lock(&self, wait: Wait) -> Result<(), TimedOut> {
        if self.0.compare_exchange(Lock::FREE, Lock::HELD, Acquire, Relaxed).is_err() {
            while self.0.swap(Lock::CONTENDED, Acquire) != Lock::FREE {
                wait_by(&self.0, Lock::CONTENDED, Relaxed, wait)?;
            }
        }
        Ok(())
    }

    fn unlock(&self) {
        if self.0.swap(Lock::FREE, Release) == Lock::CONTENDED {
            self.0.notify_one();
        }
    }
}

#[test]
fn a_lock_of_one_byte_excludes() {
    let (lock, inside, entered) = (Lock::default(), Plain::new(0_u64), AtomicU64::new(0));
    for_a_while("a lock of one byte", TESTS, |random: &mut Random| {
        if lock.lock(random.form()).is_ok() {
            inside.set(inside.get() + 1);
            (0..random.below(3)).for_each(|_| thread::yield_now());
            lock.unlock();
            entered.fetch_add(1, Relaxed);
        }
    });
    assert!(lock.lock(Wait::Untimed).is_ok());
    assert_eq!(inside.get(), entered.into_inner());
}

/// A queue of bounded length: two counts that only grow, and a lock for each side.
struct Queue {
    pushed: AtomicUsize,
    popped: AtomicUsize,
    slots: [Plain<u64>; Queue::ROOM],
    push: Lock,
    pop: Lock,
}

impl Queue {
    const ROOM: usize = 4;

    fn new() -> Queue {
        Queue {
            pushed: AtomicUsize::new(0),
            popped: AtomicUsize::new(0),
            slots: std::array::from_fn(|_| Plain::new(0)),
            push: Lock::default(),
            pop: Lock::default(),
        }
    }

    fn push(&self, item: u64, wait: Wait) -> Result<(), TimedOut> {
        self.push.lock(wait)?;
        let count = self.pushed.load(Relaxed);
        let room = if count >= Queue::ROOM {
            wait_by(&self.popped, count - Queue::ROOM, Acquire, wait).map(|_| ())
        } else {
            Ok(())
        };
        if room.is_ok() {
            self.slots[count % Queue::ROOM].set(item);
            self.pushed.store(count + 1, Release);
            self.pushed.notify_one();
        }
        self.push.unlock();
        room
    }

    fn pop(&self, wait: Wait) -> Result<u64, TimedOut> {
        self.pop.lock(wait)?;
        let count = self.popped.load(Relaxed);
        let item = wait_by(&self.pushed, count, Acquire, wait).map(|_| self.slots[count % Queue::ROOM].get());
        if item.is_ok() {
            self.popped.store(count + 1, Release);
            self.popped.notify_one();
        }
        self.pop.unlock();
        item
    }
}

/// What goes in comes out, once each.
#[test]
fn a_queue_of_two_counts_hands_over_everything() {
    let queue = Queue::new();
    let (put, taken) = ([const { AtomicU64::new(0) }; 2], [const { AtomicU64::new(0) }; 2]);
    let count = |ledger: &[AtomicU64; 2], item| {
        ledger[0].fetch_add(1, Relaxed);
        ledger[1].fetch_add(item, Relaxed);
    };
    for_a_while("a queue of two counts", TESTS, |random| {
        let item = random.below(1 << 20) as u64;
        // None of them without end: at last there may be nobody on the other side.
        let wait = random.impatient_form();
        if random.below(2) == 0 {
            if queue.push(item, wait).is_ok() {
                count(&put, item);
            }
        } else if let Ok(item) = queue.pop(wait) {
            count(&taken, item);
        }
    });
    while let Ok(item) = queue.pop(Wait::Try) {
        count(&taken, item);
    }
    assert_eq!(put.map(AtomicU64::into_inner), taken.map(AtomicU64::into_inner));
}

/// The same, with sides that wait as long as it takes, for so many items.
#[test]
fn patient_sides_hand_over_everything() {
    const SIDES: u64 = 4;

    watchdog("patient sides of a queue", || {
        let (queue, items) = (Queue::new(), u64::from(rounds(5000)));
        let sum = AtomicU64::new(0);
        thread::scope(|scope| {
            for side in 0..SIDES {
                let (queue, sum) = (&queue, &sum);
                spawn(scope, format!("producer {side}"), move || {
                    (0..items).for_each(|item| queue.push(side * items + item, Wait::Untimed).unwrap());
                });
                spawn(scope, format!("consumer {side}"), move || {
                    (0..items).for_each(|_| _ = sum.fetch_add(queue.pop(Wait::Untimed).unwrap(), Relaxed));
                });
            }
        });
        let all = SIDES * items;
        assert_eq!(sum.into_inner(), all * (all - 1) / 2);
    });
}

/// Atomics of every kind side by side, each with threads that do at random what can be done. Whatever a call says is true.
#[test]
fn mixed_use_of_all_kinds_says_what_is_true() {
    let all = atomics();
    for_a_while("mixed use of atomics", TESTS, |random| {
        let atomic = &all[random.below(all.len())];
        let (old, new) = (random.below(2) as u64, random.below(2) as u64);
        match random.below(4) {
            0 => atomic.change(new, Notify::ALL[random.below(4)]),
            1 => atomic.notify(Notify::ALL[random.below(4)]),
            _ => {
                let (start, wait) = (Instant::now(), random.impatient_form());
                match atomic.wait_by(old, Acquire, wait) {
                    Ok(value) => assert!(value != old && value < 2, "{}: {value}", atomic.name()),
                    Err(TimedOut) => assert!(wait.is_due(start), "{}, {wait:?}: early", atomic.name()),
                }
            }
        }
    });
}

/// Turns go round in a circle of threads, one circle for each kind, all at the same time: nobody is passed over, and a lost
/// notification stops its circle.
#[test]
fn turns_go_round_in_every_width() {
    let kinds = atomics();
    let threads = from_environment("WAITLINE_STRESS_THREADS", 64_usize).div_ceil(kinds.len()).max(2);
    let turns = u64::from(rounds(150));
    watchdog("turns go round", || {
        thread::scope(|scope| {
            for kind in &kinds {
                let circle = threads.min(kind.max().min(1 << 16) as usize + 1) as u64;
                for place in 0..circle {
                    spawn(scope, format!("{}: place {place} of {circle}", kind.name()), move || {
                        for _ in 0..turns {
                            let mut now = kind.get();
                            while now != place {
                                now = kind.wait_by(now, Acquire, Wait::Untimed).unwrap();
                            }
                            kind.set((place + 1) % circle, Release);
                            kind.notify(Notify::All);
                        }
                    });
                }
            }
        });
    });
}
