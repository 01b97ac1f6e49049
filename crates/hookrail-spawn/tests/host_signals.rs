//! A host that ignores some signals and has the default disposition of SIGPIPE, which kills.
//!
//! Dispositions belong to the whole process, so this is a test binary of its own.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

hookrail_testkit::start_with_default_signals!();

#[path = "it/support.rs"]
mod support;

use hookrail_spawn::{CancelToken, ChildCommand, ChildEnd, run};
use support::Case;

#[tokio::test]
async fn a_child_that_refuses_its_stdin_does_not_kill_the_host() {
    // SAFETY: the default is a valid disposition.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let case = Case::new(&["close-stdin", "100"]).with(|command| command.stdin(vec![b'x'; 10 << 20]));
    assert_eq!(case.run().await.end, ChildEnd::Exited(0));
    // SAFETY: the sets are initialised before use.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigpending(&raw mut set);
        assert_eq!(libc::sigismember(&raw const set, libc::SIGPIPE), 0, "left pending");
        libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set);
        assert_eq!(libc::sigismember(&raw const set, libc::SIGPIPE), 0, "left blocked");
    }
}

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
