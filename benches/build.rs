//! Keeps the compiler's version for the head of the figures, and builds the peers that are written in C++.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = env::var_os("RUSTC").expect("cargo names its compiler");
    let output = Command::new(compiler).arg("--version").output().expect("cargo's compiler runs");
    println!("cargo::rustc-env=RUSTC_VERSION={}", String::from_utf8_lossy(&output.stdout).trim());
    build_libstdcxx();
}

/// Sets the cfg `libstdcxx` if there is a compiler that can do it. Without these peers everything else is still measured.
fn build_libstdcxx() {
    const SOURCE: &str = "src/libstdcxx/peers.cpp";
    println!("cargo::rustc-check-cfg=cfg(libstdcxx)");
    println!("cargo::rerun-if-changed={SOURCE}");
    let built = cc::Build::new()
        .cpp(true)
        .std("c++20")
        .flag("-pthread")
        // Whatever the profile is: nobody measures them otherwise.
        .opt_level(2)
        .debug(false)
        .cargo_warnings(false)
        .file(SOURCE)
        .try_compile("libstdcxx_peers");
    match built {
        Ok(()) => println!("cargo::rustc-cfg=libstdcxx"),
        Err(error) => {
            let reason = error.to_string();
            println!("cargo::warning=without the peers in C++: {}", reason.lines().next().unwrap_or_default());
        }
    }
}
