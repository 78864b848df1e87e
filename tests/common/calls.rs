//! Everything that can be waited for, as one table: whatever holds for every timed call is tested over all of it.
//!
//! A new primitive joins with an `impl Subject` and a line in [`subjects`].

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use waitline::Deadline;

use super::atomic_wait::Changed;
use super::barrier::{Meeting, Token};
use super::latch::Opening;
use super::oneshot::{Lent, Received, Settled};
use super::pools::{Binary, Counting};

/// How long a call waits, and so which of the four forms of the call is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    Untimed,
    Try,
    For(Duration),
    Until(Deadline),
    UntilInstant(Instant),
    UntilTime(SystemTime),
}

/// The call of `$wait`'s form: `call!(wait, object: acquire, try_acquire, try_acquire_for, try_acquire_until)`.
/// `$done` is what an untimed call that returns nothing amounts to.
macro_rules! call {
    ($wait:expr, $object:ident: $untimed:ident $attempt:ident $timeout:ident $deadline:ident ($($n:expr)?) => $done:expr) => {
        match $wait {
            Wait::Untimed => {
                $object.$untimed($($n)?);
                $done
            }
            wait => call!(@timed wait, $object: $attempt $timeout $deadline ($($n)?)),
        }
    };
    ($wait:expr, $object:ident: $untimed:ident $attempt:ident $timeout:ident $deadline:ident ($($n:expr)?)) => {
        match $wait {
            Wait::Untimed => Some($object.$untimed($($n)?)),
            wait => call!(@timed wait, $object: $attempt $timeout $deadline ($($n)?)),
        }
    };
    (@timed $wait:ident, $object:ident: $attempt:ident $timeout:ident $deadline:ident ($($n:expr)?)) => {
        match $wait {
            Wait::Untimed => unreachable!(),
            Wait::Try => $object.$attempt($($n)?),
            Wait::For(timeout) => $object.$timeout($($n,)? timeout),
            Wait::Until(deadline) => $object.$deadline($($n,)? deadline),
            Wait::UntilInstant(instant) => $object.$deadline($($n,)? instant),
            Wait::UntilTime(time) => $object.$deadline($($n,)? time),
        }
    };
}
pub(crate) use call;

/// The same for a call whose forms differ in more than their names: what the untimed form and the attempt amount to is
/// said in full.
macro_rules! call_as_result {
    ($wait:expr, $object:ident: $untimed:expr, $attempt:expr, $timeout:ident $deadline:ident) => {
        match $wait {
            Wait::Untimed => $untimed,
            Wait::Try => $attempt,
            Wait::For(timeout) => $object.$timeout(timeout),
            Wait::Until(deadline) => $object.$deadline(deadline),
            Wait::UntilInstant(instant) => $object.$deadline(instant),
            Wait::UntilTime(time) => $object.$deadline(time),
        }
    };
}
pub(crate) use call_as_result;

/// Something to wait for, through one call in all its forms.
///
/// What comes once only, such as a value, is satisfied once, and some objects let one thread at a time wait. So a test
/// that needs more than that takes a [`fresh`](Subject::fresh) one.
pub(crate) trait Subject: Send + Sync {
    fn name(&self) -> String;

    /// Makes the call: whether what it waited for came.
    fn wait(&self, wait: Wait) -> bool;

    /// Lets one such call succeed.
    fn satisfy(&self);

    /// The same call on another object, on which it waits.
    fn fresh(&self) -> Box<dyn Subject>;

    /// Whether it adds up: one [`satisfy`](Subject::satisfy), one call that returned `came`, and what is there now, which
    /// this takes away.
    fn adds_up(&self, came: bool) -> bool;
}

/// Fresh ones of every kind, on which every call waits.
pub(crate) fn subjects() -> Vec<Box<dyn Subject>> {
    let mut all: Vec<Box<dyn Subject>> = Vec::new();
    all.extend(Counting::all(0).into_iter().map(|counting| Box::new(counting) as Box<dyn Subject>));
    all.push(Box::new(Binary::new(false)));
    all.push(Box::new(Opening::new()));
    all.push(Box::new(Meeting::new()));
    all.push(Box::new(Token::new()));
    all.push(Box::new(Received::new()));
    all.push(Box::new(Settled::new()));
    all.push(Box::new(Lent::new()));
    all.extend(Changed::all().into_iter().map(|changed| Box::new(changed) as Box<dyn Subject>));
    all
}

/// A deadline that has passed, and before whose clock is read something happens: converting it is where a caller's code
/// runs between the first attempt and that.
pub(crate) struct PassedAfter<'a>(pub(crate) &'a dyn Fn());

impl From<PassedAfter<'_>> for Deadline {
    fn from(deadline: PassedAfter<'_>) -> Deadline {
        (deadline.0)();
        Deadline::PASSED
    }
}

impl Wait {
    /// How many timed forms there are.
    pub(crate) const TIMED: usize = 4;

