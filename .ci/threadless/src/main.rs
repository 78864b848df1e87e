//! Where there are no threads, what is there is taken, timed calls end, and a wait that nobody can end is refused.
//!
//! A panic ends a program there, so each refusal needs a run of its own: the argument is its number. Without one, everything
//! else is tried. `refusals` prints how many there are.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

use waitline::oneshot::{self, RecvTimeoutError};
use waitline::{AtomicWait, Barrier, BinarySemaphore, Deadline, Latch, Semaphore, TimedOut};

const REFUSALS: &[fn()] = &[
    || Semaphore::new(0).acquire(),
    || Semaphore::new(1).acquire_many(2),
    || assert!(Semaphore::new(0).try_acquire_for(Duration::MAX)),
    || BinarySemaphore::new(false).acquire(),
    || Latch::new(1).wait(),
    || assert!(Barrier::new(2).wait().is_leader()),
    || assert!(Barrier::new(2).arrive().wait().is_leader()),
    || assert_ne!(AtomicU32::new(7).wait(7, Relaxed), 7),
    || {
        let (_sender, receiver) = oneshot::channel::<u8>();
        let _ = receiver.recv();
    },
    || {
        let (_sender, receiver) = oneshot::channel::<u8>();
        assert!(receiver.recv_until(Deadline::NEVER).is_ok());
    },
];

fn main() {
    match std::env::args().nth(1).as_deref() {
        None => everything_else(),
        Some("refusals") => println!("{}", REFUSALS.len()),
        Some(number) => REFUSALS[number.parse::<usize>().expect("a number")](),
    }
}

fn everything_else() {
    let semaphore = Semaphore::new(1);
    semaphore.acquire();
    assert!(!semaphore.try_acquire());
    semaphore.release_many(3);
    semaphore.acquire_many(2);
    assert!(semaphore.try_acquire_for(Duration::MAX));

    let binary = BinarySemaphore::new(true);
    binary.acquire();
    assert!(binary.release());
    assert!(binary.try_acquire());

    let latch = Latch::new(1);
    assert!(!latch.try_wait());
    assert!(latch.count_down());
    latch.wait();

    let barrier = Barrier::new(2);
    let first = barrier.arrive();
    assert!(barrier.wait().is_leader());
    assert!(!first.wait().is_leader());

    let (sender, receiver) = oneshot::channel();
    assert!(!receiver.is_ready());
    sender.send(7).unwrap();
    assert_eq!(receiver.recv(), Ok(7));

    let word = AtomicU32::new(7);
    assert_eq!(word.wait(8, Relaxed), 7);
    word.notify_all();

    for deadline in timed() {
        assert!(!semaphore.try_acquire_until(deadline()));
        assert!(!semaphore.try_acquire_many_until(2, deadline()));
        assert!(!binary.try_acquire_until(deadline()));
        assert_eq!(Latch::new(1).wait_until(deadline()), Err(TimedOut));
        assert!(barrier.wait_until(deadline()).is_err());
        assert_eq!(word.wait_until(7, Relaxed, deadline()), Err(TimedOut));
        let (_sender, receiver) = oneshot::channel::<u8>();
        assert_eq!(receiver.recv_until(deadline()), Err(RecvTimeoutError::Timeout));
    }
    let start = Instant::now();
    assert!(!semaphore.try_acquire_for(Duration::from_millis(20)));
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert_eq!(semaphore.available_permits(), 0, "those who gave up left no trace");
    println!("all is well");
}

fn timed() -> [fn() -> Deadline; 3] {
    const SOON: Duration = Duration::from_millis(2);
    [|| Deadline::PASSED, || Deadline::after(SOON), || (SystemTime::now() + SOON).into()]
}
