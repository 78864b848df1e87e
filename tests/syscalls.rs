//! Calls that have nothing to wait for and nobody to wake make no system call, and allocate nothing.
//!
//! Each scenario runs in a process of its own, so that it also is the first use of the crate there: the test starts
//! its own binary again, for itself alone. In that process one thread puts itself under a seccomp filter that lets it
//! do nothing but report and end. Reading a clock is left to it: where the kernel can't serve that from memory that
//! it shares with the process, std has no other way than to call it.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "system calls, signals, an allocator")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{array, env, thread};

use common::spawn;
use common::threads::until_all_asleep;
use waitline::{BinarySemaphore, Deadline, Semaphore};

const ROUNDS: usize = 2_000;

#[test]
fn passed_deadlines_make_no_system_call() {
    assert_quiet("passed_deadlines_make_no_system_call", || {
        let fixture = Fixture::empty();
        forbid_system_calls();
        fixture.take_in_vain();
    });
}

#[test]
fn what_is_there_is_taken_and_given_back_without_a_system_call() {
    assert_quiet("what_is_there_is_taken_and_given_back_without_a_system_call", || {
        let fixture = Fixture::empty();
        forbid_system_calls();
        fixture.give_and_take();
    });
}

#[test]
fn nobody_is_woken_who_slept_and_timed_out() {
    assert_quiet("nobody_is_woken_who_slept_and_timed_out", || {
        let fixture = Fixture::empty();
        let soon = Duration::from_millis(1);
        for _ in 0..3 {
            assert!(!fixture.binary.try_acquire_for(soon));
            assert!(!fixture.binary.try_acquire_until(SystemTime::now() + soon));
            assert!(!fixture.counting.try_acquire_for(soon));
            assert!(!fixture.counting.try_acquire_until(SystemTime::now() + soon));
            assert!(!fixture.counting.try_acquire_many_for(3, soon));
            fixture.counting.release();
            assert!(!fixture.counting.try_acquire_many_until(3, Instant::now() + soon));
            assert!(fixture.counting.try_acquire(), "the piece is given back");
        }
        forbid_system_calls();
        fixture.take_in_vain();
        fixture.give_and_take();
    });
}

#[test]
fn nobody_is_woken_who_was_woken_before() {
    assert_quiet("nobody_is_woken_who_was_woken_before", || {
        let fixture = Fixture::empty();
        thread::scope(|scope| {
            let mut waiters = Vec::new();
            for _ in 0..4 {
                waiters.push(spawn(scope, "one at a time", || (0..100).for_each(|_| fixture.counting.acquire())));
                waiters.push(spawn(scope, "two at a time", || (0..50).for_each(|_| fixture.counting.acquire_many(2))));
                waiters.push(spawn(scope, "the binary one", || fixture.binary.acquire()));
            }
            // So that each has been registered before it takes a permit.
            until_all_asleep(&waiters);
            (0..800).for_each(|_| fixture.counting.release());
            let mut binary = 0;
            while binary < 4 {
                binary += usize::from(fixture.binary.release());
                thread::yield_now();
            }
        });
        forbid_system_calls();
        fixture.take_in_vain();
        fixture.give_and_take();
    });
}

/// So that what a thread allocates once for its sleeps is there. Long enough not to have passed before the sleep begins.
fn sleep_once() {
    assert!(!Semaphore::new(0).try_acquire_for(Duration::from_millis(100)));
}

#[test]
fn the_filter_catches_a_call_that_sleeps() {
    assert_caught("the_filter_catches_a_call_that_sleeps", "system call", || {
        let semaphore = Semaphore::new(0);
        sleep_once();
        forbid_system_calls();
        step("sleep");
        semaphore.acquire();
    });
}

#[test]
fn the_filter_catches_a_call_that_wakes() {
    assert_caught("the_filter_catches_a_call_that_wakes", "system call", || {
        let semaphore = Arc::new(BinarySemaphore::new(false));
        sleep_once();
        let sleeper = Arc::clone(&semaphore);
        thread::spawn(move || {
            loop {
                sleeper.acquire();
            }
        });
        forbid_system_calls();
        step("wake");
        // The other thread is given ever more time to fall asleep again, until a release finds that it did.
        for gap in (10..).map(|power| Duration::from_micros(1 << power)) {
            let start = Instant::now();
            while start.elapsed() < gap {}
            semaphore.release();
        }
    });
}

#[test]
fn the_allocator_catches_an_allocation() {
    assert_caught("the_allocator_catches_an_allocation", "an allocation", || {
        forbid_system_calls();
        step("allocate");
        drop(black_box(Box::new(1)));
    });
}

