//! A granted guard that its project takes away: how its user hears of it and accepts it. `conformance/attacks` has the ways
//! in which one is taken away, and the hosts that deny.

use serde_json::json;

use crate::cli::bridge::{bridge, denies, write_payload};
use crate::cli::sandbox::Sandbox;

const FIRE: [&str; 6] = ["fire", "BeforeTool", "--tool", "write_file", "--tool-input", r#"{"path": "a.txt"}"#];

const SETTINGS: &str = ".llxprt/settings.json";

fn guarded() -> Sandbox {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "write_file", "hooks": [
            {"type": "command", "name": "guard", "command": "sh guard.sh", "onFailure": "block"}]}]"#,
    );
    sandbox.write("guard.sh", "cat > /dev/null\n");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&FIRE).ends_with(0);
    sandbox
}

#[test]
fn a_grant_shows_what_was_removed_and_accepting_it_lasts_as_long_as_the_file_stays() {
    let sandbox = guarded();
    let before = std::fs::read(sandbox.project.join(SETTINGS)).unwrap();
    sandbox.write(SETTINGS, r#"{"hooksConfig": {"enabled": true}}"#);
    sandbox.run(&FIRE).ends_with(2);
    for command in [&["check"][..], &["list"], &["trust", "status"], &["explain", "BeforeTool", "--tool", "write_file"]]
    {
        let ran = sandbox.run(command);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains("guard"), "{command:?}: {ran:?}");
    }
    assert_eq!(sandbox.run(&["trust", "status", "--json"]).json()["hooks"][0]["state"], "missing");
    let asked = sandbox.run(&["trust", "grant"]).ends_with(1);
    assert!(asked.stdout.contains("removed: guard") && asked.stdout.contains("write_file"), "{asked:?}");
    sandbox.run(&FIRE).ends_with(2);
    let accepted = sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    assert!(accepted.stdout.contains("accepted: 1 guard is missing"), "{accepted:?}");
    sandbox.run(&FIRE).ends_with(0);
    let again = sandbox.run(&["trust", "grant"]).ends_with(0);
    assert!(again.stdout.contains("nothing to grant"), "{again:?}");
    // The guard that comes back is granted, and the state without it was accepted.
    let without = std::fs::read(sandbox.project.join(SETTINGS)).unwrap();
    sandbox.write(SETTINGS, &before);
    assert_eq!(sandbox.run(&["trust", "status", "--json"]).json()["hooks"][0]["state"], "granted");
    sandbox.write(SETTINGS, &without);
    sandbox.run(&FIRE).ends_with(0);
    sandbox.write(SETTINGS, r#"{"hooksConfig": {"enabled": true}, "another": "state"}"#);
    sandbox.run(&FIRE).ends_with(2);
    sandbox.run(&["trust", "revoke", "guard"]).ends_with(0);
    sandbox.run(&FIRE).ends_with(0);
}

#[test]
fn a_guard_that_was_moved_and_granted_again_replaces_the_old_one() {
    let sandbox = guarded();
    let settings = std::fs::read_to_string(sandbox.project.join(SETTINGS)).unwrap();
    sandbox.write(SETTINGS, settings.replace("\"BeforeTool\"", "\"BeforeAgent\"").replace("write_file", "*"));
    sandbox.run(&FIRE).ends_with(2);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&FIRE).ends_with(0);
    let status = sandbox.run(&["trust", "status", "--json"]).json();
    assert_eq!(status["hooks"].as_array().unwrap().len(), 1, "{status}");
    // The old grant is gone, so another state asks about nothing.
    let settings = std::fs::read_to_string(sandbox.project.join(SETTINGS)).unwrap();
    sandbox.write(SETTINGS, format!("{settings}\n"));
    sandbox.run(&FIRE).ends_with(0);
}

#[test]
fn the_project_is_found_although_everything_was_removed_from_it() {
    let sandbox = guarded();
    std::fs::create_dir_all(sandbox.project.join("deep/er")).unwrap();
    std::fs::remove_dir_all(sandbox.project.join(".llxprt")).unwrap();
    let mut command = sandbox.command(&FIRE);
    command.current_dir(sandbox.project.join("deep/er"));
    hookrail_testkit::ProgramOutput::capture(&mut command).ends_with(2);
    let (event, mut payload) = write_payload(&sandbox, "codex");
    payload["cwd"] = json!(sandbox.project.join("deep/er"));
    assert!(denies("codex", &bridge(&sandbox, "codex", event, &payload, &[]), "hookrail trust grant"));
}

#[test]
fn doctor_names_what_is_missing_and_how_to_accept_it() {
    let sandbox = guarded();
    std::fs::remove_file(sandbox.project.join(SETTINGS)).unwrap();
    let examined = sandbox.run(&["doctor", "claude"]).ends_with(1).stdout;
    assert!(examined.contains("guard `guard`") && examined.contains("hookrail trust revoke 'guard'"), "{examined}");
}

#[test]
fn a_bridge_says_with_every_answer_that_hooks_are_disabled() {
    let sandbox = guarded();
    for agent in ["claude", "codex", "gemini"] {
        let (event, payload) = write_payload(&sandbox, agent);
        let enabled = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
        assert!(!enabled.stderr.contains("disabled"), "{agent}: {enabled:?}");
        for _ in 0..2 {
            let mut command = sandbox.command(&["bridge", agent, "--event", event]);
            command.env("HOOKRAIL_DISABLE", "1").env("CLAUDE_PROJECT_DIR", &sandbox.project);
            let ran = hookrail_testkit::ProgramOutput::with_input(&mut command, &payload.to_string()).ends_with(0);
            assert!(ran.stderr.contains("hooks are disabled: `HOOKRAIL_DISABLE=1`"), "{agent}: {ran:?}");
            let shown = ran.stdout.contains("hooks are disabled");
            assert_eq!(shown, matches!(agent, "claude" | "codex" | "gemini"), "{agent}: {ran:?}");
        }
    }
}

#[test]
fn a_bridge_reports_an_emptied_config_toml_with_every_answer() {
    let sandbox = guarded();
    let place = sandbox.home.join(".config/hookrail/config.toml");
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    let (event, payload) = write_payload(&sandbox, "claude");
    std::fs::write(&place, "[guard]\non_load_failure = \"allow\"\n").unwrap();
    let passed = bridge(&sandbox, "claude", event, &payload, &[]).ends_with(0);
    assert_eq!((passed.stdout.as_str(), passed.stderr.as_str()), ("", ""));
    std::fs::write(&place, "").unwrap();
    for _ in 0..2 {
        let denied = bridge(&sandbox, "claude", event, &payload, &[]);
        assert!(denies("claude", &denied, "config.toml"), "{denied:?}");
    }
    let (event, payload) = crate::cli::bridge::after_payload(&sandbox, "claude");
    for _ in 0..2 {
        let told = bridge(&sandbox, "claude", event, &payload, &[]).ends_with(0);
        assert!(told.stderr.contains("config.toml"), "{told:?}");
    }
}

#[test]
fn the_agent_denies_the_prompt_while_the_store_cannot_be_used() {
    let sandbox = guarded();
    sandbox.write("talk.jsonl", format!("{}\n", json!({"text": "done"})));
    let agent = || sandbox.run(&["agent", "--headless", "--script", "talk.jsonl", "--prompt", "hello"]);
    agent().ends_with(0);
    std::fs::write(sandbox.home.join(".local/state/hookrail/trust.json"), "").unwrap();
    let denied = agent().ends_with(2);
    assert!(denied.stdout.contains("prompt_denied") && denied.stdout.contains("trust.json.broken"), "{denied:?}");
}
