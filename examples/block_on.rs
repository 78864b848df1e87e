//! Drives a future on a thread that sleeps in between, on a binary semaphore: however often it is woken before it
//! looks, it looks once.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use waitline::{BinarySemaphore, Deadline, oneshot};

#[derive(Default)]
struct Alarm(BinarySemaphore);

impl Wake for Alarm {
    fn wake(self: Arc<Alarm>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Alarm>) {
        self.0.release();
    }
}

/// The future's output, or `None` if it has none until the deadline.
fn block_on_until<F: Future>(future: F, deadline: impl Into<Deadline>) -> Option<F::Output> {
    let (mut future, deadline) = (pin!(future), deadline.into());
    let alarm = Arc::new(Alarm::default());
    let waker = Waker::from(Arc::clone(&alarm));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        if !alarm.0.try_acquire_until(deadline) {
            return None;
        }
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    block_on_until(future, Deadline::NEVER).expect("this deadline does not come")
}

fn main() {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..100).map(|_| oneshot::channel::<u32>()).unzip();
    thread::spawn(move || senders.into_iter().zip(1..).for_each(|(sender, number)| sender.send(number).unwrap()));
    let sum = block_on(async {
        let mut sum = 0;
        for receiver in receivers {
            sum += receiver.await.unwrap();
        }
        sum
    });
    let (_sender, silent) = oneshot::channel::<u32>();
    let nothing = block_on_until(async { silent.await }, Deadline::after(Duration::from_millis(5)));
    println!("1 to 100 add up to {sum}; in time from who says nothing: {nothing:?}");
}
