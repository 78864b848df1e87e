//! Waiting on atomics: who is woken. A notification reaches the waiters of its own address, in the order in which they came, and
//! nobody else, whatever lies beside it and whatever shares its bucket.

#![allow(unsafe_code, reason = "atomics so many bytes apart")]

mod common;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use common::atomic_wait::{Atomic, Notify, atomics};
use common::threads::{Activity, current_id, sleepers_are_known, until_all_asleep};
use common::{Wait, Worker, rounds, spawn, stay_awake_until, watchdog};
use waitline::{AtomicWait, TimedOut};

/// Whether all of them still sleep. One that had been woken would see another value, and end.
fn sleep_on<T>(workers: &[Worker<'_, T>]) -> bool {
    let sleeps = |worker: &Worker<'_, T>| Activity::of(worker.id()).is_none_or(|activity| activity.sleeps());
    workers.iter().all(|worker| !worker.has_ended() && sleeps(worker))
}

/// First come, first woken, one by one, and the others sleep on.
#[test]
fn notify_one_wakes_in_the_order_of_arrival() {
    const SLEEPERS: usize = 6;

    if !sleepers_are_known() {
        return;
    }
    watchdog("notify_one wakes in the order of arrival", || {
        for kind in atomics() {
            for notify in [Notify::One, Notify::OneRaw] {
                let (atomic, neighbour, turn) = (kind.fresh(), kind.fresh(), AtomicUsize::new(0));
                thread::scope(|scope| {
                    let (mut sleepers, mut neighbours) = (Vec::new(), Vec::new());
                    for number in 0..SLEEPERS {
                        for (atomic, list) in [(&atomic, &mut sleepers), (&neighbour, &mut neighbours)] {
                            let turn = &turn;
                            let sleeper = spawn(scope, format!("{}: sleeper {number}", kind.name()), move || {
                                assert_eq!(atomic.wait_by(0, Relaxed, Wait::Untimed), Ok(1));
                                turn.load(Relaxed)
                            });
                            sleeper.until_asleep();
                            list.push(sleeper);
                        }
                    }
                    neighbour.set(1, Relaxed);
                    atomic.set(1, Relaxed);
                    for number in 0..SLEEPERS {
                        turn.store(number, Relaxed);
                        atomic.notify(notify);
                        assert_eq!(sleepers.remove(0).join(), number, "{}", kind.name());
                        assert!(sleep_on(&sleepers) && sleep_on(&neighbours), "{}, turn {number}", kind.name());
                    }
                    turn.store(SLEEPERS, Relaxed);
                    neighbour.notify(Notify::All);
                    for sleeper in neighbours {
                        assert_eq!(sleeper.join(), SLEEPERS, "{}", kind.name());
                    }
                });
            }
        }
    });
}

/// One at the start, one in the middle and one at the end of a queue give up. The others keep their order, and none of those
/// who left takes a notification along.
#[test]
fn those_who_leave_do_not_disturb_the_order() {
    const SLEEPERS: usize = 7;

    if !sleepers_are_known() {
        return;
    }
    watchdog("those who leave", || {
        for leavers in [&[0][..], &[3], &[6], &[0, 1], &[5, 6], &[0, 3, 6], &[1, 2, 3, 4, 5]] {
            let value = AtomicU8::new(0);
            thread::scope(|scope| {
                let mut stay = Vec::new();
                let mut leave = Vec::new();
                for number in 0..SLEEPERS {
                    let patient = !leavers.contains(&number);
                    // Long enough for all to have come.
                    let wait = if patient { Wait::Untimed } else { Wait::For(Duration::from_millis(100)) };
                    let value = &value;
                    let sleeper = spawn(scope, format!("{number} of those without {leavers:?}"), move || {
                        value.wait_by(0, Relaxed, wait)
                    });
                    // One that leaves too early changes nothing for the others.
                    stay_awake_until(|| sleeper.sleeps() || sleeper.has_ended());
                    if patient { stay.push(sleeper) } else { leave.push(sleeper) }
                }
                for leaver in leave {
                    assert_eq!(leaver.join(), Err(TimedOut));
                }
                until_all_asleep(&stay);
                value.store(1, Relaxed);
                while !stay.is_empty() {
                    value.notify_one();
                    assert_eq!(stay.remove(0).join(), Ok(1));
                    assert!(sleep_on(&stay), "without {leavers:?}");
                }
            });
        }
    });
}

/// One thread for each of the atomics, which waits for its changes, and counts how often it sleeps for one. They are changed one at
/// a time: that thread is woken, and the others sleep on.
fn wakes_are_exact(what: &str, atomics: &[&dyn Atomic], notifications: usize) {
    let over = AtomicBool::new(false);
    let ended: Vec<_> = atomics.iter().map(|_| AtomicUsize::new(0)).collect();
    thread::scope(|scope| {
        let mut waiters = Vec::new();
        for (number, (atomic, ended)) in atomics.iter().zip(&ended).enumerate() {
            let over = &over;
            let waiter = spawn(scope, format!("{what}: {} number {number}", atomic.name()), move || {
                let sleeps = || Activity::of(current_id()).map_or(0, |activity| activity.sleeps_so_far);
                let before = sleeps();
                let mut now = 0;
                while !over.load(Relaxed) {
                    now = atomic.wait_by(now, Relaxed, Wait::Untimed).unwrap();
                    ended.fetch_add(1, Relaxed);
                }
                sleeps() - before
            });
            // One after the other: they may share a lock, and are not to sleep for that.
            waiter.until_asleep();
            waiters.push(waiter);
        }
        for number in 0..notifications {
            // Neither neighbours one after the other, nor any order that repeats itself.
            let chosen = (number * 7 + number / atomics.len()) % atomics.len();
            let count = ended[chosen].load(Relaxed) + 1;
            atomics[chosen].change(count as u64 % 2, Notify::ALL[number % 4]);
            stay_awake_until(|| ended[chosen].load(Relaxed) == count);
            waiters[chosen].until_asleep();
        }
        over.store(true, Relaxed);
        for (atomic, ended) in atomics.iter().zip(&ended) {
            atomic.change((ended.load(Relaxed) as u64 + 1) % 2, Notify::One);
        }
        let sleeps: u64 = waiters.into_iter().map(Worker::join).sum();
        let waits = (notifications + atomics.len()) as u64;
        // Threads may sleep for reasons of their own, too, such as a page that has to be read. Wakes that reach others would be
        // several times as many.
        assert!(sleeps <= waits + waits / 2 || common::is_emulated(), "{what}: {sleeps} sleeps in {waits} waits");
    });
}

/// Neighbours of every width, as in one struct of a program.
#[derive(Default)]
#[repr(C)]
struct Neighbours {
    quad: AtomicU64,
    byte: AtomicU8,
    flag: AtomicBool,
    half: AtomicU16,
    word: AtomicU32,
    size: AtomicUsize,
    bytes: [AtomicU8; 8],
    last: AtomicU64,
}

/// GCC PR 100334: what is notified ended the wait on another atomic, of the same slot of a table.
#[test]
fn fields_of_one_struct_are_told_apart() {
    let Neighbours { quad, byte, flag, half, word, size, bytes, last } = &Neighbours::default();
    let fields: [&dyn Atomic; 7] = [quad, byte, flag, half, word, size, last];
    let fields: Vec<_> = fields.into_iter().chain(bytes.iter().map(|byte| byte as &dyn Atomic)).collect();
    watchdog("fields of one struct", || wakes_are_exact("fields of one struct", &fields, 8 * fields.len()));
}

/// So many atomics, so many bytes apart.
fn apart<A: Atomic + 'static>(memory: &mut [u64], distance: usize, count: usize) -> Vec<&dyn Atomic> {
    assert!(distance % align_of::<A>() == 0 && distance >= size_of::<A>() && distance * count <= size_of_val(memory));
    let start = memory.as_mut_ptr().cast::<A>();
    // SAFETY: zeros, of which an integer can be made, in memory that is borrowed as long as they are.
    (0..count).map(|number| unsafe { &*start.wrapping_byte_add(number * distance) } as &dyn Atomic).collect()
}

