//! `bridge`: recorded payloads of real agents go in, and what each agent honours comes out.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

pub(crate) const AGENTS: [&str; 5] = ["claude", "codex", "gemini", "qwen", "copilot"];

/// A recorded payload, in the project of the test.
pub(crate) fn recorded(sandbox: &Sandbox, agent: &str, name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/agents/payloads");
    let text = std::fs::read_to_string(folder.join(format!("{agent}.json"))).unwrap();
    let text = text.replace("/home/user/project", sandbox.project.to_str().unwrap());
    let mut all: Value = serde_json::from_str(&text).unwrap();
    all[name].take()
}

/// The payload with which an agent wants to write a file.
pub(crate) fn write_payload(sandbox: &Sandbox, agent: &str) -> (&'static str, Value) {
    let (event, name) = match agent {
        "claude" => ("PreToolUse", "PreToolUse.Write"),
        "codex" => ("PreToolUse", "PreToolUse.apply_patch"),
        "gemini" => ("BeforeTool", "BeforeTool.write_file"),
        "qwen" => ("PreToolUse", "PreToolUse.write_file"),
        "opencode" => ("tool.execute.before", "tool.execute.before.write"),
        "pi" => ("tool_call", "tool_call.write"),
        _ => ("preToolUse", "preToolUse.create"),
    };
    (event, recorded(sandbox, agent, name))
}

pub(crate) fn bridge(sandbox: &Sandbox, agent: &str, event: &str, payload: &Value, more: &[&str]) -> ProgramOutput {
    let mut command = sandbox.command(&["bridge", agent, "--event", event]);
    command.args(more).env("CLAUDE_PROJECT_DIR", &sandbox.project).env("GEMINI_PROJECT_DIR", &sandbox.project);
    command.env("COPILOT_PROJECT_DIR", &sandbox.project).env("HOOKRAIL_BRIDGE_PROJECT_DIR", &sandbox.project);
    ProgramOutput::with_input(&mut command, &payload.to_string())
}

/// Whether an answer denies in the form of its agent, with a text.
pub(crate) fn denies(agent: &str, ran: &ProgramOutput, text: &str) -> bool {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let reason = match agent {
        "codex" | "qwen" => return ran.code == 2 && ran.stderr.contains(text) && ran.stdout.is_empty(),
        "claude" => &answer["hookSpecificOutput"]["permissionDecisionReason"],
        "gemini" => &answer["reason"],
        _ => &answer["permissionDecisionReason"],
    };
    ran.code == 0 && reason.as_str().is_some_and(|reason| reason.contains(text))
}

pub(crate) fn guarded() -> Sandbox {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "write_file", "hooks": [{"type": "command", "name": "guard",
            "command": "\"$LLXPRT_PROJECT_DIR\"/.llxprt/hooks/guard.sh"}]}]"#,
    );
    let script =
        "#!/bin/sh\ncase \"$(cat)\" in *'/a.txt'*) echo '{\"decision\":\"deny\",\"reason\":\"not a.txt\"}';; esac\n";
    sandbox.write_program(".llxprt/hooks/guard.sh", script);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

