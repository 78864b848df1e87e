//! The latch: every way to wait until it is open.

use waitline::{Latch, TimedOut};

use super::calls::{Subject, Wait, call_as_result};

/// Waits until the latch is open, by the form of the call that `wait` names.
pub(crate) fn wait_for_opening(latch: &Latch, wait: Wait) -> Result<(), TimedOut> {
    let attempt = || latch.try_wait().then_some(()).ok_or(TimedOut);
    call_as_result!(wait, latch: { latch.wait(); Ok(()) }, attempt(), wait_for wait_until)
}

/// A latch that one more count down opens.
pub(crate) struct Opening(Latch);

impl Opening {
    pub(crate) fn new() -> Opening {
        Opening(Latch::new(1))
    }
}

impl Subject for Opening {
    fn name(&self) -> String {
        "Latch".to_owned()
    }

    fn wait(&self, wait: Wait) -> bool {
        wait_for_opening(&self.0, wait).is_ok()
    }

    fn satisfy(&self) {
        assert!(self.0.count_down());
    }

    fn fresh(&self) -> Box<dyn Subject> {
        Box::new(Opening::new())
    }

    /// Open is for ever.
    fn adds_up(&self, _came: bool) -> bool {
        self.wait(Wait::Try) && self.0.count() == 0
    }
}
