//! Helpers for the fuzz targets: a project with one file, every event in turn, and the checks of every outcome.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hookrail::{DialectId, Environment, Event, EventKind, Hook, HookSystem, Json, Outcome};
use hookrail::document::{explain_document, list_document, outcome_document};
use hookrail::plan::{Firing, Snapshot, Step};
use hookrail::process::{PlannedRun, RunEnd};
use tempfile::TempDir;

/// A project with one file whose content the fuzzer generates.
pub struct FuzzProject {
    _folder: TempDir,
    root: PathBuf,
    file: PathBuf,
    environment: Environment,
}

impl FuzzProject {
    /// Creates a project for a file with this name. The system's settings are the file `system.json` in the project.
    pub fn new(name: &str) -> Self {
        // In memory if there is such a file system, so that the disk does not limit the speed.
        let shm = Path::new("/dev/shm");
        let folder = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.expect("a folder");
        let root = folder.path().join("project");
        let file = root.join(name);
        std::fs::create_dir_all(file.parent().expect("a name in a folder")).expect("a folder");
        let system = root.join("system.json");
        let environment = [("HOME", folder.path().as_os_str()), ("LLXPRT_SYSTEM_SETTINGS_PATH", system.as_os_str())];
        let environment = environment.into_iter().collect();
        Self { root, file, environment, _folder: folder }
    }

    /// Loads the project with this content, lists its hooks, and explains every event.
    pub fn load(&self, content: &[u8]) {
        std::fs::write(&self.file, content).expect("a file");
        let system =
            HookSystem::builder(&self.root).environment(self.environment.clone()).trust_project().build();
        let snapshot = system.snapshot();
        check_document(&list_document(&snapshot));
        for kind in EventKind::all() {
            check_document(&explain_document(&system.explain(&event(kind))));
        }
    }
}

/// Returns an event with all its fields.
pub fn event(kind: EventKind) -> Event {
    let json = |text: &str| Json::parse(text).expect("JSON");
    Event::new(kind, "/project")
        .session("s")
        .at_time("2025-02-18T16:30:00.000Z")
        .with_text("tool_name", "write_file")
        .with("tool_input", json(r#"{"path": "a"}"#))
        .with("tool_response", json(r#"{"llmContent": "x", "returnDisplay": "y"}"#))
        .with("llm_request", json(r#"{"model":"m","messages":[{"role":"user","content":"u"}],"config":{}}"#))
        .with("llm_response", json(r#"{"text":"t","candidates":[]}"#))
        .with_text("prompt", "p")
        .with_text("prompt_response", "r")
        .with_text("source", "startup")
        .with_text("reason", "exit")
        .with_text("trigger", "auto")
        .with_text("notification_type", "ToolPermission")
        .with_text("message", "m")
}

/// Returns one of the events of a dialect.
pub fn dialect_event(dialect: DialectId, number: u8) -> EventKind {
    let events: Vec<EventKind> = EventKind::all().filter(|kind| kind.spec().column(dialect).is_some()).collect();
    events[usize::from(number) % events.len()]
}

/// Drives an event in which every hook ends like this, and checks the outcome.
pub fn drive(hooks: Vec<Hook>, event: Event, end: impl Fn(&PlannedRun) -> RunEnd) -> Outcome {
    let mut firing = Firing::new(Arc::new(Snapshot::new(hooks, Vec::new())), event);
    loop {
        match firing.step() {
            Step::Run(batch) => {
                for request in &batch.requests {
                    firing.ended(request.id, &end(request));
                }
            }
            Step::Done(outcome) => {
                check_document(&outcome_document(&outcome));
                return *outcome;
            }
            other => panic!("every end was given: {other:?}"),
        }
    }
}

/// Checks that a document is one JSON object, whatever hooks wrote.
fn check_document(document: &Json) {
    let read = Json::parse(document.text()).expect("a document is JSON");
    assert!(read.as_object().is_some(), "a document is an object");
}

/// The duration of every run.
pub const MOMENT: Duration = Duration::from_millis(1);
