//! A pipeline of three stages with short queues between them: whoever is faster than the stage behind it waits for that.
//! It finds the number below a thousand from which Collatz's rule takes longest to come to one.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::{iter, thread};

use waitline::Semaphore;

const CAPACITY: usize = 4;

struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    filled: Semaphore,
    free: Semaphore,
}

impl<T> Queue<T> {
    fn send(&self, item: T) {
        self.free.acquire();
        self.items.lock().unwrap().push_back(item);
        self.filled.release();
    }

    /// `None` after the last item: for a permit without one, which is passed on to the next receiver.
    fn receive(&self) -> Option<T> {
        self.filled.acquire();
        let item = self.items.lock().unwrap().pop_front();
        let next = if item.is_some() { &self.free } else { &self.filled };
        next.release();
        item
    }
}

fn queue<T>() -> Queue<T> {
    Queue { items: Mutex::default(), filled: Semaphore::new(0), free: Semaphore::new(CAPACITY) }
}

fn steps(number: u64) -> usize {
    let next = |&n: &u64| (n > 1).then(|| if n % 2 == 0 { n / 2 } else { 3 * n + 1 });
    iter::successors(Some(number), next).count() - 1
}

fn main() {
    let (numbers, results) = (queue(), queue());
    let longest = thread::scope(|scope| {
        let work = || iter::from_fn(|| numbers.receive()).for_each(|number| results.send((steps(number), number)));
        let workers = [(); 3].map(|()| scope.spawn(work));
        let longest = scope.spawn(|| iter::from_fn(|| results.receive()).max());
        (1..1000).for_each(|number| numbers.send(number));
        numbers.filled.release();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        results.filled.release();
        longest.join().unwrap()
    });
    assert_eq!(longest, (1..1000).map(|number| (steps(number), number)).max());
    println!("steps and number: {longest:?}");
}
