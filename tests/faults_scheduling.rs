//! Threads that do not get to run: while their whole process is stopped, and in the scheduler's last row beside busy ones.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "system calls")]

mod common;

use std::io;
use std::process::Child;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::thread;
use std::time::{Duration, Instant};

use common::child::{assert_success, in_a_child_beside};
use common::crowd::{TIMED, assert_add_up, assert_all_came, in_each, patient, satisfy_all, spawn_all};
use common::threads::{current_id, until_all_asleep};
use common::{
    Form, Subject, Wait, all_at_once, jitter, linux, out_of_the_way_until, pools, rounds, spawn, subjects, watchdog,
};

// A process that is stopped.

/// Sends SIGSTOP or SIGCONT to a process.
fn signal(process: &Child, signal: i32) {
    // SAFETY: has no preconditions. Nobody has waited for the process to end, so its number is its own.
    let status = unsafe { libc::kill(process.id() as libc::pid_t, signal) };
    assert_eq!(status, 0, "{}", io::Error::last_os_error());
}

/// Returns `true` when the process has been stopped, `false` when it has ended.
fn until_stopped(process: &Child) -> bool {
    // SAFETY: all zeroes is one of its values.
    let mut news: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let events = libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT;
    // SAFETY: there is room for the answer.
    let status = unsafe { libc::waitid(libc::P_PID, process.id(), &raw mut news, events) };
    assert_eq!(status, 0, "{}", io::Error::last_os_error());
    news.si_code == libc::CLD_STOPPED
}

/// Waits whose time comes meanwhile time out, unless what they wait for comes as soon as the process goes on. Others sleep on.
#[test]
fn time_goes_on_while_the_process_is_stopped() {
    /// Doubled from try to try: on a busy machine it takes a while until all waits have begun.
    const SOON: Duration = Duration::from_millis(400);

    let scenario = || {
        watchdog("a process that is stopped", || {
            let mut soon = SOON;
            while !sleep_through_a_stop(soon) {
                soon *= 2;
            }
        });
    };
    let output = in_a_child_beside("time_goes_on_while_the_process_is_stopped", scenario, |child| {
        let mut soon = SOON;
        while until_stopped(child) {
            thread::sleep(soon);
            signal(child, libc::SIGCONT);
            soon *= 2;
        }
    });
    assert_success(output);
}

/// Stops the process while many threads wait; whoever started it lets it go on after `soon`. Whether the waits that take no
/// longer than that were all in progress when it was stopped.
fn sleep_through_a_stop(soon: Duration) -> bool {
    let (patient, late, lucky) = (in_each(patient()), in_each(TIMED), in_each(TIMED));
    let ended = AtomicUsize::new(0);
    let impatiently = |subject: &dyn Subject, form: &usize| {
        let (start, wait) = (Instant::now(), Wait::within(soon)[*form]);
        let came = subject.wait(wait);
        ended.fetch_add(1, SeqCst);
        assert!(came || wait.is_due(start), "{}, {wait:?}: early", subject.name());
        came
    };
    let impatiently = &impatiently;
    thread::scope(|scope| {
        let sleepers = spawn_all(scope, "patient", &patient, |subject, wait| subject.wait(*wait));
        until_all_asleep(&sleepers);
        let late_ones = spawn_all(scope, "late", &late, impatiently);
        let lucky_ones = spawn_all(scope, "served at once", &lucky, impatiently);
        out_of_the_way_until(|| late_ones.iter().chain(&lucky_ones).all(|one| one.sleeps() || one.has_ended()));
        let ended_before = ended.load(SeqCst);

        linux::send(current_id(), libc::SIGSTOP); // here it goes on
        satisfy_all(&lucky);

        for ((subject, form), worker) in late.iter().zip(late_ones) {
            assert!(!worker.join(), "{}, form {form}: nobody released", subject.name());
        }
        assert_add_up(&lucky, lucky_ones);
        until_all_asleep(&sleepers);
        satisfy_all(&patient);
        assert_all_came(&patient, sleepers);
        ended_before == 0
    })
}

