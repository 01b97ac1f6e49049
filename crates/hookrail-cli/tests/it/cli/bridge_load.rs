//! `bridge`: hooks that are not asked because something cannot be loaded or used, and what the user hears of it.

use serde_json::{Value, json};

use crate::cli::bridge::{AGENTS, bridge, denies, guarded, recorded, write_payload};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

const UNUSABLE: &str = "cannot be used, and nothing in it is in force";

const IN_PART: &str = "is not in force (line 1)";

/// A granted module that denies every tool, and from now on fails while it is loaded.
fn broken_module() -> Sandbox {
    let sandbox = Sandbox::new();
    let place = Value::from(sandbox.project.join("broken").to_str().unwrap());
    sandbox.write(
        ".xcsh/hooks/guard.ts",
        format!(
            "import {{ existsSync }} from \"node:fs\";\nif (existsSync({place})) throw new Error(\"boom at load\");\n\
             export default (pi) => {{ pi.on(\"tool_call\", async () => ({{ block: true, reason: \"guarded\" }})); }};\n"
        ),
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let (event, payload) = write_payload(&sandbox, "codex");
    assert!(bridge(&sandbox, "codex", event, &payload, &[]).ends_with(2).stderr.contains("guarded"));
    sandbox.write("broken", "");
    sandbox
}

fn broken_settings() -> Sandbox {
    let sandbox = guarded();
    sandbox.write(".llxprt/settings.json", "{\"hooks\": {\"BeforeTool\": [");
    sandbox
}

fn start_payload(sandbox: &Sandbox, agent: &str) -> (&'static str, Value) {
    match agent {
        "copilot" => ("sessionStart", recorded(sandbox, agent, "sessionStart.new")),
        _ => ("SessionStart", recorded(sandbox, agent, "SessionStart.startup")),
    }
}

/// Whether the user hears of it: by a message of the agent, or through the model.
fn is_told(ran: &ProgramOutput, what: &str) -> bool {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let places = ["/systemMessage", "/additionalContext", "/hookSpecificOutput/additionalContext"];
    places.iter().any(|place| answer.pointer(place).and_then(Value::as_str).is_some_and(|text| text.contains(what)))
}

#[test]
fn a_guard_that_cannot_be_loaded_is_missed_aloud() {
    for (sandbox, is_guard) in [(broken_module(), true), (broken_settings(), false)] {
        for agent in AGENTS {
            let (start, payload) = start_payload(&sandbox, agent);
            let ran = bridge(&sandbox, agent, start, &payload, &[]).ends_with(0);
            assert!(is_told(&ran, UNUSABLE) && ran.stderr.contains(UNUSABLE), "{agent}: {ran:?}");
            let (event, payload) = write_payload(&sandbox, agent);
            let ran = bridge(&sandbox, agent, event, &payload, &[]);
            // A granted module that handles tool calls is a guard, and one that cannot be loaded has failed.
            if is_guard {
                assert!(denies(agent, &ran, ""), "{agent}: {ran:?}");
                continue;
            }
            assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "the user was told when the session started: {agent}");
            assert!(ran.stderr.contains(UNUSABLE), "{agent}: {ran:?}");
        }
        let log = sandbox.run(&["log", "--json"]).ends_with(0).stdout;
        let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        assert_eq!(last["outcome"]["diagnostics"][0]["level"], "error", "{last}");
    }
}

#[test]
fn a_session_without_a_start_hears_of_it_at_the_first_event_that_can_carry_it() {
    let sandbox = broken_settings();
    for agent in AGENTS {
        let (event, payload) = write_payload(&sandbox, agent);
        let first = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
        let at_tool = matches!(agent, "claude" | "codex" | "gemini");
        assert_eq!(is_told(&first, UNUSABLE), at_tool, "{agent}: {first:?}");
        let again = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
        assert!(!is_told(&again, UNUSABLE) && again.stderr.contains(UNUSABLE), "{agent}: {again:?}");
        if agent == "qwen" {
            let mut prompt = recorded(&sandbox, agent, "UserPromptSubmit");
            prompt["prompt"] = json!("please write a.txt");
            let ran = bridge(&sandbox, agent, "UserPromptSubmit", &prompt, &[]).ends_with(0);
            assert!(is_told(&ran, UNUSABLE), "{ran:?}");
        }
    }
}

#[test]
fn what_is_lost_of_the_users_settings_is_missed_aloud() {
    let good = r#"[{"hooks": [{"type": "command", "command": "true"}]}]"#;
    for (written, is_lost) in [(r#"{"matcher": "x"}"#, true), ("[5]", true), (r#"[{"hooks": 5}]"#, true), (good, false)]
    {
        let sandbox = Sandbox::new();
        let settings = format!(r#"{{"hooksConfig": {{"enabled": true}}, "hooks": {{"BeforeTool": {written}}}}}"#);
        sandbox.write_home(".llxprt/settings.json", settings);
        for agent in AGENTS {
            let (start, payload) = start_payload(&sandbox, agent);
            let ran = bridge(&sandbox, agent, start, &payload, &[]).ends_with(0);
            assert_eq!(is_told(&ran, IN_PART), is_lost, "{agent} {written}: {ran:?}");
            let (event, payload) = write_payload(&sandbox, agent);
            let ran = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
            assert_eq!(
                (ran.stdout.as_str(), ran.stderr.contains(IN_PART)),
                ("", is_lost),
                "{agent} {written}: {ran:?}"
            );
        }
    }
}

#[test]
fn a_directory_that_cannot_exist_does_not_keep_the_guard_from_being_asked() {
    let sandbox = guarded();
    let inside = format!("{}/sub/\0/x", sandbox.project.display());
    for agent in AGENTS.into_iter().filter(|agent| *agent != "codex") {
        for directory in ["/tmp/\0x", inside.as_str()] {
            let (event, mut payload) = write_payload(&sandbox, agent);
            payload["cwd"] = json!(directory);
            let ran = bridge(&sandbox, agent, event, &payload, &[]);
            assert!(denies(agent, &ran, "not a.txt"), "{agent} {directory:?}: {ran:?}");
        }
    }
    // Codex CLI declares no project but this directory, so it is not known which hooks to ask.
    let (event, mut payload) = write_payload(&sandbox, "codex");
    payload["cwd"] = json!("/tmp/\0x");
    bridge(&sandbox, "codex", event, &payload, &[]).ends_with(2);
}
