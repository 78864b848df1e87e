//! A queue under a mutex, with idle workers asleep on a condition variable.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

use super::{AnyPool, Job};
use crate::contenders::Contender;

/// std's: `Mutex` and `Condvar`.
#[derive(Debug)]
pub struct OnCondvar {
    shared: Arc<Watched>,
    workers: Vec<JoinHandle<()>>,
}

struct Watched {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    over: bool,
}

impl Contender for OnCondvar {
    fn name() -> &'static str {
        "std Mutex + Condvar"
    }
}

impl AnyPool for OnCondvar {
    fn new(workers: usize) -> OnCondvar {
        let shared = Arc::new(Watched { queue: Mutex::default(), changed: Condvar::new() });
        let worker = |shared: Arc<Watched>| {
            move || {
                loop {
                    let queue = shared.queue.lock().unwrap();
                    let idle = |queue: &mut Queue| queue.jobs.is_empty() && !queue.over;
                    let job = shared.changed.wait_while(queue, idle).unwrap().jobs.pop_front();
                    match job {
                        Some(job) => job(),
                        None => return,
                    }
                }
            }
        };
        let workers = (0..workers).map(|_| thread::spawn(worker(Arc::clone(&shared)))).collect();
        OnCondvar { shared, workers }
    }

    #[inline]
    fn submit(&self, job: Job) {
        self.shared.queue.lock().unwrap().jobs.push_back(job);
        self.shared.changed.notify_one();
    }
}

impl Drop for OnCondvar {
    fn drop(&mut self) {
        self.shared.queue.lock().unwrap().over = true;
        self.shared.changed.notify_all();
        join(&mut self.workers);
    }
}

pub(super) fn join(workers: &mut Vec<JoinHandle<()>>) {
    for worker in workers.drain(..) {
        worker.join().expect("no job panics");
    }
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched").field("changed", &self.changed).finish_non_exhaustive()
    }
}
