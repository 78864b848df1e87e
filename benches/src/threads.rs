//! What the system says of threads, and where they run.

use core::hint::spin_loop;
use std::fs;
use std::num::NonZero;
use std::thread;
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::unistd::Pid;

/// Where the threads of a scenario run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Wherever the scheduler puts them.
    Free,
    /// Each on a processor of its own.
    Pinned,
}

impl Placement {
    /// Applies to the calling thread, the `index`th of its scenario.
    pub fn apply(self, index: usize) {
        if self == Placement::Free {
            return;
        }
        let allowed = sched_getaffinity(THIS_THREAD).expect("a thread may ask where it runs");
        let mut processors = (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu).unwrap_or(false)).cycle();
        let mut chosen = CpuSet::new();
        chosen.set(processors.nth(index).expect("a thread runs somewhere")).expect("within the set's size");
        sched_setaffinity(THIS_THREAD, &chosen).expect("a thread may narrow down where it runs");
    }
}

/// Notices whether the scheduler took the processor away from the calling thread: for a moment in which somebody
/// else's work ran, nothing can be measured.
#[derive(Debug)]
pub struct Disturbance {
    before: i64,
}

impl Disturbance {
    /// From now on.
    pub fn watch() -> Disturbance {
        Disturbance { before: usage().involuntary_context_switches() }
    }

    /// Whether it has since.
    pub fn happened(self) -> bool {
        usage().involuntary_context_switches() != self.before
    }
}

/// How often the calling thread has fallen asleep so far.
pub fn times_slept() -> i64 {
    usage().voluntary_context_switches()
}

/// Whether a thread of this process is asleep.
pub fn sleeps(thread: Pid) -> bool {
    let line = fs::read_to_string(format!("/proc/self/task/{thread}/stat")).expect("the thread lives");
    // The state follows the name, which is in parentheses and may hold anything.
    line.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
}

/// Looks again and again, first without a break, so that a short wait is measured as it is.
///
/// No yields: on a busy machine each may hand the processor to others for milliseconds.
pub fn wait_until(condition: impl Fn() -> bool) {
    const WITHOUT_A_BREAK: u32 = 2000;
    const BREAK: Duration = Duration::from_micros(50);
    let mut looks = 0;
    while !condition() {
        if looks < WITHOUT_A_BREAK {
            looks += 1;
            spin_loop();
        } else {
            thread::sleep(BREAK);
        }
    }
}

/// How many threads can run at a time.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

const THIS_THREAD: Pid = Pid::from_raw(0);

fn usage() -> Usage {
    getrusage(UsageWho::RUSAGE_THREAD).expect("a thread may ask what it has used")
}
