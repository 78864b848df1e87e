//! Two threads that take turns.

use core::hint::spin_loop;
use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
};
use std::thread;
use std::time::Instant;

use crossbeam_utils::CachePadded;

use crate::contenders::Contender;
use crate::race::Sample;
use crate::threads::{Disturbance, Placement};

/// Two threads hand a permit to and fro through two semaphores. One time is both ways.
pub fn ping_pong<S: Contender>(placement: Placement, times: u64) -> Sample {
    let [ping, pong] = [(); 2].map(|()| CachePadded::new(S::new(false)));
    two_threads(
        placement,
        times,
        || {
            ping.release();
            pong.acquire();
        },
        || {
            ping.acquire();
            pong.release();
        },
    )
}

/// Times how often `serve` and `reply`, which wait for each other, take their turns on two threads.
///
/// Both take some turns before that, and then wait for each other without sleeping, so that both threads are running
/// when the clock starts. What becomes of them then is up to whoever is measured.
#[inline(always)]
pub fn two_threads(
    placement: Placement,
    times: u64,
    mut serve: impl FnMut() + Send,
    mut reply: impl FnMut() + Send,
) -> Sample {
    const MOST_BEFORE: u64 = 100;
    let before = times.min(MOST_BEFORE);
    let running = AtomicU32::new(0);
    let wait_until_both_run = || {
        running.fetch_add(1, Release);
        while running.load(Acquire) < 2 {
            spin_loop();
        }
    };
    thread::scope(|scope| {
        let replier = scope.spawn(move || {
            placement.apply(1);
            for _ in 0..before {
                reply();
            }
            let disturbance = Disturbance::watch();
            wait_until_both_run();
            for _ in 0..times {
                reply();
            }
            disturbance.happened()
        });
        let server = scope.spawn(move || {
            placement.apply(0);
            for _ in 0..before {
                serve();
            }
            let disturbance = Disturbance::watch();
            wait_until_both_run();
            let start = Instant::now();
            for _ in 0..times {
                serve();
            }
            (start.elapsed(), disturbance.happened())
        });
        let (elapsed, server_disturbed) = server.join().expect("the server does not panic");
        let replier_disturbed = replier.join().expect("the replier does not panic");
        Sample::timed(elapsed, times, server_disturbed || replier_disturbed)
    })
}
