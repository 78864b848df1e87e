//! The layers of the crate, bottom to top, and that imports go downwards only; and what else holds for every source
//! file.

#[path = "layering/scanner.rs"]
mod scanner;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use walkdir::WalkDir;

use self::scanner::{Part, Unsafe, tokens};

/// Modules of one layer do not know each other. lib.rs is above all of them, tests and models are beside the house.
const LAYERS: [&[&str]; 6] = [
    &["atomic"],
    &["deadline", "error"],
    &["sys"],
    &["wait"],
    &["barrier", "latch", "oneshot", "semaphore"],
    &["guide"],
];

/// Counted with comments: a file that needs more holds more than one idea.
const MAX_LINES: usize = 450;

/// The one file that may name the model checker.
const CHECKER: (&str, &str) = ("src/atomic.rs", "loom");

#[test]
fn imports_go_downwards_only() {
    assert_none(wrong_imports(&sources()));
}

#[test]
fn one_file_names_the_model_checker() {
    let files = sources();
    assert!(
        files.iter().any(|file| file.path == CHECKER.0 && names_checker(file).next().is_some()),
        "the rule is stale"
    );
    assert_none(files.iter().filter(|file| file.path != CHECKER.0).flat_map(names_checker).collect());
}

#[test]
fn files_are_short_and_finished() {
    assert_none(sources().iter().flat_map(unfinished).collect());
}

