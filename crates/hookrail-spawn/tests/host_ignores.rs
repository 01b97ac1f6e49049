//! A host that ignores signals. Its children start with the default disposition of every signal all the same.
//!
//! The disposition belongs to the whole process, so this is a test binary of its own.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use hookrail_spawn::{CancelToken, ChildCommand, run};

#[tokio::test]
async fn signals_that_the_host_ignores_are_not_ignored_by_its_children() {
    // SAFETY: ignoring is a valid disposition, and nothing here uses the signals.
    unsafe {
        libc::signal(libc::SIGRTMIN() + 3, libc::SIG_IGN);
        libc::signal(libc::SIGUSR2, libc::SIG_IGN);
    }
    let command = ChildCommand::new("/bin/cat").arg("/proc/self/status");
    let finished = run(&command, &CancelToken::new()).await.unwrap();
    let status = finished.stdout.text().unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    assert_eq!(u64::from_str_radix(ignored.trim(), 16).unwrap(), 0);
}
