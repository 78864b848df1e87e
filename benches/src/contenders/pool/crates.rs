//! Threads on crossbeam's channel, and rayon's own pool.

use std::thread::{self, JoinHandle};

use super::queue::join;
use super::{AnyPool, Job};
use crate::contenders::Contender;

/// Workers that receive from `crossbeam_channel::unbounded`.
#[derive(Debug)]
pub struct Crossbeam {
    /// `None` once no jobs will come any more.
    jobs: Option<crossbeam_channel::Sender<Job>>,
    workers: Vec<JoinHandle<()>>,
}

impl Contender for Crossbeam {
    fn name() -> &'static str {
        "crossbeam"
    }
}

impl AnyPool for Crossbeam {
    fn new(workers: usize) -> Crossbeam {
        let (sender, receiver) = crossbeam_channel::unbounded::<Job>();
        let worker = |jobs: crossbeam_channel::Receiver<Job>| move || jobs.iter().for_each(|job| job());
        let workers = (0..workers).map(|_| thread::spawn(worker(receiver.clone()))).collect();
        Crossbeam { jobs: Some(sender), workers }
    }

    #[inline]
    fn submit(&self, job: Job) {
        let jobs = self.jobs.as_ref().expect("it is not being dropped");
        jobs.send(job).expect("there are workers");
    }
}

impl Drop for Crossbeam {
    fn drop(&mut self) {
        self.jobs = None;
        join(&mut self.workers);
    }
}

/// `rayon::ThreadPool`, which steals jobs instead of handing them out in order.
#[derive(Debug)]
pub struct Rayon(rayon_core::ThreadPool);

impl Contender for Rayon {
    fn name() -> &'static str {
        "rayon"
    }
}

impl AnyPool for Rayon {
    fn new(workers: usize) -> Rayon {
        let pool = rayon_core::ThreadPoolBuilder::new().num_threads(workers).build();
        Rayon(pool.expect("the system has room for some more threads"))
    }

    #[inline]
    fn submit(&self, job: Job) {
        self.0.spawn_fifo(job);
    }
}
