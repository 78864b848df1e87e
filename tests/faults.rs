//! What the world does to a waiting thread: signals, sandboxes without the newer system calls, a clock with another
//! origin, and memory that is gone as soon as the wait is over.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "raw releases, and memory that goes away")]

mod common;

use std::process::Command;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use common::linux::{self, Flag, Page, Refused};
use common::{Gate, Subject, Wait, jitter, rounds, spawn, subjects, watchdog};
use waitline::{BinarySemaphore, Semaphore};

// Signals.

static SIGNALS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_signal: i32) {
    SIGNALS.fetch_add(1, Relaxed);
}

/// firebase #1021, glibc 26964, wasmtime#5312: an interrupted wait was reported as a timeout or as a success, or
/// (mono #2655) started its timeout anew and, interrupted more often than that, never ended.
fn in_a_storm(signal: i32, restart: bool) {
    linux::handle(signal, restart, count);
    let before = SIGNALS.load(Relaxed);
    thread::scope(|scope| {
        for subject in subjects() {
            spawn(scope, format!("{} in a storm", subject.name()), move || {
                linux::in_a_storm_of(signal, || {
                    for form in 0..Wait::TIMED {
                        let wait = Wait::within(Duration::from_millis(15))[form];
                        let start = Instant::now();
                        assert!(!subject.wait(wait), "{}, {wait:?}: nobody released", subject.name());
                        assert!(wait.is_due(start), "{}, {wait:?}: early", subject.name());
                    }
                });
            });
        }
    });
    assert!(SIGNALS.load(Relaxed) > before, "no signal came");
}

#[test]
fn signals_that_interrupt_end_no_wait() {
    watchdog("signals that interrupt", || in_a_storm(libc::SIGUSR1, false));
}

#[test]
fn signals_that_restart_end_no_wait() {
    watchdog("signals that restart", || in_a_storm(libc::SIGUSR2, true));
}

/// A wait that has no end goes through a storm, and still ends when it should.
#[test]
fn a_release_finds_a_waiter_in_a_storm() {
    linux::handle(libc::SIGURG, false, count);
    watchdog("a release finds a waiter in a storm", || {
        for subject in subjects() {
            for wait in [Wait::Untimed, Wait::For(Duration::MAX), Wait::For(Duration::from_secs(86_400))] {
                let subject = subject.fresh();
                thread::scope(|scope| {
                    let waiter = spawn(scope, format!("{}, {wait:?}, in a storm", subject.name()), || {
                        linux::in_a_storm_of(libc::SIGURG, || subject.wait(wait))
                    });
                    let before = SIGNALS.load(Relaxed);
                    common::stay_awake_until(|| SIGNALS.load(Relaxed) >= before + 3);
                    assert!(!waiter.has_ended(), "{}, {wait:?}: nobody released", subject.name());
                    subject.satisfy();
                    assert!(waiter.join(), "{}, {wait:?}", subject.name());
                });
            }
        }
    });
}

/// parking_lot#533, CCCL #7538: the kernel says that the time is up, and by the time the waiter hears of it, what it
/// waited for has come. The waiter is held in a signal handler exactly there, between the kernel's verdict and the
/// return of the system call; the release comes meanwhile.
#[test]
fn what_comes_between_expiry_and_the_last_look_is_taken() {
    if cfg!(waitline_force_parking) {
        println!(
            "skipped: the waiter might be held while it has a lock of parking_lot_core's, which the release needs"
        );
        return;
    }

    static IN_CALL: Flag = Flag::new();
    static IN_HANDLER: Flag = Flag::new();
    static RELEASED: Flag = Flag::new();

    /// Only in the call: what the thread does before and after may have taken locks of the C library.
    extern "C" fn hold(_signal: i32) {
        if !IN_CALL.is_set() {
            return;
        }
        IN_HANDLER.set(true);
        RELEASED.until_set();
    }

    /// `None` if the waiter ran at the wrong time, so that the round says nothing.
    fn verdict(subject: &dyn Subject, form: usize, signal: i32) -> Option<bool> {
        const TIMEOUT: Duration = Duration::from_millis(8);

        IN_HANDLER.set(false);
        RELEASED.set(false);
        let subject = subject.fresh();
        thread::scope(|scope| {
            let waiter = spawn(scope, format!("{}, form {form}, held back", subject.name()), || {
                linux::run_last();
                IN_CALL.set(true);
                let taken = subject.wait(Wait::within(TIMEOUT)[form]);
                IN_CALL.set(false);
                taken
            });
            let mut before = None;
            common::out_of_the_way_until(|| {
                let time = linux::time_run(waiter.id());
                let asleep = IN_CALL.is_set() && waiter.sleeps();
                before = time.filter(|_| asleep);
                asleep || waiter.has_ended()
            });
            // On the waiter's processor, and ahead of it: the timer fires, and the waiter does not run.
            let expiry = Instant::now() + TIMEOUT * 3 / 2;
            while Instant::now() < expiry {
                std::hint::spin_loop();
            }
            linux::send(waiter.id(), signal);
            let undisturbed = before.is_some() && linux::time_run(waiter.id()) == before;
            common::out_of_the_way_until(|| waiter.has_ended() || IN_HANDLER.is_set());
            subject.satisfy();
            RELEASED.set(true);
            let taken = waiter.join();
            assert!(subject.adds_up(taken), "{}, form {form}", subject.name());
            undisturbed.then_some(taken)
        })
    }

    let signal = libc::SIGRTMIN();
    linux::handle(signal, false, hold);
    watchdog("between expiry and the last look", || {
        thread::scope(|scope| {
            let held = spawn(scope, "the one that holds waiters back", || {
                linux::stay_on_this_processor();
                let subjects = subjects();
                let mut open: Vec<_> =
                    subjects.iter().flat_map(|subject| (0..Wait::TIMED).map(move |form| (subject, form))).collect();
                // On a busy machine some stay open: those who run last may not run for long.
                let patience = Instant::now() + Duration::from_secs(4);
                while !open.is_empty() && Instant::now() < patience {
                    open.retain(|&(subject, form)| {
                        let verdict = (Instant::now() < patience).then(|| verdict(&**subject, form, signal)).flatten();
                        assert_ne!(verdict, Some(false), "{}, form {form}: no last look", subject.name());
                        verdict.is_none()
                    });
                }
                println!("{} of {} could not be brought about", open.len(), subjects.len() * Wait::TIMED);
            });
            held.join();
        });
    });
}

