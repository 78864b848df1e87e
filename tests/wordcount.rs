//! The example `wordcount`, run as a user runs it.
#![cfg(unix)]
#![cfg_attr(target_os = "linux", allow(unsafe_code, reason = "limits a child process between fork and exec"))]

#[path = "common/example.rs"]
mod example;

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

const WATCHDOG: Duration = Duration::from_secs(120);

static EXAMPLE: LazyLock<PathBuf> = LazyLock::new(|| example::built("wordcount"));

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ended {
    #[track_caller]
    fn assert_counted(&self, words: usize, files: usize) {
        assert_eq!(self.stdout, format!("{words} words in {files} files\n"), "standard error: {}", self.stderr);
        assert_eq!(self.code, Some(0));
    }

    #[track_caller]
    fn assert_refused(&self, reason: &str) {
        assert!(self.stderr.starts_with("wordcount: ") && self.stderr.contains(reason), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert_eq!((self.stdout.as_str(), self.code), ("", Some(1)));
    }
}

fn wordcount(folder: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(&*EXAMPLE);
    command.arg(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(command: &mut Command) -> Ended {
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    // A process closes these at its end and not before.
    let (Ok(out), Ok(err)) = (stdout.recv_timeout(WATCHDOG), stderr.recv_timeout(WATCHDOG)) else {
        let threads = threads_of(&child);
        child.kill().unwrap();
        panic!("{command:?} does not end. Its threads:\n{threads}");
    };
    Ended { code: child.wait().unwrap().code(), stdout: out, stderr: err }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).unwrap();
        }
        // Nobody receives it any more once the other pipe has run into the watchdog.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// Where each thread of the process sleeps, as far as the system says so.
fn threads_of(child: &Child) -> String {
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", child.id())) else { return "unknown".into() };
    let place = |thread: PathBuf| {
        let sleeps_in = fs::read_to_string(thread.join("wchan")).unwrap_or_default();
        let call = fs::read_to_string(thread.join("syscall")).unwrap_or_default();
        format!("{}: {sleeps_in}, system call {call}", thread.display())
    };
    threads.flatten().map(|thread| place(thread.path())).collect()
}

/// A folder with these files.
fn tree(files: &[(&str, &[u8])]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    root
}

#[test]
fn counts_words_of_any_bytes_file_by_file() {
    let root = tree(&[
        ("empty", b""),
        ("white", b" \t\n\x0b\x0c\r \n"),
        ("every kind of space", b"1 2\t3\n4\x0b5\x0c6\r7\r\n8\x0b9"),
        ("no newline at the end", b"one"),
        ("begins the word", b"half"),
        ("ends the word", b"way"),
        ("no spaces", b"\0 \x07\x08 \x0e\x1c\x1f \x7f \x85\xa0 \xe2\x80\x83"),
        ("no UTF-8", b"\xff\xfe \xc3\x28\n\xed\xa0\x80 \xf5"),
        (".hidden", b"two words"),
        ("deep/er/and/.deeper/file", b"  surrounded by space  "),
    ]);
    fs::create_dir(root.path().join("empty folder")).unwrap();
    run(&mut wordcount(root.path())).assert_counted(9 + 1 + 1 + 1 + 6 + 4 + 2 + 3, 10);
}

#[test]
fn nothing_but_an_empty_folder() {
    run(&mut wordcount(tree(&[]).path())).assert_counted(0, 0);
}

/// Whatever power of two a buffer's size is, it cuts the seven bytes of a word and its space at every place.
#[test]
fn words_and_spaces_straddle_buffers() {
    let length = 1 << 20;
    let words: Vec<u8> = b"cross. ".iter().copied().cycle().take(length).collect();
    let spaces: Vec<u8> = b"w      ".iter().copied().cycle().take(length).collect();
    let root = tree(&[("words", &words), ("spaces", &spaces), ("one word", &vec![b'w'; length])]);
    let mut expected = 2 * length.div_ceil(7) + 1;
    let mut files = 3;
    for exponent in 9..=17 {
        for size in [(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1] {
            fs::write(root.path().join(size.to_string()), &words[..size]).unwrap();
            expected += size.div_ceil(7);
            files += 1;
        }
    }
    run(&mut wordcount(root.path())).assert_counted(expected, files);
}

#[test]
fn counts_regular_files_only() {
    let elsewhere = tree(&[("file", b"not to be counted")]);
    let root = tree(&[("folder/file", b"to be counted")]);
    let entry = |name: &str| root.path().join(name);
    symlink(elsewhere.path().join("file"), entry("link to a file")).unwrap();
    symlink(elsewhere.path(), entry("link to a folder")).unwrap();
    symlink(root.path(), entry("folder/link to the top")).unwrap();
    symlink("nowhere", entry("dangling link")).unwrap();
    let _socket = UnixListener::bind(entry("socket")).unwrap();
    // Whoever opens this to read it waits for a writer, and none comes.
    assert!(Command::new("mkfifo").arg(entry("fifo")).status().unwrap().success());
    let ended = run(&mut wordcount(root.path()));
    ended.assert_counted(3, 1);
    assert_eq!(ended.stderr, "");
}

#[test]
fn the_folder_itself_may_be_a_link_or_relative_or_oddly_named() {
    use std::os::unix::ffi::OsStrExt;

    let root = tree(&[("folder/file", b"a b c")]);
    let link = root.path().join("link");
    symlink("folder", &link).unwrap();
    run(&mut wordcount(&link)).assert_counted(3, 1);
    run(wordcount(".").current_dir(root.path().join("folder"))).assert_counted(3, 1);
    run(wordcount("../link/").current_dir(root.path().join("folder"))).assert_counted(3, 1);

    let odd = root.path().join(OsStr::from_bytes(b"line\nbreak \xff"));
    // Some file systems refuse such names.
    if fs::create_dir(&odd).is_ok() {
        fs::write(odd.join("file"), "d e").unwrap();
        run(&mut wordcount(&odd)).assert_counted(2, 1);
    }
}

#[test]
fn many_small_files() {
    let root = tree(&[]);
    let (folders, files) = (40, 150);
    for folder in 0..folders {
        let folder = root.path().join(format!("{}/{folder}", folder % 7));
        fs::create_dir_all(&folder).unwrap();
        for file in 0..files {
            fs::write(folder.join(file.to_string()), "word ".repeat(file % 10)).unwrap();
        }
    }
    run(&mut wordcount(root.path())).assert_counted(folders * (files / 10) * 45, folders * files);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        max_shrink_time: 60_000, // each hang takes as long as the watchdog
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn agrees_with_wc_on_printable_text(texts in prop::collection::vec("[ -~\\t\\n\\x0b\\x0c\\r]{0,300}", 1..12)) {
        let root = tree(&[]);
        for (name, text) in texts.iter().enumerate() {
            fs::write(root.path().join(name.to_string()), text).unwrap();
        }
        let names = (0..texts.len()).map(|name| name.to_string());
        let wc = Command::new("wc").arg("-w").args(names).current_dir(root.path()).env("LC_ALL", "C").output().unwrap();
        let last_line = String::from_utf8(wc.stdout).unwrap().lines().last().unwrap().to_owned();
        let words = last_line.split_whitespace().next().unwrap().parse().unwrap();
        run(&mut wordcount(root.path())).assert_counted(words, texts.len());
    }
}

#[test]
fn refuses_what_is_no_folder() {
    let root = tree(&[("file", b"some words")]);
    let missing = root.path().join("missing");
    run(&mut wordcount(&missing)).assert_refused(missing.to_str().unwrap());
    let file = root.path().join("file");
    run(&mut wordcount(&file)).assert_refused(file.to_str().unwrap());
    symlink("missing", root.path().join("link")).unwrap();
    run(&mut wordcount(root.path().join("link"))).assert_refused("link");
    run(&mut wordcount("")).assert_refused("wordcount: ");
}

#[test]
fn refuses_any_other_number_of_arguments() {
    let mut none = Command::new(&*EXAMPLE);
    run(none.stdout(Stdio::piped()).stderr(Stdio::piped())).assert_refused("usage: ");
    run(wordcount(".").arg(".")).assert_refused("usage: ");
}

#[test]
fn names_skips_and_counts_what_it_may_not_read() {
    let root = tree(&[
        ("readable", b"1 2 3"),
        ("secret file", b"4 5"),
        ("secret folder/file", b"6"),
        ("no entry/file", b"7"),
        ("folder/secret file", b"8"),
        ("folder/readable", b"9"),
    ]);
    let secrets =
        [("secret file", 0o000), ("secret folder", 0o000), ("no entry", 0o400), ("folder/secret file", 0o200)];
    for (name, mode) in secrets {
        fs::set_permissions(root.path().join(name), Permissions::from_mode(mode)).unwrap();
    }
    let sees_all = File::open(root.path().join("secret file")).is_ok();
    if sees_all && cfg!(not(target_os = "linux")) {
        eprintln!("not tested: this user may read everything");
        return;
    }
    let ended = run(as_ordinary_user(&mut wordcount(root.path())));
    let refused = run(as_ordinary_user(&mut wordcount(root.path().join("secret folder"))));
    for (name, _) in secrets {
        fs::set_permissions(root.path().join(name), Permissions::from_mode(0o700)).unwrap();
    }

    ended.assert_counted(4, 2);
    let mut lines: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(lines.pop(), Some("wordcount: skipped 4 files or folders"));
    assert_eq!(lines.len(), 4, "{lines:?}");
    for name in ["secret file", "secret folder", "no entry/file", "folder/secret file"] {
        let path = root.path().join(name);
        let lines_with_it = lines.iter().filter(|line| line.contains(path.to_str().unwrap())).count();
        assert_eq!(lines_with_it, 1, "{name} in {lines:?}");
    }
    refused.assert_refused("secret folder");
}

#[test]
fn nobody_reads_what_it_writes() {
    let root = tree(&[("file", b"some words")]);
    let ended = run(wordcount(root.path()).stdout(unread_pipe()));
    assert!(ended.stderr.starts_with("wordcount: standard output: "), "{}", ended.stderr);
    assert_eq!(ended.code, Some(1));

    let ended = run(wordcount(root.path().join("missing")).stderr(unread_pipe()));
    assert_eq!((ended.stdout.as_str(), ended.code), ("", Some(1)));

    for closed in [">&-", "2>&-", ">&- 2>&-"] {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec \"$0\" \"$1\" {closed}")).arg(&*EXAMPLE).arg(root.path());
        let ended = run(shell.stdout(Stdio::piped()).stderr(Stdio::piped()));
        assert!(matches!(ended.code, Some(0 | 1)), "{closed}: {:?} {}", ended.code, ended.stderr);
    }
}

/// Writing to this fails.
fn unread_pipe() -> OwnedFd {
    let (_reader, writer) = UnixStream::pair().unwrap();
    writer.into()
}

#[cfg(target_os = "linux")]
use linux::as_ordinary_user;

#[cfg(not(target_os = "linux"))]
fn as_ordinary_user(command: &mut Command) -> &mut Command {
    command
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::process::CommandExt;
    use std::{io, mem};

    use super::*;

    fn done(status: libc::c_int) -> io::Result<()> {
        if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Root keeps its name but not the power to read everything.
    pub(super) fn as_ordinary_user(command: &mut Command) -> &mut Command {
        let give_up = || {
            // SAFETY: takes no arguments.
            if unsafe { libc::geteuid() } != 0 {
                return Ok(());
            }
            // SAFETY: takes a plain number.
            done(unsafe { libc::prctl(libc::PR_SET_SECUREBITS, libc::SECBIT_NOROOT) })
        };
        // SAFETY: only makes system calls, which is all that is allowed between fork and exec.
        unsafe { command.pre_exec(give_up) }
    }

    #[test]
    fn works_on_one_processor() {
        let keep_one = || {
            // SAFETY: all zeroes is the empty set.
            let (mut allowed, mut one): (libc::cpu_set_t, libc::cpu_set_t) = unsafe { mem::zeroed() };
            // SAFETY: 0 names this thread, and the set has room for the size given.
            done(unsafe { libc::sched_getaffinity(0, size_of_val(&allowed), &mut allowed) })?;
            // SAFETY: the numbers are within the set's size.
            let first = (0..libc::CPU_SETSIZE as usize).find(|&cpu| unsafe { libc::CPU_ISSET(cpu, &allowed) });
            // SAFETY: as before.
            unsafe { libc::CPU_SET(first.ok_or(io::ErrorKind::NotFound)?, &mut one) };
            // SAFETY: as for sched_getaffinity.
            done(unsafe { libc::sched_setaffinity(0, size_of_val(&one), &one) })
        };
        let root = tree(&[]);
        for file in 0..500 {
            fs::write(root.path().join(file.to_string()), "word\n".repeat(file)).unwrap();
        }
        let mut command = wordcount(root.path());
        // SAFETY: only makes system calls, which is all that is allowed between fork and exec.
        unsafe { command.pre_exec(keep_one) };
        run(&mut command).assert_counted(500 * 499 / 2, 500);
    }

    /// More workers than this leaves descriptors for want to read at once, and each file takes them a while.
    #[test]
    fn has_few_files_open_at_once() {
        // The standard streams, the folder, 16 files, and what the library looks up about the machine.
        const DESCRIPTORS: libc::c_int = 3 + 1 + 16 + 2;
        let leave_few = || {
            for inherited in 3..DESCRIPTORS {
                // SAFETY: takes plain numbers, and fails if there is no such descriptor.
                unsafe { libc::fcntl(inherited, libc::F_SETFD, libc::FD_CLOEXEC) };
            }
            let limit = libc::rlimit { rlim_cur: DESCRIPTORS as libc::rlim_t, rlim_max: DESCRIPTORS as libc::rlim_t };
            // SAFETY: `limit` is alive and initialized.
            done(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) })
        };
        let root = tree(&[]);
        let length = if cfg!(debug_assertions) { 1 << 18 } else { 1 << 22 };
        for file in 0..48 {
            File::create(root.path().join(file.to_string())).unwrap().set_len(length).unwrap(); // one word of zeroes
        }
        let mut command = wordcount(root.path());
        // SAFETY: only makes system calls, which is all that is allowed between fork and exec.
        unsafe { command.pre_exec(leave_few) };
        run(&mut command).assert_counted(48, 48);
    }

    #[test]
    fn reports_a_full_disk() {
        let root = tree(&[("file", b"some words")]);
        let ended = run(wordcount(root.path()).stdout(File::options().write(true).open("/dev/full").unwrap()));
        assert!(ended.stderr.starts_with("wordcount: standard output: "), "{}", ended.stderr);
        assert_eq!(ended.code, Some(1));
    }
}
