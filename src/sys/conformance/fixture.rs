//! What the suite is made with: back-ends, words to sleep on, and threads whose sleep is known and not guessed.

use core::sync::atomic::AtomicUsize;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use crate::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Transition};
use crate::sys::Word;
use crate::{Deadline, TimedOut};

#[derive(Clone, Copy)]
pub(super) struct Backend {
    pub(super) wait: fn(Word<'_>, u32, Deadline) -> Result<(), TimedOut>,
    pub(super) wake: fn(*const u32, u32),
    pub(super) monotonic_surely_past: fn(Instant) -> bool,
    pub(super) wall_surely_past: fn(SystemTime) -> bool,
    /// How many threads the back-end's own queue holds under that key, found out without waking any.
    pub(super) asleep: fn(*const u32) -> usize,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn linux(wait: fn(Word<'_>, u32, Deadline) -> Result<(), TimedOut>) -> Backend {
    use crate::sys::linux;

    /// A requeue from an address to itself moves nobody, and answers how many it would have moved.
    fn asleep(address: *const u32) -> usize {
        const REQUEUE: libc::c_int = libc::FUTEX_REQUEUE | libc::FUTEX_PRIVATE_FLAG;
        const ALL: libc::c_long = libc::c_int::MAX as libc::c_long;
        // SAFETY: both addresses are keys; FUTEX_REQUEUE reads no memory.
        let count = unsafe { libc::syscall(libc::SYS_futex, address, REQUEUE, 0, ALL, address, 0) };
        usize::try_from(count).expect("FUTEX_REQUEUE counts sleepers")
    }

    Backend {
        wait,
        wake: linux::wake,
        monotonic_surely_past: linux::monotonic_surely_past,
        wall_surely_past: linux::wall_surely_past,
        asleep,
    }
}

pub(super) fn parking() -> Backend {
    use crate::sys::parking;
    use parking_lot_core::{DEFAULT_UNPARK_TOKEN, FilterOp};

    fn asleep(address: *const u32) -> usize {
        let mut asleep = 0;
        let count = |_| {
            asleep += 1;
            FilterOp::Skip
        };
        // SAFETY: the callbacks neither panic nor call back into parking_lot_core, and nobody is unparked.
        unsafe { parking_lot_core::unpark_filter(parking::key(address), count, |_| DEFAULT_UNPARK_TOKEN) };
        asleep
    }

    Backend {
        wait: parking::wait,
        wake: parking::wake,
        monotonic_surely_past: parking::monotonic_surely_past,
        wall_surely_past: parking::wall_surely_past,
        asleep,
    }
}

/// The back-end of this build, where the system does not tell who sleeps. Whoever is in the call counts as asleep, and is
/// given a while to be so, or to be gone. A busy machine can make a round of it that says nothing ([`Patience`]).
#[cfg(any(target_os = "freebsd", windows))]
pub(super) fn unobserved() -> Backend {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use crate::sys;

    const A_WHILE: Duration = Duration::from_millis(50);
    static IN_CALL: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

    fn wait(word: Word<'_>, expected: u32, deadline: Deadline) -> Result<(), TimedOut> {
        *IN_CALL.lock().unwrap().entry(word.address() as usize).or_default() += 1;
        let result = sys::wait(word, expected, deadline);
        *IN_CALL.lock().unwrap().entry(word.address() as usize).or_default() -= 1;
        result
    }

    fn asleep(address: *const u32) -> usize {
        thread::sleep(A_WHILE);
        IN_CALL.lock().unwrap().get(&(address as usize)).copied().unwrap_or(0)
    }

    Backend {
        wait,
        wake: sys::wake,
        monotonic_surely_past: sys::monotonic_surely_past,
        wall_surely_past: sys::wall_surely_past,
        asleep,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    LowHalf,
    HighHalf,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Whole, Kind::LowHalf, Kind::HighHalf];
}

/// One word of a row of them. A half knows its other half, and every word its neighbours.
#[derive(Clone)]
pub(super) struct Place {
    row: Arc<Row>,
    index: usize,
    pub(super) kind: Kind,
}

#[derive(Default)]
struct Row {
    wholes: [AtomicU32; 3],
    doubles: [AtomicU64; 3],
}

impl Place {
    /// A word that holds `value`, between others that do not.
    pub(super) fn new(kind: Kind, value: u32) -> Place {
        let place = Place { row: Arc::default(), index: 1, kind };
        for other in place.row() {
            other.store(!value);
        }
        place.store(value);
        place
    }

    /// All words of the row that this one is in.
    pub(super) fn row(&self) -> impl Iterator<Item = Place> {
        let row = Arc::clone(&self.row);
        let places = (0..3).flat_map(|index| Kind::ALL.map(|kind| (index, kind)));
        places.map(move |(index, kind)| Place { row: Arc::clone(&row), index, kind })
    }

    pub(super) fn word(&self) -> Word<'_> {
        match self.kind {
            Kind::Whole => Word::Whole(&self.row.wholes[self.index]),
            Kind::LowHalf => Word::LowHalf(&self.row.doubles[self.index]),
            Kind::HighHalf => Word::HighHalf(&self.row.doubles[self.index]),
        }
    }

    pub(super) fn address(&self) -> *const u32 {
        self.word().address()
    }

    pub(super) fn load(&self) -> u32 {
        self.word().load()
    }

    /// Relaxed, because a back-end may lean on no order of its callers.
    pub(super) fn store(&self, value: u32) {
        let double = &self.row.doubles[self.index];
        let put = |mask: u64, bits: u64| {
            let _ = double.transition(|now| Some((now & !mask | bits, Relaxed)));
        };
        match self.kind {
            Kind::Whole => self.row.wholes[self.index].store(value, Relaxed),
            Kind::LowHalf => put(u64::from(u32::MAX), u64::from(value)),
            Kind::HighHalf => put(u64::from(u32::MAX) << 32, u64::from(value) << 32),
        }
    }
}

/// Threads that sleep on a place, each of them once: whoever has returned from its one wait is up for good.
pub(super) struct Sleepers {
    backend: Backend,
    place: Place,
    up: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<Result<(), TimedOut>>>,
}

impl Sleepers {
    /// Returns once all of them are asleep, or up again as C1 allows.
    pub(super) fn start(backend: Backend, place: &Place, deadlines: impl IntoIterator<Item = Deadline>) -> Sleepers {
        let mut sleepers = Sleepers { backend, place: place.clone(), up: Arc::default(), threads: Vec::new() };
        for deadline in deadlines {
            sleepers.add(backend, deadline);
        }
        sleepers.settle();
        sleepers
    }

    /// One more, who may sleep in another way.
    pub(super) fn add(&mut self, backend: Backend, deadline: Deadline) {
        let (place, up) = (self.place.clone(), Arc::clone(&self.up));
        let expected = place.load();
        self.threads.push(thread::spawn(move || {
            let result = (backend.wait)(place.word(), expected, deadline);
            up.fetch_add(1, Relaxed);
            result
        }));
    }

    /// Waits until each is seen either up or asleep, and answers how many are up.
    pub(super) fn settle(&self) -> usize {
        // In this order: whoever gets up between the two looks is missing from both.
        let look = || (self.up.load(Relaxed), (self.backend.asleep)(self.place.address()));
        let all = self.threads.len();
        until(
            || format!("{all} threads on a {:?}: (up, asleep) stays at {:?}", self.place.kind, look()),
            || {
                let (up, asleep) = look();
                up + asleep == all
            },
        );
        self.up.load(Relaxed)
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    pub(super) fn wake(&self, n: u32) {
        (self.backend.wake)(self.place.address(), n);
    }

    /// Changes the word, wakes all and takes leave of them. None may have been told that its time is up.
    pub(super) fn dismiss(self) {
        self.place.store(!self.place.load());
        (self.backend.wake)(self.place.address(), u32::MAX);
        for thread in self.threads {
            let result = finish(thread, || format!("a thread still sleeps on a changed {:?}", self.place.kind));
            assert_eq!(result, Ok(()), "no deadline was near");
        }
    }
}

/// Lets a round be played again that a legal return without a wake (C1) may have spoilt, or a wait that is made of
/// slices and was between two of them. That is rare, so a few times in all must do.
pub(super) struct Patience(u32);

impl Patience {
    pub(super) fn new() -> Patience {
        // Where nobody tells who sleeps, a while is not always long enough. What is wrong spoils every round, of some eighty.
        Patience(if cfg!(any(target_os = "freebsd", windows)) { 20 } else { 3 })
    }

    pub(super) fn play(&mut self, round: impl Fn() -> Result<(), String>) {
        while let Err(why) = round() {
            self.0 = self.0.checked_sub(1).unwrap_or_else(|| panic!("{why}"));
        }
    }
}

/// A deadline that no test lives to see, on either clock, and none.
pub(super) fn far_deadlines() -> [Deadline; 3] {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    [Deadline::NEVER, (Instant::now() + DAY).into(), (SystemTime::now() + DAY).into()]
}

/// The watchdog: gives a condition time to come, and otherwise says what did not.
pub(super) fn until(what: impl Fn() -> String, condition: impl Fn() -> bool) {
    within(Duration::from_secs(60), what, condition);
}

fn within(limit: Duration, what: impl Fn() -> String, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < limit, "{}", what());
        thread::yield_now();
    }
}

/// Joins a thread that is about to end.
pub(super) fn finish<T>(thread: JoinHandle<T>, what: impl Fn() -> String) -> T {
    until(what, || thread.is_finished());
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs a test beside a watchdog that knows its name.
pub(super) fn watch(name: &'static str, backend: Backend, test: fn(Backend)) {
    let thread = thread::spawn(move || test(backend));
    within(Duration::from_secs(600), || format!("{name} hangs"), || thread.is_finished());
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}
