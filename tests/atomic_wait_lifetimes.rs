//! Waiting on atomics that are gone as soon as the wait is over, while the one who ended it is still in its call. For the eyes
//! of AddressSanitizer and of the kernel. memgraph #4784, rayon #739, P2616: the one who notified touched what the waiter had
//! freed.

#![allow(unsafe_code, reason = "memory that goes away")]

mod common;

use std::hint::black_box;
use std::sync::atomic::{
    AtomicPtr, AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;

use common::atomic_wait::{Notify, wait_by};
use common::{Form, Gate, Wait, jitter, rounds, spawn, watchdog};
use waitline::AtomicWait;

const ROUNDS: u32 = 1500;

/// A flag of some width.
trait Flag: AtomicWait<Value: From<u8>> + Send + Sync {
    fn lowered() -> Self;
    fn raise(&self);
}

macro_rules! flags {
    ($($atomic:ty)*) => {$(
        impl Flag for $atomic {
            fn lowered() -> $atomic {
                <$atomic>::new(0)
            }

            fn raise(&self) {
                self.store(1, Release);
            }
        }
    )*};
}
flags!(AtomicU8 AtomicU32 AtomicU64);

/// Waits by every form, the impatient ones again and again.
fn wait_by_form<F: Flag>(flag: &F, form: Form) {
    while wait_by(flag, F::Value::from(0), Acquire, form.start()).is_err() {
        thread::yield_now();
    }
}

/// Rounds in which one thread lives through `life`: makes a flag, says where it is, waits by the form, and makes an end of it.
/// Another one raises the flag and notifies, now and then once the first one sleeps.
fn dies_once_raised<F: Flag>(what: &str, life: impl Fn(Form, &dyn Fn(*const F)) + Sync) {
    let gate = Gate::new(2);
    let address = AtomicPtr::new(std::ptr::null_mut::<F>());
    let publish = |flag: *const F| {
        address.store(flag.cast_mut(), Relaxed);
        gate.pass();
    };
    thread::scope(|scope| {
        let owner = spawn(scope, format!("{what}: owner"), || {
            for round in 0..rounds(ROUNDS) {
                let form = Form::all().nth(round as usize % (Wait::TIMED + 2)).unwrap();
                life(form, &publish);
            }
        });
        for round in 0..rounds(ROUNDS) {
            gate.pass();
            let flag = address.load(Relaxed).cast_const();
            match round % 12 {
                // The first form sleeps.
                0 => owner.until_asleep(),
                2 => thread::yield_now(),
                _ => jitter(round),
            }
            // SAFETY: the owner keeps it until its wait has found it raised.
            unsafe { (*flag).raise() };
            let raw = if round % 5 < 3 { Notify::OneRaw } else { Notify::AllRaw };
            raw.call_raw(flag);
        }
    });
}

fn in_every_width(what: &str, [byte, word, quad]: [&dyn Fn(); 3]) {
    watchdog(what, || [byte, word, quad].iter().for_each(|run| run()));
}

#[test]
fn an_atomic_may_die_with_the_frame_of_its_waiter() {
    #[inline(never)]
    fn frame<F: Flag>(form: Form, publish: &dyn Fn(*const F)) {
        let flag = F::lowered();
        publish(&raw const flag);
        wait_by_form(&flag, form);
    }

    /// Where the other frame was.
    #[inline(never)]
    fn overwrite() {
        black_box([u64::MAX; 64]);
    }

    fn run<F: Flag>() {
        dies_once_raised::<F>("a flag on the stack", |form, publish| {
            frame(form, publish);
            overwrite();
        });
    }
    in_every_width("an atomic dies with its frame", [&run::<AtomicU8>, &run::<AtomicU32>, &run::<AtomicU64>]);
}

#[test]
fn an_atomic_may_die_in_its_box() {
    fn run<F: Flag>() {
        dies_once_raised::<F>("a flag in a box", |form, publish| {
            let flag = Box::into_raw(Box::new(F::lowered()));
            publish(flag);
            // SAFETY: it lives until this thread drops it.
            wait_by_form(unsafe { &*flag }, form);
            // SAFETY: made of a box above, and raised: whoever did that does not touch it any more.
            drop(unsafe { Box::from_raw(flag) });
        });
    }
    in_every_width("an atomic dies in its box", [&run::<AtomicU8>, &run::<AtomicU32>, &run::<AtomicU64>]);
}

/// Any access to a page that is closed ends the process.
#[test]
#[cfg(target_os = "linux")]
fn an_atomic_may_die_with_its_page() {
    fn run<F: Flag>() {
        let page = common::linux::Page::new();
        dies_once_raised::<F>("a flag in a page", |form, publish| {
            page.open(true);
            let flag: *mut F = page.start();
            // SAFETY: the page has room for one, and nobody uses it.
            unsafe { flag.write(F::lowered()) };
            publish(flag);
            // SAFETY: it lives until this thread closes the page.
            wait_by_form(unsafe { &*flag }, form);
            page.open(false);
        });
    }
    in_every_width("an atomic dies with its page", [&run::<AtomicU8>, &run::<AtomicU32>, &run::<AtomicU64>]);
}
