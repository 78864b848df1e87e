//! Threads that end while others wait: after a wait in vain, right after a release, in the middle of their own end, and by a
//! panic with something in their hands.

mod common;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use common::atomic_wait::Changed;
use common::crowd::patient;
use common::latch::Opening;
use common::oneshot::{Lent, borrow, recv, settle};
use common::threads::{Activity, until_all_asleep};
use common::{Held, Subject, Wait, pools, rounds, spawn, subjects, watchdog};
use waitline::oneshot::{RecvTimeoutError, channel};

const SOON: Duration = Duration::from_micros(500);

/// Runs `body` in a thread, to the very end of that.
fn in_a_thread<T: Send>(name: &str, body: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| spawn(scope, name, body).join())
}

/// Runs `body` in a thread that ends by a panic, with what `body` returns in its hands.
fn in_a_thread_that_panics<T>(name: &str, body: impl FnOnce() -> T + Send) {
    struct Unlucky;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        in_a_thread(name, || {
            let _in_its_hands = body();
            resume_unwind(Box::new(Unlucky)); // a panic that nobody prints
        });
    }));
    assert!(outcome.unwrap_err().is::<Unlucky>(), "{name}");
}

/// Threads that gave up and ended are not missed, on the same object, and nor is one that released and ended.
#[test]
fn threads_that_are_gone_are_not_missed() {
    watchdog("threads that are gone", || {
        for subject in subjects() {
            for wait in patient() {
                let subject = subject.fresh();
                for form in 0..Wait::TIMED {
                    let gave_up = in_a_thread("gives up", || !subject.wait(Wait::within(SOON)[form]));
                    assert!(gave_up, "{}, form {form}", subject.name());
                }
                thread::scope(|scope| {
                    let waiter = spawn(scope, format!("{}, {wait:?}", subject.name()), || subject.wait(wait));
                    waiter.until_asleep();
                    in_a_thread("releases", || subject.satisfy());
                    assert!(waiter.join() && subject.adds_up(true), "{}, {wait:?}", subject.name());
                });
            }
        }
    });
}

/// The same while others sleep on the object, of those that are waited on by many.
#[test]
fn threads_that_leave_and_end_among_sleepers_take_nothing_along() {
    let mut shared: Vec<(Box<dyn Subject>, usize)> = Vec::new();
    shared.extend(pools().into_iter().map(|pool| (pool.fresh(), 2)));
    shared.extend(Changed::all().map(|changed| (changed.fresh(), 2)));
    // Whoever waits for these is served by one call for all.
    shared.push((Box::new(Opening::new()), 1));
    shared.push((Box::new(Lent::new()), 1));
    watchdog("threads that leave and end among sleepers", || {
        for (subject, calls) in &shared {
            for round in 0..rounds(3) as usize {
                let subject = subject.fresh();
                thread::scope(|scope| {
                    let stay = |number: usize| {
                        let subject = &subject;
                        let wait = patient()[(round + number) % 3];
                        let name = format!("{}, {wait:?}: sleeper {number}", subject.name());
                        spawn(scope, name, move || subject.wait(wait))
                    };
                    let first = stay(0);
                    first.until_asleep();
                    for form in 0..Wait::TIMED {
                        let gave_up =
                            in_a_thread("gives up among sleepers", || !subject.wait(Wait::within(SOON)[form]));
                        assert!(gave_up, "{}, form {form}", subject.name());
                    }
                    let sleepers = [first, stay(1)];
                    until_all_asleep(&sleepers);
                    for _ in 0..*calls {
                        in_a_thread("releases", || subject.satisfy());
                        // A binary semaphore counts the second one once the first has been received.
                        common::stay_awake_until(|| sleepers.iter().any(|sleeper| sleeper.has_ended()));
                    }
                    assert!(sleepers.into_iter().all(|sleeper| sleeper.join()), "{}", subject.name());
                });
            }
        }
    });
}

/// What a thread does as the last of all things: it waits in vain, says that it is about to go, and waits until it may.
struct Farewell {
    in_vain: Box<dyn Subject>,
    leaving: Box<dyn Subject>,
    may_go: Box<dyn Subject>,
    wait: Wait,
    /// Nothing came in vain, and the leave did.
    went_well: AtomicBool,
}

struct AtTheEnd(Arc<Farewell>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        let farewell = &self.0;
        let in_vain = farewell.in_vain.wait(Wait::For(SOON));
        farewell.leaving.satisfy();
        let came = farewell.may_go.wait(farewell.wait);
        farewell.went_well.store(came && !in_vain, Relaxed);
    }
}

thread_local! {
    static AT_THE_END: RefCell<Vec<AtTheEnd>> = const { RefCell::new(Vec::new()) };
}

