//! crossbeam's group of threads that are waited for.

use std::sync::Mutex;

use super::AnyLatch;
use crate::contenders::Contender;

/// `crossbeam_utils::sync::WaitGroup`, for which one thread waits: whoever does gives its own member away.
#[derive(Debug)]
pub struct WaitGroup(Mutex<Option<crossbeam_utils::sync::WaitGroup>>);

impl Contender for WaitGroup {
    fn name() -> &'static str {
        "crossbeam"
    }
}

impl AnyLatch for WaitGroup {
    type Ticket<'a> = crossbeam_utils::sync::WaitGroup;

    /// It counts its members by itself.
    fn new(_: usize) -> WaitGroup {
        WaitGroup(Mutex::new(Some(crossbeam_utils::sync::WaitGroup::new())))
    }

    #[inline]
    fn ticket(&self) -> crossbeam_utils::sync::WaitGroup {
        self.0.lock().unwrap().clone().expect("nobody waits before all members are there")
    }

    #[inline]
    fn count_down(ticket: crossbeam_utils::sync::WaitGroup) {
        drop(ticket);
    }

    #[inline]
    fn wait(&self) {
        let group = self.0.lock().unwrap().take();
        group.expect("one thread waits, once").wait();
    }

    /// Without the lock, which its users do not have.
    #[inline]
    fn count_down_and_wait() {
        let group = crossbeam_utils::sync::WaitGroup::new();
        drop(group.clone());
        group.wait();
    }
}