// Sandboxes and clocks. Filters are for good and the crate remembers what is missing, so each has a process of its
// own: this test program, started again for one test.

const IN_CHILD: &str = "WAITLINE_TEST_CHILD";

/// Whether this is the process that may spoil itself. Else it starts that one and expects it to end well.
fn in_child(test: &str, case: &str) -> bool {
    if common::is_emulated() {
        return false;
    }
    if std::env::var_os(IN_CHILD).is_some() {
        return std::env::var(IN_CHILD).unwrap() == case;
    }
    let program = std::env::current_exe().unwrap();
    expect_success(Command::new(program).args([test, "--exact", "--nocapture"]).env(IN_CHILD, case));
    false
}

#[track_caller]
fn expect_success(command: &mut Command) {
    let output = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{stdout}\n{stderr}", output.status);
}

/// moby#42871, containers' default profiles, gVisor: newer system calls answer ENOSYS or EPERM, in some threads of a
/// process, from some moment on. Waits go on with what is left.
#[test]
fn waits_work_without_the_newer_system_calls() {
    for refused in [&[Refused::Waitv][..], &[Refused::Waitv, Refused::WaitBitset], &[Refused::WaitBitset]] {
        for errno in [libc::ENOSYS, libc::EPERM] {
            let case = format!("{refused:?} {errno}");
            if in_child("waits_work_without_the_newer_system_calls", &case) {
                let enter = || linux::sandbox(refused, errno).unwrap();
                watchdog(&case, || {
                    thread::scope(|scope| {
                        spawn(scope, "beside the sandboxes", || all_waits_work(&|| {}));
                        all_waits_work(&enter);
                    });
                    all_waits_work(&|| {});
                });
            }
        }
    }
}

/// Every form, to its end by time and to its end by a release, each in a thread that does `first` first.
fn all_waits_work(first: &(dyn Fn() + Sync)) {
    let in_thread = |subject: &dyn Subject, wait: Wait, meanwhile: &dyn Fn(&common::Worker<'_, bool>)| {
        thread::scope(|scope| {
            let waiter = spawn(scope, format!("{}, {wait:?}", subject.name()), || {
                first();
                let start = Instant::now();
                let came = subject.wait(wait);
                assert!(came || wait.is_due(start), "{}, {wait:?}: early", subject.name());
                came
            });
            meanwhile(&waiter);
            waiter.join()
        })
    };
    for subject in subjects() {
        for wait in Wait::within(Duration::from_millis(2)) {
            assert!(!in_thread(&*subject, wait, &|_| ()), "{}, {wait:?}", subject.name());
        }
        for wait in Wait::within(Duration::from_secs(3600)).into_iter().chain([Wait::Untimed]) {
            let subject = subject.fresh();
            let release = |waiter: &common::Worker<'_, bool>| {
                waiter.until_asleep();
                subject.satisfy();
            };
            assert!(in_thread(&*subject, wait, &release), "{}, {wait:?}", subject.name());
        }
    }
}