/// What the calls are made on: nothing is available.
struct Fixture {
    counting: Arc<Semaphore>,
    binary: BinarySemaphore,
}

impl Fixture {
    fn empty() -> Fixture {
        Fixture { counting: Arc::new(Semaphore::new(0)), binary: BinarySemaphore::new(false) }
    }

    /// Every call that may fail, with every way to have no time left.
    fn take_in_vain(&self) {
        let Fixture { counting, binary } = self;
        for round in 0..ROUNDS {
            step("try_");
            assert!(!counting.try_acquire() && !counting.try_acquire_many(2) && !binary.try_acquire());
            assert!(counting.try_acquire_permit().is_none() && counting.try_acquire_permits(2).is_none());
            assert!(counting.try_acquire_owned(2).is_none());
            step("_for(ZERO)");
            assert!(!counting.try_acquire_for(Duration::ZERO) && !counting.try_acquire_many_for(2, Duration::ZERO));
            assert!(!binary.try_acquire_for(Duration::ZERO));
            assert!(counting.try_acquire_permit_for(Duration::ZERO).is_none());
            assert!(counting.try_acquire_permits_for(2, Duration::ZERO).is_none());
            assert!(counting.try_acquire_owned_for(1, Duration::ZERO).is_none());
            for (kind, deadline) in passed_deadlines(round as u64) {
                step(kind);
                assert!(!counting.try_acquire_until(deadline) && !counting.try_acquire_many_until(2, deadline));
                assert!(!binary.try_acquire_until(deadline));
                assert!(counting.try_acquire_permit_until(deadline).is_none());
                assert!(counting.try_acquire_permits_until(2, deadline).is_none());
                assert!(counting.try_acquire_owned_until(1, deadline).is_none());
            }
        }
    }

    /// Every call that gives, with nobody asleep, and every call that takes what is there.
    fn give_and_take(&self) {
        const ENOUGH: Duration = Duration::from_secs(60);
        let Fixture { counting, binary } = self;
        for round in 0..ROUNDS {
            step("release, acquire");
            (0..3).for_each(|_| counting.release());
            counting.acquire();
            assert!(counting.try_acquire() && counting.try_acquire_for(ENOUGH));
            step("release_many, acquire_many");
            counting.release_many(9);
            counting.acquire_many(3);
            assert!(counting.try_acquire_many(3) && counting.try_acquire_many_for(3, ENOUGH));
            step("release_many of many, and of nothing");
            counting.release_many(Semaphore::MAX_PERMITS);
            counting.acquire_many(Semaphore::MAX_PERMITS);
            counting.release_many(0);
            counting.acquire_many(0);
            step("release_raw");
            // SAFETY: both semaphores outlive the calls.
            unsafe { Semaphore::release_raw(Arc::as_ptr(counting), 1) };
            // SAFETY: as above.
            assert!(unsafe { BinarySemaphore::release_raw(binary) });
            counting.acquire();
            binary.acquire();
            step("the binary release, acquire");
            assert!(binary.release() && !binary.release());
            assert!(binary.try_acquire());
            assert!(binary.release() && binary.try_acquire_for(ENOUGH));
            step("permits");
            counting.release_many(3);
            drop((counting.acquire_permit(), counting.acquire_permits(2)));
            drop((counting.try_acquire_permit(), counting.try_acquire_permits(2)));
            drop((counting.try_acquire_permit_for(ENOUGH), counting.try_acquire_permits_for(2, ENOUGH)));
            drop((counting.acquire_owned(1), counting.try_acquire_owned(1), counting.try_acquire_owned_for(1, ENOUGH)));
            counting.acquire_owned(2).forget();
            counting.acquire_permit().forget();
            for (kind, deadline) in passed_deadlines(round as u64).into_iter().chain([("never", Deadline::NEVER)]) {
                step(kind);
                counting.release_many(3);
                assert!(counting.try_acquire_until(deadline) && counting.try_acquire_many_until(2, deadline));
                assert!(binary.release() && binary.try_acquire_until(deadline));
                counting.release_many(3);
                let permit = counting.try_acquire_permit_until(deadline);
                let permits = counting.try_acquire_permits_until(1, deadline);
                let owned = counting.try_acquire_owned_until(1, deadline);
                assert!(permit.is_some() && permits.is_some() && owned.is_some());
                drop((permit, permits, owned));
                counting.acquire_many(3);
            }
        }
        assert_eq!((counting.available_permits(), binary.is_available()), (0, false));
    }
}

