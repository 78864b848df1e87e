//! What the public types promise by their shape: traits, sizes, constness, signatures that can be pointed to; and
//! `Deadline` and `TimedOut`, which are little more than that.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use waitline::{BinarySemaphore, Deadline, OwnedPermit, Permit, Semaphore, TimedOut};

/// Whether a type has a trait, as a `bool`: an inherent constant, which exists under that bound only, goes before
/// one of a trait.
macro_rules! has {
    ($type:ty: $($bound:tt)+) => {{
        struct Probe<T: ?Sized>(PhantomData<T>);
        #[allow(dead_code, reason = "not needed then")]
        trait Otherwise {
            const HAS: bool = false;
        }
        impl<T: ?Sized> Otherwise for Probe<T> {}
        #[allow(dead_code, reason = "exists under the bound only")]
        impl<T: ?Sized + $($bound)+> Probe<T> {
            const HAS: bool = true;
        }
        Probe::<$type>::HAS
    }};
}

macro_rules! pin_traits {
    ($($type:ty: [$($has:path),*] not [$($lacks:path),*];)+) => {$(
        $(assert!(has!($type: $has), "{} is {}", stringify!($type), stringify!($has));)*
        $(assert!(!has!($type: $lacks), "{} is not {}", stringify!($type), stringify!($lacks));)*
    )+};
}

#[test]
fn the_probe_tells_types_apart() {
    pin_traits! {
        u8: [Copy, Ord, Send] not [Error];
        str: [Ord, Send] not [Clone, Sized];
        std::cell::Cell<u8>: [Send, Unpin] not [Sync, RefUnwindSafe];
        *const u8: [Ord, UnwindSafe] not [Send, Sync];
        std::marker::PhantomPinned: [Send] not [Unpin];
    }
}

#[test]
fn traits() {
    pin_traits! {
        Semaphore: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Default] not [Copy, Clone, PartialEq, Hash];
        BinarySemaphore: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Default]
            not [Copy, Clone, PartialEq, Hash];
        Permit<'static>: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Copy, Clone, Default];
        OwnedPermit: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug] not [Copy, Clone, Default];
        Deadline: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Copy, Eq]
            not [PartialOrd, Ord, Default, Display];
        Deadline: [From<Instant>, From<SystemTime>, From<Option<Instant>>, From<Option<SystemTime>>,
            From<Option<Deadline>>, From<Option<Option<Instant>>>] not [From<Duration>, From<Option<Duration>>];
        TimedOut: [Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Debug, Display, Error, Copy, Eq, Hash] not [Default];
    }
}

#[test]
fn sizes() {
    assert_eq!((size_of::<Semaphore>(), align_of::<Semaphore>()), (8, 8));
    assert_eq!((size_of::<BinarySemaphore>(), align_of::<BinarySemaphore>()), (4, 4));
    assert_eq!(size_of::<TimedOut>(), 0);
}

#[test]
fn constructors_are_const() {
    static COUNTING: Semaphore = Semaphore::new(2);
    static FULL: Semaphore = Semaphore::new(Semaphore::MAX_PERMITS);
    static BINARY: BinarySemaphore = BinarySemaphore::new(true);
    static MANY: [Semaphore; 3] = [const { Semaphore::new(1) }; 3];
    const fn pair(permits: usize) -> (Semaphore, BinarySemaphore) {
        (Semaphore::new(permits), BinarySemaphore::new(permits > 0))
    }
    const ENDS: [Deadline; 2] = [Deadline::NEVER, Deadline::PASSED];

    assert_eq!(COUNTING.available_permits(), 2);
    assert_eq!(FULL.available_permits(), Semaphore::MAX_PERMITS);
    assert!(BINARY.is_available());
    assert!(MANY.iter().all(Semaphore::try_acquire));
    let empty = const { Semaphore::new(0) };
    assert_eq!(empty.available_permits(), 0);
    assert_eq!(ENDS.map(|deadline| deadline.has_passed()), [false, true]);
    let (counting, binary) = pair(1);
    assert!(counting.try_acquire() && binary.try_acquire());
}

