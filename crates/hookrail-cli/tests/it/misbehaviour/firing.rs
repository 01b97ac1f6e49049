//! Fires one event in a process of its own and says everything that can be seen of that from outside.

use std::cell::Cell;
use std::fs::{self, File};
use std::ops::Deref;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use hookrail_testkit::{TestProject, processes_with_marker, wait_until};
use serde_json::Value;

/// The variable by which everything that a case started is known. Hooks inherit it.
const MARKER: &str = "HOOKRAIL_MISBEHAVIOUR";

/// How long what is told to end may take to vanish.
const VANISHING: Duration = Duration::from_secs(20);

/// A home, a project and a place for reports.
pub(crate) struct Sandbox {
    place: TestProject,
    marker: String,
    /// Whether it was seen that nothing is left. To look at the environment of every process costs as much as a hook.
    is_empty: Cell<bool>,
}

/// What was seen of a fired event.
pub(crate) struct Seen {
    /// The outcome's document, or what there was instead.
    pub(crate) outcome: Result<Value, String>,
    /// The exit status of the firing process; none when it had to be ended.
    pub(crate) code: Option<i32>,
    pub(crate) took: Duration,
    /// The most memory that any process of the case took, in MiB.
    pub(crate) peak: u64,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let marker = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        Self { place: TestProject::new(), marker, is_empty: Cell::new(false) }
    }

    pub(crate) fn write(&self, inside: &str, text: &str) {
        self.write_at(inside, text);
    }

    /// Runs a program that fires an event and prints, or writes to a file, the outcome's document.
    pub(crate) fn fire(&self, program: &Path, arguments: &[&str], guard: Duration) -> Seen {
        let (out, report) = (self.path("stdout"), self.path("memory"));
        let mut command = self.place.command(hookrail_testkit::measure());
        command.arg(&report).arg(program).args(arguments).process_group(0);
        command.env("CHILD", hookrail_testkit::child()).env(MARKER, &self.marker);
        command.env("HOOKRAIL", env!("CARGO_BIN_EXE_hookrail"));
        // Files, so that nothing that is left behind can hold them open.
        command.stdout(File::create(&out).unwrap());
        command.stderr(File::create(self.path("stderr")).unwrap());
        let began = Instant::now();
        let mut measured = command.spawn().unwrap();
        let mut status = None;
        let ended = wait_until(
            || {
                status = measured.try_wait().unwrap();
                status.is_some()
            },
            guard,
        );
        let took = began.elapsed();
        if !ended {
            // The measuring program and the firing one share a group; the hooks are ended with the rest.
            self.end_all();
            measured.wait().unwrap();
        }
        let peak = fs::read_to_string(&report).ok().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) >> 10;
        let text = fs::read_to_string(&out).unwrap_or_default();
        let document = text.lines().find(|line| line.starts_with("{\"event\""));
        let outcome = document.and_then(|line| serde_json::from_str(line).ok());
        let outcome = outcome.ok_or_else(|| {
            let stderr = fs::read_to_string(self.path("stderr")).unwrap_or_default();
            format!("no outcome; standard output: {text:.300}; standard error: {stderr:.2000}")
        });
        Seen { outcome, code: status.and_then(|status| status.code()), took, peak }
    }

    /// The processes of this case that are still there.
    pub(crate) fn left(&self) -> Vec<u32> {
        processes_with_marker(MARKER, &self.marker)
    }

    /// Whether as many processes are left as there should be; those that are ended get time to vanish.
    pub(crate) fn are_left(&self, expected: usize) -> Result<(), usize> {
        let mut left = 0;
        let settled = wait_until(
            || {
                left = self.left().len();
                left <= expected
            },
            VANISHING,
        );
        self.is_empty.set(left == 0);
        if settled && left == expected { Ok(()) } else { Err(left) }
    }

    /// Ends everything that this case has started.
    fn end_all(&self) {
        for _ in 0..50 {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            let numbers = left.iter().map(u32::to_string);
            let _ = Command::new("kill").arg("-KILL").args(numbers).stderr(Stdio::null()).status();
        }
    }
}

impl Deref for Sandbox {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.place
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if !self.is_empty.get() {
            self.end_all();
        }
    }
}
