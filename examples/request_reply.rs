//! Requests to a server thread, with a deadline for each reply. The server leaves what nobody waits for any more.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use waitline::oneshot::{self, RecvTimeoutError};
use waitline::{Deadline, Latch};

const SOON: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(60);

enum Task {
    Square(u64),
    /// Takes until the latch is open.
    Slow(&'static Latch),
    Unknown,
}

type Request = (Task, oneshot::Sender<u64>);

fn ask(server: &mpsc::Sender<Request>, task: Task, patience: Duration) -> Result<u64, RecvTimeoutError> {
    let deadline = Deadline::after(patience);
    let (reply, receiver) = oneshot::channel();
    server.send((task, reply)).map_err(|_| RecvTimeoutError::Disconnected)?;
    receiver.recv_until(deadline)
}

/// Returns how many requests it answered in vain, and how many it did not begin with.
fn serve(requests: mpsc::Receiver<Request>) -> (u32, u32) {
    let (mut in_vain, mut skipped) = (0, 0);
    for (task, reply) in requests {
        if reply.is_closed() {
            skipped += 1;
            continue;
        }
        let answer = match task {
            Task::Square(number) => number * number,
            Task::Slow(latch) => latch.wait_for(LONG).map_or(0, |()| 1),
            Task::Unknown => continue, // whoever asked is told by the drop of `reply`
        };
        in_vain += u32::from(reply.send(answer).is_err());
    }
    (in_vain, skipped)
}

fn main() {
    static OVER: Latch = Latch::new(1);
    let (server, requests) = mpsc::channel();
    let serving = thread::spawn(|| serve(requests));
    println!("7 squared: {:?}", ask(&server, Task::Square(7), LONG));
    println!("gibberish: {:?}", ask(&server, Task::Unknown, LONG));
    println!("something slow: {:?}", ask(&server, Task::Slow(&OVER), SOON));
    println!("something behind it: {:?}", ask(&server, Task::Square(8), SOON));
    OVER.count_down();
    println!("9 squared: {:?}", ask(&server, Task::Square(9), LONG));
    drop(server);
    println!("in vain, and not begun with: {:?}", serving.join().unwrap());
}
