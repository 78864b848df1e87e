//! The raw operations that no primitive can be cheaper than.

#![allow(unsafe_code, reason = "system calls")]

use core::hint::spin_loop;
use core::sync::atomic::{
    AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::ClockId;

use crate::contenders::Contender;
use crate::contenders::atomic::AtomicWaitCrate;
use crate::contenders::barrier::AnyBarrier;
use crate::contenders::latch::AnyLatch;
use crate::opaque::{consume, opaque, unexpected};
use crate::race::Sample;
use crate::scenarios::{
    cpu_per_sleep_by, crowd, lateness_by, one_short_thread, one_thread, turns_on_one_atomic, two_threads,
};
use crate::threads::{Placement, processors};

/// One read-modify-write that gives, one that takes.
pub fn fetch_add_and_compare_exchange(times: u64) -> Sample {
    let word = AtomicU64::new(0);
    one_thread(times, || {
        let word = opaque(&word);
        let before = word.fetch_add(1, Release);
        if word.compare_exchange(before + 1, before, Acquire, Relaxed).is_err() {
            unexpected();
        }
    })
}

/// One load, and the branch on what it found.
pub fn load(times: u64) -> Sample {
    let word = AtomicU64::new(0);
    one_short_thread(times, || {
        if opaque(&word).load(Relaxed) != 0 {
            unexpected();
        }
    })
}

/// What nobody who notifies can do without: stores made before come before a look whether somebody waits.
pub fn fence_and_load(times: u64) -> Sample {
    let word = AtomicU64::new(0);
    one_short_thread(times, || {
        fence(SeqCst);
        if opaque(&word).load(Relaxed) != 0 {
            unexpected();
        }
    })
}

/// One look at the precise clock.
pub fn instant_now(times: u64) -> Sample {
    one_thread(times, || consume(Instant::now()))
}

/// Two threads that spin on one flag and pass it to and fro.
pub fn spinning_ping_pong(placement: Placement, times: u64) -> Sample {
    let flag = AtomicU32::new(0);
    let set_and_await = |mine: u32, theirs: u32| {
        flag.store(mine, Release);
        while flag.load(Acquire) != theirs {
            spin_loop();
        }
    };
    two_threads(
        placement,
        times,
        || set_and_await(1, 0),
        || {
            while flag.load(Acquire) != 1 {
                spin_loop();
            }
            flag.store(0, Release);
        },
    )
}

/// One object of the smallest size, on the heap and away again.
pub fn allocation(times: u64) -> Sample {
    one_thread(times, || consume(Box::new(0_u64)))
}

/// One system call, the shortest there is.
pub fn system_call(times: u64) -> Sample {
    one_thread(times, || {
        // SAFETY: a plain question about this process.
        consume(unsafe { libc::syscall(libc::SYS_getppid) });
    })
}

/// So many looks at something on a cache line of its own.
pub fn loads(objects: usize, times: u64) -> Sample {
    let words: Vec<CachePadded<AtomicU64>> = (0..objects).map(|_| CachePadded::default()).collect();
    let rounds = times.div_ceil(objects as u64);
    let sample = one_thread(rounds, || {
        for word in opaque(&words) {
            if word.load(Relaxed) != 0 {
                unexpected();
            }
        }
    });
    Sample { times: rounds * objects as u64, ..sample }
}

/// Two threads that sleep in futex(2) and wake each other there, with nothing to spare a call.
pub fn futex_ping_pong(placement: Placement, times: u64) -> Sample {
    turns_on_one_atomic::<AtomicWaitCrate>(placement, times)
}

/// What a plain futex(2) wait takes of the processor.
pub fn futex_cpu(timeout: Duration, times: u64) -> Sample {
    let word = AtomicU32::new(0);
    cpu_per_sleep_by(times, || futex_wait(&word, timeout))
}

/// What a futex_waitv wait takes of the processor, which ends without the timer slack of futex(2). `None` if the kernel has none.
pub fn futex_waitv_cpu() -> Option<fn(Duration, u64) -> Sample> {
    fn cpu(timeout: Duration, times: u64) -> Sample {
        let word = AtomicU32::new(0);
        cpu_per_sleep_by(times, || assert_eq!(futex_waitv(&word, timeout), libc::ETIMEDOUT))
    }
    (futex_waitv(&AtomicU32::new(0), Duration::ZERO) == libc::ETIMEDOUT).then_some(cpu)
}

/// Nobody wakes it. Returns how it ended.
fn futex_waitv(word: &AtomicU32, timeout: Duration) -> libc::c_int {
    /// `struct futex_waitv` of linux/futex.h.
    #[repr(C)]
    struct Waiter {
        value: u64,
        address: u64,
        flags: u32,
        reserved: u32,
    }
    const SIZE_U32: u32 = 2;

    let flags = SIZE_U32 | libc::FUTEX_PRIVATE_FLAG as u32;
    let waiter = Waiter { value: 0, address: word.as_ptr() as u64, flags, reserved: 0 };
    let end = ClockId::CLOCK_MONOTONIC.now().expect("it can be read") + TimeSpec::from_duration(timeout);
    let clock = libc::CLOCK_MONOTONIC;
    // SAFETY: the word, the description of it and the time are alive for as long as the call takes.
    let status = unsafe { libc::syscall(libc::SYS_futex_waitv, &raw const waiter, 1, 0, end.as_ref(), clock) };
    if status != -1 {
        unexpected();
    }
    Errno::last_raw()
}

/// How late a plain futex(2) wait ends.
pub fn futex_lateness(timeout: Duration, times: u64) -> Sample {
    let word = AtomicU32::new(0);
    lateness_by(timeout, times, || futex_wait(&word, timeout))
}

/// Nobody wakes it.
fn futex_wait(word: &AtomicU32, timeout: Duration) {
    let time = libc::timespec { tv_sec: timeout.as_secs() as libc::time_t, tv_nsec: timeout.subsec_nanos().into() };
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word and the time are alive for as long as the call takes.
    let status = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, 0_u32, &raw const time) };
    if status != -1 {
        unexpected();
    }
}