#[test]
fn max_permits_is_what_is_promised() {
    const { assert!(Semaphore::MAX_PERMITS >= 1 << 30) };
}

/// A signature that stays may be named in full. Generic calls can be pointed to once their types are known.
#[test]
fn calls_are_function_pointers() {
    let new: fn(usize) -> Semaphore = Semaphore::new;
    let new_binary: fn(bool) -> BinarySemaphore = BinarySemaphore::new;
    let semaphore = Arc::new(new(9));
    let binary = new_binary(true);

    let takes: [fn(&Semaphore); 2] = [Semaphore::acquire, Semaphore::release];
    takes.iter().for_each(|call| call(&semaphore));
    let counts: [fn(&Semaphore, usize); 2] = [Semaphore::acquire_many, Semaphore::release_many];
    counts.iter().for_each(|call| call(&semaphore, 9));
    let available: fn(&Semaphore) -> usize = Semaphore::available_permits;
    assert_eq!(available(&semaphore), 9);

    let _: fn(&Semaphore) -> bool = Semaphore::try_acquire;
    let _: fn(&Semaphore, Duration) -> bool = Semaphore::try_acquire_for;
    let _: fn(&Semaphore, Instant) -> bool = Semaphore::try_acquire_until;
    let _: fn(&Semaphore, usize) -> bool = Semaphore::try_acquire_many;
    let _: fn(&Semaphore, usize, Duration) -> bool = Semaphore::try_acquire_many_for;
    let _: fn(&Semaphore, usize, SystemTime) -> bool = Semaphore::try_acquire_many_until;
    let _: unsafe fn(*const Semaphore, usize) = Semaphore::release_raw;

    let permit: for<'a> fn(&'a Semaphore) -> Permit<'a> = Semaphore::acquire_permit;
    assert_eq!(permit(&semaphore).num_permits(), 1);
    let _: for<'a> fn(&'a Semaphore) -> Option<Permit<'a>> = Semaphore::try_acquire_permit;
    let _: for<'a> fn(&'a Semaphore, Duration) -> Option<Permit<'a>> = Semaphore::try_acquire_permit_for;
    let _: for<'a> fn(&'a Semaphore, Option<Instant>) -> Option<Permit<'a>> = Semaphore::try_acquire_permit_until;
    let _: for<'a> fn(&'a Semaphore, usize) -> Permit<'a> = Semaphore::acquire_permits;
    let _: for<'a> fn(&'a Semaphore, usize) -> Option<Permit<'a>> = Semaphore::try_acquire_permits;
    let _: for<'a> fn(&'a Semaphore, usize, Duration) -> Option<Permit<'a>> = Semaphore::try_acquire_permits_for;
    let _: for<'a> fn(&'a Semaphore, usize, Deadline) -> Option<Permit<'a>> = Semaphore::try_acquire_permits_until;

    let owned: fn(&Arc<Semaphore>, usize) -> OwnedPermit = Semaphore::acquire_owned;
    assert_eq!(owned(&semaphore, 3).num_permits(), 3);
    let _: fn(&Arc<Semaphore>, usize) -> Option<OwnedPermit> = Semaphore::try_acquire_owned;
    let _: fn(&Arc<Semaphore>, usize, Duration) -> Option<OwnedPermit> = Semaphore::try_acquire_owned_for;
    let _: fn(&Arc<Semaphore>, usize, Instant) -> Option<OwnedPermit> = Semaphore::try_acquire_owned_until;
    let _: fn(Permit<'static>) = Permit::forget;
    let _: fn(OwnedPermit) = OwnedPermit::forget;
    let _: fn(&Permit<'static>) -> usize = Permit::num_permits;
    let _: fn(&OwnedPermit) -> usize = OwnedPermit::num_permits;

    let acquire: fn(&BinarySemaphore) = BinarySemaphore::acquire;
    acquire(&binary);
    let asks: [fn(&BinarySemaphore) -> bool; 3] =
        [BinarySemaphore::release, BinarySemaphore::is_available, BinarySemaphore::try_acquire];
    assert!(asks.iter().all(|call| call(&binary)));
    let _: fn(&BinarySemaphore, Duration) -> bool = BinarySemaphore::try_acquire_for;
    let _: fn(&BinarySemaphore, Instant) -> bool = BinarySemaphore::try_acquire_until;
    let _: unsafe fn(*const BinarySemaphore) -> bool = BinarySemaphore::release_raw;

    let _: fn(Duration) -> Deadline = Deadline::after;
    let _: fn(&Deadline) -> bool = Deadline::has_passed;
    let _: fn(&Deadline) -> Option<Duration> = Deadline::remaining;
}

#[test]
fn constructors_are_mapped_over() {
    let counting: Vec<Semaphore> = (0..3).map(Semaphore::new).collect();
    assert_eq!(counting.iter().map(Semaphore::available_permits).collect::<Vec<_>>(), [0, 1, 2]);
    let binary = [false, true].map(BinarySemaphore::new);
    assert_eq!(binary.each_ref().map(BinarySemaphore::is_available), [false, true]);
    let deadlines = [Duration::ZERO, Duration::MAX].map(Deadline::after);
    assert_eq!(deadlines, [Deadline::PASSED, Deadline::NEVER]);
}

/// A permit borrows its semaphore and can be sent to a scoped thread; the owned one goes anywhere.
#[test]
fn permits_travel() {
    let semaphore = Semaphore::new(1);
    std::thread::scope(|scope| {
        let permit = semaphore.acquire_permit();
        scope.spawn(move || drop(permit));
    });
    assert_eq!(semaphore.available_permits(), 1);

    let semaphore = Arc::new(semaphore);
    let permit = semaphore.acquire_owned(1);
    std::thread::spawn(move || drop(permit)).join().unwrap();
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn defaults_are_empty() {
    assert_eq!(Semaphore::default().available_permits(), 0);
    assert!(!BinarySemaphore::default().is_available());
}

/// Also while the permits are out: there is no lock to wait for.
#[test]
fn debug_output_says_what_is_available() {
    let semaphore = Arc::new(Semaphore::new(3));
    let (permit, owned) = (semaphore.acquire_permit(), semaphore.acquire_owned(2));
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available_permits: 0, .. }");
    for shown in [format!("{permit:?}"), format!("{owned:?}")] {
        assert!(shown.contains("Semaphore { available_permits: 0, .. }"), "{shown}");
    }
    assert!(format!("{permit:?}").contains("permits: 1") && format!("{owned:?}").contains("permits: 2"));
    drop((permit, owned));
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available_permits: 3, .. }");

    assert_eq!(format!("{:?}", BinarySemaphore::new(true)), "BinarySemaphore { is_available: true, .. }");
    assert_eq!(format!("{:?}", BinarySemaphore::new(false)), "BinarySemaphore { is_available: false, .. }");
}

