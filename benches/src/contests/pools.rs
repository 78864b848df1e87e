//! Pools of threads, idle or busy.

use super::{Contest, runners};
use crate::catalogue::{Kind, Scenario};
use crate::contenders::atomic::AtomicWaitCrate;
use crate::contenders::pool::{OnSemaphore, OneByOne, each_pool};
use crate::floor;
use crate::race::Batch;
use crate::scenarios;

pub(super) fn contests() -> Vec<Contest> {
    let latencies = [1, 2, 8, 64].map(latency);
    let throughputs = [1, 2, 8, 64].map(throughput);
    latencies.into_iter().chain(throughputs).collect()
}

fn latency(workers: usize) -> Contest {
    Contest::new(Scenario::JobLatency, Kind::Pool, "")
        .size(workers, "workers")
        .floor("futex(2), waking one thread", |times| scenarios::burst_on_atomic::<AtomicWaitCrate>(1, times))
        .ours(runners![|This, times| scenarios::job_latency::<This>(workers, times); OneByOne, OnSemaphore])
        .peers(each_pool!(runners!(|Peer, times| scenarios::job_latency::<Peer>(workers, times))))
        .batch(Batch::Of(20))
}

fn throughput(workers: usize) -> Contest {
    Contest::new(Scenario::JobThroughput, Kind::Pool, "")
        .size(workers, "workers")
        .floor("allocation", floor::allocation)
        .ours(runners![|This, times| scenarios::job_throughput::<This>(workers, times); OneByOne, OnSemaphore])
        .peers(each_pool!(runners!(|Peer, times| scenarios::job_throughput::<Peer>(workers, times))))
        .batch(Batch::Of(10_000))
}
