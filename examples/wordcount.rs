//! Counts the words of every file under a folder:
//!
//! ```text
//! cargo run --release --example wordcount -- FOLDER
//! ```
//!
//! The last line on standard output is `N words in M files`. A word is a run of bytes other than ASCII white space,
//! and ends with its file at the latest. Links are not followed, but FOLDER itself may be one. What can't be read is
//! named on standard error and left out. The exit code is 1 if FOLDER can't be read or the result can't be written.
//!
//! Files are dealt with in rounds of three passes: the main thread lists some, workers count their words, and the main thread
//! sums up. What they wait for:
//!
//! | primitive              | holds back                          | until                                             |
//! |------------------------|-------------------------------------|---------------------------------------------------|
//! | latch, `start`         | the workers                         | it is known how many of them there are            |
//! | barrier, `end_of_pass` | everybody                           | the pass is over for all                          |
//! | semaphore, `open_files` | a worker                           | one file more may be open                         |
//! | one-shot, one a file   | the main thread, until a tick       | the file has been counted; then the bar moves on  |

use std::error::Error;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use std::{env, thread};

use indicatif::{ProgressBar, ProgressStyle};
use waitline::oneshot::{self, Receiver, RecvTimeoutError, Sender};
use waitline::{Barrier, Deadline, Latch, Semaphore};
use walkdir::WalkDir;

/// Enough to keep disks and processors busy, and far below what systems allow.
const OPEN_FILES: usize = 16;
/// More than can have a file open, so that the next file is at hand when one is closed.
const WORKERS: usize = 24;
/// How many files make a round. Bounds the memory, however many files there are.
const ROUND: usize = 1024;
const BUFFER_BYTES: usize = 64 * 1024;
const TICK: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(error);
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next(), arguments.next()) else {
        return Err("usage: wordcount FOLDER".into());
    };
    let folder = Path::new(&folder);
    fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;

    // It hides itself where standard error is no terminal.
    let style = ProgressStyle::with_template("{spinner} {wide_bar} {pos} of {len} files")?;
    let bar = ProgressBar::new(0).with_style(style);
    let sum = count_folder(folder, &bar)?;
    bar.finish_and_clear();

    if sum.skipped > 0 {
        complain(format_args!("skipped {} files or folders", sum.skipped));
    }
    writeln!(io::stdout(), "{} words in {} files", sum.words, sum.files)
        .map_err(|error| format!("standard output: {error}").into())
}

/// Unlike `eprintln!`, does not panic when nobody reads standard error.
fn complain(message: impl Display) {
    let _ = writeln!(io::stderr(), "wordcount: {message}");
}

/// The number of words in a file, or what can't be read and why.
type Report = Result<u64, String>;

/// A file to count, and where to send its report.
struct Job {
    path: PathBuf,
    sender: Sender<Report>,
}

type Worker<'scope> = thread::ScopedJoinHandle<'scope, ()>;

/// What the threads share.
struct Crew {
    start: Latch,
    /// Made when it is known for how many. Workers see it once the latch is open.
    end_of_pass: OnceLock<Barrier>,
    jobs: Mutex<Vec<Job>>,
    open_files: Semaphore,
    done: AtomicBool,
}

impl Crew {
    fn new() -> Crew {
        Crew {
            start: Latch::new(1),
            end_of_pass: OnceLock::new(),
            jobs: Mutex::new(Vec::new()),
            open_files: Semaphore::new(OPEN_FILES),
            done: AtomicBool::new(false),
        }
    }

    fn end_of_pass(&self) -> &Barrier {
        self.end_of_pass.get().expect("made before the latch is opened")
    }

    fn jobs(&self) -> MutexGuard<'_, Vec<Job>> {
        self.jobs.lock().expect("no thread panics while it holds this lock")
    }
}

/// Membership in the crew. Whoever leaves, also by a panic, is not waited for again.
struct Member<'a>(&'a Barrier);

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.0.arrive_and_drop();
    }
}

/// Tells the workers at the end of a list that it was the last one, also when the main thread panics. (Relaxed, because the
/// barrier orders it.)
struct Foreman<'a>(&'a AtomicBool);