#[test]
fn timed_out_is_an_error_like_others() {
    fn fails() -> Result<(), Box<dyn Error + Send + Sync + 'static>> {
        Err(TimedOut)?
    }
    let error = fails().unwrap_err();
    assert_eq!(error.downcast_ref::<TimedOut>(), Some(&TimedOut));
    assert_eq!((error.to_string(), format!("{error:?}")), ("timed out".into(), "TimedOut".into()));
    assert!(error.source().is_none());
    assert_eq!(HashSet::from([TimedOut, TimedOut]).len(), 1);
}

/// The type that `None` leaves open is inferred from what is written at the call, and no `into` is needed.
#[test]
fn a_deadline_is_whatever_becomes_one() {
    fn made(deadline: impl Into<Deadline>) -> Deadline {
        deadline.into()
    }
    let (instant, time) = (Instant::now(), SystemTime::now());
    assert_eq!(made(instant), Deadline::from(instant));
    assert_eq!(made(time), Deadline::from(time));
    assert_eq!(made(made(instant)), made(instant));
    assert_eq!(made(Some(instant)), made(instant));
    assert_eq!(made(Some(time)), made(time));
    assert_eq!(made(Some(made(time))), made(time));
    assert_eq!(made(Some(Some(instant))), made(instant));
    assert_eq!(made(None::<Instant>), Deadline::NEVER);
    assert_eq!(made(None::<SystemTime>), Deadline::NEVER);
    assert_eq!(made(None::<Deadline>), Deadline::NEVER);
    assert_eq!(made(Some(None::<Instant>)), Deadline::NEVER);
    // What std's own arithmetic makes of times that it can't represent.
    assert_eq!(made(instant.checked_add(Duration::MAX)), Deadline::NEVER);
    assert_eq!(made(time.checked_add(Duration::MAX)), Deadline::NEVER);

    let semaphore = Semaphore::new(4);
    assert!(semaphore.try_acquire_until(None::<Instant>));
    assert!(semaphore.try_acquire_many_until(1, Some(instant)));
    assert!(semaphore.try_acquire_permit_until(time).is_some());
    assert!(semaphore.try_acquire_permits_until(1, Some(made(time))).is_some());
}

