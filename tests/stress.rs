//! Many threads for a while: mixed use of everything at once, and classic programs.
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
use std::time::Duration;

use common::barrier::{meet, poll_token};
use common::oneshot::{Ledger, borrow, recv};
use common::plain::Plain;
use common::random::{Random, for_a_while};
use common::{Binary, Call, Counting, Gate, Pool, Subject, Wait, pools, rounds, spawn, stay_awake_until, watchdog};
use waitline::oneshot::{RecvTimeoutError, Sender, channel};
use waitline::{Barrier, BinarySemaphore, Latch, Semaphore};

/// Those that last as long as the environment says.
const TESTS: u32 = 4;

/// Every call on one semaphore. No more permits are held than there are, at any time, and all are there at the end.
#[test]
fn mixed_use_keeps_the_count() {
    const PERMITS: usize = 6;

    let semaphore = Arc::new(Semaphore::new(PERMITS));
    let held_now = AtomicUsize::new(0);
    for_a_while("mixed use of a semaphore", TESTS, |random| {
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
    for_a_while("mixed use of a binary semaphore", TESTS, |random| {
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

/// Every way to arrive, to wait a little and to give up at one barrier: as many phases end as have their arrivals.
#[test]
fn mixed_use_of_a_barrier_keeps_the_arrivals() {
    const PARTIES: usize = 5;

    let counts = [(); 3].map(|()| AtomicUsize::new(0));
    let [standing, leaders, completed] = &counts;
    let barrier = Barrier::with_completion(PARTIES, || _ = completed.fetch_add(1, Relaxed));
    for_a_while("mixed use of a barrier", TESTS, |random| {
        let wait = random.impatient_form();
        let stands = match random.below(3) {
            0 => meet(&barrier, wait).ok(),
            1 => {
                let token = barrier.arrive();
                poll_token(&token, wait).ok().or_else(|| token.withdraw().err())
            }
            _ => {
                let token = barrier.arrive();
                standing.fetch_add(1, Relaxed);
                let result = poll_token(&token, wait);
                leaders.fetch_add(result.is_ok_and(|result| result.is_leader()).into(), Relaxed);
                return;
            }
        };
        if let Some(result) = stands {
            standing.fetch_add(1, Relaxed);
            leaders.fetch_add(result.is_leader().into(), Relaxed);
        }
    });
    let [standing, leaders, completed] = counts.each_ref().map(|count| count.load(Relaxed));
    assert_eq!((leaders, completed), (standing / PARTIES, standing / PARTIES), "{standing} arrivals");
    let missing = PARTIES - standing % PARTIES;
    let last = (0..missing).map(|_| barrier.arrive()).last().unwrap();
    assert!(last.wait_for(Duration::ZERO).unwrap().is_leader());
    assert_eq!(counts[2].load(Relaxed), completed + 1);
}

/// Channels whose ends go from hand to hand, until somebody settles, receives, shares or drops them.
#[test]
fn mixed_use_of_channels_keeps_the_values() {
    /// Few enough for the two ends of a channel to be in use at the same time.
    const ROOM: usize = 16;

    fn any<T>(bag: &Mutex<Vec<T>>, random: &mut Random) -> Option<T> {
        let mut bag = bag.lock().unwrap();
        if bag.is_empty() {
            return None;
        }
        let index = random.below(bag.len());
        Some(bag.swap_remove(index))
    }

    let ledger = Ledger::default();
    let (senders, receivers) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    for_a_while("mixed use of channels", TESTS, |random| match random.below(5) {
        0 if senders.lock().unwrap().len() < ROOM => {
            let (sender, receiver) = channel();
            senders.lock().unwrap().push(sender);
            receivers.lock().unwrap().push(receiver);
        }
        0..=2 => {
            let Some(sender) = any(&senders, random) else { return };
            if random.below(8) == 0 { drop(sender) } else { _ = ledger.send(sender) }
        }
        _ => {
            let Some(receiver) = any(&receivers, random) else { return };
            let wait = random.impatient_form();
            match random.below(4) {
                0 => _ = borrow(&receiver.share(), wait),
                1 => drop(receiver),
                _ => match recv(&receiver, wait) {
                    Ok(value) => ledger.receive(value),
                    Err(RecvTimeoutError::Disconnected) => {}
                    Err(RecvTimeoutError::Timeout) => receivers.lock().unwrap().push(receiver),
                },
            }
        }
    });
    drop((senders, receivers));
    ledger.balance("mixed use of channels");
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

/// Sums of all prefixes in place, by strides that double: in each step everybody reads what others wrote in the one before,
/// and the function between them says where.
#[test]
fn prefix_sums_in_phases() {
    const THREADS: usize = 4;
    const LENGTH: usize = 64;

    watchdog("prefix sums in phases", || {
        for _ in 0..rounds(60) {
            let buffers = [(); 2].map(|()| (0..LENGTH).map(|i| Plain::new(i as u64)).collect::<Vec<_>>());
            let (stride, from) = (Plain::new(1), Plain::new(0));
            let barrier = Barrier::with_completion(THREADS, || {
                stride.set(stride.get() * 2);
                from.set(1 - from.get());
            });
            thread::scope(|scope| {
                for number in 0..THREADS {
                    let (buffers, stride, from, barrier) = (&buffers, &stride, &from, &barrier);
                    spawn(scope, format!("sums part {number}"), move || {
                        while stride.get() < LENGTH {
                            let (source, target) = (&buffers[from.get()], &buffers[1 - from.get()]);
                            for i in (number..LENGTH).step_by(THREADS) {
                                let before = i.checked_sub(stride.get()).map_or(0, |left| source[left].get());
                                target[i].set(before + source[i].get());
                            }
                            barrier.wait();
                        }
                    });
                }
            });
            let sums = &buffers[from.get()];
            assert!((0..LENGTH).all(|i| sums[i].get() == (i * (i + 1) / 2) as u64));
        }
    });
}

/// A pool of workers that start behind a latch and answer by one-shots, which their clients poll against a deadline; and a
/// second latch that says when all of it is done.
#[test]
fn workers_answer_by_one_shots() {
    const WORKERS: usize = 3;
    const CLIENTS: usize = 4;
    type Request = (u64, Sender<u64>);

    watchdog("workers answer by one-shots", || {
        let requests = rounds(400) as usize;
        let (queue, waiting) = (Mutex::new(VecDeque::<Request>::new()), Semaphore::new(0));
        let (start, done) = (Latch::new(1), Latch::new(CLIENTS));
        thread::scope(|scope| {
            for number in 0..WORKERS {
                let (queue, waiting, start) = (&queue, &waiting, &start);
                spawn(scope, format!("worker {number}"), move || {
                    start.wait();
                    loop {
                        waiting.acquire();
                        let Some((question, answer)) = queue.lock().unwrap().pop_front() else { break };
                        // Some are too dear to answer.
                        if question % 16 != 0 {
                            assert_eq!(answer.send(question * 2), Ok(()));
                        }
                    }
                });
            }
            for number in 0..CLIENTS {
                let (queue, waiting, start, done) = (&queue, &waiting, &start, &done);
                spawn(scope, format!("client {number}"), move || {
                    start.wait();
                    for question in 0..requests as u64 {
                        let (sender, answer) = channel();
                        queue.lock().unwrap().push_back((question, sender));
                        waiting.release();
                        let outcome = loop {
                            match recv(&answer, Wait::within(Duration::from_micros(30))[number % Wait::TIMED]) {
                                Err(RecvTimeoutError::Timeout) => thread::yield_now(),
                                outcome => break outcome,
                            }
                        };
                        let answered = question % 16 != 0;
                        assert_eq!(
                            outcome,
                            if answered { Ok(question * 2) } else { Err(RecvTimeoutError::Disconnected) }
                        );
                    }
                    done.count_down();
                });
            }
            start.count_down();
            done.wait();
            // Nothing is left in the queue, which tells each worker to go.
            waiting.release_many(WORKERS);
        });
        assert_eq!(waiting.available_permits(), 0);
    });
}
