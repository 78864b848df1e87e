//! The model checker's platform: one queue of sleepers under a modelled lock, and time that passes when a model
//! says so.
//!
//! The lock gives C3, and nothing but the lock orders anything (C4), so a protocol that leans on the kernel's own
//! barriers fails here. Clocks are not read: every deadline that has not passed when it is handed in comes when the
//! model calls [`expire`], a step like any other, which the checker puts before, between and after the others'.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use super::Word;
use crate::atomic::model::{Condvar, Mutex, lazy_static};
use crate::deadline::Moment;
use crate::{Deadline, TimedOut};

struct Platform {
    /// In order of arrival. Whoever is not in it any more has been woken or has run out of time.
    asleep: VecDeque<Arc<Sleeper>>,
    expired: bool,
    woken: u32,
    wake_calls: u32,
}

struct Sleeper {
    address: usize,
    timed: bool,
    /// Not part of the modelled world: written and read under the platform's lock.
    up: AtomicBool,
    get_up: Condvar,
}

impl Sleeper {
    fn rouse(&self) {
        self.up.store(true, Relaxed);
        self.get_up.notify_one();
    }
}

lazy_static! {
    static ref PLATFORM: Mutex<Platform> =
        Mutex::new(Platform { asleep: VecDeque::new(), expired: false, woken: 0, wake_calls: 0 });
}

pub(crate) fn wait(word: Word<'_>, expected: u32, deadline: Deadline) -> Result<(), TimedOut> {
    let timed = match deadline.moment() {
        Moment::Never => false,
        Moment::Passed => return Err(TimedOut),
        Moment::Monotonic(_) | Moment::Wall(_) => true,
    };
    let mut platform = PLATFORM.lock().unwrap();
    if timed && platform.expired {
        return Err(TimedOut);
    }
    if word.load() != expected {
        return Ok(());
    }
    let sleeper = Arc::new(Sleeper {
        address: word.address() as usize,
        timed,
        up: AtomicBool::new(false),
        get_up: Condvar::new(),
    });
    platform.asleep.push_back(Arc::clone(&sleeper));
    while !sleeper.up.load(Relaxed) {
        platform = sleeper.get_up.wait(platform).unwrap();
    }
    Ok(()) // by a wake or by the time: C6
}

pub(crate) fn wake(address: *const u32, n: u32) {
    let mut platform = PLATFORM.lock().unwrap();
    platform.wake_calls += 1;
    for _ in 0..n {
        let next = platform.asleep.iter().position(|sleeper| sleeper.address == address as usize);
        let Some(sleeper) = next.and_then(|next| platform.asleep.remove(next)) else { return };
        platform.woken += 1;
        sleeper.rouse();
    }
}

/// Lets every deadline come: whoever sleeps until one gets up, and timed waits that start later end at once.
pub(crate) fn expire() {
    let mut platform = PLATFORM.lock().unwrap();
    platform.expired = true;
    let (timed, untimed) = core::mem::take(&mut platform.asleep).into_iter().partition(|sleeper| sleeper.timed);
    platform.asleep = untimed;
    let timed: VecDeque<Arc<Sleeper>> = timed;
    for sleeper in timed {
        sleeper.rouse();
    }
}

/// Gets everybody up for nothing, as a signal does.
pub(crate) fn disturb() {
    let mut platform = PLATFORM.lock().unwrap();
    for sleeper in core::mem::take(&mut platform.asleep) {
        sleeper.rouse();
    }
}

/// How many threads wakes have got up so far, time not counted.
pub(crate) fn woken() -> u32 {
    PLATFORM.lock().unwrap().woken
}

/// How many wakes there were, also of nobody.
pub(crate) fn wake_calls() -> u32 {
    PLATFORM.lock().unwrap().wake_calls
}

pub(crate) fn monotonic_surely_past(_: Instant) -> bool {
    false
}

pub(crate) fn wall_surely_past(_: SystemTime) -> bool {
    false
}

/// A spin explores nothing that the schedules do not.
pub(crate) fn processors() -> u32 {
    1
}

pub(crate) fn random() -> u64 {
    1
}

/// Threads of a model do not fork.
pub(crate) fn in_forked_child(_: extern "C" fn()) {}
