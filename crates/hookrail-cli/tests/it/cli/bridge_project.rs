//! `bridge` and the project whose hooks it asks: a model cannot change it.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::bridge::{denies, guarded, recorded, write_payload};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// An event of Claude Code that was started in a directory below the project.
fn below(sandbox: &Sandbox, declared: &Path, event: &str, payload: &Value) -> ProgramOutput {
    below_with(sandbox, declared, event, payload, &[])
}

fn below_with(sandbox: &Sandbox, declared: &Path, event: &str, payload: &Value, more: &[&str]) -> ProgramOutput {
    let mut command = sandbox.command(&["bridge", "claude", "--event", event]);
    command.args(more).env("CLAUDE_PROJECT_DIR", declared);
    ProgramOutput::with_input(&mut command, &payload.to_string())
}

#[test]
fn a_folder_that_a_model_makes_does_not_remove_the_guards_of_the_project_above_it() {
    let sandbox = guarded();
    let sub = sandbox.project.join("sub");
    std::fs::create_dir_all(&sub).unwrap();
    let (event, mut payload) = write_payload(&sandbox, "claude");
    let mut is_denied = |session: &str| {
        payload["session_id"] = json!(session);
        let ran = below(&sandbox, &sub, event, &payload);
        assert!(denies("claude", &ran, "not a.txt"), "{session}: {ran:?}");
    };
    is_denied("first");
    std::fs::create_dir(sub.join(".hookrail")).unwrap();
    is_denied("first");
    std::fs::write(sub.join(".hookrail/config.toml"), "").unwrap();
    is_denied("first");
    sandbox.write("sub/.llxprt/settings.json", "{}");
    is_denied("first");
    is_denied("another");
    let start = recorded(&sandbox, "claude", "SessionStart.startup");
    let ran = below(&sandbox, &sub, "SessionStart", &start).ends_with(0);
    let message = ran.json()["systemMessage"].as_str().unwrap().to_owned();
    let grant = format!("hookrail trust grant --project {}", sub.display());
    assert!(message.contains("has hooks and no grant") && message.contains(&grant), "{message}");
}

#[test]
fn a_project_inside_another_counts_once_it_is_granted() {
    let sandbox = guarded();
    let sub = sandbox.project.join("sub");
    let inner = r#"{"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "name": "inner", "command": "echo 'inner says no' >&2; exit 2"}]}]}}"#;
    sandbox.write("sub/.llxprt/settings.json", inner);
    let (event, payload) = write_payload(&sandbox, "claude");
    assert!(denies("claude", &below(&sandbox, &sub, event, &payload), "not a.txt"));
    let other: Value = serde_json::from_str(&payload.to_string().replace("a.txt", "b.txt")).unwrap();
    assert_eq!(below(&sandbox, &sub, event, &other).ends_with(0).stdout, "");
    let strict = below_with(&sandbox, &sub, event, &other, &["--strict-trust"]);
    assert!(denies("claude", &strict, "has hooks and no grant"), "{strict:?}");
    sandbox.run(&["trust", "grant", "--yes", "--project", sub.to_str().unwrap()]).ends_with(0);
    let ran = below(&sandbox, &sub, event, &payload);
    assert!(denies("claude", &ran, "inner says no"), "{ran:?}");
}
