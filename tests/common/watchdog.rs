//! A test that hangs fails, and says who waits for what.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::{from_environment, panics, rounds_factor, threads};

/// Runs `body`. Should it not end within a generous time, then the process reports its threads and aborts. The time is
/// `WAITLINE_WATCHDOG_SECONDS`, or a minute, and more where `WAITLINE_ROUNDS_FACTOR` asks for more to be done.
pub(crate) fn watchdog<T>(what: &str, body: impl FnOnce() -> T) -> T {
    watchdog_beyond(Duration::ZERO, what, body)
}

/// [`watchdog`] for a body that takes `time` by intention.
pub(crate) fn watchdog_beyond<T>(time: Duration, what: &str, body: impl FnOnce() -> T) -> T {
    panics::record();
    let seconds = from_environment("WAITLINE_WATCHDOG_SECONDS", 60.0) * rounds_factor().max(1.0);
    let patience = time + Duration::from_secs_f64(seconds);
    let (at_work, watch) = mpsc::channel::<()>();
    let report = format!("watchdog: no end of \"{what}\" after {patience:?}\n");
    let dog = thread::Builder::new().name("watchdog".to_owned());
    let dog = dog.spawn(move || {
        if watch.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            bark(report);
        }
    });
    let outcome = body();
    drop(at_work);
    dog.unwrap().join().unwrap();
    outcome
}

/// To standard error as it is: what the test harness captures is lost when the process aborts.
fn bark(mut report: String) {
    for panic in panics::recorded() {
        let _ = writeln!(report, "  panicked before: {panic}");
    }
    threads::describe(&mut report);
    let _ = std::io::stderr().write_all(report.as_bytes());
    std::process::abort();
}