/// GCC PR 115955: atomics 64 bytes apart all shared one slot of 16, and each notification woke all of their waiters, or looked at
/// them. llvm #146145: waiters of one slot woke each other.
#[test]
fn atomics_any_distance_apart_are_told_apart() {
    const COUNT: usize = 17;

    /// Of which no more is touched than what is used.
    fn memory(distance: usize) -> Vec<u64> {
        vec![0; (distance * COUNT).div_ceil(8)]
    }

    watchdog("atomics any distance apart", || {
        for distance in [1, 8, 64, 4096, 2 << 20] {
            let what = format!("{distance} bytes apart");
            wakes_are_exact(&what, &apart::<AtomicU8>(&mut memory(distance), distance, COUNT), 2 * COUNT);
            if distance >= 8 {
                wakes_are_exact(&what, &apart::<AtomicU64>(&mut memory(distance), distance, COUNT), 2 * COUNT);
            }
        }
    });
}

/// So many that some share a bucket of any table of bearable size: of 150 in 1024 buckets, ten pairs and more, by the odds.
#[test]
fn atomics_that_share_a_bucket_are_told_apart() {
    const COUNT: usize = 150;

    let mut memory = vec![0_u64; 8 * COUNT];
    let many = apart::<AtomicU32>(&mut memory, 64, COUNT);
    watchdog("atomics that share a bucket", || wakes_are_exact("many atomics", &many, COUNT));
}