/// Destructors of thread-locals run in the reverse order of first uses, or in another one. So what waits rest on may be gone
/// already: the thread's first wait comes before the first use, after it, or in the destructor itself.
#[test]
fn threads_wait_and_release_in_the_middle_of_their_end() {
    watchdog("threads in the middle of their end", || {
        for subject in subjects() {
            for (round, wait) in patient().into_iter().enumerate() {
                let farewell = Arc::new(Farewell {
                    in_vain: subject.fresh(),
                    leaving: subject.fresh(),
                    may_go: subject.fresh(),
                    wait,
                    went_well: AtomicBool::new(false),
                });
                let wait_once = || assert!(!subject.wait(Wait::For(SOON)));
                thread::scope(|scope| {
                    let leaver = spawn(scope, format!("{}, {wait:?}, at its end", subject.name()), || {
                        if round == 0 {
                            wait_once();
                        }
                        AT_THE_END.with_borrow_mut(|list| list.push(AtTheEnd(Arc::clone(&farewell))));
                        if round == 1 {
                            wait_once();
                        }
                    });
                    assert!(farewell.leaving.wait(Wait::Untimed));
                    // Its body has returned, which is all that a worker knows of its end.
                    let id = leaver.id();
                    common::stay_awake_until(|| Activity::of(id).is_none_or(|activity| activity.sleeps()));
                    farewell.may_go.satisfy();
                    leaver.join();
                });
                assert!(farewell.went_well.load(Relaxed), "{}, {wait:?}", subject.name());
                assert!(farewell.leaving.adds_up(true) && farewell.may_go.adds_up(true), "{}", subject.name());
            }
        }
    });
}

/// Permits in guards go back to those who wait for them.
#[test]
fn a_panic_lets_go_of_permits() {
    watchdog("a panic lets go of permits", || {
        for wait in patient() {
            for pool in pools() {
                pool.give(pool.size(), true);
                let held = match pool.take(Wait::Try).unwrap() {
                    Held::Plain(_) => continue,
                    guard => guard,
                };
                thread::scope(|scope| {
                    let waiter = spawn(scope, format!("{}, {wait:?}", pool.name()), || pool.wait(wait));
                    waiter.until_asleep();
                    in_a_thread_that_panics(&format!("{}: holds", pool.name()), || held);
                    assert!(waiter.join() && pool.available() == 0, "{}, {wait:?}", pool.name());
                });
            }
        }
    });
}

/// Nothing more will come, and everybody hears of it.
#[test]
fn a_panic_loses_senders() {
    watchdog("a panic loses senders", || {
        for wait in patient() {
            let [(first, receiver), (second, settled), (third, shared)] = [(); 3].map(|()| channel::<u32>());
            let shared = shared.share();
            thread::scope(|scope| {
                let receiving = spawn(scope, format!("recv, {wait:?}"), move || recv(&receiver, wait).err());
                let settling = spawn(scope, format!("wait, {wait:?}"), move || settle(&settled, wait).is_ok());
                let sharing = [shared.clone(), shared]
                    .map(|shared| spawn(scope, format!("shared, {wait:?}"), move || borrow(&shared, wait).err()));
                receiving.until_asleep();
                settling.until_asleep();
                until_all_asleep(&sharing);
                in_a_thread_that_panics("has the senders", || [first, second, third]);
                assert_eq!(receiving.join(), Some(RecvTimeoutError::Disconnected), "{wait:?}");
                assert!(settling.join(), "{wait:?}");
                for shared in sharing {
                    assert_eq!(shared.join(), Some(RecvTimeoutError::Disconnected), "{wait:?}");
                }
            });
        }
    });
}

/// What programs do by guards of their own, for all that has none.
#[test]
fn a_panic_releases_what_a_guard_says() {
    struct Release<'a>(&'a dyn Subject);

    impl Drop for Release<'_> {
        fn drop(&mut self) {
            assert!(thread::panicking());
            self.0.satisfy();
        }
    }

    watchdog("a panic releases what a guard says", || {
        for subject in subjects() {
            for wait in patient() {
                let subject = subject.fresh();
                thread::scope(|scope| {
                    let waiter = spawn(scope, format!("{}, {wait:?}", subject.name()), || subject.wait(wait));
                    waiter.until_asleep();
                    in_a_thread_that_panics("has a guard", || Release(&*subject));
                    assert!(waiter.join() && subject.adds_up(true), "{}, {wait:?}", subject.name());
                });
            }
        }
    });
}

/// A process goes on after its main thread has ended, unless that returned from `main`.
#[test]
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a system call that ends one thread")]
fn the_main_thread_may_be_gone() {
    use common::child::{assert_success, in_a_child};
    use common::crowd::{TIMED, assert_all_came, in_each, satisfy_all, spawn_all};
    use common::linux;

    extern "C" fn leave(_signal: i32) {
        // SAFETY: the one who asked for it knows that nobody needs the thread any more.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }

    let output = in_a_child("the_main_thread_may_be_gone", || {
        watchdog("the main thread is gone", || {
            let main_thread = std::process::id() as i32;
            assert_ne!(common::threads::current_id(), main_thread);
            let (before, after) = (in_each(patient()), in_each(patient()));
            thread::scope(|scope| {
                let wait = |subject: &dyn Subject, wait: &Wait| subject.wait(*wait);
                let early = spawn_all(scope, "before", &before, wait);
                until_all_asleep(&early);
                linux::handle(libc::SIGUSR1, false, leave);
                linux::send(main_thread, libc::SIGUSR1);
                let status = || std::fs::read_to_string(format!("/proc/self/task/{main_thread}/status"));
                common::stay_awake_until(|| status().is_ok_and(|status| status.contains("Z (zombie)")));
                let late = spawn_all(scope, "afterwards", &after, wait);
                for (subject, form) in in_each(TIMED) {
                    assert!(!subject.wait(Wait::within(SOON)[form]), "{}, form {form}", subject.name());
                }
                for (calls, waiters) in [(&before, early), (&after, late)] {
                    until_all_asleep(&waiters);
                    satisfy_all(calls);
                    assert_all_came(calls, waiters);
                }
            });
        });
    });
    // With the status that the main thread left behind.
    assert_success(output);
}
