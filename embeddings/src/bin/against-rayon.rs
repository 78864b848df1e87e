//! Measures the pool of [`waitline_embeddings::stealing`] against rayon's, in one run, a batch of either in turn:
//!
//! ```text
//! cargo run --release -p waitline-embeddings --bin against-rayon [ROUNDS] [WORKERS]
//! ```
//!
//! Ratios are formed within each round, of the time that passes and of the processor time of the whole process, and are
//! given as medians with quartiles. Each round has new pools: where the scheduler puts their threads is a matter of luck, and lasts.
//! Rounds are 41 unless said otherwise, workers as many as there are processors.

#![allow(unsafe_code, reason = "a system call")]

use std::hint::black_box;
use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use waitline_embeddings::stealing::Pool;

/// What both pools offer.
trait ForkJoin: Sync {
    fn install<T: Send>(&self, body: impl FnOnce() -> T + Send) -> T;
    fn join(&self, first: impl FnOnce() + Send, second: impl FnOnce() + Send);
    fn spawn_all(&self, jobs: usize, job: impl Fn() + Sync);
}

impl ForkJoin for Pool {
    fn install<T: Send>(&self, body: impl FnOnce() -> T + Send) -> T {
        self.install(body)
    }

    #[inline]
    fn join(&self, first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
        self.join(first, second);
    }

    fn spawn_all(&self, jobs: usize, job: impl Fn() + Sync) {
        self.scope(|scope| (0..jobs).for_each(|_| scope.spawn(&job)));
    }
}

impl ForkJoin for rayon::ThreadPool {
    fn install<T: Send>(&self, body: impl FnOnce() -> T + Send) -> T {
        self.install(body)
    }

    /// On a worker of it already, where this is quicker than the method of the same name.
    #[inline]
    fn join(&self, first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
        rayon::join(first, second);
    }

    fn spawn_all(&self, jobs: usize, job: impl Fn() + Sync) {
        rayon::scope(|scope| (0..jobs).for_each(|_| scope.spawn(|_| job())));
    }
}

fn fib(pool: &impl ForkJoin, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (mut first, mut second) = (0, 0);
    pool.join(|| first = fib(pool, n - 1), || second = fib(pool, n - 2));
    first + second
}

fn sum(pool: &impl ForkJoin, numbers: &[u64]) -> u64 {
    if numbers.len() <= 1024 {
        return numbers.iter().fold(0, |sum, number| sum + (number ^ sum >> 3));
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let (mut first, mut second) = (0, 0);
    pool.join(|| first = sum(pool, left), || second = sum(pool, right));
    first + second
}

fn quicksort(pool: &impl ForkJoin, numbers: &mut [u64]) {
    if numbers.len() <= 256 {
        return numbers.sort_unstable();
    }
    let (smaller, _, greater) = numbers.select_nth_unstable(numbers.len() / 2);
    pool.join(|| quicksort(pool, smaller), || quicksort(pool, greater));
}

fn numbers(count: u64) -> Vec<u64> {
    (0..count).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect()
}

const WORKLOADS: usize = 7;
const NAMES: [&str; WORKLOADS] = [
    "join: fib(22), 28 656 forks",
    "join: sum of 2^20 numbers, 1 023 forks",
    "join: quicksort of 2^17 numbers, 511 forks",
    "scope: 10 000 jobs of nothing",
    "scope: 2 000 jobs of a microsecond or so",
    "install, workers awake: 100 jobs",
    "install of fib(8), workers asleep: 20 times",
];

/// How long it took, apart from pauses.
fn run(workload: usize, pool: &impl ForkJoin) -> Duration {
    let start = Instant::now();
    match workload {
        0 => assert_eq!(pool.install(|| fib(pool, 22)), 17_711),
        1 => {
            let numbers = numbers(1 << 20);
            return timed(|| _ = black_box(pool.install(|| sum(pool, &numbers))));
        }
        2 => {
            let mut numbers = numbers(1 << 17);
            let time = timed(|| pool.install(|| quicksort(pool, &mut numbers)));
            assert!(numbers.is_sorted());
            return time;
        }
        3 => pool.install(|| pool.spawn_all(10_000, || ())),
        4 => pool.install(|| pool.spawn_all(2_000, || (0..1000_u32).for_each(|number| _ = black_box(number)))),
        5 => (0..100).for_each(|number| _ = black_box(pool.install(|| number))),
        _ => {
            return (0..20)
                .map(|_| {
                    thread::sleep(Duration::from_millis(1));
                    timed(|| _ = black_box(pool.install(|| fib(pool, 8))))
                })
                .sum();
        }
    }
    start.elapsed()
}

fn timed(body: impl FnOnce()) -> Duration {
    let start = Instant::now();
    body();
    start.elapsed()
}

/// Of all threads of this process.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec, to memory that is ours.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time that passed, and the processor time, in microseconds.
type Sample = [f64; 2];

/// Of a pool that is warm and asleep.
fn sample(workload: usize, pool: &impl ForkJoin) -> Sample {
    // Long enough for workers to fall asleep, which is a part of the price.
    const PAUSE: Duration = Duration::from_millis(1);
    run(workload, pool);
    thread::sleep(PAUSE);
    let before = processor_time();
    let passed = run(workload, pool);
    thread::sleep(PAUSE);
    [passed, processor_time() - before].map(|time| time.as_secs_f64() * 1e6)
}

fn sample_ours(workload: usize, workers: usize) -> Sample {
    sample(workload, &Pool::new(workers).expect("threads"))
}

fn sample_rayons(workload: usize, workers: usize) -> Sample {
    sample(workload, &rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("threads"))
}

/// A quarter, a half and three quarters of the values lie below these.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let rounds: usize = arguments.next().unwrap_or(41);
    let workers = arguments.next().unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get));
    println!(
        "{workers} workers, {rounds} rounds; what passes and what processors spend: medians, and quartiles of ratios\n"
    );
    println!("| {:43} | rayon µs | ours µs | ratio            | processor: rayon | ours | ratio            |", "");
    println!("|-{:-<43}-|---------:|--------:|------------------|-----------------:|-----:|------------------|", "");
    for (workload, name) in NAMES.iter().enumerate() {
        let samples: Vec<[Sample; 2]> = (0..rounds)
            .map(|round| {
                if round % 2 == 0 {
                    let ours = sample_ours(workload, workers);
                    [ours, sample_rayons(workload, workers)]
                } else {
                    let rayons = sample_rayons(workload, workers);
                    [sample_ours(workload, workers), rayons]
                }
            })
            .collect();
        let column = |kind: usize| {
            let median = |whose: usize| quartiles(samples.iter().map(|sample| sample[whose][kind]).collect())[1];
            let ratio = quartiles(samples.iter().map(|[ours, rayons]| ours[kind] / rayons[kind]).collect());
            let (ours, rayons) = (median(0), median(1));
            format!("{rayons:.0} | {ours:.0} | {:.2} ({:.2}–{:.2})", ratio[1], ratio[0], ratio[2])
        };
        println!("| {name:43} | {} | {} |", column(0), column(1));
    }
}
