//! Waiting on atomics at the ends of a thread's life and of a process's: in the destructors of thread-locals, among threads that
//! come and go, and on both sides of a fork.

#![allow(unsafe_code, reason = "fork")]

mod common;

use std::cell::RefCell;
#[cfg(target_os = "linux")]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{
    AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;
use std::time::Duration;

#[cfg(target_os = "linux")]
use common::jitter;
use common::{rounds, spawn, watchdog};
use waitline::{AtomicWait, TimedOut};

/// Two flags, of which a thread that ends raises the first, and goes only once it has seen the second.
#[derive(Default)]
struct Farewell {
    leaving: AtomicU8,
    may_go: AtomicU64,
}

/// Drops when its thread ends.
struct AtTheEnd(&'static Farewell);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        assert_eq!(self.0.may_go.wait_for(0, Relaxed, Duration::from_micros(100)), Err(TimedOut));
        self.0.leaving.store(1, Release);
        self.0.leaving.notify_one();
        assert_eq!(self.0.may_go.wait(0, Acquire), 1);
    }
}

thread_local! {
    static AT_THE_END: RefCell<Vec<AtTheEnd>> = const { RefCell::new(Vec::new()) };
}

/// The destructors of thread-locals run in the reverse order of first uses, or in another one. So the thread's first wait comes
/// before the first use, after it, or in the destructor itself.
#[test]
fn a_thread_waits_while_its_locals_are_dropped() {
    watchdog("a thread waits while its locals are dropped", || {
        for round in 0..rounds(30) {
            let farewell: &'static Farewell = Box::leak(Box::default());
            let sleep_once = || {
                let never = AtomicU32::new(0);
                assert_eq!(never.wait_for(0, Relaxed, Duration::from_millis(1)), Err(TimedOut));
            };
            thread::scope(|scope| {
                let leaver = spawn(scope, "waits at its end", move || {
                    if round % 3 == 0 {
                        sleep_once();
                    }
                    AT_THE_END.with_borrow_mut(|list| list.push(AtTheEnd(farewell)));
                    if round % 3 == 1 {
                        sleep_once();
                    }
                });
                assert_eq!(farewell.leaving.wait(0, Acquire), 1);
                if round % 2 == 0 {
                    stay_until_asleep(leaver.id());
                }
                farewell.may_go.store(1, Release);
                farewell.may_go.notify_all();
            });
        }
    });

    /// [`common::Worker`] takes a thread whose body has returned for one that has ended.
    fn stay_until_asleep(id: i32) {
        use common::threads::Activity;

        common::stay_awake_until(|| Activity::of(id).is_none_or(|activity| activity.sleeps()));
    }
}

/// Each thread waits for its turn once, hands over to the next one and is gone: nodes live where those of others were.
#[test]
fn threads_come_and_go() {
    const AT_ONCE: u32 = 12;

    watchdog("threads come and go", || {
        let (turn, seen) = (AtomicU32::new(0), AtomicU64::new(0));
        let last = rounds(800);
        thread::scope(|scope| {
            let mut workers = std::collections::VecDeque::new();
            for number in 0..last {
                let (turn, seen) = (&turn, &seen);
                workers.push_back(spawn(scope, format!("thread {number}"), move || {
                    let mut now = turn.load(Relaxed);
                    while now != number {
                        let timeout = Duration::from_micros(u64::from(number) * 37 % 200);
                        now = if number % 3 == 0 {
                            turn.wait_for(now, Acquire, timeout).unwrap_or(now)
                        } else {
                            turn.wait(now, Acquire)
                        };
                    }
                    seen.fetch_add(1, Relaxed);
                    turn.store(number + 1, Release);
                    turn.notify_all();
                }));
                if workers.len() >= AT_ONCE as usize {
                    workers.pop_front().unwrap().join();
                }
            }
        });
        assert_eq!(seen.into_inner(), u64::from(last));
    });
}

/// In the child of a fork nobody waits and nobody holds a lock, whatever the parent's threads were about. A notification there
/// returns at once, and new waits work. In the parent nothing has changed.
#[test]
#[cfg(target_os = "linux")]
fn a_forked_child_starts_afresh() {
    use common::child::{assert_success, in_a_child};

    if cfg!(waitline_force_parking) {
        println!("skipped: parking_lot_core keeps its queues over a fork");
        return;
    }
    // A process with no threads but those below.
    assert_success(in_a_child("a_forked_child_starts_afresh", || watchdog("fork", fork_among_waiters)));
}

#[cfg(target_os = "linux")]
fn fork_among_waiters() {
    use common::threads::until_all_asleep;

    const FLAGS: usize = 8;

    let flags: [AtomicU8; FLAGS] = std::array::from_fn(|_| AtomicU8::new(0));
    let (busy, over) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let sleepers: Vec<_> = (flags.iter().cycle().take(2 * FLAGS))
            .map(|flag| spawn(scope, "sleeps in the parent", || flag.wait(0, Relaxed)))
            .collect();
        until_all_asleep(&sleepers);
        // So that there are locks held and queues half changed at the moment of a fork.
        for number in 0..3 {
            let (busy, over) = (&busy, &over);
            spawn(scope, format!("busy in the parent: {number}"), move || {
                while !over.load(Relaxed) {
                    let _ = busy.wait_for(0, Relaxed, Duration::from_micros(5));
                    busy.notify_all();
                }
            });
        }
        for round in 0..rounds(150) {
            jitter(round);
            // SAFETY: what the child does needs no lock but the allocator's, which a fork leaves free.
            match unsafe { libc::fork() } {
                0 => {
                    // SAFETY: the watchdog: ends the process if it hangs.
                    unsafe { libc::alarm(30) };
                    wait_in_the_child(&flags, &busy, round);
                    // SAFETY: nothing of this process is to be cleaned up.
                    unsafe { libc::_exit(0) }
                }
                child => {
                    assert!(child > 0, "{}", std::io::Error::last_os_error());
                    let mut status = 0;
                    // SAFETY: a child of this process, and room for its status.
                    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                    assert_eq!(status, 0, "round {round}: how the child ended");
                }
            }
        }
        over.store(true, Relaxed);
        until_all_asleep(&sleepers);
        for flag in &flags {
            flag.store(1, Relaxed);
            flag.notify_all();
        }
    });
}

/// Ends with the process, by a panic at the latest.
#[cfg(target_os = "linux")]
fn wait_in_the_child(flags: &[AtomicU8], busy: &AtomicU32, round: u32) {
    let told = std::panic::catch_unwind(|| {
        for flag in flags {
            if round % 2 == 0 { flag.notify_one() } else { flag.notify_all() }
        }
        busy.notify_all();
        for flag in flags {
            assert_eq!(flag.wait_for(0, Relaxed, Duration::from_micros(50)), Err(TimedOut));
        }
        assert_eq!(busy.wait_for(0, Relaxed, Duration::from_micros(50)), Err(TimedOut));
        // Threads of the child's own, now and then, on the parent's flag and back.
        if round % 8 == 0 {
            thread::scope(|scope| {
                scope.spawn(|| {
                    assert_eq!(flags[0].wait(0, Acquire), 1);
                    busy.store(1, Release);
                    busy.notify_one();
                });
                flags[0].store(1, Release);
                flags[0].notify_one();
                assert_eq!(busy.wait(0, Acquire), 1);
            });
        }
    });
    if told.is_err() {
        // SAFETY: nothing of this process is to be cleaned up.
        unsafe { libc::_exit(1) }
    }
}
