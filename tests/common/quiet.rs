//! Scenarios in which a thread may neither make a system call nor allocate.
//!
//! Each runs in a process of its own, so that it also is the first use of the crate there: the test starts its own binary
//! again, for itself alone. In that process one thread puts itself under a seccomp filter that lets it do nothing but report
//! and end. Reading a clock is left to it: where the kernel can't serve that from memory that it shares with the process, std
//! has no other way than to call it.

#![allow(unsafe_code, reason = "system calls, signals, an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::process::{Command, Output};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{array, env};

use waitline::{Deadline, Semaphore};

/// So that what a thread allocates once for its sleeps is there. Long enough not to have passed before the sleep begins.
pub(crate) fn sleep_once() {
    assert!(!Semaphore::new(0).try_acquire_for(Duration::from_millis(100)));
}

/// On both clocks and on none, from this very moment to long ago.
pub(crate) fn passed_deadlines(round: u64) -> [(&'static str, Deadline); 8] {
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

pub(crate) fn assert_quiet(test: &str, scenario: fn()) {
    if super::is_emulated() {
        return;
    }
    let output = in_a_child(test, scenario);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(QUIET), "{:?}: {said}", output.status);
}

/// The control: what a scenario must not do is seen if it does it.
pub(crate) fn assert_caught(test: &str, what: &str, scenario: fn()) {
    if super::is_emulated() {
        return;
    }
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
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static FREED: Cell<usize> = const { Cell::new(0) };
}

/// How often this thread has allocated and freed, in a program whose allocator is [`Watched`].
pub(crate) fn allocations() -> (usize, usize) {
    (ALLOCATIONS.get(), FREED.get())
}

/// Names what comes next, for the report.
pub(crate) fn step(name: &'static str) {
    STEP.set(name);
}

/// From here on this thread may read clocks, write a report and end.
pub(crate) fn forbid_system_calls() {
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

/// The allocator of a program that has such scenarios.
pub(crate) struct Watched;

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if FORBIDDEN.get() {
            report(format_args!("an allocation of {} bytes", layout.size()));
        }
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        FREED.set(FREED.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}