/// Whatever their number, all of them are woken by one call, and none that waits beside them.
#[test]
fn notify_all_wakes_all_of_its_address() {
    watchdog("notify_all wakes all of its address", || {
        for (count, notify) in
            [1, 2, 31, 32, 33, 64, 65, 100].into_iter().zip(Notify::ALL.into_iter().cycle().skip(1).step_by(2))
        {
            let pair = [AtomicU8::new(0), AtomicU8::new(0)];
            let others = Neighbours::default();
            thread::scope(|scope| {
                let wait_for_change = |atomic, number| {
                    let atomic: &dyn Atomic = atomic;
                    spawn(scope, format!("{number} of {count}"), move || atomic.wait_by(0, Relaxed, Wait::Untimed))
                };
                let beside: [&dyn Atomic; 4] = [&pair[1], &others.quad, &others.byte, &others.word];
                let beside: Vec<_> = beside.into_iter().map(|atomic| wait_for_change(atomic, 0)).collect();
                let sleepers: Vec<_> = (1..=count).map(|number| wait_for_change(&pair[0], number)).collect();
                until_all_asleep(&sleepers);
                until_all_asleep(&beside);
                let changed: [&dyn Atomic; 5] = [&pair[0], &pair[1], &others.quad, &others.byte, &others.word];
                changed.iter().for_each(|atomic| atomic.set(1, Relaxed));
                pair[0].notify(notify);
                for sleeper in sleepers {
                    assert_eq!(sleeper.join(), Ok(1));
                }
                assert!(sleep_on(&beside), "beside {count}");
                changed.iter().for_each(|atomic| atomic.notify(notify));
            });
        }
    });
}

/// Those who come while it is at work are not meant. Threads that wait again as soon as they are woken do not keep it, and are
/// there for the next one.
#[test]
fn notify_all_ends_though_all_wait_again() {
    const SLEEPERS: usize = 100;

    watchdog("notify_all among those who wait again", || {
        let (value, ended) = (AtomicU32::new(0), AtomicUsize::new(0));
        let last = rounds(20);
        thread::scope(|scope| {
            for number in 0..SLEEPERS {
                let (value, ended) = (&value, &ended);
                spawn(scope, format!("sleeper {number}"), move || {
                    for old in 0..last {
                        assert_eq!(value.wait(old, Relaxed), old + 1);
                        ended.fetch_add(1, Relaxed);
                    }
                });
            }
            for new in 1..=last {
                value.store(new, Relaxed);
                value.notify_all();
                stay_awake_until(|| ended.load(Relaxed) == SLEEPERS * new as usize);
            }
        });
    });
}

/// As many notifications of one as there are sleepers, in one go: llvm #46357.
#[test]
fn as_many_notifications_of_one_wake_as_many() {
    const SLEEPERS: usize = 8;

    if !sleepers_are_known() {
        return;
    }
    watchdog("notifications of one", || {
        for kind in atomics() {
            for count in [1, 2, SLEEPERS - 1, SLEEPERS, SLEEPERS + 3] {
                let atomic = kind.fresh();
                thread::scope(|scope| {
                    let mut sleepers: Vec<_> = (0..SLEEPERS)
                        .map(|number| {
                            let name = format!("{}: sleeper {number} and {count}", kind.name());
                            spawn(scope, name, || atomic.wait_by(0, Relaxed, Wait::Untimed))
                        })
                        .collect();
                    until_all_asleep(&sleepers);
                    atomic.set(1, Relaxed);
                    (0..count).for_each(|_| atomic.notify(Notify::One));
                    let woken = count.min(SLEEPERS);
                    stay_awake_until(|| sleepers.iter().filter(|one| one.has_ended()).count() >= woken);
                    sleepers.retain(|one| !one.has_ended());
                    assert_eq!(sleepers.len(), SLEEPERS - woken, "{}", kind.name());
                    assert!(sleep_on(&sleepers), "{}", kind.name());
                    atomic.notify(Notify::All);
                });
            }
        }
    });
}
