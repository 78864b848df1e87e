//! Works until Ctrl-C. Then each worker ends the job that it has, and no job is lost: a flag, and a permit for each worker
//! to see it by.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use waitline::{Latch, Semaphore};

const WORKERS: usize = 4;

static JOBS: Mutex<VecDeque<u64>> = Mutex::new(VecDeque::new());
/// One permit a job; in the end, one a worker.
static READY: Semaphore = Semaphore::new(0);
/// Relaxed, because the semaphore and the latch order it.
static STOPPING: AtomicBool = AtomicBool::new(false);
static STOP: Latch = Latch::new(1);

fn main() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        // Once, however often the keys are pressed.
        if !STOPPING.swap(true, Relaxed) {
            READY.release_many(WORKERS);
            STOP.count_down();
        }
    })?;
    println!("working, until Ctrl-C");

    let (mut made, done) = (0, AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    READY.acquire();
                    if STOPPING.load(Relaxed) {
                        return;
                    }
                    let job = JOBS.lock().unwrap().pop_front().expect("a job for each permit");
                    std::hint::black_box((0..job % 100_000).sum::<u64>());
                    done.fetch_add(1, Relaxed);
                }
            });
        }
        while STOP.wait_for(Duration::from_millis(1)).is_err() {
            JOBS.lock().unwrap().push_back(made * made);
            READY.release();
            made += 1;
        }
    });
    let left = JOBS.lock().unwrap().len();
    assert_eq!(made, (done.into_inner() + left) as u64);
    println!("stopped: each job is done, or left in the queue");
    Ok(())
}
