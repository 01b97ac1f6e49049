//! Where there is a guard, a tool call that would write what decides which hooks run needs the approval of a person, and so
//! does a command line that would loosen guards: in every host.

use std::path::Path;

use hookrail::{Environment, HookSystem};
use hookrail_bridge::Agent;
use hookrail_bridge::install::{AgentFolders, Scope};
use serde_json::{Value, json};

use crate::cli::bridge::{AGENTS, bridge, denies, write_payload};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A user with a hook for prompts, which is a guard or not.
fn user_with(policy: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let hook = json!({"type": "command", "name": "prompts", "command": "true", "onFailure": policy});
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeAgent": [{"hooks": [hook]}]}});
    sandbox.write_home(".llxprt/settings.json", settings.to_string());
    sandbox
}

fn guarded() -> Sandbox {
    user_with("block")
}

fn fire(sandbox: &Sandbox, tool: &str, input: &Value) -> Value {
    let ran = sandbox.run(&["fire", "BeforeTool", "--tool", tool, "--tool-input", &input.to_string(), "--json"]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

fn fire_write(sandbox: &Sandbox, path: impl AsRef<Path>) -> Value {
    fire(sandbox, "write_file", &json!({"file_path": path.as_ref(), "content": "x"}))
}

fn codes(outcome: &Value) -> Vec<&str> {
    outcome["diagnostics"].as_array().unwrap().iter().map(|found| found["code"].as_str().unwrap()).collect()
}

/// What a model may hear names nothing that would lift the decision.
fn lifts_nothing(text: &str) {
    for word in ["HOOKRAIL_DISABLE", "--yes", "protect", "config.toml", "\"off\""] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

/// What a bridge says when an agent wants to write this file.
fn bridge_write(sandbox: &Sandbox, agent: &str, path: &str) -> ProgramOutput {
    let (event, payload) = write_payload(sandbox, agent);
    let payload: Value = serde_json::from_str(&payload.to_string().replace("a.txt", path)).unwrap();
    bridge(sandbox, agent, event, &payload, &[])
}

#[test]
fn a_write_to_a_protected_place_is_asked_about_where_there_is_a_guard() {
    let sandbox = guarded();
    for place in [
        ".llxprt/settings.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".codex/hooks.json",
        ".gemini/settings.json",
        ".qwen/settings.json",
        ".copilot/hooks/hookrail.json",
        ".github/hooks/hookrail.json",
        ".pi/extensions/hookrail.ts",
        ".opencode/plugin/hookrail.js",
        ".hookrail/rules.toml",
    ] {
        let outcome = fire_write(&sandbox, place);
        assert_eq!((&outcome["decision"], codes(&outcome)), (&json!("ask"), vec!["protected-place"]), "{outcome}");
        let reason = outcome["reason"].as_str().unwrap();
        assert!(reason.contains(place) && reason.contains("decides which hooks run"), "{reason}");
        lifts_nothing(reason);
        assert!(outcome["diagnostics"][0]["hint"].as_str().unwrap().contains("`protect`"), "{outcome}");
    }
    for place in [
        ".local/state/hookrail/trust.json",
        ".local/state/hookrail/journal/x",
        ".config/hookrail/config.toml",
        ".config/hookrail/rules.toml",
        ".config/opencode/plugin/hookrail.js",
        ".claude/settings.json",
        ".pi/agent/extensions/hookrail.ts",
        ".llxprt/settings.json",
        ".x-code/plugins/installed_plugins.json",
    ] {
        assert_eq!(fire_write(&sandbox, sandbox.home.join(place))["decision"], "ask", "{place}");
    }
    for free in ["src/main.rs", ".github/workflows/ci.yml", ".claude/worktrees/a/main.rs"] {
        let outcome = fire_write(&sandbox, free);
        assert_eq!((&outcome["decision"], codes(&outcome)), (&Value::Null, vec![]), "{outcome}");
    }
    // A tool that reads is asked about nothing, and neither is any tool where there is no guard.
    assert_eq!(fire(&sandbox, "read_file", &json!({"file_path": ".claude/settings.json"}))["decision"], Value::Null);
    let unguarded = user_with("allow");
    assert_eq!(fire_write(&unguarded, ".claude/settings.json")["decision"], Value::Null);
}

#[test]
fn every_name_of_a_writing_tool_and_every_file_of_a_patch_counts() {
    let sandbox = guarded();
    let place = ".claude/settings.json";
    let patch = format!("*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: {place}\n+y\n*** End Patch");
    for (tool, input) in [
        ("Write", json!({"file_path": place})),
        ("Edit", json!({"file_path": place, "old_string": "a", "new_string": "b"})),
        ("NotebookEdit", json!({"notebook_path": place})),
        ("create", json!({"path": place, "file_text": "x"})),
        ("writeFile", json!({"filePath": place, "content": "x"})),
        ("apply_patch", json!({"command": patch})),
        ("apply_patch", json!({"patchText": patch})),
        ("mcp__files__save", json!({"path": place})),
        ("write_file", json!({"file_path": "a.txt", "path": place})),
        ("write_file", json!({"file_path": "src/../.claude/settings.json"})),
        ("write_file", json!({"file_path": "~/.claude/settings.json"})),
    ] {
        let outcome = fire(&sandbox, tool, &input);
        assert_eq!(outcome["decision"], "ask", "{tool} {input}: {outcome}");
    }
    let harmless = "*** Begin Patch\n*** Add File: a.txt\n+*** Add File: .claude/settings.json\n*** End Patch";
    for (tool, input) in [
        ("apply_patch", json!({"command": harmless})),
        ("mcp__files__save", json!({"path": "a.txt"})),
        ("mcp__web__get", json!({"url": place})),
    ] {
        let outcome = fire(&sandbox, tool, &input);
        assert_eq!(outcome["decision"], Value::Null, "{tool} {input}: {outcome}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed() {
    let sandbox = guarded();
    std::fs::create_dir(sandbox.project.join(".claude")).unwrap();
    std::os::unix::fs::symlink(".claude", sandbox.project.join("link")).unwrap();
    std::os::unix::fs::symlink("link/settings.json", sandbox.project.join("notes.md")).unwrap();
    std::os::unix::fs::symlink(&sandbox.home, sandbox.project.join("home")).unwrap();
    for path in ["link/settings.json", "notes.md", "home/.claude/settings.json"] {
        assert_eq!(fire_write(&sandbox, path)["decision"], "ask", "{path}");
    }
    assert_eq!(fire_write(&sandbox, "home/notes.md")["decision"], Value::Null);
}

#[test]
fn a_hook_cannot_lead_a_call_to_a_protected_place_nor_lift_the_question() {
    let sandbox = guarded();
    let answer = json!({"decision": "allow", "hookSpecificOutput": {"hookEventName": "BeforeTool",
        "tool_input": {"file_path": ".claude/settings.json", "content": "x"}}});
    let script = format!("#!/bin/sh\ncat >/dev/null\necho '{answer}'\n");
    let program = sandbox.write_program_at("rewrite.sh", script);
    let hooks = |name: &str, command: &str| json!([{"hooks": [{"type": "command", "name": name, "command": command}]}]);
    let settings = |before: Value| {
        let guard = json!([{"hooks": [{"type": "command", "name": "g", "command": "true", "onFailure": "block"}]}]);
        json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeAgent": guard, "BeforeTool": before}}).to_string()
    };
    sandbox.write_home(".llxprt/settings.json", settings(hooks("rewrites", program.to_str().unwrap())));
    let outcome = fire_write(&sandbox, "a.txt");
    assert_eq!((&outcome["decision"], codes(&outcome)), (&json!("ask"), vec!["protected-place"]), "{outcome}");
    let allow = r#"echo '{"decision":"allow","reason":"fine"}'"#;
    sandbox.write_home(".llxprt/settings.json", settings(hooks("allows", allow)));
    let outcome = fire_write(&sandbox, ".claude/settings.json");
    assert_eq!(
        (&outcome["decision"], &outcome["aggregated"]["finalOutput"]["decision"]),
        (&json!("ask"), &json!("ask"))
    );
    assert_eq!(fire_write(&sandbox, "a.txt")["decision"], "allow");
    let deny = r#"echo '{"decision":"deny","reason":"no"}'"#;
    sandbox.write_home(".llxprt/settings.json", settings(hooks("denies", deny)));
    assert_eq!(fire_write(&sandbox, ".claude/settings.json")["decision"], "deny");
}

#[test]
fn the_user_says_what_happens() {
    let sandbox = guarded();
    for (value, decision) in
        [("ask", json!("ask")), ("deny", json!("deny")), ("off", Value::Null), ("of", json!("deny"))]
    {
        sandbox.write_home(".config/hookrail/config.toml", format!("[guard]\nprotect = \"{value}\"\n"));
        let outcome = fire_write(&sandbox, ".claude/settings.json");
        assert_eq!(outcome["decision"], decision, "{value}: {outcome}");
        let line = json!({"command": "hookrail trust grant"});
        assert_eq!(fire(&sandbox, "run_shell_command", &line)["decision"], decision, "{value}");
        if decision == "deny" {
            lifts_nothing(outcome["reason"].as_str().unwrap());
        }
    }
    std::fs::remove_file(sandbox.home.join(".config/hookrail/config.toml")).unwrap();
    // A project cannot switch it off.
    sandbox.write(".hookrail/config.toml", "[guard]\nprotect = \"off\"\n");
    assert_eq!(fire_write(&sandbox, ".claude/settings.json")["decision"], "ask");
}

#[test]
fn explain_shows_it_and_the_bus_says_it() {
    let sandbox = guarded();
    let explained = |path: &str| {
        let input = json!({"file_path": path}).to_string();
        sandbox.run(&["explain", "BeforeTool", "--tool", "write_file", "--tool-input", &input]).ends_with(0).stdout
    };
    assert!(explained(".claude/settings.json").contains("protected-place"), "{}", explained(".claude/settings.json"));
    assert!(!explained("a.txt").contains("protected-place"));
    let request = |path: &str| {
        let input = json!({"tool_name": "write_file", "tool_input": {"file_path": path}});
        let payload = json!({"correlationId": path, "eventName": "BeforeTool", "input": input});
        json!({"type": "HOOK_EXECUTION_REQUEST", "payload": payload}).to_string()
    };
    let requests = format!("{}\n{}\n", request(".claude/settings.json"), request("a.txt"));
    let served = sandbox.run_with_input(&["serve", "--stdio"], &requests).ends_with(0);
    let decision = |id: &str| {
        let lines = served.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let found = lines.into_iter().find(|line| line["payload"]["correlationId"] == id);
        found.unwrap_or_else(|| panic!("{served:?}"))["payload"]["outcome"]["decision"].clone()
    };
    assert_eq!((decision(".claude/settings.json"), decision("a.txt")), (json!("ask"), Value::Null));
}

#[test]
fn the_agent_refuses_without_a_question() {
    let sandbox = guarded();
    let call = |path: &str| json!({"name": "write_file", "args": {"path": path, "content": "x"}});
    let script = json!({"turns": [{"calls": [call(".claude/settings.json"), call("a.txt")]}, {"text": "done"}]});
    let script = sandbox.write_at("script.json", script.to_string());
    let ran =
        sandbox.run(&["agent", "--headless", "--prompt", "go", "--script", script.to_str().unwrap()]).ends_with(0);
    assert!(ran.stdout.contains("which hooks run"), "{ran:?}");
    assert!(!ran.stdout.contains("no user can be asked"), "{ran:?}");
    assert!(!sandbox.exists(".claude/settings.json") && sandbox.exists("a.txt"), "{ran:?}");
}

#[test]
fn every_bridge_asks_or_denies() {
    let sandbox = guarded();
    for agent in AGENTS {
        let ran = bridge_write(&sandbox, agent, ".claude/settings.json");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        match agent {
            "claude" | "qwen" => {
                let answer = ran.json();
                assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{agent}: {answer}");
            }
            "copilot" => assert_eq!(ran.json()["permissionDecision"], "ask", "{agent}: {ran:?}"),
            _ => assert!(denies(agent, &ran, "decides which hooks run"), "{agent}: {ran:?}"),
        }
        assert!(said.contains(".claude/settings.json"), "{agent}: {said}");
        lifts_nothing(&said);
        let other = bridge_write(&sandbox, agent, "b.txt").ends_with(0);
        assert_eq!((other.stdout.as_str(), other.stderr.as_str()), ("", ""), "{agent}");
    }
}

#[test]
fn an_approval_counts_for_the_file_and_the_session() {
    let sandbox = guarded();
    let asks = |session: &str, path: &str| {
        let payload = json!({"session_id": session, "cwd": sandbox.project, "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": {"file_path": sandbox.project.join(path), "content": "x"}, "tool_use_id": "t"});
        let ran = bridge(&sandbox, "claude", "PreToolUse", &payload, &[]).ends_with(0);
        ran.stdout.contains("\"ask\"")
    };
    let ends_as = |call: &str, session: &str, path: &str, response: Value| {
        let payload = json!({"session_id": session, "cwd": sandbox.project, "hook_event_name": "PostToolUse", "tool_name": "Write",
            "tool_input": {"file_path": sandbox.project.join(path), "content": "x"}, "tool_response": response, "tool_use_id": call});
        bridge(&sandbox, "claude", "PostToolUse", &payload, &[]).ends_with(0);
    };
    let ends = |session: &str, path: &str, response: Value| ends_as("t", session, path, response);
    let place = ".claude/settings.json";
    assert!(asks("one", place) && asks("one", place), "no one has approved it");
    ends("one", place, json!({"filePath": place}));
    assert!(!asks("one", place), "it was approved");
    assert!(asks("one", ".claude/settings.local.json") && asks("two", place), "something else was not");
    // A tool that ran without a question is no approval, and neither is one that was refused.
    ends("three", place, json!({"filePath": place}));
    assert!(asks("three", place));
    ends("three", place, json!({"resultType": "denied"}));
    assert!(asks("three", place));
    // The end of another call says nothing about this one.
    for call in ["u", "", "t\n/p"] {
        ends_as(call, "four", place, json!({"filePath": place}));
        assert!(asks("four", place), "{call}");
    }
    ends("four", place, json!({"filePath": place}));
    assert!(!asks("four", place));
    // What is lost is asked for again.
    for entry in std::fs::read_dir(sandbox.home.join(".local/state/hookrail/facts")).unwrap().flatten() {
        std::fs::write(entry.path(), "{").unwrap();
    }
    assert!(asks("one", place));
}

#[test]
fn a_command_line_that_would_loosen_a_guard_is_asked_about() {
    let sandbox = guarded();
    let line = |line: &str| fire(&sandbox, "run_shell_command", &json!({"command": line}));
    for loosening in [
        "hookrail trust grant --yes",
        "cd / && sudo env A=1 /usr/bin/hookrail uninstall claude",
        "sh -c 'HOOKRAIL_DISABLE=1 claude -p x'",
        "export HOOKRAIL_DISABLE=1",
        "hookrail plugin install ./x; hookrail reload",
    ] {
        let outcome = line(loosening);
        assert_eq!((&outcome["decision"], codes(&outcome)), (&json!("ask"), vec!["loosens-guard"]), "{outcome}");
        lifts_nothing(outcome["reason"].as_str().unwrap());
    }
    for harmless in ["hookrail trust status", "echo 'hookrail trust grant'", "grep HOOKRAIL_DISABLE=1 x", "cargo test"]
    {
        assert_eq!(line(harmless)["decision"], Value::Null, "{harmless}");
    }
    let unguarded = user_with("allow");
    let outcome = fire(&unguarded, "run_shell_command", &json!({"command": "hookrail trust grant"}));
    assert_eq!(outcome["decision"], Value::Null);
    // Codex gives a list of words, and cannot ask.
    let outcome = fire(&sandbox, "Bash", &json!({"command": ["bash", "-lc", "hookrail trust grant"]}));
    assert_eq!(outcome["decision"], "ask", "{outcome}");
    for (agent, event) in [("codex", "PreToolUse"), ("claude", "PreToolUse")] {
        let payload = json!({"session_id": "s", "cwd": sandbox.project, "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": "hookrail trust grant --yes"}, "tool_use_id": "t"});
        let ran = bridge(&sandbox, agent, event, &payload, &[]);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("changes which hooks run") && (ran.code == 2 || said.contains("\"ask\"")), "{ran:?}");
        lifts_nothing(&said);
    }
    // The agent asks; no person is there to approve it.
    let calls = json!([{"name": "run_shell_command", "args": {"command": "touch ran; HOOKRAIL_DISABLE=1 true"}},
        {"name": "run_shell_command", "args": {"command": "touch other"}}]);
    let script = sandbox.write_at("script.json", json!({"turns": [{"calls": calls}, {"text": "done"}]}).to_string());
    let ran =
        sandbox.run(&["agent", "--headless", "--prompt", "go", "--script", script.to_str().unwrap()]).ends_with(0);
    assert!(!sandbox.exists("ran") && sandbox.exists("other"), "{ran:?}");
}

#[test]
fn a_tool_of_an_agent_cannot_consent_in_the_place_of_a_person() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let plugin = sandbox.write_at("plugin/plugin.json", r#"{"name":"p","version":"1.0.0","hooks":{}}"#);
    let plugin = plugin.parent().unwrap().to_str().unwrap().to_owned();
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let variables = [
        "CLAUDECODE",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "QWEN_CODE_SESSION_ID",
        "COPILOT_CLI",
        "OPENCODE",
        "PI_CODING_AGENT",
        "FACTORY_EXEC_TARGET_AUTONOMY",
        "HOOKRAIL_AGENT",
    ];
    // The last of them ask no question.
    let commands: [&[&str]; 9] = [
        &["trust", "grant", "--yes"],
        &["trust", "grant"],
        &["plugin", "install", &plugin, "--yes"],
        &["plugin", "install", &plugin],
        &["uninstall", "claude", "--yes"],
        &["uninstall", "claude"],
        &["trust", "revoke"],
        &["plugin", "disable", "p"],
        &["plugin", "uninstall", "p"],
    ];
    for variable in variables {
        for command in commands.into_iter().chain([&["reload"][..]]) {
            let ran = ProgramOutput::capture(sandbox.command(command).env(variable, "1")).ends_with(1);
            assert!(ran.stderr.contains("terminal of your own"), "{variable} {command:?}: {ran:?}");
            lifts_nothing(&ran.stderr);
        }
    }
    assert!(!sandbox.home.join(".local/state/hookrail/trust.json").exists());
    let asks = |command: &&[&str]| ["grant", "install"].contains(&command[1]) && !command.contains(&"--yes");
    for command in commands.into_iter().filter(|command| !asks(command) && *command != ["uninstall", "claude"]) {
        ProgramOutput::capture(sandbox.command(command).env("CLAUDECODE", "")).ends_with(0);
    }
}

#[test]
fn everything_that_install_writes_and_that_agents_read_is_protected() {
    let sandbox = Sandbox::new();
    let variables =
        [("CODEX_HOME", "/srv/codex"), ("COPILOT_HOME", "/srv/copilot"), ("XDG_CONFIG_HOME", "/srv/config")];
    for set in [&variables[..], &[]] {
        let environment = Environment::new().with("HOME", &sandbox.home);
        let environment = set.iter().fold(environment, |environment, (name, value)| environment.with(name, value));
        let places = HookSystem::builder(&sandbox.project).environment(environment).build().protected_places();
        let variable = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let locations = AgentFolders { home: &sandbox.home, project: &sandbox.project, variable: &variable };
        for agent in Agent::ALL {
            let scopes = [Scope::User, Scope::Project, Scope::System];
            let written = scopes.into_iter().filter_map(|scope| locations.settings_path(agent, scope).ok());
            for place in written.chain(locations.hook_files(agent)) {
                assert!(places.protects(&place), "{agent}: {}", place.display());
            }
        }
        assert!(!places.protects(&sandbox.project.join("src/main.rs")));
    }
}
