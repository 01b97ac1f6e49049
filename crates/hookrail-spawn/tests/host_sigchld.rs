//! A host that ignores SIGCHLD, so that the kernel reaps every child by itself.
//!
//! The disposition belongs to the whole process, so this is a test binary of
//! its own.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

hookrail_testkit::start_with_default_signals!();

#[path = "it/support.rs"]
mod support;

use std::time::Duration;

use hookrail_spawn::ChildEnd;
use support::{Case, NEVER, is_reaped};

fn ignore_sigchld() {
    // The child may have to be built first, and cargo is awaited normally.
    let _ = hookrail_testkit::child();
    // SAFETY: ignoring is a valid disposition.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Whether the kernel still tells the status of a child it has reaped by itself.
fn kernel_remembers() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse().ok());
    let version: (Option<u32>, Option<u32>) = (numbers.next(), numbers.next());
    version >= (Some(6), Some(15))
}

#[tokio::test]
async fn a_lost_status_is_asked_of_the_kernel_or_unknown_and_the_output_is_there() {
    ignore_sigchld();
    let finished = Case::new(&["close-stdin", "50"]).run().await;
    let expected = if kernel_remembers() { ChildEnd::Exited(0) } else { ChildEnd::StatusUnknown };
    assert_eq!(finished.end, expected);
    assert_eq!(finished.stdout.text(), Ok("{}"));
}

#[tokio::test]
async fn a_termination_leaves_nothing_also_here() {
    ignore_sigchld();
    let case = Case::new(&["escape-session", NEVER]).with(|command| command.grace(Duration::from_secs(1)));
    let finished = case.run_and_cancel().await;
    assert_eq!(finished.end, ChildEnd::Cancelled);
    finished.termination.unwrap().finish().await;
    assert!(case.alive().is_empty());
    assert!(is_reaped(finished.pid.unwrap()));
}