#[test]
fn one_guard_denies_in_every_agent_and_lets_the_rest_pass() {
    let sandbox = guarded();
    for agent in AGENTS {
        let (event, payload) = write_payload(&sandbox, agent);
        let ran = bridge(&sandbox, agent, event, &payload, &[]);
        assert!(denies(agent, &ran, "denied by hook `guard`: not a.txt"), "{agent}: {ran:?}");
        let other: Value = serde_json::from_str(&payload.to_string().replace("a.txt", "b.txt")).unwrap();
        let ran = bridge(&sandbox, agent, event, &other, &[]).ends_with(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{agent}");
    }
}

#[test]
fn a_model_that_changes_its_directory_does_not_lose_the_guard() {
    let sandbox = guarded();
    std::fs::create_dir_all(sandbox.project.join("sub/.git")).unwrap();
    for agent in AGENTS {
        let (event, mut payload) = write_payload(&sandbox, agent);
        payload["cwd"] = json!(sandbox.project.join("sub"));
        let payload: Value = serde_json::from_str(&payload.to_string().replace(": a.txt", ": ../a.txt")).unwrap();
        let ran = bridge(&sandbox, agent, event, &payload, &[]);
        assert!(denies(agent, &ran, "not a.txt"), "{agent}: {ran:?}");
    }
}

#[test]
fn the_deadline_denies_gating_events_and_lets_others_pass() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [{"type": "command", "command": "sleep 60"}]}],
        "AfterTool": [{"hooks": [{"type": "command", "command": "sleep 60"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for agent in AGENTS {
        let (event, payload) = write_payload(&sandbox, agent);
        let ran = bridge(&sandbox, agent, event, &payload, &["--deadline", "100"]);
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            text.contains("did not answer within 0.1 s") && (ran.code == 2 || agent == "copilot"),
            "{agent}: {ran:?}"
        );
    }
    let payload = recorded(&sandbox, "claude", "PostToolUse.Bash");
    let ran = bridge(&sandbox, "claude", "PostToolUse", &payload, &["--deadline", "100"]).ends_with(0);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_payload_that_cannot_be_read_denies_and_names_the_doctor() {
    let sandbox = guarded();
    for agent in AGENTS {
        let (event, payload) = write_payload(&sandbox, agent);
        let whole = payload.to_string();
        for text in ["", "{", &whole[..whole.len() / 2]] {
            let ran = sandbox.run_with_input(&["bridge", agent, "--event", event], text);
            assert!(format!("{}{}", ran.stdout, ran.stderr).contains(&format!("hookrail doctor {agent}")), "{ran:?}");
            assert!(ran.code == 2 || ran.stdout.contains("\"deny\""), "{agent}: {ran:?}");
        }
    }
    let ran = sandbox.run_with_input(&["bridge", "claude", "--event", "SessionEnd"], "{");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
}

#[test]
fn a_stop_without_a_form_denies_until_the_next_prompt() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"type": "command",
            "command": "echo '{\"continue\":false,\"stopReason\":\"budget\"}'"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let shell = recorded(&sandbox, "codex", "PreToolUse.Bash");
    let (event, write) = write_payload(&sandbox, "codex");
    bridge(&sandbox, "codex", event, &write, &[]).ends_with(0);
    assert!(bridge(&sandbox, "codex", event, &shell, &[]).ends_with(2).stderr.contains("budget"));
    assert!(bridge(&sandbox, "codex", event, &write, &[]).ends_with(2).stderr.contains("budget"));
    let prompt = recorded(&sandbox, "codex", "UserPromptSubmit");
    bridge(&sandbox, "codex", "UserPromptSubmit", &prompt, &[]).ends_with(0);
    bridge(&sandbox, "codex", event, &write, &[]).ends_with(0);
}

#[test]
fn the_end_of_an_answer_is_denied_at_most_eight_times_and_knows_the_prompt() {
    let sandbox = Sandbox::with_hook(
        "AfterAgent",
        r#"grep -q '"prompt":"please write a.txt"' && echo '{"decision":"block","reason":"run the tests"}'"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let prompt = recorded(&sandbox, "codex", "UserPromptSubmit");
    bridge(&sandbox, "codex", "UserPromptSubmit", &prompt, &[]).ends_with(0);
    let end = recorded(&sandbox, "codex", "Stop");
    for round in 0..9 {
        let ran = bridge(&sandbox, "codex", "Stop", &end, &[]).ends_with(0);
        assert_eq!(ran.stdout.contains("run the tests"), round < 8, "{round}: {ran:?}");
    }
}

#[test]
fn hooks_that_are_not_trusted_do_not_run_and_are_mentioned_when_a_session_starts() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    let (event, payload) = write_payload(&sandbox, "claude");
    assert_eq!(bridge(&sandbox, "claude", event, &payload, &[]).ends_with(0).stdout, "");
    let strict = bridge(&sandbox, "claude", event, &payload, &["--strict-trust"]).ends_with(0);
    assert!(denies("claude", &strict, "hookrail trust grant"), "{strict:?}");
}

#[test]
fn an_llxprt_script_finds_every_name_of_a_path_and_the_name_it_changes_counts() {
    // The first hook knows one name of the path and writes elsewhere; the second knows another and denies that place.
    for (read, written) in [("file_path", "absolute_path"), ("absolute_path", "file_path"), ("path", "absolute_path")] {
        let sandbox = Sandbox::with_hooks(&format!(
            r#""BeforeTool": [{{"matcher": "write_file", "sequential": true, "hooks": [
                {{"type": "command", "name": "moves", "command": "sh .llxprt/hooks/moves.sh"}},
                {{"type": "command", "name": "guard", "command": "sh .llxprt/hooks/guard.sh {read}"}}]}}]"#
        ));
        let taken = |name: &str| format!(r#"path=$(sed -n 's/.*"{name}": *"\([^"]*\)".*/\1/p')"#);
        let moves = format!(
            "{}\ncase $path in */a.txt) printf '{{\"hookSpecificOutput\":{{\"hookEventName\":\"BeforeTool\",\"tool_input\":{{\"{written}\":\"%s/moved.txt\"}}}}}}' \"$(dirname \"$path\")\";; esac\n",
            taken(read)
        );
        sandbox.write(".llxprt/hooks/moves.sh", &moves);
        sandbox.write(".llxprt/hooks/guard.sh", "grep -q \"\\\"$1\\\": *\\\"[^\\\"]*/moved.txt\" || exit 2\n");
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        let moved = sandbox.project.join("moved.txt");
        for agent in AGENTS.into_iter().chain(["opencode", "pi"]) {
            let (event, payload) = write_payload(&sandbox, agent);
            let ran = bridge(&sandbox, agent, event, &payload, &[]);
            let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
            let input = match agent {
                "claude" => &answer["hookSpecificOutput"]["updatedInput"],
                "gemini" => &answer["hookSpecificOutput"]["tool_input"],
                "copilot" => &answer["modifiedArgs"],
                "opencode" | "pi" => &answer["input"],
                "codex" => {
                    let patch = &answer["hookSpecificOutput"]["updatedInput"]["command"];
                    assert!(patch.as_str().is_some_and(|patch| patch.contains("*** Add File: moved.txt\n")), "{ran:?}");
                    continue;
                }
                // Qwen runs no changed call, so the model is told which one to make.
                _ => {
                    let told = ran.code == 2 && ran.stderr.contains(&format!("\"file_path\":{moved:?}"));
                    assert!(told && !ran.stderr.contains("absolute_path"), "{ran:?}");
                    continue;
                }
            };
            let name = match agent {
                "copilot" | "pi" => "path",
                "opencode" => "filePath",
                _ => "file_path",
            };
            let members: Vec<&String> =
                input.as_object().unwrap_or_else(|| panic!("{agent}: {ran:?}")).keys().collect();
            assert_eq!(input[name], json!(moved), "{agent} {read} {written}: {ran:?}");
            assert_eq!(members.len(), 2, "{agent}: {members:?}");
        }
    }
}

