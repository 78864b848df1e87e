//! Many threads for a while: mixed use of everything at once, and the classic programs built from semaphores.
//!
//! `WAITLINE_STRESS_THREADS` (64) threads for `WAITLINE_STRESS_SECONDS` (2) in all; `WAITLINE_ROUNDS_FACTOR` scales the
//! programs that count rounds instead.

mod common;

use std::collections::VecDeque;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::plain::Plain;
use common::{
    Binary, Call, Counting, Gate, Pool, Subject, Wait, from_environment, pools, rounds, spawn, stay_awake_until,
    watchdog, watchdog_beyond,
};
use waitline::{BinarySemaphore, Semaphore};

/// A thread's own stream of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    /// Any form, with timeouts from none to about the time that others hold permits.
    fn form(&mut self) -> Wait {
        let timeout = Duration::from_micros(self.below(150) as u64);
        match self.below(Wait::TIMED + 2) {
            0 => Wait::Untimed,
            1 => Wait::Try,
            timed => Wait::within(timeout)[timed - 2],
        }
    }
}

/// Every call on one semaphore. No more permits are held than there are, at any time, and all are there at the end.
#[test]
fn mixed_use_keeps_the_count() {
    const PERMITS: usize = 6;

    let semaphore = Arc::new(Semaphore::new(PERMITS));
    let held_now = AtomicUsize::new(0);
    for_a_while("mixed use of a semaphore", |random| {
        let size = 1 + random.below(PERMITS);
        let call =
            [Call::Single, Call::Many(size), Call::Permit, Call::Permits(size), Call::Owned(size)][random.below(5)];
        let pool = Counting { semaphore: Arc::clone(&semaphore), call };
        let Some(held) = pool.take(random.form()) else { return };
        let now = held_now.fetch_add(pool.size(), SeqCst) + pool.size();
        assert!(now <= PERMITS, "{now} of {PERMITS} permits held");
        (0..random.below(3)).for_each(|_| thread::yield_now());
        held_now.fetch_sub(pool.size(), SeqCst);
        if random.below(4) == 0 {
            // By another call than the one that took them.
            held.keep();
            pool.give(pool.size(), random.below(2) == 0);
        } else {
            assert_eq!(held.give_back(), pool.size());
        }
    });
    assert_eq!(semaphore.available_permits(), PERMITS);
    assert_eq!(Arc::strong_count(&semaphore), 1);
}

/// A binary semaphore as a lock: one at a time, and it is there at the end.
#[test]
fn mixed_use_of_a_lock_excludes() {
    let lock = Binary::new(true);
    let (inside, plain) = (AtomicBool::new(false), Plain::new(0_usize));
    let entered = AtomicUsize::new(0);
    for_a_while("mixed use of a binary semaphore", |random| {
        let Some(held) = lock.take(random.form()) else { return };
        assert!(!inside.swap(true, SeqCst));
        plain.set(plain.get() + 1);
        (0..random.below(2)).for_each(|_| thread::yield_now());
        assert!(inside.swap(false, SeqCst));
        entered.fetch_add(1, Relaxed);
        assert_eq!(held.give_back(), 1);
    });
    assert!(lock.wait(Wait::Try));
    assert_eq!(plain.get(), entered.into_inner());
}

/// Half of the threads and time that the environment allows, since two tests share them.
fn for_a_while(what: &str, step: impl Fn(&mut Random) + Sync) {
    let threads = from_environment("WAITLINE_STRESS_THREADS", 64_usize).div_ceil(2);
    let seconds = from_environment("WAITLINE_STRESS_SECONDS", 2.0_f64);
    let time = Duration::from_secs_f64(seconds / 2.0);
    watchdog_beyond(time, what, || {
        let end = Instant::now() + time;
        thread::scope(|scope| {
            for number in 0..threads {
                let step = &step;
                spawn(scope, format!("{what}: thread {number}"), move || {
                    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (number as u64 + 1));
                    while Instant::now() < end {
                        step(&mut random);
                    }
                });
            }
        });
    });
}

/// llvm #46357: two single releases woke one of two waiters, since the second found the count above zero.
#[test]
fn as_many_acquirers_as_releases_come_through() {
    watchdog("acquirers in lockstep with releases", || {
        for pool in pools() {
            lockstep(&*pool, 2, rounds(300));
            lockstep(&*pool, 8, rounds(60));
        }
    });
}

/// Rounds of `n` acquirers and `n` releases for one each. A binary semaphore that is available is released again once
/// that has been taken.
fn lockstep(pool: &dyn Pool, n: usize, rounds: u32) {
    let gate = Gate::new(n + 1);
    thread::scope(|scope| {
        let acquirers: Vec<_> = (0..n)
            .map(|number| {
                let gate = &gate;
                spawn(scope, format!("{}: acquirer {number} of {n}", pool.name()), move || {
                    for _ in 0..rounds {
                        gate.pass();
                        assert!(pool.wait(Wait::Untimed));
                        gate.pass();
                    }
                })
            })
            .collect();
        for round in 0..rounds {
            gate.pass();
            if round % 8 == 0 {
                common::threads::until_all_asleep(&acquirers);
            }
            for _ in 0..n {
                // The binary one says when a release was one too many; the counting ones always count.
                stay_awake_until(|| pool.give(pool.size(), round % 2 == 0) > 0);
            }
            gate.pass();
            assert_eq!(pool.available(), 0, "{}", pool.name());
        }
    });
}

