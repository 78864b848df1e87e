//! The contract of `sys` as one suite, over every back-end that runs here.
//!
//! Whether a thread sleeps is read off the back-end's own queue where there is a way to, so nothing is ordered by sleeping.
//! Nothing is bounded from above either: what does not come at all is told by a watchdog. C4 promises nothing and so has no
//! test; every access to a word here is Relaxed.

#![allow(unsafe_code, reason = "looks into queues, memory that is gone, signals")]

mod fixture;

use core::hint::spin_loop;
use core::ptr::{null, without_provenance};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::fixture::{Backend, Kind, Patience, Place, Sleepers, far_deadlines, finish, until, watch};
use crate::Deadline;
use crate::deadline::Moment;

macro_rules! suite {
    ($name:ident, $backend:expr) => {
        mod $name {
            use super::*;

            suite! {
                $backend =>
                a_word_that_differs_is_not_slept_on,
                a_passed_deadline_is_reported,
                a_deadline_ahead_is_reported_once_its_clock_has_reached_it,
                whole_seconds_and_their_last_nanosecond_are_deadlines_like_others,
                what_never_comes_is_waited_for_until_woken,
                a_change_before_a_wake_is_never_missed,
                a_wake_may_name_memory_that_is_gone,
                a_wake_gets_up_exactly_as_many_as_it_names,
                a_wake_reaches_no_other_word,
                the_cheapest_clock_proves_only_what_is_true,
            }
            #[cfg(unix)]
            suite! { $backend => a_signal_ends_no_wait_before_its_time }
        }
    };
    ($backend:expr => $($test:ident),+ $(,)?) => {$(
        #[test]
        fn $test() {
            watch(concat!(module_path!(), "::", stringify!($test)), $backend, super::$test);
        }
    )+};
}

suite!(parking, fixture::parking());
#[cfg(any(target_os = "freebsd", windows))]
suite!(native, fixture::unobserved());
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use super::*;
    use crate::sys::linux::{Rung, wait_from};

    fn waitv() -> Backend {
        fixture::linux(|word, expected, deadline| wait_from(Rung::Waitv, word, expected, deadline))
    }

    fn bitset() -> Backend {
        fixture::linux(|word, expected, deadline| wait_from(Rung::Bitset, word, expected, deadline))
    }

    fn relative() -> Backend {
        fixture::linux(|word, expected, deadline| wait_from(Rung::Relative, word, expected, deadline))
    }

    suite!(waitv_rung, waitv());
    suite!(bitset_rung, bitset());
    suite!(relative_rung, relative());

    #[test]
    fn sleepers_of_all_rungs_share_one_queue() {
        watch("sleepers_of_all_rungs_share_one_queue", waitv(), |_| {
            let mut patience = Patience::new();
            for (kind, n) in Kind::ALL.into_iter().flat_map(|kind| [1, 5, 9].map(|n| (kind, n))) {
                patience.play(|| {
                    let mut sleepers = Sleepers::start(waitv(), &Place::new(kind, 0), far_deadlines());
                    for rung in [bitset(), relative()] {
                        far_deadlines().into_iter().for_each(|deadline| sleepers.add(rung, deadline));
                    }
                    wake_among(sleepers, n)
                });
            }
        });
    }
}

/// C1, at once and whatever the deadline: the watchdog would tell.
fn a_word_that_differs_is_not_slept_on(backend: Backend) {
    let ahead = far_deadlines().into_iter().chain(never());
    for (kind, deadline) in Kind::ALL.into_iter().flat_map(|kind| ahead.clone().map(move |deadline| (kind, deadline))) {
        for held in [0, 1, 0x8000_0000, u32::MAX] {
            let place = Place::new(kind, held);
            for expected in [!held, held ^ 1, held ^ 0x8000_0000] {
                assert_eq!((backend.wait)(place.word(), expected, deadline), Ok(()), "{kind:?} until {deadline:?}");
            }
        }
    }
}