/// Entries that call the bridge, in files that hookrail itself reads: an event of the bridge must not start the bridge again.
#[test]
fn entries_that_call_the_bridge_are_skipped_as_own_bridge() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [
            {"type": "command", "name": "ours", "command": "/usr/local/bin/hookrail bridge gemini --event BeforeTool"},
            {"type": "command", "name": "guard", "command": "echo no >&2; exit 2"}]}]"#,
    );
    sandbox.write(
        ".x-code/plugins/nested/plugin.json",
        r#"{"name": "nested", "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [
            {"type": "command", "command": "'/opt/my tools/hookrail' bridge claude --event PreToolUse --deadline 48000"}]}]}}"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let plan = sandbox.run(&["explain", "before-tool", "--tool", "write_file", "--json"]).ends_with(0).json();
    let skipped = plan["skipped"].as_array().unwrap();
    let whys: Vec<&str> = skipped.iter().filter_map(|skipped| skipped["why"].as_str()).collect();
    assert_eq!(whys, ["own-bridge", "own-bridge"], "{plan}");
    assert_eq!(plan["plan"].as_array().unwrap().len(), 1, "{plan}");
    let (event, payload) = write_payload(&sandbox, "gemini");
    let ran = bridge(&sandbox, "gemini", event, &payload, &[]);
    assert!(denies("gemini", &ran, "denied by hook `guard`"), "{ran:?}");
}

pub(crate) fn after_payload(sandbox: &Sandbox, agent: &str) -> (&'static str, Value) {
    let (event, name) = match agent {
        "claude" => ("PostToolUse", "PostToolUse.Write"),
        "codex" => ("PostToolUse", "PostToolUse.Bash"),
        "gemini" => ("AfterTool", "AfterTool.run_shell_command"),
        "qwen" => ("PostToolUse", "PostToolUse.run_shell_command"),
        _ => ("postToolUse", "postToolUse.create"),
    };
    (event, recorded(sandbox, agent, name))
}

fn without(payload: &Value, names: &[&str]) -> String {
    let mut payload = payload.clone();
    let members = payload.as_object_mut().unwrap();
    names.iter().for_each(|name| drop(members.remove(*name)));
    payload.to_string()
}

