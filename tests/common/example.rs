//! Examples, for tests that run them as users do.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use walkdir::WalkDir;

/// The program of an example. Cargo builds examples along with tests, but not if it was told to build one test alone.
pub(crate) fn built(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap(); // <target>/<profile>/deps/<test>-<hash>
    let profile_folder = test.ancestors().nth(2).unwrap();
    let example = profile_folder.join(format!("examples/{name}{EXE_SUFFIX}"));
    if modified(&example).is_none_or(|built| built < sources_modified()) {
        let profile = match profile_folder.file_name().and_then(OsStr::to_str).unwrap() {
            "debug" => "dev",
            name => name,
        };
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--example", name, "--profile", profile, "--manifest-path"])
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
            .arg("--target-dir")
            .arg(profile_folder.parent().unwrap())
            .status()
            .unwrap();
        assert!(status.success(), "cargo build --example {name}: {status}");
    }
    example
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

fn sources_modified() -> SystemTime {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = ["src", "examples"].map(|source| WalkDir::new(package.join(source)));
    sources.into_iter().flatten().filter_map(|entry| modified(entry.unwrap().path())).max().unwrap()
}
