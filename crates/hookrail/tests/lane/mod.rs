//! One module for each lane, and what they share.

mod stdin;

use std::path::Path;

use hookrail::{Environment, Event, EventKind, Hook, HookSystem, SourceKind};

use crate::common::{hook, json};

const KIND: EventKind = EventKind::BeforeTool;

fn environment() -> Environment {
    [("PATH", "/usr/bin:/bin")].into_iter().collect()
}

fn system(dir: &Path, hooks: impl IntoIterator<Item = Hook>) -> HookSystem {
    let builder = HookSystem::builder(dir).environment(environment());
    hooks.into_iter().fold(builder, |builder, hook| builder.hook(hook)).build()
}

fn command(text: &str) -> Hook {
    hook(KIND, text, SourceKind::User)
}

fn call(system: &HookSystem) -> Event {
    system.event(KIND).session("s").with_text("tool_name", "write_file").with("tool_input", json(r#"{"path":"a"}"#))
}
