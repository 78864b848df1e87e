//! Where the figures were taken.

#![allow(unsafe_code, reason = "a system call")]

use core::fmt;
use std::fs;

use nix::sys::utsname::uname;
use serde::{Deserialize, Serialize};

use crate::threads::processors;

/// The machine, and what was built for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's model.
    pub processor: String,
    /// How many of them.
    pub processors: usize,
    /// The kernel's name and version.
    pub kernel: String,
    /// The compiler.
    pub rustc: String,
    /// By what threads are put to sleep.
    pub back_end: String,
    /// How the scheduler treats the program.
    pub scheduling: String,
    /// How many threads wanted to run in the minute before.
    pub load: String,
    /// Which peers in C++ there are.
    pub libstdcxx: String,
}

impl Machine {
    /// This one, now.
    pub fn look() -> Machine {
        let kernel = uname().map_or_else(
            |_| String::from("unknown kernel"),
            |name| {
                // The rest says who built it.
                let release = name.release().to_string_lossy();
                let version: Vec<_> = release.split('.').take(2).collect();
                format!("{} {}", name.sysname().to_string_lossy(), version.join("."))
            },
        );
        Machine {
            processor: processor_model().unwrap_or_else(|| String::from(std::env::consts::ARCH)),
            processors: processors(),
            kernel,
            rustc: String::from(env!("RUSTC_VERSION")),
            back_end: String::from(BACK_END),
            scheduling: String::from(scheduling()),
            load: load().unwrap_or_else(|| String::from("unknown")),
            libstdcxx: String::from(libstdcxx()),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { processor, processors, kernel, rustc, back_end, scheduling, load, libstdcxx } = self;
        writeln!(f, "{processor}, {processors} processors, {kernel}")?;
        writeln!(f, "{rustc}, back-end: {back_end}, scheduling: {scheduling}, load before: {load}")?;
        write!(f, "Peers in C++: {libstdcxx}")
    }
}

#[cfg(libstdcxx)]
fn libstdcxx() -> &'static str {
    crate::libstdcxx::version()
}

#[cfg(not(libstdcxx))]
fn libstdcxx() -> &'static str {
    "left out, since the build found no compiler for them"
}

const BACK_END: &str = if cfg!(any(waitline_force_parking, not(any(target_os = "linux", target_os = "android")))) {
    "parking_lot_core"
} else if cfg!(waitline_futex = "relative") {
    "futex, relative waits only"
} else if cfg!(waitline_futex = "bitset") {
    "futex, without futex_waitv"
} else {
    "futex"
};

fn processor_model() -> Option<String> {
    let facts = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = facts.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// A program that others can't interrupt sees another machine than its users do.
fn scheduling() -> &'static str {
    // SAFETY: a plain question about this process.
    match unsafe { libc::sched_getscheduler(0) } {
        libc::SCHED_OTHER => "normal",
        libc::SCHED_FIFO | libc::SCHED_RR => "real-time",
        _ => "unusual",
    }
}

/// How many threads wanted to run in the last minute: the more, the less the figures are worth.
fn load() -> Option<String> {
    Some(fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.to_owned())
}