/// C2, also for times that lie before the clocks began.
fn a_passed_deadline_is_reported(backend: Backend) {
    let seconds = Duration::from_secs;
    let age = |step: &Duration| Instant::now().checked_sub(*step).map(Deadline::from);
    let steps = [Duration::ZERO, Duration::from_nanos(1), seconds(1), seconds(1 << 31), seconds(i64::MAX as u64)];
    let monotonic = steps.iter().filter_map(age);
    let wall = steps.iter().filter_map(|step| SystemTime::now().checked_sub(*step)).map(Deadline::from);
    let epoch = [UNIX_EPOCH, UNIX_EPOCH + Duration::from_nanos(1), UNIX_EPOCH - Duration::from_nanos(1)];
    let passed: Vec<Deadline> =
        monotonic.chain(wall).chain(epoch.map(Deadline::from)).chain([Deadline::PASSED]).collect();
    for kind in Kind::ALL {
        let place = Place::new(kind, 7);
        passed.iter().for_each(|deadline| sleep_through(backend, &place, *deadline));
    }
}

/// C2, many times over, around the granularities of clocks and timers.
fn a_deadline_ahead_is_reported_once_its_clock_has_reached_it(backend: Backend) {
    for kind in Kind::ALL {
        let place = Place::new(kind, 7);
        for nanoseconds in (0..200).map(|step| step * step * 17 + 1).chain([999_999, 1_000_001, 4_000_003]) {
            let ahead = Duration::from_nanos(nanoseconds);
            sleep_through(backend, &place, (Instant::now() + ahead).into());
            sleep_through(backend, &place, (SystemTime::now() + ahead).into());
        }
    }
}

/// C2, where seconds and nanoseconds meet, and beyond the second after which sliced waits look again.
fn whole_seconds_and_their_last_nanosecond_are_deadlines_like_others(backend: Backend) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let wall = |seconds, nanoseconds| Deadline::from(UNIX_EPOCH + Duration::new(now + seconds, nanoseconds));
    let monotonic = |seconds, nanoseconds| Deadline::from(Instant::now() + Duration::new(seconds, nanoseconds));
    let deadlines = [
        wall(0, 999_999_999),
        wall(1, 0),
        wall(1, 1),
        wall(2, 999_999_999),
        monotonic(0, 999_999_999),
        monotonic(1, 0),
        monotonic(1, 1),
    ];
    let through = deadlines.into_iter().flat_map(|deadline| Kind::ALL.map(|kind| (kind, deadline)));
    let threads: Vec<_> = through
        .map(|(kind, until)| thread::spawn(move || sleep_through(backend, &Place::new(kind, 7), until)))
        .collect();
    for thread in threads {
        finish(thread, || "a deadline of a few seconds does not come".into());
    }
}

/// Deadlines that can't be represented, or only just.
fn what_never_comes_is_waited_for_until_woken(backend: Backend) {
    for kind in Kind::ALL {
        Sleepers::start(backend, &Place::new(kind, 7), never()).dismiss();
    }
}

fn never() -> impl Iterator<Item = Deadline> + Clone {
    let powers = (32..64).map(|power| Duration::from_secs((1 << power) - 1));
    let longest = powers.clone().filter_map(|ahead| Instant::now().checked_add(ahead)).next_back();
    let latest = powers.filter_map(|ahead| UNIX_EPOCH.checked_add(ahead)).next_back();
    let last_moment = latest.and_then(|time| time.checked_add(Duration::from_nanos(999_999_999)));
    [
        Deadline::NEVER,
        Deadline::after(Duration::MAX),
        Deadline::after(Duration::from_secs(1 << 32)),
        longest.into(),
        latest.into(),
        last_moment.into(),
    ]
    .into_iter()
}

