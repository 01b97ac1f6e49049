//! Hooks that a web server answers, in an embedding program that has none to send with: nothing is sent, and a guard fails.

use hookrail::plan::SkipReason;
use hookrail::{Code, Decision, DialectId, EventKind, HookSystem, Json, Outcome};
use serde_json::json;

use crate::granting::World;

fn world_with(policy: &str) -> World {
    let world = World::empty();
    let entry = json!({"type": "http", "url": "http://127.0.0.1:9/", "onFailure": policy});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [entry]}]}});
    world.write("home/.claude/settings.json", &settings.to_string());
    std::fs::create_dir_all(world.path("project")).unwrap();
    world
}

fn fire(system: &HookSystem) -> Outcome {
    let event = system.event(EventKind::BeforeTool).with_text("tool_name", "write_file");
    system.fire_blocking(event.with("tool_input", Json::parse(r#"{"file_path":"a"}"#).unwrap()))
}

#[test]
fn without_a_program_that_sends_a_guard_fails_and_another_hook_is_listed() {
    for (policy, decision) in [("allow", None), ("ask", Some(Decision::Ask)), ("block", Some(Decision::Deny))] {
        let system = world_with(policy).builder().enable_dialect(DialectId::Claude).build();
        let found = system.snapshot().diagnostics().iter().any(|found| found.code == Code::NotExecutable);
        assert!(found, "known before any event");
        let outcome = fire(&system);
        assert_eq!(outcome.effects.decision, decision, "{policy}: {outcome:?}");
        let is_skipped = outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::NotExecutable);
        assert_eq!(is_skipped, policy == "allow", "{outcome:?}");
    }
}

#[test]
fn a_rehearsal_sends_nothing_whatever_could_send() {
    let world = world_with("block");
    let trace = world.path("home/started");
    let program = world.path("home/program.sh");
    world.write("home/program.sh", &format!("#!/bin/sh\n: > '{}'\n", trace.display()));
    #[cfg(unix)]
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let builder = || world.builder().enable_dialect(DialectId::Claude).http_program(&program);
    let outcome = fire(&builder().rehearse().build());
    assert_eq!((outcome.effects.decision, trace.exists()), (Some(Decision::Deny), false), "{outcome:?}");
    // The control: the program is started when it may be.
    let outcome = fire(&builder().build());
    assert_eq!((outcome.effects.decision, trace.exists()), (None, true), "{outcome:?}");
}
