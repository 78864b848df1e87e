//! What only Linux lets a test do to a thread: a storm of signals, a sandbox that refuses system calls, a page that
//! nobody may touch any more, a place in the scheduler's last row, and a wall clock that is set. And what only Linux
//! tells of it: the call that it sleeps in.

#![allow(unsafe_code, reason = "system calls")]

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::threads::current_id;

// Signals.

/// Sets the handler of a signal, for the process. With `restart` the kernel takes calls up again that it can.
pub(crate) fn handle(signal: i32, restart: bool, handler: extern "C" fn(i32)) {
    // SAFETY: all zeroes is an action with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = if restart { libc::SA_RESTART } else { 0 };
    // SAFETY: `action` is complete, and the old one is not asked for.
    checked(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) }.into());
}

pub(crate) fn send(thread: i32, signal: i32) {
    let process = std::process::id();
    // SAFETY: has no preconditions; the thread belongs to this process, or the call fails.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
    // The thread may just have ended.
    assert!(result == 0 || io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH));
}

/// Sends the calling thread a signal about a thousand times a second while `body` runs.
pub(crate) fn in_a_storm_of<T>(signal: i32, body: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    let victim = current_id();
    thread::scope(|scope| {
        super::spawn(scope, format!("storm on thread {victim}"), || {
            while !over.load(Acquire) {
                send(victim, signal);
                // How often, not in which order.
                thread::sleep(Duration::from_millis(1));
            }
        });
        let outcome = body();
        over.store(true, Release);
        outcome
    })
}

// Sandboxes.

/// A system call that a sandbox refuses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refused {
    /// futex_waitv(2).
    Waitv,
    /// FUTEX_WAIT_BITSET, but no other operation of futex(2).
    WaitBitset,
}

/// Puts the calling thread, and those that it starts, into a sandbox for good, in which calls fail with `errno`. Needs
/// no privilege.
pub(crate) fn sandbox(refused: &[Refused], errno: i32) -> io::Result<()> {
    const NUMBER: u32 = 0;
    /// The low half of the second argument in `struct seccomp_data`.
    const OPERATION: u32 = 24 + if cfg!(target_endian = "big") { 4 } else { 0 };
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const MASK: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;

    let refusal = libc::SECCOMP_RET_ERRNO | errno as u32;
    let line = |code: u32, skip_unless: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: skip_unless, k };
    let mut program = Vec::new();
    for refused in refused {
        program.push(line(LOAD, 0, NUMBER));
        match *refused {
            Refused::Waitv => program.push(line(IF_EQUAL, 1, libc::SYS_futex_waitv as u32)),
            Refused::WaitBitset => program.extend([
                line(IF_EQUAL, 4, libc::SYS_futex as u32),
                line(LOAD, 0, OPERATION),
                line(MASK, 0, !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) as u32),
                line(IF_EQUAL, 1, libc::FUTEX_WAIT_BITSET as u32),
            ]),
        }
        program.push(line(RETURN, 0, refusal));
    }
    program.push(line(RETURN, 0, libc::SECCOMP_RET_ALLOW));
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };

    // SAFETY: takes numbers only.
    let status = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the filter and its program outlive the call, which copies them.
    let status = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

// Memory.

/// A page of its own, which can be closed: any access then ends the process.
pub(crate) struct Page(NonNull<libc::c_void>);

// SAFETY: an address. Whoever uses what it holds answers for that.
unsafe impl Sync for Page {}

impl Page {
    const SIZE: usize = 4096;

    pub(crate) fn new() -> Page {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, at a place of the kernel's choice.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), Page::SIZE, protection, flags, -1, 0) };
        assert!(page != libc::MAP_FAILED, "{}", io::Error::last_os_error());
        Page(NonNull::new(page).unwrap())
    }

    pub(crate) fn start<T>(&self) -> *mut T {
        self.0.as_ptr().cast()
    }

    pub(crate) fn open(&self, open: bool) {
        let protection = if open { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
        // SAFETY: this mapping is ours.
        checked(unsafe { libc::mprotect(self.0.as_ptr(), Page::SIZE, protection) }.into());
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: this mapping is ours, and goes with its owner.
        unsafe { libc::munmap(self.0.as_ptr(), Page::SIZE) };
    }
}

// The scheduler.

/// Ties the calling thread, and those that it starts, to the processor that it is on.
pub(crate) fn stay_on_this_processor() {
    // SAFETY: all zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: has no preconditions.
    let processor = unsafe { libc::sched_getcpu() } as usize;
    // SAFETY: the kernel's number of a processor lies inside the set, or this panics.
    unsafe { libc::CPU_SET(processor, &mut set) };
    // SAFETY: 0 names this thread, and `set` has the size given.
    checked(unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) }.into());
}

/// From now on the calling thread runs only when no other one wants its processor.
pub(crate) fn run_last() {
    let parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 names this thread.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameter) }.into());
}

/// For how many nanoseconds a thread of this process has run so far, up to the last time that it left its processor.
pub(crate) fn time_run(thread: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[track_caller]
fn checked(result: libc::c_long) {
    assert!(result == 0, "{}", io::Error::last_os_error());
}

/// A flag for a signal handler.
pub(crate) struct Flag(AtomicBool);

impl Flag {
    pub(crate) const fn new() -> Flag {
        Flag(AtomicBool::new(false))
    }

    pub(crate) fn set(&self, value: bool) {
        self.0.store(value, Release);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Acquire)
    }

    pub(crate) fn until_set(&self) {
        super::stay_awake_until(|| self.is_set());
    }
}

// The wall clock.

/// Sets the wall clock, for the whole machine. Needs the privilege to do so.
pub(crate) fn set_wall_clock(time: SystemTime) -> io::Result<()> {
    let time = time.duration_since(UNIX_EPOCH).expect("the kernel knows no time before that");
    let time = libc::timespec { tv_sec: time.as_secs() as libc::time_t, tv_nsec: time.subsec_nanos() as libc::c_long };
    // SAFETY: `time` outlives the call.
    let status = unsafe { libc::clock_settime(libc::CLOCK_REALTIME, &raw const time) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

// Sleeps.

/// The call in which a thread sleeps on a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FutexCall {
    Waitv,
    WaitBitset,
    Wait,
}

impl FutexCall {
    /// `None` if the thread is in none of them just now.
    pub(crate) fn of(thread: i32) -> Option<FutexCall> {
        /// futex(2) with 64-bit times, on 32-bit targets.
        const SYS_FUTEX_TIME64: libc::c_long = 422;

        let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).ok()?;
        let mut fields = text.split_whitespace();
        let number: libc::c_long = fields.next()?.parse().ok()?;
        if number == libc::SYS_futex_waitv {
            return Some(FutexCall::Waitv);
        }
        if ![libc::SYS_futex, SYS_FUTEX_TIME64].contains(&number) {
            return None;
        }
        let operation = u32::from_str_radix(fields.nth(1)?.trim_start_matches("0x"), 16).ok()?;
        match operation as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) {
            libc::FUTEX_WAIT => Some(FutexCall::Wait),
            libc::FUTEX_WAIT_BITSET => Some(FutexCall::WaitBitset),
            _ => None,
        }
    }
}