#[test]
fn the_front_page_counts_what_is_unsafe() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let said: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `src/")).collect();
    let counted = unsafe_rows(&sources());
    let agree = said.len() == counted.len() && counted.iter().all(|row| said.iter().any(|line| line.starts_with(row)));
    assert!(agree, "README.md says\n{}\nand these were counted:\n{}", said.join("\n"), counted.join("\n"));
}

fn assert_none(violations: Vec<String>) {
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

struct File {
    path: String,
    text: String,
}

fn sources() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = WalkDir::new(root.join("src")).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    files
        .map(|entry| File {
            path: entry.path().strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"),
            text: fs::read_to_string(entry.path()).unwrap(),
        })
        .collect()
}

fn names_checker(file: &File) -> impl Iterator<Item = String> {
    let named = tokens(&file.text).into_iter().filter(|token| token.text == CHECKER.1);
    named.map(|token| format!("{}:{} names {}, which is for {} alone", file.path, token.line, CHECKER.1, CHECKER.0))
}

fn unfinished(file: &File) -> Vec<String> {
    let mut violations = Vec::new();
    let lines = file.text.lines().count();
    if lines > MAX_LINES {
        violations.push(format!("{} has {lines} lines and may have {MAX_LINES}", file.path));
    }
    for (line, text) in file.text.lines().enumerate() {
        for word in ["SAFETY: Untriaged", "TODO", "FIXME", "todo!", "unimplemented!"] {
            if text.contains(word) {
                violations.push(format!("{}:{} says {word}", file.path, line + 1));
            }
        }
    }
    violations
}

/// The first columns of a table with a row for each part of the crate that has anything unsafe in it, but for tests.
fn unsafe_rows(files: &[File]) -> Vec<String> {
    let parts: Vec<Part> = files.iter().map(|file| Part::of(&module_path(&file.path), &file.text)).collect();
    let mut counts = BTreeMap::<String, Unsafe>::new();
    for file in files {
        if is_for_tests(file, &parts) {
            continue;
        }
        let part = counts.entry(module_path(&file.path).into_iter().next().unwrap_or_default()).or_default();
        let count = Unsafe::of(&file.text);
        part.blocks += count.blocks;
        part.impls += count.impls;
        part.functions += count.functions;
    }
    counts.retain(|_, count| *count != Unsafe::default());
    let row = |(part, count): (&String, &Unsafe)| {
        format!("| `src/{part}` | {} | {} | {} |", count.blocks, count.impls, count.functions)
    };
    counts.iter().map(row).collect()
}

fn wrong_imports(files: &[File]) -> Vec<String> {
    let parts: Vec<Part> = files.iter().map(|file| Part::of(&module_path(&file.path), &file.text)).collect();
    let exports: HashMap<&str, &str> =
        parts.iter().flat_map(|part| &part.exports).map(|(name, module)| (&**name, &**module)).collect();

    let mut violations = Vec::new();
    for (file, part) in files.iter().zip(&parts) {
        // lib.rs imports what it likes.
        let Some(own) = module_path(&file.path).into_iter().next() else { continue };
        if is_for_tests(file, &parts) {
            continue;
        }
        let Some(layer) = layer(&own) else {
            violations.push(format!("{} has no layer in tests/layering.rs", file.path));
            continue;
        };
        for (line, import) in &part.imports {
            let target = import.first().map_or("the whole crate", |first| exports.get(&**first).unwrap_or(&&**first));
            let wrong = match self::layer(target) {
                _ if target == own => continue,
                Some(other) if other < layer => continue,
                Some(other) if other == layer => "lies beside it",
                Some(_) => "lies above it",
                None => "is no module with a layer, and nothing that lib.rs exports from one",
            };
            violations.push(format!("{}:{line} imports {target}, which {wrong}", file.path));
        }
    }
    violations.dedup();
    violations
}

/// Whether the file is part of a module that is compiled for tests only.
fn is_for_tests(file: &File, parts: &[Part]) -> bool {
    let module = module_path(&file.path);
    parts.iter().flat_map(|part| &part.test_modules).any(|tests| module.starts_with(tests))
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// `src/sys/linux/clock.rs` is `sys::linux::clock`, `src/wait/mod.rs` is `wait`, `src/lib.rs` the root.
fn module_path(file: &str) -> Vec<String> {
    let inside = file.trim_start_matches("src/").trim_end_matches(".rs");
    inside.split('/').filter(|name| !["lib", "mod"].contains(name)).map(String::from).collect()
}

mod the_rules {
    use super::*;

    const ROOT: &str = "mod deadline; pub use deadline::Deadline; pub use semaphore::{Permit, Semaphore};
        #[cfg(all(test, waitline_loom))] mod models;";

    fn said_of(path: &str, text: &str) -> Vec<String> {
        let files = [("src/lib.rs", ROOT), (path, text)];
        wrong_imports(&files.map(|(path, text)| File { path: path.into(), text: text.into() }))
    }

    #[test]
    fn finds_imports_that_go_upwards_or_sideways() {
        for (path, text, said) in [
            ("src/sys/linux.rs", "\nuse crate::wait::Step;", "src/sys/linux.rs:2 imports wait, which lies above it"),
            (
                "src/sys/mod.rs",
                "use crate::{\natomic::X,\nwait::{self, Step}};",
                "src/sys/mod.rs:3 imports wait, which lies above it",
            ),
            ("src/deadline.rs", "fn f() { crate::sys::wait(1) }", "src/deadline.rs:1 imports sys, which lies above it"),
            (
                "src/deadline.rs",
                "type E = super::error::TimedOut;",
                "src/deadline.rs:1 imports error, which lies beside it",
            ),
            (
                "src/sys/linux/clock.rs",
                "use super::super::super::semaphore::*;",
                "src/sys/linux/clock.rs:1 imports semaphore, which lies above it",
            ),
            (
                "src/atomic.rs",
                "/* use */ use crate::Deadline;",
                "src/atomic.rs:1 imports deadline, which lies above it",
            ),
            ("src/wait/mod.rs", "use crate::Permit as P;", "src/wait/mod.rs:1 imports semaphore, which lies above it"),
            (
                "src/wait/mod.rs",
                "mod a { mod b { use super::super::super::semaphore; } }",
                "src/wait/mod.rs:1 imports semaphore, which lies above it",
            ),
            (
                "src/wait/mod.rs",
                "mod a {} use super::semaphore;",
                "src/wait/mod.rs:1 imports semaphore, which lies above it",
            ),
            (
                "src/sys/mod.rs",
                "macro_rules! m { () => { $crate::wait::f() } }",
                "src/sys/mod.rs:1 imports wait, which lies above it",
            ),
            (
                "src/sys/mod.rs",
                "const Q: char = '\"'; use crate::wait; const R: &str = \"\";",
                "src/sys/mod.rs:1 imports wait, which lies above it",
            ),
            (
                "src/sys/mod.rs",
                "#[cfg(test)] mod tests {} use crate::wait;",
                "src/sys/mod.rs:1 imports wait, which lies above it",
            ),
            (
                "src/sys/mod.rs",
                "#[cfg(not(test))] use crate::wait;",
                "src/sys/mod.rs:1 imports wait, which lies above it",
            ),
            (
                "src/sys/mod.rs",
                "use crate::*;",
                "src/sys/mod.rs:1 imports the whole crate, which is no module with a layer, and nothing that lib.rs exports from one",
            ),
            ("src/gate.rs", "", "src/gate.rs has no layer in tests/layering.rs"),
        ] {
            assert_eq!(said_of(path, text), [said], "{text}");
        }
    }

    #[test]
    fn lets_everything_else_pass() {
        for (path, text) in [
            (
                "src/semaphore/many.rs",
                "use super::counting::X; use super::*; use crate::{Deadline, Semaphore, wait::W};",
            ),
            (
                "src/sys/linux.rs",
                "pub(crate) fn f() {} pub(super) use self::clock::x; use super::Word; use core::wait::x;",
            ),
            (
                "src/sys/linux.rs",
                "//! crate::wait\n/// use crate::wait;\n/* /* */ crate::wait */ const S: &str = \"crate::wait\\\" crate::wait\";",
            ),
            (
                "src/sys/linux.rs",
                "const S: &str = r#\"\" crate::wait\"#; const B: &[u8] = br\"crate::wait\"; fn f<'a>(x: &'a u8) {}",
            ),
            ("src/sys/linux.rs", "#[cfg(test)]\n#[path = \"t.rs\"]\nmod tests { use crate::wait; fn f() {} }"),
            ("src/sys/linux.rs", "#[cfg(all(test, unix))] pub(crate) use crate::{wait, semaphore}; use crate::atomic;"),
            ("src/sys/linux.rs", "fn f() { #[cfg(test)] crate::wait::hook(); }"),
            ("src/models/mod.rs", "use crate::semaphore::Semaphore; use crate::anything;"),
        ] {
            assert_eq!(said_of(path, text), [""; 0], "{text}");
        }
    }

    #[test]
    fn counts_what_is_unsafe_outside_of_tests() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let counted = unsafe_rows(&[
            file("src/lib.rs", "mod a; mod b; #[cfg(test)] mod tests;"),
            file(
                "src/a.rs",
                "unsafe impl Send for X {} fn f() { unsafe { g() } } #[cfg(test)] mod t { unsafe fn h() {} }",
            ),
            file(
                "src/a/b.rs",
                "// unsafe {\n/// unsafe\npub unsafe fn f(x: unsafe fn(), y: unsafe extern \"C\" fn()) { \"unsafe {\" }",
            ),
            file("src/b.rs", "#![allow(unsafe_code)]"),
            file("src/tests.rs", "unsafe { f() }"),
        ]);
        assert_eq!(counted, ["| `src/a` | 1 | 1 | 1 |"]);
    }

    #[test]
    fn finds_the_checkers_name_and_what_is_unfinished() {
        let file = |text: &str| File { path: "src/x.rs".into(), text: text.into() };
        let named = file("// loom\n#[cfg(waitline_loom)]\nuse loom::thread;");
        let said: Vec<String> = names_checker(&named).collect();
        assert_eq!(said, ["src/x.rs:3 names loom, which is for src/atomic.rs alone"]);
        assert_eq!(unfinished(&file("fn f() {}\n    todo!()")), ["src/x.rs:2 says todo!"]);
        assert_eq!(unfinished(&file("// SAFETY: Untriaged")), ["src/x.rs:1 says SAFETY: Untriaged"]);
        assert_eq!(unfinished(&file(&"\n".repeat(451))), ["src/x.rs has 451 lines and may have 450"]);
        assert_eq!(unfinished(&file(&"\n".repeat(450))), [""; 0]);
    }
}