#[test]
fn bad_input_denies_gating_events_and_lets_others_pass_with_a_warning() {
    let sandbox = guarded();
    for agent in AGENTS {
        let (before, payload) = write_payload(&sandbox, agent);
        let (after, result) = after_payload(&sandbox, agent);
        for (event, payload, denied) in [(before, payload, true), (after, result, false)] {
            let whole = payload.to_string();
            let bad = [
                String::new(),
                "[]".to_owned(),
                "null".to_owned(),
                "\u{0}\u{1}".to_owned(),
                whole[..whole.len() - 1].to_owned(),
                format!("{whole}{whole}"),
                without(&payload, &["tool_name", "toolName"]),
                without(&payload, &["tool_input", "toolArgs"]),
            ];
            for text in bad {
                let ran = sandbox.run_with_input(&["bridge", agent, "--event", event], &text);
                let said = format!("{}{}", ran.stdout, ran.stderr);
                assert!(said.contains("hookrail: ") && said.contains(&format!("hookrail doctor {agent}")), "{ran:?}");
                let denies = ran.code == 2 || ran.stdout.contains("\"deny\"");
                assert_eq!((denies, ran.code == 0 || ran.code == 2), (denied, true), "{agent} {event} {text}: {ran:?}");
            }
        }
    }
}

#[test]
fn a_payload_that_is_too_large_is_refused() {
    let sandbox = guarded();
    let large = format!("{{\"hook_event_name\": \"PreToolUse\", \"x\": \"{}\"}}", "x".repeat(64 * 1024 * 1024));
    let ran = sandbox.run_with_input(&["bridge", "codex", "--event", "PreToolUse"], &large);
    assert!(ran.code == 2 && ran.stderr.contains("the payload has 67108865 bytes"), "{ran:?}");
}

#[test]
fn what_a_newer_agent_brings_passes() {
    let sandbox = guarded();
    for agent in AGENTS {
        let (event, mut payload) = write_payload(&sandbox, agent);
        payload["brand_new"] = json!({"a": [1]});
        let ran = bridge(&sandbox, agent, event, &payload, &[]);
        assert!(denies(agent, &ran, "not a.txt"), "a known tool is guarded beside unknown fields: {agent} {ran:?}");
        let is_mentioned = |ran: &ProgramOutput| ran.stderr.contains("the field \"brand_new\"");
        let mentions_field = is_mentioned(&ran);
        for name in ["tool_name", "toolName"] {
            if payload.get(name).is_some() {
                payload[name] = json!("FutureTool");
            }
        }
        let ran = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("the tool \"FutureTool\""), "{ran:?}");
        assert_ne!(mentions_field, is_mentioned(&ran), "once, and not instead of a reason: {agent} {ran:?}");
        let ran = bridge(&sandbox, agent, event, &payload, &[]).ends_with(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "once per session: {agent}");
        payload["hook_event_name"] = json!("FutureEvent");
        let ran = bridge(&sandbox, agent, "FutureEvent", &payload, &[]).ends_with(0);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("does not know the event \"FutureEvent\""), "{ran:?}");
    }
}

#[test]
fn options_of_another_version_deny_gating_events() {
    let sandbox = guarded();
    for (args, status) in [
        (&["bridge", "codex", "--event", "PreToolUse", "--from-the-future"][..], 2),
        (&["bridge", "codex", "--from-the-future"][..], 2),
        (&["bridge", "codex", "--event", "PostToolUse", "--from-the-future"][..], 1),
        (&["bridge", "codex", "--event", "Stop", "--from-the-future"][..], 1),
        (&["bridge", "emacs"][..], 2),
        (&["fire", "--from-the-future"][..], 1),
    ] {
        let ran = sandbox.run_with_input(args, "{}").ends_with(status);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{ran:?}");
    }
}

#[test]
fn the_doctor_shows_what_hooks_lost_in_past_sessions() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [{"type": "command", "command": "echo '{\"decision\":\"ask\",\"reason\":\"sure?\"}'"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let (event, payload) = write_payload(&sandbox, "codex");
    let ran = bridge(&sandbox, "codex", event, &payload, &[]).ends_with(2);
    assert!(ran.stderr.contains("approval required: sure?"), "{ran:?}");
    let shown = || sandbox.run(&["doctor", "codex"]).stdout;
    assert!(shown().contains("loss.ask: 1 time in past sessions"), "{}", shown());
    let end = recorded(&sandbox, "codex", "SessionEnd.other");
    bridge(&sandbox, "codex", "SessionEnd", &end, &[]).ends_with(0);
    assert!(shown().contains("loss.ask: 1 time in past sessions"), "the session is gone, the loss is not: {}", shown());
}
