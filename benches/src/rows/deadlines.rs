//! Nobody comes in time.

use std::time::{Duration, Instant, SystemTime};

use super::{Row, runners};
use crate::contenders::{
    BinarySemaphore, Contender, Glibc, Many, ParkingLotCondvar, Semaphore, StdCondvar, TimedFor, TimedUntil,
};
use crate::floor;
use crate::race::{Batch, Runner};
use crate::scenarios::{self, Clock};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![zero::<Semaphore>(), zero::<Many>(), zero::<BinarySemaphore>()];
    rows.extend(expired_on::<Instant>());
    rows.extend(expired_on::<SystemTime>());
    rows.extend([one_nanosecond::<Semaphore>(), one_nanosecond::<Many>(), one_nanosecond::<BinarySemaphore>()]);
    rows.push(lateness());
    rows
}

fn zero<S: TimedFor>() -> Row {
    let ours = Runner::new(S::name(), scenarios::zero_timeout::<S>);
    Row {
        floors: vec![Runner::new("load", floor::load)],
        peers: runners![|Peer, times| scenarios::zero_timeout::<Peer>(times); StdCondvar, ParkingLotCondvar, Glibc],
        ..Row::new(format!("{}: try_acquire_for(ZERO) on empty", S::name()), 2.0, ours)
    }
}

fn expired_on<C: Clock + 'static>() -> [Row; 6]
where
    Semaphore: TimedUntil<C>,
    Many: TimedUntil<C>,
    BinarySemaphore: TimedUntil<C>,
    StdCondvar: TimedUntil<C>,
    ParkingLotCondvar: TimedUntil<C>,
    Glibc: TimedUntil<C>,
{
    let (just_passed, long_passed) = (1.4, 0.7);
    [
        expired::<C, Semaphore>("just passed", C::now, just_passed),
        expired::<C, Many>("just passed", C::now, just_passed),
        expired::<C, BinarySemaphore>("just passed", C::now, just_passed),
        expired::<C, Semaphore>("passed 50 ms ago", C::a_while_ago, long_passed),
        expired::<C, Many>("passed 50 ms ago", C::a_while_ago, long_passed),
        expired::<C, BinarySemaphore>("passed 50 ms ago", C::a_while_ago, long_passed),
    ]
}

fn expired<C: Clock + 'static, S: TimedUntil<C>>(when: &str, deadline: fn() -> C, target: f64) -> Row
where
    StdCondvar: TimedUntil<C>,
    ParkingLotCondvar: TimedUntil<C>,
    Glibc: TimedUntil<C>,
{
    let ours = Runner::new(S::name(), move |times| scenarios::expired_deadline::<C, S>(deadline, times));
    Row {
        floors: vec![Runner::new("Instant::now()", floor::instant_now)],
        peers: runners![|Peer, times| scenarios::expired_deadline::<C, Peer>(deadline, times); StdCondvar, ParkingLotCondvar, Glibc],
        ..Row::new(format!("{}: try_acquire_until({}, {when})", S::name(), C::name()), target, ours)
    }
}

fn one_nanosecond<S: TimedFor>() -> Row {
    let ours = Runner::new(S::name(), scenarios::one_nanosecond::<S>);
    Row {
        floors: vec![Runner::new("Instant::now()", floor::instant_now)],
        peers: runners![|Peer, times| scenarios::one_nanosecond::<Peer>(times); StdCondvar, ParkingLotCondvar, Glibc],
        ..Row::new(format!("{}: try_acquire_for(1 ns) on empty", S::name()), 2.5, ours)
    }
}

fn lateness() -> Row {
    const TIMEOUT: Duration = Duration::from_micros(10);
    let ours = Runner::new(Semaphore::name(), |times| scenarios::lateness::<Semaphore>(TIMEOUT, times));
    Row {
        floors: vec![Runner::new("futex wait", |times| floor::futex_lateness(TIMEOUT, times))],
        peers: runners![|Peer, times| scenarios::lateness::<Peer>(TIMEOUT, times); BinarySemaphore, StdCondvar, ParkingLotCondvar, Glibc],
        batch: Batch::Of(25),
        ..Row::new("lateness of a 10 µs wait", 0.4, ours)
    }
}
