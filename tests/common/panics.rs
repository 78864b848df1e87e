//! Panics that a test expects, with the place that they name; and those that it does not, for the watchdog.

use std::cell::RefCell;
use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, Once, PoisonError};

#[derive(Clone, Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    pub(crate) file: String,
    pub(crate) line: u32,
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

enum Expected {
    No,
    Yes,
    Came(Panic),
}

thread_local! {
    static EXPECTED: RefCell<Expected> = const { RefCell::new(Expected::No) };
}

static UNEXPECTED: Mutex<Vec<Panic>> = Mutex::new(Vec::new());

/// From now on panics are kept as well as printed.
pub(crate) fn record() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let panic = describe(info);
            let expected = EXPECTED.with_borrow_mut(|expected| {
                let yes = matches!(expected, Expected::Yes);
                if yes {
                    *expected = Expected::Came(panic.clone());
                }
                yes
            });
            if !expected {
                UNEXPECTED.lock().unwrap_or_else(PoisonError::into_inner).push(panic);
                print(info);
            }
        }));
    });
}

pub(crate) fn recorded() -> Vec<Panic> {
    UNEXPECTED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The panic that `body` ends in.
#[track_caller]
pub(crate) fn panic_of<T>(body: impl FnOnce() -> T) -> Panic {
    match outcome_of(body) {
        Ok(_) => panic!("it did not panic"),
        Err(panic) => panic,
    }
}

/// What `body` returns, or the panic that it ends in.
pub(crate) fn outcome_of<T>(body: impl FnOnce() -> T) -> Result<T, Panic> {
    record();
    EXPECTED.replace(Expected::Yes);
    let outcome = panic::catch_unwind(AssertUnwindSafe(body));
    match (outcome, EXPECTED.replace(Expected::No)) {
        (Ok(value), _) => Ok(value),
        (Err(_), Expected::Came(panic)) => Err(panic),
        (Err(payload), _) => panic::resume_unwind(payload),
    }
}

/// Asserts that a call panics, names the line that made it, and says all of the words.
macro_rules! assert_refused {
    ($call:expr, $($word:expr),+) => {
        let $crate::common::panics::Panic { message, file, line } = $crate::common::panics::panic_of(|| $call);
        assert_eq!((file.as_str(), line), (file!(), line!()), "{message}");
        $(assert!(message.contains($word), "{message}");)+
    };
}
pub(crate) use assert_refused;

fn describe(info: &PanicHookInfo<'_>) -> Panic {
    let text = info.payload().downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| info.payload().downcast_ref::<String>().cloned()).unwrap_or_default();
    let (file, line) = info.location().map_or(("", 0), |place| (place.file(), place.line()));
    Panic { message, file: file.to_owned(), line }
}