/// On both clocks and on none, from this very moment to long ago.
fn passed_deadlines(round: u64) -> [(&'static str, Deadline); 8] {
    let ago = Duration::from_nanos(round * 100_000);
    [
        ("now, on the monotonic clock", Instant::now().into()),
        ("just now, on the monotonic clock", (Instant::now() - ago).into()),
        ("now, on the wall clock", SystemTime::now().into()),
        ("just now, on the wall clock", (SystemTime::now() - ago).into()),
        ("PASSED", Deadline::PASSED),
        ("the epoch", UNIX_EPOCH.into()),
        ("before the epoch", (UNIX_EPOCH - Duration::from_secs(round + 1)).into()),
        ("a second ago", Some(Instant::now() - Duration::from_secs(1)).into()),
    ]
}

const SCENARIO: &str = "WAITLINE_TEST_IN_CHILD";
const QUIET: i32 = 40;
const CAUGHT: i32 = 41;

fn assert_quiet(test: &str, scenario: fn()) {
    let output = in_a_child(test, scenario);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(QUIET), "{:?}: {said}", output.status);
}

/// The control: what a scenario must not do is seen if it does it.
fn assert_caught(test: &str, what: &str, scenario: fn()) {
    let output = in_a_child(test, scenario);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(CAUGHT) && said.contains(what), "{:?}: {said}", output.status);
}

/// Runs the scenario in a new process: the test of that name, which then comes here for the second time.
fn in_a_child(test: &str, scenario: fn()) -> Output {
    if env::var_os(SCENARIO).is_some() {
        // SAFETY: the watchdog: ends the process if it hangs.
        unsafe { libc::alarm(120) };
        scenario();
        end(QUIET);
    }
    let mut child = Command::new(env::current_exe().unwrap());
    child.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(SCENARIO, test);
    child.output().unwrap()
}

fn end(code: i32) -> ! {
    // SAFETY: nothing of this process is to be cleaned up.
    unsafe { libc::_exit(code) }
}

thread_local! {
    static FORBIDDEN: Cell<bool> = const { Cell::new(false) };
    static STEP: Cell<&'static str> = const { Cell::new("") };
}

/// Names what comes next, for the report.
fn step(name: &'static str) {
    STEP.set(name);
}

/// From here on this thread may read clocks, write a report and end.
fn forbid_system_calls() {
    const ALLOWED: [libc::c_long; 4] =
        [libc::SYS_clock_gettime, libc::SYS_write, libc::SYS_exit_group, libc::SYS_rt_sigreturn];

    // SAFETY: all zeroes is an action with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = trapped as extern "C" fn(_, _, _) as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the handler is of the type that SA_SIGINFO asks for.
    assert_eq!(unsafe { libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut()) }, 0);

    let instruction = |code: u32, jump_if, k| libc::sock_filter { code: code as u16, jt: jump_if, jf: 0, k };
    let answer = |action| instruction(libc::BPF_RET | libc::BPF_K, 0, action);
    let number = instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0);
    let allowed: [_; ALLOWED.len()] = array::from_fn(|i| {
        // Past the rest of the list and the refusal.
        let to_permission = (ALLOWED.len() - i) as u8;
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, to_permission, ALLOWED[i] as u32)
    });
    let verdicts = [answer(libc::SECCOMP_RET_TRAP), answer(libc::SECCOMP_RET_ALLOW)];
    let mut filter = [&[number], &allowed[..], &verdicts].concat();
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };

    // SAFETY: an option of this thread, without pointers.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    FORBIDDEN.set(true);
    // SAFETY: `program` points to a whole filter, which the kernel copies.
    let status = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    if status != 0 {
        FORBIDDEN.set(false);
        panic!("no seccomp filter: {}", std::io::Error::last_os_error());
    }
    // Freeing it might be a system call.
    std::mem::forget(filter);
}

/// The filter has refused a system call of this thread, which therefore is at a place of no danger.
extern "C" fn trapped(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    /// How siginfo_t starts for SIGSYS.
    #[repr(C)]
    struct Refused {
        signal: [libc::c_int; 3],
        address: *const libc::c_void,
        number: libc::c_int,
    }
    // SAFETY: the kernel fills in at least this much for SIGSYS.
    let number = unsafe { (*info.cast::<Refused>()).number };
    report(format_args!("system call {number}"));
}

/// Without an allocation, and through no lock that the thread may hold.
fn report(what: std::fmt::Arguments<'_>) -> ! {
    FORBIDDEN.set(false);
    let mut text = [0; 200];
    let mut rest = &mut text[..];
    let _ = writeln!(rest, "{what} at: {}", STEP.get());
    let length = 200 - rest.len();
    // SAFETY: the buffer is as long as that.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), length) };
    end(CAUGHT)
}

struct Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if FORBIDDEN.get() {
            report(format_args!("an allocation of {} bytes", layout.size()));
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}