/// C3, as a race: a waiter compares and goes to sleep while the word changes and the wake follows.
fn a_change_before_a_wake_is_never_missed(backend: Backend) {
    const ROUNDS: u32 = 20_000;
    for (kind, deadline) in Kind::ALL.into_iter().zip(far_deadlines()) {
        let (place, seen) = (Place::new(kind, 0), Arc::new(AtomicU32::new(0)));
        let waiter = {
            let (place, seen) = (place.clone(), Arc::clone(&seen));
            thread::spawn(move || {
                for last in 0..ROUNDS {
                    while place.load() == last {
                        (backend.wait)(place.word(), last, deadline).expect("no deadline was near");
                    }
                    seen.store(last + 1, Relaxed);
                }
            })
        };
        for round in 1..=ROUNDS {
            // The change is to fall into each gap between the waiter's look and its sleep, the early ones most often.
            (0..(round % 16) * (round / 16 % 16)).for_each(|_| spin_loop());
            place.store(round);
            (backend.wake)(place.address(), 1);
            let caught_up = || seen.load(Relaxed) == round;
            // Stays awake for a while: who yields comes back when the waiter is asleep long since.
            let mut spins = 0;
            while spins < 500 && !caught_up() {
                spin_loop();
                spins += 1;
            }
            until(|| format!("round {round} on a {kind:?} until {deadline:?}: the waiter missed a wake"), caught_up);
        }
        finish(waiter, || "a waiter that has seen everything does not end".into());
    }
}

/// C5.
fn a_wake_may_name_memory_that_is_gone(backend: Backend) {
    let bystander = Sleepers::start(backend, &Place::new(Kind::Whole, 0), [Deadline::NEVER]);
    let freed: *const u32 = &raw const *Box::new(0_u32);
    let never_mapped = [null(), without_provenance(4), without_provenance(!3)];
    for address in never_mapped.into_iter().chain([freed]).chain(gone_pages()) {
        [0, 1, 2, i32::MAX as u32, u32::MAX].into_iter().for_each(|n| (backend.wake)(address, n));
    }
    bystander.dismiss();
}

