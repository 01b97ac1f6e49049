//! What is said about trust to programs.

use std::path::Path;
use std::sync::Arc;

use hookrail::hook::SandboxRequirement;
use hookrail::trust::{Definition, FileState, Fingerprint, HookChange};
use hookrail::{Hook, Json, JsonObject};
use serde::Serialize;

use super::{fingerprint, state};
use crate::text_diff::GrantedTexts;

/// Returns what `trust status --json` prints.
pub fn status_document(project: &Path, trusted: bool, hooks: &[Arc<Hook>]) -> Json {
    let hooks: Vec<Json> = hooks.iter().map(|hook| hook_document(hook)).collect();
    object([
        ("project", value(&project.to_string_lossy())),
        ("trusted", Json::boolean(trusted)),
        ("hooks", value(&hooks)),
    ])
}

fn hook_document(hook: &Hook) -> Json {
    let taken = fingerprint(hook);
    let files = taken.map(Fingerprint::paths).unwrap_or_default();
    let event =
        hook.known_event().map(|event| event.spec().column(hook.dialect).map_or(event.name(), |column| column.name));
    let members = [
        ("hook", Json::string(&hook.label)),
        ("event", value(&event)),
        ("state", Json::string(&state(hook).replace(' ', "-"))),
        ("files", value(&files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>())),
        ("openEnded", Json::boolean(taken.is_some_and(Fingerprint::is_open_ended))),
        ("sandbox", value(&hook.sandbox.as_ref().map(|profile| profile.to_json()))),
        ("sandboxRequired", Json::boolean(hook.sandbox_requirement == SandboxRequirement::Required)),
        ("source", place(hook)),
    ];
    // Only modules have capabilities.
    let capabilities =
        hook.capabilities.as_ref().map(|capabilities| ("capabilities", value(&capabilities.described())));
    members.into_iter().chain(capabilities).collect::<JsonObject>().to_json()
}

/// Returns the place where a hook is configured.
fn place(hook: &Hook) -> Json {
    let origin = &hook.origin;
    object([
        ("kind", Json::string(origin.kind.name())),
        ("file", value(&origin.location.file.to_string_lossy())),
        ("line", value(&origin.location.line)),
    ])
}

/// Makes an object whose members stay in this order.
fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    members.into_iter().collect::<JsonObject>().to_json()
}

fn value<T: Serialize + ?Sized>(value: &T) -> Json {
    Json::of(value).unwrap_or_else(|_| Json::null())
}

/// Returns what `trust diff --json` prints.
pub fn changes_document(project: &Path, trusted: bool, changes: &[HookChange], texts: &GrantedTexts<'_>) -> Json {
    let hooks: Vec<Json> = changes.iter().map(|change| change_document(change, texts)).collect();
    object([
        ("project", value(&project.to_string_lossy())),
        ("trusted", Json::boolean(trusted)),
        ("hooks", value(&hooks)),
    ])
}

fn change_document(change: &HookChange, texts: &GrantedTexts<'_>) -> Json {
    let (hook, grant) = (change.hook.as_ref(), change.granted.as_ref());
    let label = hook.map(|hook| &*hook.label).or(grant.map(|grant| &*grant.hook));
    let before = grant.and_then(|grant| grant.described.as_ref());
    let after = hook.and_then(|hook| hook.trust.fingerprint()).map(|taken| taken.described());
    let files: Vec<Json> = change
        .files
        .iter()
        .map(|file| {
            object([
                ("path", value(&file.path.to_string_lossy())),
                ("change", Json::string(file.name())),
                ("before", file_digest(&file.before)),
                ("after", file_digest(&file.after)),
                (
                    "diff",
                    value(&texts.difference_of(file).map(|rows| Vec::from_iter(rows.iter().map(ToString::to_string)))),
                ),
            ])
        })
        .collect();
    object([
        ("hook", value(&label)),
        ("change", Json::string(change.kind.name())),
        ("before", definition(before)),
        ("after", definition(after)),
        ("files", value(&files)),
        ("source", hook.map_or_else(Json::null, |hook| place(hook))),
    ])
}

/// Returns the digest of a file's bytes, or null if the file does not exist or cannot be read.
fn file_digest(state: &FileState) -> Json {
    match state {
        FileState::Holds(digest) => Json::string(digest),
        _ => Json::null(),
    }
}

fn definition(definition: Option<&Definition>) -> Json {
    let Some(definition) = definition else { return Json::null() };
    object([
        ("dialect", Json::string(&definition.dialect)),
        ("event", value(&Some(&definition.event).filter(|event| !event.is_empty()))),
        ("matcher", value(&definition.matcher)),
        ("kind", Json::string(&definition.kind)),
        ("command", Json::string(&definition.command)),
        ("life", value(&definition.lifetime)),
        ("plugin", value(&definition.package)),
        ("onFailure", value(&definition.on_failure)),
        ("timeout", value(&definition.timeout)),
    ])
}