/// Stopped at any point of a wait and of what ends it, and continued a moment later, again and again.
#[test]
fn stops_at_any_moment_lose_nothing() {
    let scenario = || {
        struct Round {
            subject: Box<dyn Subject>,
            /// A timed form, whose time is up at about the time of the release. Or else the untimed one.
            form: Option<(usize, Duration)>,
            number: u32,
            came: AtomicBool,
        }
        watchdog("stops at any moment", || {
            for subject in subjects() {
                let form = |round: u32| {
                    let micros = Duration::from_micros(u64::from(round) % 11);
                    TIMED.get(round as usize % 5).map(|form| (*form, micros))
                };
                let objects: Vec<_> = (0..rounds(400))
                    .map(|number| Round {
                        subject: subject.fresh(),
                        form: form(number),
                        number,
                        came: AtomicBool::new(false),
                    })
                    .collect();
                let waiter = |round: &Round| {
                    let wait = round.form.map_or(Wait::Untimed, |(form, timeout)| Wait::within(timeout)[form]);
                    round.came.store(round.subject.wait(wait), Relaxed);
                };
                let other = |round: &Round| {
                    (0..4).for_each(|_| jitter(round.number));
                    round.subject.satisfy();
                };
                all_at_once(&subject.name(), &objects, &[&waiter, &other]);
                for Round { subject, form, came, .. } in objects {
                    assert!(subject.adds_up(came.into_inner()), "{}, {form:?}", subject.name());
                }
            }
        });
    };
    let output = in_a_child_beside("stops_at_any_moment_lose_nothing", scenario, |child| {
        let mut stops = 0_u32;
        while child.try_wait().unwrap().is_none() {
            // Most of the time it runs. How long, no order depends on.
            thread::sleep(Duration::from_micros(u64::from(stops) * 137 % 1500));
            signal(child, libc::SIGSTOP);
            thread::sleep(Duration::from_micros(u64::from(stops) * 61 % 400));
            signal(child, libc::SIGCONT);
            stops += 1;
        }
        println!("{stops} stops");
        assert!(stops > 1);
    });
    assert_success(output);
}

// The scheduler's last row, in which a thread runs when nobody else wants its processor, or for a thousandth of the time.

/// Runs `body` beside as many busy threads as there are processors. Should it take longer than a second, they let it go on alone.
fn beside_busy_threads<T>(body: impl FnOnce() -> T) -> T {
    const ENOUGH: Duration = Duration::from_secs(1);

    let over = AtomicBool::new(false);
    let processors = thread::available_parallelism().unwrap().get();
    thread::scope(|scope| {
        for number in 0..processors {
            let over = &over;
            spawn(scope, format!("busy: {number}"), move || {
                let start = Instant::now();
                while !over.load(Relaxed) && start.elapsed() < ENOUGH {
                    std::hint::spin_loop();
                }
            });
        }
        let outcome = body();
        over.store(true, Relaxed);
        outcome
    })
}

/// Whoever waits sleeps meanwhile, and lets the releaser have the processor.
#[test]
fn releases_from_the_last_row_arrive() {
    watchdog("releases from the last row", || {
        for asleep_before in [true, false] {
            let calls = in_each(patient());
            beside_busy_threads(|| {
                thread::scope(|scope| {
                    let waiters = spawn_all(scope, "beside busy threads", &calls, |subject, wait| subject.wait(*wait));
                    if asleep_before {
                        until_all_asleep(&waiters);
                    }
                    spawn(scope, "releases from the last row", || {
                        linux::run_last();
                        satisfy_all(&calls);
                    });
                    assert_all_came(&calls, waiters);
                });
            });
        }
    });
}

/// A thread in the last row takes permits, and others come and want them back.
#[test]
fn what_the_last_row_holds_comes_back() {
    watchdog("permits held in the last row", || {
        beside_busy_threads(|| {
            for pool in pools() {
                let permits = pool.give(pool.size(), true);
                let borrow = |rounds: u32| {
                    for round in 0..rounds {
                        let form = Form::all().nth(round as usize % (Wait::TIMED + 2)).unwrap();
                        if let Some(held) = pool.take(form.start()) {
                            assert_eq!(pool.available(), 0, "{}", pool.name());
                            assert_eq!(held.give_back(), permits, "{}", pool.name());
                        }
                    }
                };
                thread::scope(|scope| {
                    for number in 0..2 {
                        spawn(scope, format!("{}: borrower {number}", pool.name()), || borrow(rounds(60)));
                    }
                    spawn(scope, format!("{}: borrower in the last row", pool.name()), || {
                        linux::run_last();
                        borrow(rounds(6));
                    });
                });
                assert_eq!(pool.available(), permits, "{}", pool.name());
            }
        });
    });
}

/// Those that wait are in the last row, and a busy thread keeps them there until it has given them what they wait for, before
/// their time has come or after it.
#[test]
fn waiters_in_the_last_row_lose_nothing() {
    const SOON: Duration = Duration::from_millis(60);

    let serve = |later: Duration| {
        linux::stay_on_this_processor();
        let calls = in_each(TIMED);
        thread::scope(|scope| {
            let waiters = spawn_all(scope, "in the last row", &calls, |subject, form| {
                linux::run_last();
                let (start, wait) = (Instant::now(), Wait::within(SOON)[*form]);
                let came = subject.wait(wait);
                assert!(came || wait.is_due(start), "{}, {wait:?}: early", subject.name());
                came
            });
            out_of_the_way_until(|| waiters.iter().all(|waiter| waiter.sleeps() || waiter.has_ended()));
            let start = Instant::now();
            while start.elapsed() < later {
                std::hint::spin_loop();
            }
            satisfy_all(&calls);
            assert_add_up(&calls, waiters);
        });
    };
    watchdog("waiters in the last row", || {
        for later in [Duration::ZERO, SOON / 2, SOON] {
            thread::scope(|scope| spawn(scope, "gives them what they wait for", || serve(later)).join());
        }
    });
}
