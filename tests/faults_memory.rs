//! Memory that runs out: whatever promises to allocate nothing works on, what does allocate ends as all of Rust does then, and
//! nobody else notices.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "an allocator, system calls")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs::DirEntry;
use std::future::{Future, IntoFuture};
use std::os::unix::process::ExitStatusExt;
use std::pin::Pin;
use std::process::Output;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Acquire, Relaxed},
};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use common::atomic_wait::{Notify, atomics};
use common::child::{assert_success, in_a_child, said};
use common::crowd::{assert_all_came, in_each, patient, satisfy_all, spawn_all};
use common::linux::{self, Flag};
use common::oneshot::{Ledger, borrow};
use common::quiet::sleep_once;
use common::threads::{Activity, current_id, until_all_asleep};
use common::{Gate, Subject, Wait, pools, spawn, stay_awake_until, subjects, watchdog};
use waitline::oneshot::{RecvError, RecvFuture, channel};
use waitline::{Barrier, Latch};

/// Gives memory to all threads but those [`without_memory`].
struct Scarce;

#[global_allocator]
static ALLOCATOR: Scarce = Scarce;

thread_local! {
    static WITHOUT_MEMORY: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: the system's allocator, but for what may happen with that as well.
unsafe impl GlobalAlloc for Scarce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A test that fails may say so.
        if WITHOUT_MEMORY.get() && !thread::panicking() {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Runs `body`, in which no allocation of this thread succeeds.
fn without_memory<T>(body: impl FnOnce() -> T) -> T {
    WITHOUT_MEMORY.set(true);
    let outcome = body();
    WITHOUT_MEMORY.set(false);
    outcome
}

const SOON: Duration = Duration::from_micros(200);

/// Without memory: what has not come does not come, by any call that ends by itself.
fn wait_in_vain(subject: &dyn Subject, passed: &[Wait]) -> bool {
    without_memory(|| {
        let short = (0..Wait::TIMED).map(|form| Wait::within(SOON)[form]);
        !passed.iter().copied().chain(short).any(|wait| subject.wait(wait))
    })
}

/// Neither to wait, to the end by time or by a release, nor to release.
#[test]
fn waits_and_releases_need_no_memory() {
    watchdog("waits and releases without memory", || {
        let (calls, gate, passed) = (in_each(patient()), Gate::new(2), Wait::passed());
        thread::scope(|scope| {
            let waiter = spawn(scope, "waits without memory", || {
                if cfg!(waitline_force_parking) {
                    sleep_once(); // parking_lot_core allocates once a thread
                }
                for (subject, wait) in &calls {
                    assert!(wait_in_vain(&**subject, &passed), "{}", subject.name());
                    let came = without_memory(|| {
                        gate.pass();
                        subject.wait(*wait)
                    });
                    assert!(came, "{}, {wait:?}", subject.name());
                    gate.pass();
                }
            });
            for (number, (subject, wait)) in calls.iter().enumerate() {
                gate.pass();
                if number % 3 > 0 {
                    waiter.until_asleep();
                }
                without_memory(|| subject.satisfy());
                gate.pass();
                assert!(subject.adds_up(true), "{}, {wait:?}", subject.name());
            }
        });
    });
}

/// Guards, tokens and the ends of channels, on their way to each of their ends.
#[test]
fn what_calls_return_needs_no_memory() {
    watchdog("guards, tokens and ends without memory", || {
        for pool in pools() {
            let size = pool.size();
            without_memory(|| {
                pool.give(size, true);
                let given_back = pool.take(Wait::Try).unwrap().give_back();
                assert_eq!((given_back, pool.available()), (size, size));
                pool.take(Wait::Untimed).unwrap().keep();
                assert_eq!(pool.available(), 0);
            });
        }
        for atomic in atomics() {
            without_memory(|| {
                for (number, notify) in Notify::ALL.into_iter().enumerate() {
                    let value = 1 - number as u64 % 2;
                    atomic.change(value, notify);
                    assert_eq!(atomic.wait_by(1 - value, Acquire, Wait::Untimed), Ok(value));
                }
            });
        }
        let phases = AtomicUsize::new(0);
        without_memory(|| {
            let barrier = Barrier::with_completion(3, || _ = phases.fetch_add(1, Relaxed));
            let [first, second] = [(); 2].map(|()| barrier.arrive());
            assert!(barrier.wait_for(SOON).unwrap().is_leader());
            assert!(first.is_complete() && second.withdraw().is_err() && !first.wait().is_leader());
            assert!(barrier.arrive().withdraw().is_ok());
            assert!(!barrier.arrive_and_drop().is_leader());

            let latch = Latch::new(1);
            latch.count_up(2);
            assert!(!latch.count_down_by(2));
            latch.arrive_and_wait();
        });
        assert_eq!(phases.into_inner(), 1);
    });
}

/// Once made, a channel needs no more of it.
#[test]
fn channels_need_no_more_memory() {
    fn poll<T>(future: &mut RecvFuture<T>) -> Option<Result<T, RecvError>> {
        match Pin::new(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        }
    }

    let ledger = Ledger::default();
    watchdog("channels without more memory", || {
        let channels: [_; 6] = std::array::from_fn(|_| channel());
        without_memory(|| {
            let [received, polled, shared, late, lost, unused] = channels;
            let (sender, receiver) = received;
            assert!(ledger.send(sender));
            ledger.receive(receiver.recv().unwrap());
            assert!(receiver.try_recv().is_err());

            let (sender, receiver) = polled;
            let mut future = receiver.into_future();
            assert!(poll(&mut future).is_none());
            future = future.into_receiver().into_future();
            assert!(poll(&mut future).is_none() && ledger.send(sender));
            ledger.receive(poll(&mut future).unwrap().unwrap());

            let (sender, receiver) = shared;
            let first = receiver.share();
            let second = first.clone();
            drop(first);
            assert!(ledger.send(sender) && borrow(&second, Wait::Untimed).is_ok());

            let (sender, receiver) = late;
            drop(receiver);
            assert!(sender.is_closed() && !ledger.send(sender));

            let (sender, receiver) = lost;
            drop(sender);
            assert!(receiver.is_ready() && receiver.recv().is_err());
            drop(unused);
        });
    });
    ledger.balance("channels");
}

/// A thread's first wait needs none either, except by parking_lot_core, which aborts then as Rust does.
#[test]
fn the_first_wait_of_a_thread_needs_no_memory() {
    let output = in_a_child("the_first_wait_of_a_thread_needs_no_memory", || {
        watchdog("the first wait of a thread", || {
            let passed = Wait::passed();
            for subject in subjects() {
                thread::scope(|scope| {
                    let waiter = spawn(scope, subject.name(), || wait_in_vain(&*subject, &passed));
                    assert!(waiter.join(), "{}", subject.name());
                });
            }
        });
    });
    if !cfg!(waitline_force_parking) {
        assert_success(output);
    } else if let Some(output) = output {
        let said = said(&output);
        assert!(output.status.success() || is_out_of_memory(&output), "{:?}\n{said}", output.status);
    }
}

fn is_out_of_memory(output: &Output) -> bool {
    output.status.signal() == Some(libc::SIGABRT) && said(output).contains("memory allocation of")
}

/// What does allocate aborts. The process is held there, just before its end: all others wait and release as before.
#[test]
fn what_allocates_aborts_and_harms_nobody() {
    static ABORTED: Flag = Flag::new();

    extern "C" fn hold(_signal: i32) {
        ABORTED.set(true);
        loop {
            // SAFETY: has no preconditions.
            unsafe { libc::pause() };
        }
    }

    let output = in_a_child("what_allocates_aborts_and_harms_nobody", || {
        linux::handle(libc::SIGABRT, false, hold);
        watchdog("others beside an abort", || {
            let (before, after) = (in_each(patient()), in_each(patient()));
            thread::scope(|scope| {
                let wait = |subject: &dyn Subject, wait: &Wait| subject.wait(*wait);
                let sleepers = spawn_all(scope, "before", &before, wait);
                until_all_asleep(&sleepers);
                // Not of the scope, which would wait for it.
                let unlucky = thread::spawn(|| without_memory(channel::<u32>));
                stay_awake_until(|| ABORTED.is_set() || unlucky.is_finished());
                assert!(ABORTED.is_set(), "a channel without memory");
                satisfy_all(&before);
                assert_all_came(&before, sleepers);
                let sleepers = spawn_all(scope, "afterwards", &after, wait);
                until_all_asleep(&sleepers);
                satisfy_all(&after);
                assert_all_came(&after, sleepers);
            });
        });
    });
    if let Some(output) = &output {
        assert!(said(output).contains("memory allocation of"), "{}", said(output));
    }
    assert_success(output);
}

/// Not even the C library has any, when a process first waits at all.
#[test]
fn the_first_waits_of_a_process_need_no_memory() {
    if cfg!(waitline_force_parking) {
        println!("skipped: parking_lot_core allocates once a thread");
        return;
    }
    let output = in_a_child("the_first_waits_of_a_process_need_no_memory", || {
        watchdog("the first waits of a process", || {
            let (calls, gate, passed) = (in_each(patient()), Gate::new(2), Wait::passed());
            let done: Vec<_> = calls.iter().map(|_| AtomicBool::new(false)).collect();
            until_others_sleep();
            thread::scope(|scope| {
                spawn(scope, "waits without memory", || {
                    use_up_memory();
                    for ((subject, wait), done) in calls.iter().zip(&done) {
                        let in_vain = wait_in_vain(&**subject, &passed);
                        gate.pass();
                        done.store(in_vain && subject.wait(*wait), Relaxed);
                        gate.pass();
                    }
                    give_memory_back();
                });
                for (subject, _) in &calls {
                    gate.pass();
                    subject.satisfy();
                    gate.pass();
                }
            });
            for ((subject, wait), done) in calls.iter().zip(done) {
                assert!(done.into_inner() && subject.adds_up(true), "{}, {wait:?}", subject.name());
            }
        });
    });
    assert_success(output);
}

/// All other threads of the process: their start takes memory.
fn until_others_sleep() {
    let id = |entry: std::io::Result<DirEntry>| entry.unwrap().file_name().to_str().unwrap().parse().unwrap();
    let all: Vec<i32> = std::fs::read_dir("/proc/self/task").unwrap().map(id).collect();
    let asleep = |id: i32| Activity::of(id).is_none_or(|activity| activity.sleeps());
    stay_awake_until(|| all.iter().all(|id| *id == current_id() || asleep(*id)));
}

/// Of the kernel, nobody gets more; of what the C library has already, this thread gets all.
fn use_up_memory() {
    limit_memory(0);
    let large = (10..24).rev().map(|exponent| 1 << exponent);
    let small = (1..=64).rev().map(|sixteens| 16 * sixteens);
    for size in large.chain(small) {
        // SAFETY: has no preconditions.
        while !unsafe { libc::malloc(size) }.is_null() {}
    }
    assert!(Vec::<u8>::new().try_reserve_exact(16).is_err());
}

fn give_memory_back() {
    limit_memory(libc::RLIM_INFINITY);
}

fn limit_memory(limit: libc::rlim_t) {
    for resource in [libc::RLIMIT_AS, libc::RLIMIT_DATA] {
        let limits = libc::rlimit { rlim_cur: limit, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: `limits` outlives the call.
        assert_eq!(unsafe { libc::setrlimit(resource, &raw const limits) }, 0);
    }
}
