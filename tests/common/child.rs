//! Tests that spoil their process, each in one of its own: this test program, started again for that test.

#![allow(unsafe_code, reason = "system calls")]

use std::env;
use std::process::{Child, Command, Output, Stdio};

const IN_CHILD: &str = "WAITLINE_TEST_CHILD";
/// What a child says at its end. One that finds no test of the name ends well, too.
const DONE: &str = "the scenario came to its end";

/// Runs the scenario in a process of its own: the test of that name, which then comes here for the second time. Says how it
/// ended, to the process that started it.
pub(crate) fn in_a_child(test: &str, scenario: impl FnOnce()) -> Option<Output> {
    in_a_child_beside(test, scenario, |_| ())
}

/// [`in_a_child`], with something to do to that process meanwhile.
pub(crate) fn in_a_child_beside(
    test: &str,
    scenario: impl FnOnce(),
    meanwhile: impl FnOnce(&mut Child),
) -> Option<Output> {
    if super::is_emulated() {
        return None;
    }
    if env::var_os(IN_CHILD).is_some() {
        die_with_the_parent();
        scenario();
        println!("{DONE}");
        return None;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(IN_CHILD, "1");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    meanwhile(&mut child);
    Some(child.wait_with_output().unwrap())
}

/// Nobody else may continue a process that is stopped, or end one that hangs.
fn die_with_the_parent() {
    // SAFETY: an option of this process, without pointers.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) }, 0);
}

#[track_caller]
pub(crate) fn assert_success(output: Option<Output>) {
    if let Some(output) = output {
        let said = said(&output);
        assert!(output.status.success() && said.contains(DONE), "{:?}\n{said}", output.status);
    }
}

pub(crate) fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}
