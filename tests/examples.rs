//! The examples that need no arguments, run as users run them. (`wordcount.rs` has a test of its own, and so has the pool of
//! `pool`.)

#[path = "common/example.rs"]
mod example;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(120);

struct Running {
    child: Child,
    /// Line by line, as it is said.
    lines: mpsc::Receiver<String>,
    errors: mpsc::Receiver<String>,
}

fn start(name: &str) -> Running {
    let mut command = Command::new(example::built(name));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (lines, errors) = (mpsc::channel(), mpsc::channel());
    let (stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    // Nobody receives any more once the watchdog has ended the test.
    thread::spawn(move || BufReader::new(stdout).lines().map(Result::unwrap).try_for_each(|line| lines.0.send(line)));
    thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        errors.0.send(text)
    });
    Running { child, lines: lines.1, errors: errors.1 }
}

impl Running {
    fn next_line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(WATCHDOG) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                self.child.kill().unwrap();
                panic!("it does not end, and says {:?}", self.errors.recv());
            }
        }
    }

    /// What it says until its end, which is a good one.
    fn rest(mut self) -> Vec<String> {
        let said = std::iter::from_fn(|| self.next_line()).collect();
        // A process closes its standard output at its end and not before.
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}, having said {said:?}, {:?}", self.errors.recv());
        said
    }
}

#[track_caller]
fn assert_says(name: &str, expected: &[&str]) {
    assert_eq!(start(name).rest(), expected);
}

#[test]
fn block_on() {
    assert_says("block_on", &["1 to 100 add up to 5050; in time from who says nothing: None"]);
}

#[test]
fn bounded_downloads() {
    assert_says("bounded_downloads", &["40 files, 320 bytes, 4 at a time"]);
}

#[test]
fn pipeline() {
    assert_says("pipeline", &["steps and number: Some((178, 871))"]);
}

#[test]
fn pool() {
    let expected = [
        "the squares of 1 to 10 add up to 385",
        "sorted: true",
        "a job panicked: out of luck",
        "the last job is done, and no more are taken: Some(Refused)",
    ];
    assert_says("pool", &expected);
}

#[test]
fn rate_limiter() {
    assert_says("rate_limiter", &["30 requests, 0 of them too early"]);
}

#[test]
fn request_reply() {
    let expected = [
        "7 squared: Ok(49)",
        "gibberish: Err(Disconnected)",
        "something slow: Err(Timeout)",
        "something behind it: Err(Timeout)",
        "9 squared: Ok(81)",
        "in vain, and not begun with: (1, 1)",
    ];
    assert_says("request_reply", &expected);
}

#[test]
fn simulation() {
    assert_says("simulation", &["after 64 generations the glider is back"]);
}

#[cfg(unix)]
#[test]
#[allow(unsafe_code, reason = "a system call")]
fn ctrl_c() {
    let mut running = start("ctrl_c");
    assert_eq!(running.next_line().as_deref(), Some("working, until Ctrl-C"));
    for _ in 0..2 {
        // SAFETY: a signal to a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(running.child.id().try_into().unwrap(), libc::SIGINT) }, 0);
    }
    assert_eq!(running.rest(), ["stopped: each job is done, or left in the queue"]);
}
