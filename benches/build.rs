//! Keeps the compiler's version for the head of the figures.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = env::var_os("RUSTC").expect("cargo names its compiler");
    let output = Command::new(compiler).arg("--version").output().expect("cargo's compiler runs");
    println!("cargo::rustc-env=RUSTC_VERSION={}", String::from_utf8_lossy(&output.stdout).trim());
}
