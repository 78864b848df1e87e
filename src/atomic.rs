//! Atomics, from `core` or from a model checker. No other file names the checker.

#[cfg(not(target_has_atomic = "64"))]
compile_error!("waitline keeps a primitive's whole state in one word and needs 64-bit atomics");

pub(crate) use core::sync::atomic::Ordering;
#[cfg(not(all(test, waitline_loom)))]
pub(crate) use core::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize, fence,
};
#[cfg(all(test, waitline_loom))]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize, fence,
};

#[cfg(all(test, waitline_loom))]
pub(crate) use loom::cell::UnsafeCell;

/// A cell whose accesses have a beginning and an end, so that a model checker can see them overlap.
#[cfg(not(all(test, waitline_loom)))]
pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(all(test, waitline_loom)))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(core::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    #[inline]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// What only the models and their back-end use.
#[cfg(all(test, waitline_loom))]
pub(crate) mod model {
    pub(crate) use loom::alloc::Track;
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::{Arc, Condvar, Mutex};
    pub(crate) use loom::{lazy_static, model, thread};

    pub(crate) fn model_up_to(preemptions: usize, program: impl Fn() + Send + Sync + 'static) {
        let mut explorer = loom::model::Builder::new();
        explorer.preemption_bound = Some(preemptions);
        explorer.check(program);
    }
}

/// A `const fn`, but a plain one under the model checker, whose atomics have no const constructor.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        #[cfg(not(all(test, waitline_loom)))]
        $(#[$attribute])*
        $visibility const fn $($rest)*

        #[cfg(all(test, waitline_loom))]
        $(#[$attribute])*
        $visibility fn $($rest)*
    };
}
pub(crate) use const_fn;

/// A moment in which another thread's step makes a difference: between a look and the write that rests on it, an announcement
/// and the sleep, a write and the wake that it calls for, the end of a sleep and the last look. Here threads dawdle, if the cfg
/// `waitline_delays` says so, which is for tests: they then meet where they otherwise would in one run of a million.
#[inline]
pub(crate) fn race_window() {
    #[cfg(waitline_delays)]
    dawdle();
}

/// For no time at all, a moment, until others have run, or a while in which they may run, at random. Never asleep: tests take
/// a thread that sleeps for one that waits.
#[cfg(waitline_delays)]
#[inline(never)]
fn dawdle() {
    thread_local! {
        static RANDOM: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
    }
    RANDOM.with(|random| {
        let before = match random.get() {
            0 => core::ptr::from_ref(random) as usize as u32 | 1, // another one in each thread
            before => before,
        };
        // Marsaglia's xorshift: <https://doi.org/10.18637/jss.v008.i14>
        let mut next = before ^ before << 13;
        next ^= next >> 17;
        next ^= next << 5;
        random.set(next);
        match next >> 28 {
            0..8 => {}
            8..12 => (0..next >> 20 & 0xFF).for_each(|_| core::hint::spin_loop()),
            12..15 => std::thread::yield_now(),
            _ => {
                let since = std::time::Instant::now();
                while since.elapsed().as_micros() < u128::from(next & 0x7F) {
                    std::thread::yield_now();
                }
            }
        }
    });
}

/// The one compare-exchange loop. Every change of a primitive's word is one read-modify-write.
pub(crate) trait Transition {
    type Value;

    /// Replaces the value by what `next` makes of it, with the ordering that `next` asks for; `None` leaves it as
    /// it is. `Ok` is the value that was replaced, `Err` the one that was left. Failed looks are Relaxed.
    fn transition(
        &self,
        next: impl FnMut(Self::Value) -> Option<(Self::Value, Ordering)>,
    ) -> Result<Self::Value, Self::Value>;
}

macro_rules! implement_transition {
    ($($atomic:ty: $value:ty),*) => {$(
        impl Transition for $atomic {
            type Value = $value;

            #[inline]
            fn transition(
                &self,
                mut next: impl FnMut($value) -> Option<($value, Ordering)>,
            ) -> Result<$value, $value> {
                #[cfg(not(all(test, waitline_loom)))]
                let mut now = self.load(Ordering::Relaxed);
                // The checker remembers one access of a word only: a thread's own load would hide from it that another
                // thread's load before can also come after the write below (tokio-rs/loom#166, #392).
                #[cfg(all(test, waitline_loom))]
                let mut now = self.fetch_or(0, Ordering::Relaxed);
                loop {
                    let Some((new, order)) = next(now) else { return Err(now) };
                    race_window();
                    match self.compare_exchange_weak(now, new, order, Ordering::Relaxed) {
                        Ok(_) => return Ok(now),
                        Err(changed) => now = changed,
                    }
                }
            }
        }
    )*};
}
implement_transition!(AtomicU32: u32, AtomicU64: u64);