/// What a program built from semaphores needs of one.
trait Turnstile: Sync {
    fn down(&self);
    fn up(&self);
}

impl Turnstile for Semaphore {
    fn down(&self) {
        self.acquire();
    }
    fn up(&self) {
        self.release();
    }
}

impl Turnstile for BinarySemaphore {
    fn down(&self) {
        self.acquire();
    }
    fn up(&self) {
        assert!(self.release());
    }
}

/// Morris's mutual exclusion without starvation, from semaphores that may be unfair: threads gather behind two
/// turnstiles, and nobody enters twice while others wait between the two.
struct Morris<T> {
    gather: T,
    enter: T,
    counting: T,
    gathering: Plain<u32>,
    entering: Plain<u32>,
}

impl<T: Turnstile> Morris<T> {
    fn lock(&self) {
        self.counting.down();
        self.gathering.set(self.gathering.get() + 1);
        self.counting.up();
        self.gather.down();
        self.entering.set(self.entering.get() + 1);
        self.counting.down();
        self.gathering.set(self.gathering.get() - 1);
        let last = self.gathering.get() == 0;
        self.counting.up();
        if last {
            self.enter.up()
        } else {
            self.gather.up()
        }
        self.enter.down();
        self.entering.set(self.entering.get() - 1);
    }

    fn unlock(&self) {
        if self.entering.get() == 0 { self.gather.up() } else { self.enter.up() }
    }
}

/// GCC PR 104928.
fn morris<T: Turnstile>(what: &str, new: impl Fn(bool) -> T) {
    const THREADS: u32 = 6;

    let lock = Morris {
        gather: new(true),
        enter: new(false),
        counting: new(true),
        gathering: Plain::new(0),
        entering: Plain::new(0),
    };
    let counter = Plain::new(0);
    let rounds = rounds(800);
    watchdog(what, || {
        thread::scope(|scope| {
            for number in 0..THREADS {
                let (lock, counter) = (&lock, &counter);
                spawn(scope, format!("{what}: thread {number}"), move || {
                    for _ in 0..rounds {
                        lock.lock();
                        counter.set(counter.get() + 1);
                        lock.unlock();
                    }
                });
            }
        });
    });
    assert_eq!(counter.get(), rounds * THREADS);
}

#[test]
fn a_starvation_free_lock_from_semaphores() {
    morris("a starvation-free lock from semaphores", |available| Semaphore::new(available.into()));
}

#[test]
fn a_starvation_free_lock_from_binary_semaphores() {
    morris("a starvation-free lock from binary semaphores", BinarySemaphore::new);
}

/// GCC PR 104928: producers and consumers on a bounded buffer; each pair takes in its own form, so that some poll, some
/// wait, and some wait until a time on one clock or the other.
#[test]
fn producers_and_consumers_hand_over_everything() {
    const PAIRS: usize = 10;
    const ROOM: usize = 4;

    watchdog("producers and consumers", || {
        let (room, items) = (Counting::new(ROOM, Call::Single), Counting::new(0, Call::Single));
        let buffer = Mutex::new(VecDeque::with_capacity(ROOM));
        let (sent, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let take = |semaphore: &Counting, number: usize| {
            let form = || match number % (Wait::TIMED + 2) {
                0 => Wait::Untimed,
                1 => Wait::Try,
                timed => Wait::within(Duration::from_micros(200))[timed - 2],
            };
            while !semaphore.wait(form()) {
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            for number in 0..PAIRS {
                let (room, items, buffer, take) = (&room, &items, &buffer, &take);
                let (sent, received, rounds) = (&sent, &received, rounds(1500) as usize);
                spawn(scope, format!("producer {number}"), move || {
                    for round in 0..rounds {
                        take(room, number);
                        let item = number * rounds + round;
                        buffer.lock().unwrap().push_back(item);
                        sent.fetch_add(item, Relaxed);
                        items.satisfy();
                    }
                });
                spawn(scope, format!("consumer {number}"), move || {
                    for _ in 0..rounds {
                        take(items, number + 3);
                        let mut buffer = buffer.lock().unwrap();
                        assert!(buffer.len() <= ROOM);
                        received.fetch_add(buffer.pop_front().expect("an item for each permit"), Relaxed);
                        drop(buffer);
                        room.satisfy();
                    }
                });
            }
        });
        assert_eq!(sent.into_inner(), received.into_inner());
        assert_eq!((room.available(), items.available()), (ROOM, 0));
        assert!(buffer.into_inner().unwrap().is_empty());
    });
}
