//! What several integration tests share: hooks made in memory, and a driver that feeds ends to the pure machine.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]
#![allow(dead_code, reason = "each test file uses a part of this")]
use std::sync::Arc;
use std::time::Duration;

use hookrail::hook::Action;
use hookrail::module::ModuleReturn;
use hookrail::plan::{Firing, Snapshot, Step};
use hookrail::process::{ModuleEnd, Output, PlannedRun, ProcessEnd, RawEnd, RunEnd, Surroundings};
use hookrail::sources::{Origin, SourceKind};
use hookrail::{DialectId, Event, EventKind, Hook, Json, Outcome};

/// A command hook in a settings file of that layer. Its command is its name.
pub(crate) fn hook(event: EventKind, name: &str, layer: SourceKind) -> Hook {
    Hook::new(event, DialectId::Llxprt, name, Action::Shell(name.into()), Origin::without_file(layer))
}

/// A hook of a plugin.
pub(crate) fn plugin_hook(event: EventKind, name: &str) -> Hook {
    let origin = Origin::without_file(SourceKind::Plugin);
    let mut hook = Hook::new(event, DialectId::Xcode, name, Action::Shell(name.into()), origin);
    hook.owner = Some(Arc::new(hookrail::hook::Owner {
        id: "sample@local".into(),
        dir: "/plugins/sample".into(),
        data_dir: None,
    }));
    hook
}

/// A module hook.
pub(crate) fn module_hook(event: EventKind, path: &str) -> Hook {
    let action = Action::Module(std::path::Path::new(path).into());
    Hook::new(event, DialectId::Xcsh, path, action, Origin::without_file(SourceKind::Option))
}

/// A tool call.
pub(crate) fn tool_call(input: &str) -> Event {
    Event::new(EventKind::BeforeTool, "/project")
        .session("s")
        .at_time("2025-02-18T16:30:00.000Z")
        .with_text("tool_name", "write_file")
        .with("tool_input", json(input))
}

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A process that exited.
pub(crate) fn exited(code: i32, stdout: &str, stderr: &str) -> RunEnd {
    process_end(RawEnd::Exited(code), stdout, stderr)
}

/// The end of a process without output.
pub(crate) fn ended(how: RawEnd) -> RunEnd {
    process_end(how, "", "")
}

/// The end of a process that wrote this.
pub(crate) fn process_end(how: RawEnd, stdout: &str, stderr: &str) -> RunEnd {
    let (stdout, stderr) = (Output::whole(stdout), Output::whole(stderr));
    RunEnd::Process(ProcessEnd { stdout, stderr, ..ProcessEnd::new(how, Duration::from_millis(1)) })
}

/// The end of a module's handlers.
pub(crate) fn module_end(how: RawEnd) -> RunEnd {
    let (returned, duration) = (ModuleReturn::new(how), Duration::from_millis(1));
    RunEnd::Module(ModuleEnd { returned, duration, surroundings: Surroundings::default() })
}

/// Drives an event with the answers `end` gives, batch by batch, in the order `arrange` puts each batch in.
pub(crate) fn drive_arranged(
    hooks: Vec<Hook>,
    event: Event,
    mut end: impl FnMut(&PlannedRun) -> RunEnd,
    mut arrange: impl FnMut(&mut Vec<PlannedRun>),
) -> Outcome {
    drive_snapshot(Arc::new(Snapshot::new(hooks, Vec::new())), event, &mut end, &mut arrange)
}

/// Drives an event through a snapshot.
pub(crate) fn drive_snapshot(
    snapshot: Arc<Snapshot>,
    event: Event,
    end: &mut impl FnMut(&PlannedRun) -> RunEnd,
    arrange: &mut impl FnMut(&mut Vec<PlannedRun>),
) -> Outcome {
    let mut firing = Firing::new(snapshot, event);
    loop {
        match firing.step() {
            Step::Run(mut batch) => {
                arrange(&mut batch.requests);
                for request in &batch.requests {
                    let end = end(request);
                    firing.ended(request.id, &end);
                }
            }
            Step::Done(outcome) => return *outcome,
            other => panic!("the machine waits for nothing: {other:?}"),
        }
    }
}

/// Drives an event, each batch in plan order.
pub(crate) fn drive(hooks: Vec<Hook>, event: Event, end: impl FnMut(&PlannedRun) -> RunEnd) -> Outcome {
    drive_arranged(hooks, event, end, |_| {})
}

/// The standard input of a request as a tree.
pub(crate) fn stdin(request: &PlannedRun) -> serde_json::Value {
    serde_json::from_slice(&request.input).unwrap()
}

/// The names of the hooks that did not run, with why.
pub(crate) fn skipped(outcome: &Outcome) -> Vec<(String, &'static str)> {
    outcome.skipped.iter().map(|skipped| (skipped.hook.label.to_string(), skipped.why.name())).collect()
}
