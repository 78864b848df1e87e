//! What the system says of threads, and where they run.

use core::hint::spin_loop;
use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::fs;
use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::unistd::{Pid, gettid};

use crate::clock::now_in_c;
use crate::race::{Effort, Sample};

/// Where the threads of a scenario run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Wherever the scheduler puts them.
    Free,
    /// Each on a processor of its own.
    Pinned,
    /// All on one processor: none can go on before another one sleeps, or gives way.
    Together,
}

impl Placement {
    /// Applies to the calling thread, the `index`th of its scenario.
    pub fn apply(self, index: usize) {
        let index = match self {
            Placement::Free => return,
            Placement::Pinned => index,
            Placement::Together => 0,
        };
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

/// Takes the time, and what all threads of the process together take of the processors meanwhile.
#[derive(Debug)]
pub struct Meter {
    cpu: Duration,
    sleeps: i64,
    /// What this thread had used when it began to look after the others.
    looking_since: Option<Duration>,
    start: Instant,
}

impl Meter {
    /// From now on.
    pub fn start() -> Meter {
        let (cpu, sleeps) = (process_time(), times_anybody_slept());
        Meter { cpu, sleeps, looking_since: None, start: Instant::now() }
    }

    /// From here on the calling thread only looks what becomes of the others, which counts for nobody.
    pub fn look_on(&mut self) {
        self.looking_since = Some(thread_time());
    }

    /// So many operations later.
    pub fn stop(self, times: u64, disturbed: bool) -> Sample {
        let now = Instant::now();
        self.sample(now, times, disturbed)
    }

    /// So many operations later, the last of which ended then.
    ///
    /// What the others take of the processors counts until they all sleep again: the system learns of a running thread's
    /// time only a while later, and who looks around for more to do before it sleeps would seem to do that for nothing.
    pub fn stop_once_all_sleep(mut self, end: Instant, times: u64) -> Sample {
        if self.looking_since.is_none() {
            self.look_on();
        }
        wait_until(all_others_sleep);
        self.sample(end, times, false)
    }

    fn sample(self, end: Instant, times: u64, disturbed: bool) -> Sample {
        let elapsed = end.saturating_duration_since(self.start);
        let looking = self.looking_since.map_or(Duration::ZERO, |since| thread_time() - since);
        let cpu = (process_time() - self.cpu).saturating_sub(looking).as_nanos() as f64;
        let sleeps = (times_anybody_slept() - self.sleeps) as f64;
        Sample { effort: Some(Effort { cpu, sleeps }), ..Sample::timed(elapsed, times, disturbed) }
    }
}

/// Notes when the last of several things happened, wherever they do: whoever looks on sees that only a while later.
#[derive(Debug)]
pub struct Events {
    zero: Instant,
    happened: CachePadded<AtomicU64>,
    /// In nanoseconds after zero.
    last: AtomicU64,
}

impl Events {
    /// Nothing has happened yet.
    pub fn new() -> Events {
        Events { zero: Instant::now(), happened: CachePadded::default(), last: AtomicU64::new(0) }
    }

    /// Something has happened now.
    pub fn note(&self) {
        self.last.fetch_max(self.zero.elapsed().as_nanos() as u64, Relaxed);
        self.happened.fetch_add(1, Release);
    }

    /// Returns when the last one happened, once there have been so many.
    pub fn wait_for(&self, number: u64) -> Instant {
        wait_until(|| self.happened.load(Acquire) >= number);
        self.zero + Duration::from_nanos(self.last.load(Relaxed))
    }
}

impl Default for Events {
    fn default() -> Events {
        Events::new()
    }
}

/// What all threads of this process have used of the processors.
pub fn process_time() -> Duration {
    now_in_c(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// What the calling thread has used of them.
pub fn thread_time() -> Duration {
    now_in_c(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn times_anybody_slept() -> i64 {
    getrusage(UsageWho::RUSAGE_SELF).expect("a process may ask what it has used").voluntary_context_switches()
}

/// How often the calling thread has fallen asleep so far.
pub fn times_slept() -> i64 {
    usage().voluntary_context_switches()
}

/// Whether a thread of this process is asleep.
pub fn sleeps(thread: Pid) -> bool {
    sleeps_by_its_state(&format!("/proc/self/task/{thread}/stat")).expect("the thread lives")
}

/// Whether all threads of this process but the calling one are asleep.
pub fn all_others_sleep() -> bool {
    let myself = gettid().to_string();
    let threads = fs::read_dir("/proc/self/task").expect("a process may look at its threads");
    // One that has ended meanwhile does nothing any more.
    threads.flatten().filter(|thread| thread.file_name() != myself.as_str()).all(|thread| {
        let path = thread.path().join("stat");
        sleeps_by_its_state(path.to_str().expect("digits and slashes")).unwrap_or(true)
    })
}

fn sleeps_by_its_state(path: &str) -> Option<bool> {
    let line = fs::read_to_string(path).ok()?;
    // The state follows the name, which is in parentheses and may hold anything.
    Some(line.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S')))
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
