//! Workers, with the live engine and real processes.

#![cfg(target_os = "linux")]

mod worker;

use std::path::Path;

use hookrail::hook::Trust;
use hookrail::sources::SourceKind;
use hookrail::trust::FileTrustStore;
use hookrail::{Environment, Event, EventKind, Hook, HookSystem};

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

/// Grants everything the project shows now.
fn grant_all(store: &FileTrustStore, project: &Path, system: &HookSystem) {
    let granting = store.change(&project.canonicalize().unwrap(), |grants| {
        grants.project = true;
        for hook in system.snapshot().hooks() {
            if let Trust::Never(fingerprint) | Trust::Changed(fingerprint) = &hook.trust {
                assert!(grants.grant(hook, fingerprint));
            }
        }
    });
    granting.unwrap();
}
