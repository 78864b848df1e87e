//! Where the figures were taken.

#![allow(unsafe_code, reason = "a system call")]

use std::fs;

use nix::sys::utsname::uname;

use crate::threads::processors;

/// A few lines for the head of a table.
pub fn description() -> String {
    let kernel = uname().map_or_else(
        |_| String::from("unknown kernel"),
        |name| format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy()),
    );
    format!(
        "{}, {} processors, {kernel}\n{}, back-end: {BACK_END}, scheduling: {}, load: {}\nPeers in C++: {}",
        processor_model().unwrap_or_else(|| String::from(std::env::consts::ARCH)),
        processors(),
        env!("RUSTC_VERSION"),
        scheduling(),
        load().unwrap_or_else(|| String::from("unknown")),
        libstdcxx(),
    )
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
