//! What a granted guard that is missing costs the events of other tools.

use std::path::PathBuf;

use hookrail::trust::{FileTrustStore, Grants};
use hookrail::{Effects, Event, EventKind, Hook, HookSystem, Json, NativeHook};
use serde_json::{Value, json};

use super::BenchCase;
use crate::BenchResult;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell, check_answered};

/// How many events one measurement has: each takes a few microseconds.
const EVENTS: u32 = 500;

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![BenchCase {
        name: "missing-guard",
        title: "a granted guard that is missing, one other event",
        prepare: missing,
    }]
}

/// A hook that costs next to nothing, so that the rest of the event can be seen.
fn native() -> Hook {
    Hook::native(EventKind::BeforeTool, "native", NativeHook::new(|_| Effects::none()))
}

fn fired(name: &str, what: &str, system: HookSystem, tool: &'static str, input: &Json) -> Variant {
    let input = input.clone();
    Variant::timed(name, what, EVENTS, move || {
        let event: Event = system.event(EventKind::BeforeTool).session("bench");
        let event = event.with_text("tool_name", tool).with("tool_input", input.clone());
        check_answered(&system.fire_blocking(event), 1)
    })
}

/// Events of another tool than the one that the missing guard was granted for.
fn missing(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let input = Json::of(&json!({"query": "how long is a piece of string"}))?;
    let all = lab.project(&guarded("write_file"))?;
    let lost = lab.project(&guarded("write_file"))?;
    let (there, gone) = (granted(lab, &all)?, granted(lab, &lost)?);
    std::fs::write(lost.join(".llxprt/settings.json"), json!({"hooksConfig": {"enabled": true}}).to_string())?;
    let system = |project: &PathBuf, store: FileTrustStore| {
        HookSystem::builder(project).environment(lab.environment(Shell::Sh)).trust_store(store).hook(native()).build()
    };
    case.add(fired("hookrail", "the guard is there", system(&all, there), "google_web_search", &input));
    let without = system(&lost, gone);
    if without.fire_blocking(write_event(&without, "a")).effects.decision.is_none() {
        return Err("the guard is not missed".into());
    }
    case.add(fired("hookrail-missing", "the guard is missing", without, "google_web_search", &input));
    Ok(case)
}

fn guarded(tool: &str) -> Value {
    json!([{"matcher": tool, "hooks": [{"type": "command", "name": "gate", "command": "true", "onFailure": "block"}]}])
}

fn write_event(system: &HookSystem, path: &str) -> Event {
    let input = Json::of(&json!({"file_path": path, "content": ""})).unwrap_or_else(|_| Json::empty_object());
    system.event(EventKind::BeforeTool).with_text("tool_name", "write_file").with("tool_input", input)
}

/// A store in which everything that the project brings is granted.
fn granted(lab: &Lab, project: &PathBuf) -> BenchResult<FileTrustStore> {
    let folder = lab.new_path("state");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("trust.json");
    let builder = HookSystem::builder(project).environment(lab.environment(Shell::Sh));
    let snapshot = builder.trust_store(FileTrustStore::new(&path)).build().snapshot();
    let give = |grants: &mut Grants| {
        grants.project = true;
        for hook in snapshot.hooks() {
            if let Some(fingerprint) = hook.trust.fingerprint() {
                grants.grant(hook, fingerprint);
            }
        }
    };
    FileTrustStore::new(&path).change(&project.canonicalize()?, give)?;
    Ok(FileTrustStore::new(path))
}