/// Threads that change one counter there and back, and never wait for each other.
pub fn contended_counter(threads: usize, times: u64) -> Sample {
    let counter = CachePadded::new(AtomicU64::new(0));
    let pass = || {
        counter.fetch_add(1, Acquire);
        counter.fetch_sub(1, Release);
    };
    crowd(threads, times, pass, || {})
}

/// The least that a barrier can be: its threads count themselves, and look at the round all the time.
#[derive(Debug)]
pub struct SpinningBarrier {
    parties: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

impl Contender for SpinningBarrier {
    fn name() -> &'static str {
        "spinning and yielding"
    }
}

impl AnyBarrier for SpinningBarrier {
    fn new(parties: usize) -> SpinningBarrier {
        SpinningBarrier { parties, arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) }
    }

    /// Whoever has no processor must be let in.
    #[inline]
    fn wait(&self) {
        let round = self.round.load(Relaxed);
        if self.arrived.fetch_add(1, AcqRel) + 1 == self.parties {
            self.arrived.store(0, Relaxed);
            self.round.store(round + 1, Release);
            return;
        }
        while self.round.load(Acquire) == round {
            if self.parties > processors() { thread::yield_now() } else { spin_loop() }
        }
    }
}

/// The least that a latch can be.
#[derive(Debug)]
pub struct SpinningLatch(AtomicUsize);

impl Contender for SpinningLatch {
    fn name() -> &'static str {
        "spinning on a counter"
    }
}

impl AnyLatch for SpinningLatch {
    type Ticket<'a> = &'a SpinningLatch;

    fn new(count: usize) -> SpinningLatch {
        SpinningLatch(AtomicUsize::new(count))
    }

    fn ticket(&self) -> &SpinningLatch {
        self
    }

    #[inline]
    fn count_down(ticket: &SpinningLatch) {
        ticket.0.fetch_sub(1, Release);
    }

    #[inline]
    fn wait(&self) {
        while self.0.load(Acquire) != 0 {
            spin_loop();
        }
    }
}
