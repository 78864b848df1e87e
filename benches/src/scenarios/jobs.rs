//! Pools of threads and their jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crossbeam_utils::CachePadded;

use crate::contenders::pool::AnyPool;
use crate::race::{Effort, Quartiles, Sample};
use crate::threads::{Events, Meter, all_others_sleep, wait_until};

/// From submitting a job to a pool whose threads all sleep until it is done: the median, since one that is disturbed tells
/// more of others' work than of its own.
pub fn job_latency<P: AnyPool>(workers: usize, times: u64) -> Sample {
    let pool = P::new(workers);
    let done = Arc::new(Events::new());
    let samples: Vec<Sample> = (1..=times)
        .map(|number| {
            let done_too = Arc::clone(&done);
            let job = Box::new(move || done_too.note());
            wait_until(all_others_sleep);
            let mut meter = Meter::start();
            pool.submit(job);
            meter.look_on();
            meter.stop_once_all_sleep(done.wait_for(number), 1)
        })
        .collect();
    let median = |value: fn(&Sample) -> f64| Quartiles::of(samples.iter().map(value).collect()).median;
    let effort = Effort {
        cpu: median(|sample| sample.effort.unwrap_or_default().cpu),
        sleeps: median(|sample| sample.effort.unwrap_or_default().sleeps),
    };
    Sample { effort: Some(effort), ..Sample::counted(median(|sample| sample.total), 1) }
}

/// So many jobs one after the other, with next to nothing to do in each: from the first until all are done.
pub fn job_throughput<P: AnyPool>(workers: usize, times: u64) -> Sample {
    let pool = P::new(workers);
    let (left, all_done) = (Arc::new(CachePadded::new(AtomicU64::new(times))), Arc::new(Events::new()));
    wait_until(all_others_sleep);
    let mut meter = Meter::start();
    for _ in 0..times {
        let (left, all_done) = (Arc::clone(&left), Arc::clone(&all_done));
        pool.submit(Box::new(move || {
            if left.fetch_sub(1, Relaxed) == 1 {
                all_done.note();
            }
        }));
    }
    meter.look_on();
    meter.stop_once_all_sleep(all_done.wait_for(1), times)
}
