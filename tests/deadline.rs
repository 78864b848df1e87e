//! Deadlines as values: what they are made of, what they are equal to, and what they say of themselves.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use waitline::oneshot::channel;
use waitline::{Barrier, Deadline, Latch, Semaphore};

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
    let (latch, barrier, (sender, receiver)) = (Latch::new(0), Barrier::new(1), channel());
    assert!(latch.wait_until(None::<SystemTime>).is_ok() && barrier.wait_until(Some(made(time))).is_ok());
    assert!(barrier.arrive().wait_until(instant).is_ok());
    assert!(
        sender.send(5).is_ok() && receiver.wait_until(time).is_ok() && receiver.recv_until(None::<Instant>).is_ok()
    );
    assert!(receiver.share().wait_until(Some(Some(instant))).is_err());
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