/// Waits on a monotonic clock that has another origin than the kernel's own, as in a container that was moved.
#[test]
fn waits_work_in_a_time_namespace() {
    const TEST: &str = "waits_work_in_a_time_namespace";

    if common::is_emulated() {
        return;
    }
    if std::env::var_os(IN_CHILD).is_some() {
        return watchdog("waits in a time namespace", || all_waits_work(&|| {}));
    }
    for offset in ["100000", "4000000000", "4400000000"] {
        let unshare = || {
            let mut command = Command::new("unshare");
            command.args(["--time", "--monotonic", offset, "--boottime", offset, "--fork"]);
            command
        };
        if !unshare().arg("true").output().is_ok_and(|output| output.status.success()) {
            println!("no time namespaces here, or not for this user");
            return;
        }
        let program = std::env::current_exe().unwrap();
        expect_success(unshare().arg(program).args([TEST, "--exact", "--nocapture"]).env(IN_CHILD, offset));
    }
}

// Memory. glibc 12674, FreeBSD D7505, folly 7886827, MS STL's counting release: a release touched the semaphore after
// the thread that it let go had freed it.

/// A raw release and the waits that it can meet, for any semaphore. Even forms sleep.
trait Mortal: Sized {
    fn create() -> Self;
    /// # Safety
    /// As for the raw releases.
    unsafe fn release_raw(this: *const Self);
    fn acquire(&self, form: u32);
}

impl Mortal for Semaphore {
    fn create() -> Semaphore {
        Semaphore::new(0)
    }

    unsafe fn release_raw(this: *const Semaphore) {
        // SAFETY: the caller's promise.
        unsafe { Semaphore::release_raw(this, 2) }
    }

    fn acquire(&self, form: u32) {
        match form % 4 {
            0 => self.acquire_many(2),
            1 => {
                while !self.try_acquire_many(2) {
                    thread::yield_now();
                }
            }
            2 => (0..2).for_each(|_| self.acquire()),
            _ => while !self.try_acquire_many_for(2, Duration::from_nanos(1)) {},
        }
    }
}

impl Mortal for BinarySemaphore {
    fn create() -> BinarySemaphore {
        BinarySemaphore::new(false)
    }

    unsafe fn release_raw(this: *const BinarySemaphore) {
        // SAFETY: the caller's promise.
        let counted = unsafe { BinarySemaphore::release_raw(this) };
        assert!(counted);
    }

    fn acquire(&self, form: u32) {
        match form % 4 {
            0 => self.acquire(),
            1 => {
                while !self.try_acquire() {
                    thread::yield_now();
                }
            }
            2 => assert!(self.try_acquire_for(Duration::from_secs(3600))),
            _ => while !self.try_acquire_for(Duration::from_nanos(1)) {},
        }
    }
}

/// Rounds in which one thread makes a semaphore at `place`, waits on it and ends it by `end`, and another releases
/// it, half of the time once the waiter sleeps.
fn die_at_once<S: Mortal>(what: &str, place: impl Fn() -> *mut S + Sync, end: impl Fn(*mut S) + Sync) {
    let gate = Gate::new(2);
    let address = AtomicPtr::new(std::ptr::null_mut::<S>());
    let rounds = rounds(500);
    thread::scope(|scope| {
        let owner = spawn(scope, format!("{what}: owner"), || {
            for round in 0..rounds {
                let this = place();
                // SAFETY: room for one, and nobody else knows it yet.
                unsafe { this.write(S::create()) };
                address.store(this, Relaxed);
                gate.pass();
                // SAFETY: it lives until this thread ends it.
                unsafe { &*this }.acquire(round);
                end(this);
                gate.pass();
            }
        });
        for round in 0..rounds {
            gate.pass();
            let this = address.load(Relaxed);
            match round % 8 {
                0 | 4 => owner.until_asleep(),
                2 => thread::yield_now(),
                _ => jitter(round),
            }
            // SAFETY: the owner frees it only after it has taken what this releases.
            unsafe { S::release_raw(this) };
            gate.pass();
        }
    });
}

/// Any access to a page that is closed ends the process.
fn in_a_page_that_closes<S: Mortal>(what: &str) {
    let page = Page::new();
    watchdog(what, || {
        let place = || {
            page.open(true);
            page.start()
        };
        die_at_once::<S>(what, place, |_| page.open(false));
    });
}

/// For tools that watch the heap, such as AddressSanitizer.
fn in_a_freed_box<S: Mortal>(what: &str) {
    let place = || Box::into_raw(Box::<S>::new_uninit()).cast::<S>();
    watchdog(what, || {
        die_at_once::<S>(what, place, |this| {
            // SAFETY: it came from a box of this layout, and holds nothing that needs a drop.
            drop(unsafe { Box::from_raw(this) });
        });
    });
}

#[test]
fn a_semaphore_may_die_with_its_page() {
    in_a_page_that_closes::<Semaphore>("a semaphore dies with its page");
}

#[test]
fn a_binary_semaphore_may_die_with_its_page() {
    in_a_page_that_closes::<BinarySemaphore>("a binary semaphore dies with its page");
}

#[test]
fn a_semaphore_may_die_in_its_box() {
    in_a_freed_box::<Semaphore>("a semaphore dies in its box");
}

#[test]
fn a_binary_semaphore_may_die_in_its_box() {
    in_a_freed_box::<BinarySemaphore>("a binary semaphore dies in its box");
}