#[test]
fn equal_deadlines_are_the_same_moment_on_the_same_clock() {
    let (instant, time) = (Instant::now(), SystemTime::now());
    let step = Duration::from_nanos(100); // No clock of std's counts in coarser ones.
    let all = [
        Deadline::NEVER,
        Deadline::PASSED,
        instant.into(),
        (instant + step).into(),
        time.into(),
        (time + step).into(),
        UNIX_EPOCH.into(),
    ];
    for (i, one) in all.iter().enumerate() {
        for (k, other) in all.iter().enumerate() {
            assert_eq!(one == other, i == k, "{one:?} and {other:?}");
        }
    }
}

#[test]
fn what_is_out_of_reach_is_never_and_what_was_before_all_clocks_has_passed() {
    assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
    assert_eq!(Deadline::after(Duration::from_secs(u64::MAX)), Deadline::NEVER);
    assert_eq!(Deadline::after(Duration::ZERO), Deadline::PASSED);
    assert_ne!(Deadline::after(Duration::from_nanos(1)), Deadline::PASSED);
    for before in [Duration::from_nanos(100), Duration::from_secs(1), Duration::from_secs(1 << 33)] {
        assert_eq!(Deadline::from(UNIX_EPOCH - before), Deadline::PASSED, "{before:?}");
    }
    let oldest = (0..64).rev().find_map(|power| Instant::now().checked_sub(Duration::from_secs(1 << power)));
    assert!(oldest.is_none_or(|oldest| Deadline::from(oldest).has_passed()));
}

#[test]
fn a_deadline_knows_how_far_it_is() {
    let minute = Duration::from_secs(60);
    for ahead in [Deadline::after(minute), (Instant::now() + minute).into(), (SystemTime::now() + minute).into()] {
        assert!(!ahead.has_passed(), "{ahead:?}");
        let (first, second) = (ahead.remaining().unwrap(), ahead.remaining().unwrap());
        assert!(Duration::ZERO < second && second <= first && first <= minute, "{second:?}, {first:?}: {ahead:?}");
    }
    for reached in [Deadline::PASSED, Instant::now().into(), SystemTime::now().into(), UNIX_EPOCH.into()] {
        assert!(reached.has_passed(), "{reached:?}");
        assert_eq!(reached.remaining(), Some(Duration::ZERO), "{reached:?}");
    }
    assert!(!Deadline::NEVER.has_passed());
    assert_eq!(Deadline::NEVER.remaining(), None);

    for soon in [Deadline::after(Duration::from_micros(200)), (SystemTime::now() + Duration::from_micros(200)).into()] {
        while !soon.has_passed() {}
        assert_eq!(soon.remaining(), Some(Duration::ZERO), "{soon:?}");
    }
}

#[test]
fn debug_output_of_a_deadline_says_what_kind_it_is() {
    let instant = Instant::now();
    assert_eq!(format!("{:?}", Deadline::NEVER), "Deadline::NEVER");
    assert_eq!(format!("{:?}", Deadline::PASSED), "Deadline::PASSED");
    assert_eq!(format!("{:?}", Deadline::from(instant)), format!("Deadline({instant:?})"));
    assert_eq!(format!("{:?}", Deadline::from(UNIX_EPOCH)), format!("Deadline({UNIX_EPOCH:?})"));
}
