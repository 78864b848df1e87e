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
//! One thread lists the files, several count, and the main thread sums up, moving a progress bar meanwhile. Whatever
//! they wait for is a permit of one of four semaphores:
//!
//! | semaphore       | a permit is                  | taken by                           | given by            |
//! |-----------------|------------------------------|------------------------------------|---------------------|
//! | `free_slots`    | room for one more file       | the lister                         | the main thread     |
//! | `files.ready`   | a file to count              | a worker                           | the lister          |
//! | `open_files`    | leave to open one more file  | a worker                           | that worker's guard |
//! | `reports.ready` | what became of a file        | the main thread, until a tick      | workers, the lister |

use std::collections::VecDeque;
use std::error::Error;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use std::{env, thread};

use indicatif::{ProgressBar, ProgressStyle};
use waitline::{Deadline, Semaphore};
use walkdir::WalkDir;

/// Enough to keep disks and processors busy, and far below what systems allow.
const OPEN_FILES: usize = 16;
/// More than can have a file open, so that the next file is at hand when one is closed.
const WORKERS: usize = 24;
/// How many files can be on their way from the list to the sum. Bounds the memory, however many files there are.
const SLOTS: usize = 1024;
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
    let sum = count_folder(folder, &bar);
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

fn count_folder(folder: &Path, bar: &ProgressBar) -> Sum {
    let pool = Pool::new();
    thread::scope(|scope| {
        let _membership = Membership(&pool);
        scope.spawn(|| list_files(folder, &pool));
        for _ in 0..WORKERS {
            scope.spawn(|| count_files(&pool));
        }
        sum_up(&pool, bar)
    })
}

fn list_files(folder: &Path, pool: &Pool) {
    let _membership = Membership(pool);
    for entry in WalkDir::new(folder) {
        if entry.as_ref().is_ok_and(|entry| !entry.file_type().is_file()) {
            continue; // a folder, a link, or something like a pipe, where opening it could last for ever
        }
        pool.free_slots.acquire();
        if pool.closed.load(Relaxed) {
            return; // another thread has panicked
        }
        pool.listed.fetch_add(1, Relaxed);
        match entry {
            Ok(file) => pool.files.push(file.into_path()),
            Err(error) => pool.reports.push(Err(error.to_string())),
        }
    }
}

fn count_files(pool: &Pool) {
    let _membership = Membership(pool);
    while let Some(path) = pool.next_file() {
        let words = {
            let _permit = pool.open_files.acquire_permit();
            File::open(&path).and_then(count_words)
        };
        pool.reports.push(words.map_err(|error| format!("{}: {error}", path.display())));
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

fn sum_up(pool: &Pool, bar: &ProgressBar) -> Sum {
    let mut sum = Sum::default();
    let mut others = WORKERS + 1; // the lister
    let mut tick = Deadline::after(TICK);
    while others > 0 {
        if pool.reports.ready.try_acquire_until(tick) {
            match pool.reports.pop() {
                Some(report) => {
                    sum.add(report, bar);
                    pool.free_slots.release();
                }
                None => others -= 1,
            }
        }
        // Asked after a report too: one that is ready beats a deadline that has passed.
        if tick.has_passed() {
            bar.set_length(pool.listed.load(Relaxed));
            bar.set_position(sum.files + sum.skipped);
            bar.tick();
            tick = Deadline::after(TICK);
        }
    }
    sum
}

/// The number of words in a file, or what can't be read and why.
type Report = Result<u64, String>;

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

/// What the threads share.
struct Pool {
    free_slots: Semaphore,
    /// For the progress bar.
    listed: AtomicU64,
    files: Queue<PathBuf>,
    open_files: Semaphore,
    reports: Queue<Report>,
    closed: AtomicBool,
}

impl Pool {
    fn new() -> Pool {
        Pool {
            free_slots: Semaphore::new(SLOTS),
            listed: AtomicU64::new(0),
            files: Queue::new(),
            open_files: Semaphore::new(OPEN_FILES),
            reports: Queue::new(),
            closed: AtomicBool::new(false),
        }
    }

    /// Sleeps until there is a file to count; `None` when the pool is closed and no file is left.
    fn next_file(&self) -> Option<PathBuf> {
        self.files.ready.acquire();
        self.files.pop()
    }

    /// Ends every thread: a worker by a permit without a file, the lister by the flag. (Relaxed, because the permits
    /// order it.)
    fn close(&self) {
        if !self.closed.swap(true, Relaxed) {
            self.files.ready.release_many(WORKERS);
            self.free_slots.release();
        }
    }
}

/// Held by every thread of the pool. The first one to leave closes it: usually the lister, after the last file; else
/// one that panics, so that nobody waits for it for ever.
struct Membership<'a>(&'a Pool);

impl Drop for Membership<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.0.reports.ready.release(); // without a report: one thread fewer to wait for
    }
}

/// Items in order, with a permit for each. A permit that finds no item tells of an end.
struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    ready: Semaphore,
}

impl<T> Queue<T> {
    fn new() -> Queue<T> {
        Queue { items: Mutex::new(VecDeque::new()), ready: Semaphore::new(0) }
    }

    fn push(&self, item: T) {
        self.lock().push_back(item);
        self.ready.release();
    }

    /// For a thread that has taken a permit.
    fn pop(&self) -> Option<T> {
        self.lock().pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.items.lock().expect("no thread panics while it holds this lock")
    }
}
