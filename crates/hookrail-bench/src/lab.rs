//! The environment of a measurement: a temporary folder, known variables, projects with hooks, and the cheapest child.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use hookrail::{Builder, EndKind, Environment, Event, EventKind, HookSystem, Json, Outcome};
use hookrail_testkit::{TestProject, write_hooks};
use serde_json::{Value, json};

use crate::BenchResult;
use crate::peers::Peers;

/// The shell that command lines are given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    /// `/bin/sh`, also where there is a bash.
    Sh,
    Bash,
}

/// The tool that all events are about.
pub(crate) const TOOL: &str = "write_file";

/// The environment of a measurement.
pub(crate) struct Lab {
    place: TestProject,
    next: Cell<usize>,
    pub(crate) quick: bool,
    pub(crate) peers: Peers,
}

impl Lab {
    pub(crate) fn open(quick: bool, peers: Peers) -> BenchResult<Self> {
        let lab = Self { place: TestProject::new(), next: Cell::new(0), quick, peers };
        let programs = lab.place.path("bin");
        std::fs::create_dir_all(&programs)?;
        for program in ["cat", "true", "env"] {
            let found = ["/usr/bin", "/bin"].iter().map(|dir| Path::new(dir).join(program)).find(|path| path.exists());
            std::os::unix::fs::symlink(found.ok_or(format!("there is no {program}"))?, programs.join(program))?;
        }
        compile_tiny(&lab.tiny())?;
        Ok(lab)
    }

    /// The cheapest child there can be.
    pub(crate) fn tiny(&self) -> PathBuf {
        self.place.path("tiny")
    }

    /// Returns a path that does not exist yet.
    pub(crate) fn new_path(&self, what: &str) -> PathBuf {
        self.next.set(self.next.get() + 1);
        self.place.path(&format!("{what}-{}", self.next.get()))
    }

    /// The environment that hooks and floors get. It is small, so that no variant pays for the settings of the user.
    pub(crate) fn environment(&self, shell: Shell) -> Environment {
        let programs = self.place.path("bin");
        let path = match shell {
            Shell::Sh => programs.into_os_string(),
            Shell::Bash => std::env::join_paths([programs, "/usr/bin".into(), "/bin".into()]).unwrap_or_default(),
        };
        Environment::new().with("PATH", path).with("HOME", &self.place.home).with("LANG", "C.UTF-8")
    }

    /// A project with these hooks before every tool call.
    pub(crate) fn project(&self, groups: &Value) -> BenchResult<PathBuf> {
        let project = self.new_path("project");
        write_hooks(&project, &json!({"BeforeTool": groups}));
        Ok(project)
    }

    /// A system over a project, with trust and without anything else.
    pub(crate) fn system(&self, project: &Path, shell: Shell) -> HookSystem {
        let builder = HookSystem::builder(project).environment(self.environment(shell)).trust_project();
        match shell {
            Shell::Sh => builder.shell("/bin/sh").build(),
            Shell::Bash => builder.build(),
        }
    }

    /// A system over a project that the caller may still change.
    pub(crate) fn builder(&self, hooks: Vec<Value>) -> BenchResult<Builder> {
        let project = self.project(&json!([{"hooks": hooks}]))?;
        let builder = HookSystem::builder(project).environment(self.environment(Shell::Sh));
        Ok(builder.shell("/bin/sh").trust_project())
    }

    /// A system with one group of hooks that match every tool.
    pub(crate) fn with_hooks(&self, hooks: Vec<Value>, shell: Shell) -> BenchResult<HookSystem> {
        let project = self.project(&json!([{"hooks": hooks}]))?;
        Ok(self.system(&project, shell))
    }
}

/// Returns a hook that is a program with its arguments.
pub(crate) fn program(path: &Path, arguments: &[&str]) -> Value {
    json!({"type": "command", "command": path, "args": arguments})
}

/// Returns a hook that is a command line for the shell.
pub(crate) fn line(command: &str) -> Value {
    json!({"type": "command", "command": command})
}

/// A tool's input of about this many bytes.
pub(crate) fn tool_input(bytes: usize) -> BenchResult<Json> {
    Ok(Json::of(&json!({"file_path": "src/main.rs", "content": "x".repeat(bytes)}))?)
}

/// The event that is fired everywhere.
pub(crate) fn event(system: &HookSystem, input: &Json) -> Event {
    system.event(EventKind::BeforeTool).session("bench").with_text("tool_name", TOOL).with("tool_input", input.clone())
}

/// Checks that this many hooks ran and succeeded, with or without a decision: work that was not done must not look fast.
pub(crate) fn check_answered(outcome: &Outcome, hooks: usize) -> BenchResult<()> {
    let heard = outcome.runs.iter().filter(|run| matches!(run.end, EndKind::Answered | EndKind::Silent)).count();
    if heard == hooks && outcome.runs.len() == hooks {
        return Ok(());
    }
    let ends: Vec<_> = outcome.runs.iter().map(|run| (run.end, run.stderr.as_str())).collect();
    let skipped: Vec<_> = outcome.skipped.iter().map(|hook| &hook.detail).take(3).collect();
    Err(format!("{hooks} hooks should have answered: {ends:?}; not run: {skipped:?}; {:?}", outcome.diagnostics).into())
}

fn compile_tiny(to: &Path) -> BenchResult<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("child/tiny.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let made = Command::new(compiler)
        .args(["--edition", "2024", "--crate-type", "bin", "-C", "panic=abort", "-C", "opt-level=s"])
        .args(["-C", "relocation-model=static", "-C", "strip=symbols"])
        .args(["-C", "link-arg=-nostartfiles", "-C", "link-arg=-nostdlib", "-C", "link-arg=-static"])
        .arg("-o")
        .arg(to)
        .arg(source)
        .output()?;
    if made.status.success() {
        return Ok(());
    }
    Err(format!("the child could not be compiled: {}", String::from_utf8_lossy(&made.stderr)).into())
}
