//! Many threads that do at random what comes to their minds, for a while.

use std::thread;
use std::time::{Duration, Instant};

use super::{Form, Wait, from_environment, spawn, watchdog_beyond};

/// A thread's own stream of numbers (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    /// Any form, with timeouts from none to about the time that others hold permits.
    pub(crate) fn form(&mut self) -> Wait {
        let timeout = Duration::from_micros(self.below(150) as u64);
        match self.below(Wait::TIMED + 2) {
            0 => Wait::Untimed,
            1 => Wait::Try,
            timed => Wait::within(timeout)[timed - 2],
        }
    }

    /// Any form that ends by itself.
    pub(crate) fn impatient_form(&mut self) -> Wait {
        match self.form() {
            Wait::Untimed => Wait::Try,
            wait => wait,
        }
    }
}

/// Steps of so many threads at random, for so long: `WAITLINE_STRESS_THREADS` and `WAITLINE_STRESS_SECONDS`. The tests of one
/// file run at once, and `among` so many of them these are divided.
pub(crate) fn for_a_while(what: &str, among: u32, step: impl Fn(&mut Random) + Sync) {
    let threads = from_environment("WAITLINE_STRESS_THREADS", 64_u32).div_ceil(among);
    let time = Duration::from_secs_f64(from_environment("WAITLINE_STRESS_SECONDS", 2.0)) / among;
    watchdog_beyond(time, what, || {
        let end = Instant::now() + time;
        thread::scope(|scope| {
            for number in 0..threads {
                let step = &step;
                spawn(scope, format!("{what}: thread {number}"), move || {
                    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ u64::from(number + 1));
                    while Instant::now() < end {
                        step(&mut random);
                    }
                });
            }
        });
    });
}
