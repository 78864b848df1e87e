//! Threads with a name that says what they are about, and of which a test can know that they sleep.
//!
//! On Linux the kernel says who sleeps. Elsewhere a test goes on after a while, and is weaker, not wrong.

#![allow(unsafe_code, reason = "the kernel's number of a thread")]

use std::fmt::Write as _;
use std::sync::atomic::{
    AtomicI32,
    Ordering::{Acquire, Release},
};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

/// A thread at work.
struct Task {
    name: String,
    /// The kernel's number for it, once it runs.
    id: AtomicI32,
}

static AT_WORK: Mutex<Vec<Arc<Task>>> = Mutex::new(Vec::new());

fn at_work() -> std::sync::MutexGuard<'static, Vec<Arc<Task>>> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) struct Worker<'scope, T> {
    handle: ScopedJoinHandle<'scope, T>,
    task: Arc<Task>,
}

/// Starts a thread; `name` should say what it waits for.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: impl Into<String>,
    body: impl FnOnce() -> T + Send + 'scope,
) -> Worker<'scope, T> {
    struct Leave(Arc<Task>);
    impl Drop for Leave {
        fn drop(&mut self) {
            at_work().retain(|task| !Arc::ptr_eq(task, &self.0));
        }
    }

    let task = Arc::new(Task { name: name.into(), id: AtomicI32::new(0) });
    at_work().push(Arc::clone(&task));
    let leave = Leave(Arc::clone(&task));
    let builder = thread::Builder::new().name(task.name.clone());
    let handle = builder.spawn_scoped(scope, move || {
        leave.0.id.store(current_id(), Release);
        body()
    });
    Worker { handle: handle.unwrap(), task }
}

impl<T> Worker<'_, T> {
    /// Its result; its panic, should it have come to that.
    pub(crate) fn join(self) -> T {
        self.handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.handle.is_finished()
    }

    /// The kernel's number for it.
    pub(crate) fn id(&self) -> i32 {
        super::stay_awake_until(|| self.task.id.load(Acquire) != 0);
        self.task.id.load(Acquire)
    }

    /// Whether it sleeps just now, if the kernel tells.
    pub(crate) fn sleeps(&self) -> bool {
        Activity::of(self.id()).is_some_and(|activity| activity.sleeps())
    }

    pub(crate) fn until_asleep(&self) {
        until_all_asleep(std::slice::from_ref(self));
    }
}

/// Whether the kernel says who sleeps. A test that counts on the order in which threads fell asleep, or that all of them had,
/// says otherwise that it is skipped, and ends.
pub(crate) fn sleepers_are_known() -> bool {
    let known = Activity::of(current_id()).is_some();
    if !known {
        println!("skipped: nobody tells who sleeps here");
    }
    known
}

/// In which a thread that is about to sleep does so, where the kernel does not tell.
const A_WHILE: Duration = Duration::from_millis(10);

/// Returns once all of them have been seen asleep twice without having run in between. They must be about to sleep,
/// with nothing else on their way that may make them sleep.
pub(crate) fn until_all_asleep<T>(workers: &[Worker<'_, T>]) {
    let look = || -> Option<Vec<Activity>> {
        workers
            .iter()
            .map(|worker| {
                assert!(!worker.has_ended(), "\"{}\" ended instead of falling asleep", worker.task.name);
                Activity::of(worker.id())
            })
            .collect()
    };
    let Some(mut before) = look() else {
        super::stay_awake_until(|| workers.iter().all(|worker| worker.task.id.load(Acquire) != 0)); // each has begun
        thread::sleep(A_WHILE);
        return;
    };
    loop {
        thread::yield_now();
        let Some(now) = look() else { continue };
        if now == before && now.iter().all(Activity::sleeps) {
            return;
        }
        before = now;
    }
}

/// What the kernel tells of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Activity {
    state: char,
    /// How often it has gone to sleep.
    pub(crate) sleeps_so_far: u64,
}

impl Activity {
    /// `None` where the kernel does not tell, or the thread is gone.
    ///
    /// A thread is in the state of a sleeper some steps before it has left the processor and is counted as asleep. Until then
    /// the kernel says that it is running where it is asked for the system call.
    pub(crate) fn of(id: i32) -> Option<Activity> {
        let call = std::fs::read_to_string(format!("/proc/self/task/{id}/syscall")).unwrap_or_default();
        let status = std::fs::read_to_string(format!("/proc/self/task/{id}/status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        Some(Activity {
            state: if call.starts_with("running") { 'R' } else { field("State:")?.trim_start().chars().next()? },
            sleeps_so_far: field("voluntary_ctxt_switches:")?.trim().parse().ok()?,
        })
    }

    pub(crate) fn sleeps(&self) -> bool {
        self.state == 'S'
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn current_id() -> i32 {
    // SAFETY: has no preconditions.
    unsafe { libc::gettid() }
}

/// Any number but zero: nothing is looked up by it.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn current_id() -> i32 {
    1
}

/// Writes down every thread that [`spawn`] started and that is still there, with what the kernel knows about it.
pub(crate) fn describe(report: &mut String) {
    for task in at_work().iter() {
        let id = task.id.load(Acquire);
        let _ = write!(report, "  {}: thread {id}", task.name);
        describe_in_kernel(report, id);
    }
    let _ = writeln!(report, "  all threads of the process:");
    for entry in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let id = entry.file_name().to_string_lossy().parse().unwrap_or(0);
        let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        let _ = write!(report, "  {} {id}", name.trim_end());
        describe_in_kernel(report, id);
    }
}

fn describe_in_kernel(report: &mut String, id: i32) {
    let read = |file| std::fs::read_to_string(format!("/proc/self/task/{id}/{file}")).unwrap_or_default();
    let state = Activity::of(id).map_or('?', |activity| activity.state);
    let _ = writeln!(report, ", state {state}, in {}, system call {}", read("wchan"), read("syscall").trim_end());
}