/// A page that is unmapped, and one that can't be read.
#[cfg(unix)]
fn gone_pages() -> [*const u32; 2] {
    // SAFETY: new pages at an address of the kernel's choice.
    let map = || unsafe {
        libc::mmap(core::ptr::null_mut(), 4096, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    };
    let (unmapped, unreadable) = (map(), map());
    assert!(![unmapped, unreadable].contains(&libc::MAP_FAILED));
    // SAFETY: made above, and never accessed.
    assert_eq!(unsafe { libc::munmap(unmapped, 4096) }, 0);
    [unmapped, unreadable].map(|page| page.cast_const().cast())
}

#[cfg(not(unix))]
fn gone_pages() -> [*const u32; 0] {
    []
}

/// C6.
fn a_wake_gets_up_exactly_as_many_as_it_names(backend: Backend) {
    const K: usize = 4;
    let mut patience = Patience::new();
    for (kind, deadline) in Kind::ALL.into_iter().flat_map(|kind| far_deadlines().map(|deadline| (kind, deadline))) {
        for n in [0, 1, 2, K as u32, K as u32 + 1, i32::MAX as u32 - 1, i32::MAX as u32, 1 << 31, u32::MAX] {
            patience.play(|| wake_among(Sleepers::start(backend, &Place::new(kind, 0), [deadline; K]), n));
        }
        patience.play(|| wake_among(Sleepers::start(backend, &Place::new(kind, 0), []), 1));
    }
}

/// One wake of `n` among threads that sleep; then the others are still asleep and can be woken.
fn wake_among(sleepers: Sleepers, n: u32) -> Result<(), String> {
    sleepers.settle();
    let all = sleepers.len();
    let expected = all.min(n as usize);
    sleepers.wake(n);
    let up = sleepers.settle();
    sleepers.dismiss();
    if up == expected { Ok(()) } else { Err(format!("a wake of {n} among {all} got {up} up and not {expected}")) }
}

/// C6: neither the other half, nor any word beside it.
fn a_wake_reaches_no_other_word(backend: Backend) {
    let mut patience = Patience::new();
    let [_, deadline, _] = far_deadlines();
    for index in 0..Place::new(Kind::Whole, 0).row().count() {
        patience.play(|| {
            let row: Vec<Place> = Place::new(Kind::Whole, 0).row().collect();
            let sleepers: Vec<_> = row.iter().map(|place| Sleepers::start(backend, place, [deadline])).collect();
            sleepers[index].wake(u32::MAX);
            let up: Vec<usize> = sleepers.iter().map(Sleepers::settle).collect();
            sleepers.into_iter().for_each(Sleepers::dismiss);
            let expected: Vec<usize> = (0..row.len()).map(|other| usize::from(other == index)).collect();
            if up == expected { Ok(()) } else { Err(format!("a wake of word {index} got up, by word: {up:?}")) }
        });
    }
}

/// EINTR is no timeout: the thread looks again (C1) or sleeps on.
#[cfg(unix)]
fn a_signal_ends_no_wait_before_its_time(backend: Backend) {
    use std::os::unix::thread::JoinHandleExt;

    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for (signal, flags) in [(libc::SIGUSR1, 0), (libc::SIGUSR2, libc::SA_RESTART)] {
        // SAFETY: all zeroes is an action with an empty mask.
        let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
        (action.sa_sigaction, action.sa_flags) = (handler, flags);
        // SAFETY: the handler does nothing, which it may do at any time.
        assert_eq!(unsafe { libc::sigaction(signal, &action, core::ptr::null_mut()) }, 0);
    }
    let signals = [libc::SIGUSR1, libc::SIGUSR2];

    for (kind, deadline) in Kind::ALL.into_iter().flat_map(|kind| far_deadlines().map(|deadline| (kind, deadline))) {
        let place = Place::new(kind, 0);
        let address = place.address() as usize;
        let asleep = || (backend.asleep)(without_provenance(address)) == 1;
        let sleeper = {
            let place = place.clone();
            thread::spawn(move || {
                while place.load() == 0 {
                    (backend.wait)(place.word(), 0, deadline).expect("no deadline was near");
                }
            })
        };
        for signal in signals.into_iter().cycle().take(40) {
            until(|| format!("a {kind:?} is not slept on any more"), || asleep() || sleeper.is_finished());
            // SAFETY: the thread has not been joined.
            unsafe { libc::pthread_kill(sleeper.as_pthread_t(), signal) };
        }
        place.store(1);
        (backend.wake)(place.address(), 1);
        finish(sleeper, || format!("a thread still sleeps on a changed {kind:?}"));
    }

    let near = Duration::from_millis(20);
    for deadline in [Deadline::from(Instant::now() + near), Deadline::from(SystemTime::now() + near)] {
        let sleeper = thread::spawn(move || sleep_through(backend, &Place::new(Kind::Whole, 0), deadline));
        for signal in signals.into_iter().cycle().take_while(|_| !sleeper.is_finished()) {
            // SAFETY: the thread has not been joined.
            unsafe { libc::pthread_kill(sleeper.as_pthread_t(), signal) };
            thread::yield_now();
        }
        finish(sleeper, || format!("{deadline:?} does not come"));
    }
}

/// Sleeps on a word that nobody changes, until told that the time is up.
fn sleep_through(backend: Backend, place: &Place, deadline: Deadline) {
    while (backend.wait)(place.word(), place.load(), deadline).is_ok() {}
    assert!(deadline.has_passed(), "{deadline:?} was reported early, on a {:?}", place.kind);
}

fn the_cheapest_clock_proves_only_what_is_true(backend: Backend) {
    let surely_past = |deadline: Deadline| match deadline.moment() {
        Moment::Monotonic(instant) => (backend.monotonic_surely_past)(instant),
        Moment::Wall(time) => (backend.wall_surely_past)(time),
        Moment::Never | Moment::Passed => deadline.has_passed(),
    };
    for deadline in far_deadlines().into_iter().chain(never()) {
        assert!(!surely_past(deadline), "{deadline:?}");
    }
    for nanoseconds in (0..20_000).map(|step| step * 300) {
        let ahead = Duration::from_nanos(nanoseconds);
        for deadline in [Deadline::from(Instant::now() + ahead), Deadline::from(SystemTime::now() + ahead)] {
            assert!(!surely_past(deadline) || deadline.has_passed(), "{deadline:?}");
        }
    }
}
