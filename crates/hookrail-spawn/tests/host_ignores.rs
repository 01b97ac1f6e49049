//! A host that ignores a real-time signal. That one differs between the two ways to start a child, as `Start` says, so it also
//! shows which of them was taken.
//!
//! The disposition belongs to the whole process, so this is a test binary of its own.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use hookrail_spawn::{CancelToken, Command, Start, run};

/// Which signals a program ignores that is started like that.
async fn ignored(start: Start) -> u64 {
    let command = Command::new("/bin/cat").arg("/proc/self/status").start(start);
    let finished = run(&command, &CancelToken::new()).await.unwrap();
    let status = finished.stdout.text().unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

#[tokio::test]
async fn only_a_start_with_clone_leaves_real_time_signals_as_the_host_has_them() {
    let signal = libc::SIGRTMIN() + 3;
    // SAFETY: ignoring is a valid disposition, and nothing here uses the signals.
    unsafe {
        libc::signal(signal, libc::SIG_IGN);
        libc::signal(libc::SIGUSR2, libc::SIG_IGN);
    }
    assert_eq!(ignored(Start::Usual).await, 0);
    assert_eq!(ignored(Start::Clone).await, 1 << (signal - 1));
}
