//! A token bucket: a burst of requests may go at once, and one more each interval, whoever makes them.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use waitline::{Latch, Semaphore};

const BURST: usize = 5;
const INTERVAL: Duration = Duration::from_millis(5);
const CLIENTS: usize = 3;
const REQUESTS: usize = 10;

struct RateLimiter {
    tokens: Semaphore,
    stop: Latch,
}

impl RateLimiter {
    /// For one thread, until it is stopped. The ticks are absolute, so lateness does not add up.
    fn refill(&self) {
        let mut tick = Instant::now() + INTERVAL;
        while self.stop.wait_until(tick).is_err() {
            // Others only take.
            if self.tokens.available_permits() < BURST {
                self.tokens.release();
            }
            tick += INTERVAL;
        }
    }
}

fn main() {
    let limiter = RateLimiter { tokens: Semaphore::new(BURST), stop: Latch::new(1) };
    let (start, granted) = (Instant::now(), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        scope.spawn(|| limiter.refill());
        let client = || {
            for _ in 0..REQUESTS {
                limiter.tokens.acquire();
                granted.lock().unwrap().push(start.elapsed());
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        let ended = clients.into_iter().map(|client| client.join()).all(|outcome| outcome.is_ok());
        limiter.stop.count_down();
        assert!(ended);
    });

    let mut granted = granted.into_inner().unwrap();
    granted.sort();
    let early = granted.iter().enumerate().filter(|&(number, &time)| {
        let ticks = (number + 1).saturating_sub(BURST);
        time < INTERVAL * ticks as u32
    });
    println!("{} requests, {} of them too early", granted.len(), early.count());
}
