//! Helpers for the tests with real processes.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hookrail_spawn::{CancelToken, ChildCommand, ChildResult, Environment, run};
use hookrail_testkit::{HANG, TestProject, child, process_state, processes_with_marker, wait_until};

/// A number of seconds longer than [`HANG`]: a test that waits for it has failed.
pub(crate) const NEVER: &str = "600";

/// The name of the marker variable.
pub(crate) const MARKER: &str = "HOOKRAIL_TEST_RUN";

/// A run of the misbehaving child, with a marker and a ready file of its own.
pub(crate) struct Case {
    pub(crate) command: ChildCommand,
    pub(crate) marker: String,
    folder: TestProject,
}

impl Case {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let marker = format!("{}-{number}", std::process::id());
        let folder = TestProject::new();
        let environment = Environment::new().with("HOOKRAIL_CHILD_READY", folder.path("ready"));
        let command = ChildCommand::new(child())
            .args(arguments.iter().copied())
            .env(Arc::new(environment))
            .timeout(HANG)
            .marker(MARKER, &marker);
        Self { command, marker, folder }
    }

    /// Changes the command.
    pub(crate) fn with(mut self, change: impl FnOnce(ChildCommand) -> ChildCommand) -> Self {
        self.command = change(self.command);
        self
    }

    /// Runs to the end and fails the test if that takes too long.
    pub(crate) async fn run(&self) -> ChildResult {
        let cancel = CancelToken::new();
        let finished = tokio::time::timeout(HANG * 2, run(&self.command, &cancel));
        finished.await.expect("the run hangs").expect("the child starts")
    }

    /// Runs until the child is ready, then cancels, and returns the result.
    pub(crate) async fn run_and_cancel(&self) -> ChildResult {
        let cancel = CancelToken::new();
        let waiting = self.on_ready({
            let cancel = cancel.clone();
            move || cancel.cancel()
        });
        let finished = tokio::time::timeout(HANG * 2, run(&self.command, &cancel));
        let finished = finished.await.expect("the run hangs").expect("the child starts");
        waiting.join().unwrap();
        finished
    }

    /// Calls a function in a thread when the child has reported that it is ready.
    pub(crate) fn on_ready(&self, then: impl FnOnce() + Send + 'static) -> std::thread::JoinHandle<()> {
        let ready = self.ready_file();
        std::thread::spawn(move || {
            assert!(wait_until(|| ready.exists(), HANG), "the child is never ready");
            then();
        })
    }

    pub(crate) fn ready_file(&self) -> PathBuf {
        self.folder.path("ready")
    }

    pub(crate) fn scratch_file(&self) -> PathBuf {
        self.folder.path("scratch")
    }

    /// The living processes of this run.
    pub(crate) fn alive(&self) -> Vec<u32> {
        processes_with_marker(MARKER, &self.marker)
    }

    /// Waits until no process of this run is alive, and returns whether that happened.
    pub(crate) fn vanishes(&self) -> bool {
        wait_until(|| self.alive().is_empty(), HANG)
    }

    /// Ends what a test has left running on purpose.
    pub(crate) fn end_survivors(&self) {
        for pid in self.alive() {
            // SAFETY: the call takes two integers.
            unsafe { libc::kill(pid.cast_signed(), libc::SIGKILL) };
        }
        assert!(self.vanishes());
    }
}

/// Waits until there is no such process, not even a zombie.
pub(crate) fn is_reaped(pid: u32) -> bool {
    wait_until(|| process_state(pid).is_none(), HANG)
}

/// The stdout of a run as text.
pub(crate) fn stdout(finished: &ChildResult) -> &str {
    finished.stdout.text().unwrap()
}

/// Runs a function in a thread without capabilities, so that it reads no more of other processes than an ordinary user,
/// even if root runs the tests.
pub(crate) fn without_privileges(work: impl AsyncFnOnce() + Send) {
    // The version of the call that has two words for each set, and this thread.
    let header: [u32; 2] = [0x2008_0522, 0];
    // Effective, permitted and inheritable, for the lower and for the upper half.
    let no_capabilities = [0_u32; 6];
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: the call reads the header and two sets of three words. It concerns this thread alone.
            let answer = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), no_capabilities.as_ptr()) };
            assert_eq!(answer, 0);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(work());
        });
        thread.join().unwrap();
    });
}
