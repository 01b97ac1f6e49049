//! A host with the default disposition of SIGPIPE, which kills.
//!
//! The disposition belongs to the whole process, so this is a test binary of
//! its own.

#![cfg(target_os = "linux")]

mod support;

use hookrail_spawn::ChildEnd;
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