    /// Every way to wait for no longer than `timeout` from now, on both clocks.
    pub(crate) fn within(timeout: Duration) -> [Wait; Wait::TIMED] {
        [
            Wait::For(timeout),
            Wait::Until(Deadline::after(timeout)),
            Wait::UntilInstant(Instant::now() + timeout),
            Wait::UntilTime(SystemTime::now() + timeout),
        ]
    }

    /// Whether a call that was made at `start` may say by now that its time is up, by the clock that it names.
    pub(crate) fn is_due(&self, start: Instant) -> bool {
        match *self {
            Wait::Untimed => false,
            Wait::Try => true,
            Wait::For(timeout) => start.elapsed() >= timeout,
            Wait::Until(deadline) => deadline.has_passed(),
            Wait::UntilInstant(instant) => Instant::now() >= instant,
            Wait::UntilTime(time) => SystemTime::now() >= time,
        }
    }

    /// Every way to say "it is over already": one attempt, and no waiting.
    pub(crate) fn passed() -> Vec<Wait> {
        let mut all = vec![
            Wait::Try,
            Wait::For(Duration::ZERO),
            Wait::Until(Deadline::PASSED),
            Wait::Until(Deadline::after(Duration::ZERO)),
            Wait::UntilInstant(Instant::now()),
            Wait::UntilTime(SystemTime::now()),
            Wait::UntilTime(UNIX_EPOCH),
        ];
        // 200 years ago is before the start of the machine and before the epoch.
        for seconds in [1, 10, 200 * 365 * 86_400, i64::MAX as u64 / 2, i64::MAX as u64] {
            for ago in [Duration::from_secs(seconds), Duration::new(seconds, 999_999_999)] {
                all.extend(Instant::now().checked_sub(ago).map(Wait::UntilInstant));
                all.extend(SystemTime::now().checked_sub(ago).map(Wait::UntilTime));
                all.extend(UNIX_EPOCH.checked_sub(ago).map(Wait::UntilTime));
            }
        }
        // Seconds zero and negative nanoseconds, to a kernel.
        all.extend([1, 10_000_000, 999_999_999].map(|ago| Wait::UntilTime(UNIX_EPOCH - Duration::from_nanos(ago))));
        all.push(Wait::UntilInstant(extreme(Instant::now(), Instant::checked_sub)));
        all.push(Wait::UntilTime(extreme(UNIX_EPOCH, SystemTime::checked_sub)));
        all
    }

    /// Every way to say "for ever", or so far ahead that it is as good as that.
    pub(crate) fn endless() -> Vec<Wait> {
        let mut all = vec![Wait::Untimed, Wait::Until(Deadline::NEVER), Wait::Until(None::<Instant>.into())];
        let timeouts = [
            Duration::MAX,
            Duration::MAX - Duration::from_nanos(1),
            Duration::from_secs(u64::MAX / 2),
            Duration::from_secs(i64::MAX as u64),
            Duration::from_secs(i64::MAX as u64 - 1),
            Duration::from_millis(u64::MAX),
            Duration::from_micros(u64::MAX),
            Duration::from_nanos(u64::MAX),
            // 32 bits of seconds, of milliseconds and of signed either, and a little more.
            Duration::from_secs((1 << 32) + 2),
            Duration::from_secs((1 << 31) + 2),
            Duration::from_millis((1 << 32) + 2000),
            Duration::from_millis((1 << 31) + 2000),
            Duration::new(86_400, 999_999_999),
        ];
        for timeout in timeouts {
            all.extend([Wait::For(timeout), Wait::Until(Deadline::after(timeout))]);
            all.extend(Instant::now().checked_add(timeout).map(Wait::UntilInstant));
            all.extend(SystemTime::now().checked_add(timeout).map(Wait::UntilTime));
        }
        all.push(Wait::UntilInstant(extreme(Instant::now(), Instant::checked_add)));
        all.push(Wait::UntilTime(extreme(UNIX_EPOCH, SystemTime::checked_add)));
        all
    }
}

/// One of the forms of a call, for use at a moment that is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Untimed,
    Try,
    /// One of the timed forms, with a timeout that is up while the others are at it.
    Timed(usize),
}

impl Form {
    pub(crate) fn all() -> impl Iterator<Item = Form> {
        [Form::Untimed, Form::Try].into_iter().chain((0..Wait::TIMED).map(Form::Timed))
    }

    pub(crate) fn start(self) -> Wait {
        match self {
            Form::Untimed => Wait::Untimed,
            Form::Try => Wait::Try,
            Form::Timed(form) => Wait::within(Duration::from_micros(20))[form],
        }
    }
}

/// The last value that a clock's type can hold in one direction. Steps finer than its resolution lead nowhere.
fn extreme<T: Copy + PartialEq>(start: T, step: fn(&T, Duration) -> Option<T>) -> T {
    let mut last = start;
    let mut stride = Duration::from_secs(1 << 63);
    while !stride.is_zero() {
        match step(&last, stride) {
            Some(further) if further != last => last = further,
            _ => stride /= 2,
        }
    }
    last
}