impl Drop for Foreman<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn count_folder(folder: &Path, bar: &ProgressBar) -> Result<Sum, Box<dyn Error>> {
    let crew = Crew::new();
    thread::scope(|scope| {
        let spawn = || thread::Builder::new().spawn_scoped(scope, || count_files(&crew));
        let mut failure = None;
        let workers: Vec<_> = (0..WORKERS).map_while(|_| spawn().map_err(|error| failure = Some(error)).ok()).collect();
        let end_of_pass = crew.end_of_pass.get_or_init(|| Barrier::new(workers.len() + 1));
        let _member = Member(end_of_pass);
        let _foreman = Foreman(&crew.done); // dropped before the member leaves
        crew.start.count_down();
        match failure {
            Some(error) if workers.is_empty() => Err(format!("no thread to count with: {error}").into()),
            _ => Ok(list_and_sum(folder, &crew, &workers, bar)),
        }
    })
}

/// The main thread's part.
fn list_and_sum(folder: &Path, crew: &Crew, workers: &[Worker], bar: &ProgressBar) -> Sum {
    let end_of_pass = crew.end_of_pass();
    let mut sum = Sum::default();
    let mut tick = Deadline::after(TICK);
    let mut entries = WalkDir::new(folder).into_iter().filter(|entry| {
        // Not a folder, a link, or something like a pipe, where opening it could last for ever.
        entry.as_ref().map_or(true, |entry| entry.file_type().is_file())
    });
    loop {
        let reports: Vec<_> = entries.by_ref().take(ROUND).map(|entry| enlist(entry, crew)).collect();
        if reports.is_empty() {
            return sum;
        }
        bar.inc_length(reports.len() as u64);
        end_of_pass.wait(); // listed

        let mut at_tick = || {
            bar.tick();
            if workers.iter().all(Worker::is_finished) {
                crew.jobs().clear(); // they have panicked, and nobody will send what is left
            }
        };
        let reports: Vec<_> = reports
            .iter()
            .map(|report| await_report(report, &mut tick, &mut at_tick))
            .inspect(|_| bar.inc(1))
            .collect();
        end_of_pass.wait(); // counted

        reports.into_iter().for_each(|report| sum.add(report, bar));
        end_of_pass.wait(); // summed up
    }
}

fn enlist(entry: walkdir::Result<walkdir::DirEntry>, crew: &Crew) -> Receiver<Report> {
    let (sender, receiver) = oneshot::channel();
    match entry {
        Ok(file) => crew.jobs().push(Job { path: file.into_path(), sender }),
        Err(error) => sender.send(Err(error.to_string())).expect("the receiver is here"),
    }
    receiver
}

/// Polls for the report, and calls `at_tick` now and then.
fn await_report(report: &Receiver<Report>, tick: &mut Deadline, at_tick: &mut impl FnMut()) -> Report {
    loop {
        let report = report.recv_until(*tick);
        // Asked after a report too: one that is ready beats a deadline that has passed.
        if tick.has_passed() {
            at_tick();
            *tick = Deadline::after(TICK);
        }
        match report {
            Ok(report) => return report,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("a worker has panicked".to_owned()),
        }
    }
}

/// A worker's part.
fn count_files(crew: &Crew) {
    crew.start.wait();
    let end_of_pass = crew.end_of_pass();
    let _member = Member(end_of_pass);
    loop {
        end_of_pass.wait(); // listed
        if crew.done.load(Relaxed) {
            return;
        }
        while let Some(job) = { crew.jobs().pop() } {
            let words = {
                let _permit = crew.open_files.acquire_permit();
                File::open(&job.path).and_then(count_words)
            };
            let report = words.map_err(|error| format!("{}: {error}", job.path.display()));
            // The main thread is there, unless it has panicked: then nobody wants to know.
            let _ = job.sender.send(report);
        }
        end_of_pass.wait(); // counted
        end_of_pass.wait(); // summed up
    }
}

fn count_words(file: File) -> io::Result<u64> {
    let mut words = 0;
    let mut in_word = false;
    for byte in BufReader::with_capacity(BUFFER_BYTES, file).bytes() {
        let was_in_word = in_word;
        // Not is_ascii_whitespace, which leaves out the vertical tab.
        in_word = !matches!(byte?, b' ' | b'\t'..=b'\r');
        words += u64::from(in_word && !was_in_word);
    }
    Ok(words)
}

#[derive(Default)]
struct Sum {
    words: u64,
    files: u64,
    skipped: u64,
}

impl Sum {
    fn add(&mut self, report: Report, bar: &ProgressBar) {
        match report {
            Ok(words) => {
                self.words += words;
                self.files += 1;
            }
            Err(problem) => {
                bar.suspend(|| complain(problem));
                self.skipped += 1;
            }
        }
    }
}
