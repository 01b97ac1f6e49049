//! Dialects of other agents: switched on and off, their guards under every command, and what of them never guards.

use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A guard as authors write it for Claude Code: it looks at the agent's own names.
const GUARD: &str =
    "#!/bin/sh\ninput=$(cat)\ncase $input in *'\"tool_name\":\"Bash\"'*push*) echo 'no pushing' >&2; exit 2;; esac\n";

/// The fields of a call that the guard denies.
const PUSH: [&str; 5] = ["PreToolUse", "--tool", "Bash", "--tool-input", r#"{"command":"git push"}"#];

fn settings(event: &str, group: &Value) -> String {
    serde_json::to_string_pretty(&json!({"hooks": {event: [group]}})).unwrap()
}

/// A project with one entry of Claude Code before a tool runs.
fn with_entry(matcher: &str, entry: Value) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".claude/settings.json", settings("PreToolUse", &json!({"matcher": matcher, "hooks": [entry]})));
    sandbox
}

fn with_guard() -> Sandbox {
    let command = "\"$CLAUDE_PROJECT_DIR\"/.claude/guard.sh";
    let sandbox = with_entry("Bash", json!({"type": "command", "command": command}));
    make_executable(&sandbox, ".claude/guard.sh", GUARD);
    sandbox
}

fn make_executable(sandbox: &Sandbox, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = sandbox.write(name, text);
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn fire(sandbox: &Sandbox, fields: &[&str]) -> ProgramOutput {
    sandbox.run(&[&["fire"], fields].concat())
}

fn codes(sandbox: &Sandbox) -> Vec<(String, String)> {
    let document = sandbox.run(&["check", "--json"]).json();
    let found = document["diagnostics"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    found.map(|found| (text(&found["code"]), text(&found["hint"]))).collect()
}

#[test]
fn a_guard_of_claude_code_takes_part_once_its_dialect_is_enabled_and_it_is_granted() {
    let sandbox = with_guard();
    let off = fire(&sandbox, &PUSH).ends_with(0);
    assert!(off.stdout.contains("`hookrail enable claude` lets it take part"), "{off:?}");
    let enabled = sandbox.run(&["enable", "claude"]).ends_with(0);
    assert!(enabled.stdout.contains("1 hook of this project waits for a grant"), "{enabled:?}");
    fire(&sandbox, &PUSH).ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let denied = fire(&sandbox, &PUSH).ends_with(2);
    assert!(denied.stdout.contains("no pushing") && !denied.stdout.contains("hookrail enable"), "{denied:?}");
    fire(&sandbox, &["PreToolUse", "--tool", "Bash", "--tool-input", r#"{"command":"git status"}"#]).ends_with(0);
    // The same call by the names of another agent.
    let elsewhere = ["before-tool", "--tool", "run_shell_command", "--tool-input", r#"{"command":"git push"}"#];
    fire(&sandbox, &elsewhere).ends_with(2);
    for command in [&["list"][..], &["explain", "PreToolUse", "--tool", "Bash"], &["trust"], &["doctor", "codex"]] {
        assert!(!sandbox.run(command).stdout.contains("hookrail enable claude"), "{command:?}");
    }
    sandbox.run(&["disable", "claude", "--yes"]).ends_with(0);
    fire(&sandbox, &PUSH).ends_with(0);
}

#[test]
fn a_bridge_asks_the_guard_except_that_of_the_agent_that_runs_it_itself() {
    let sandbox = with_guard();
    sandbox.run(&["enable", "claude"]).ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for (agent, event, tool, status) in [
        ("codex", "PreToolUse", "Bash", 2),
        ("gemini", "BeforeTool", "run_shell_command", 2),
        ("claude", "PreToolUse", "Bash", 0),
    ] {
        let fields = [event, "--tool", tool, "--tool-input", PUSH[4], "--agent", agent];
        fire(&sandbox, &fields).ends_with(status);
    }
}

/// Each agent has its own way to name the tool of an MCP server.
#[test]
fn a_guard_of_a_servers_tool_guards_it_under_the_name_of_every_agent() {
    let sandbox = Sandbox::new();
    let command = "grep -q '\"tool_name\":\"mcp__demo__echo\"' && exit 2; exit 0";
    let group = json!({"matcher": "mcp__demo__.*", "hooks": [{"type": "command", "command": command}]});
    // Some agents run hooks of a project's file for Claude Code themselves.
    sandbox.write_home(".claude/settings.json", settings("PreToolUse", &group));
    sandbox.run(&["enable", "claude"]).ends_with(0);
    let agents = ["codex", "gemini", "qwen", "copilot", "droid", "opencode", "pi"];
    let names = |tool: &str| {
        [
            format!("mcp__demo__{tool}"),
            format!("mcp_demo_{tool}"),
            format!("mcp__demo__{tool}"),
            format!("demo-{tool}"),
            format!("demo___{tool}"),
            format!("demo_{tool}"),
            format!("mcp__demo__{tool}"),
        ]
    };
    for (tool, denies) in [("echo", true), ("other", false)] {
        for (agent, name) in agents.iter().zip(names(tool)) {
            let agent = hookrail_bridge::Agent::from_name(agent).unwrap();
            let (event, payload) = agent.tool_event(&sandbox.project, &name, &json!({"text": "hi"}));
            let payload = match agent.name() {
                "gemini" => {
                    let mut payload: Value = serde_json::from_str(&payload).unwrap();
                    payload["mcp_context"] = json!({"server_name": "demo", "tool_name": tool});
                    payload.to_string()
                }
                _ => payload,
            };
            let mut command = sandbox.command(&["bridge", agent.name(), "--event", event]);
            for variable in ["GEMINI_PROJECT_DIR", "COPILOT_PROJECT_DIR", "HOOKRAIL_BRIDGE_PROJECT_DIR"] {
                command.env(variable, &sandbox.project);
            }
            let ran = ProgramOutput::with_input(&mut command, &payload);
            let is_denied = ran.code == 2 || ran.stdout.contains("\"deny\"");
            assert_eq!(is_denied, denies, "{agent} {name}: {ran:?}");
        }
    }
}

#[test]
fn a_payload_of_the_agent_is_fired_as_it_is() {
    let sandbox = with_guard();
    sandbox.run(&["enable", "claude"]).ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let payload = |line: &str| {
        json!({
            "session_id": "s", "transcript_path": "/t.jsonl", "cwd": sandbox.project, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "u",
            "tool_input": {"command": line, "description": "d"},
        })
        .to_string()
    };
    for (line, status) in [("git push", 2), ("git status", 0)] {
        sandbox.write("claude.json", payload(line));
        let fired = fire(&sandbox, &["PreToolUse", "--payload", "@claude.json"]).ends_with(status);
        assert!(!fired.stdout.contains("is not a field"), "{fired:?}");
    }
    let other = fire(&sandbox, &["PostToolUse", "--payload", "@claude.json"]).ends_with(1);
    assert!(other.stderr.contains("the payload is one of `PreToolUse`"), "{other:?}");
    let case = |line: &str, decision: &str| {
        format!(
            "[[case]]\nname = \"{line}\"\nevent = \"PreToolUse\"\npayload = {{ permission_mode = \"default\", hook_event_name = \
             \"PreToolUse\", tool_name = \"Bash\", tool_input = {{ command = \"{line}\" }} }}\nexpect = {{ decision = {decision} }}\n\n"
        )
    };
    let cases = [case("git push", "\"deny\""), case("git status", "\"none\"")].concat();
    sandbox.write("guard.hooktest.toml", &cases);
    let tested = sandbox.run(&["test"]);
    assert!(tested.stdout.contains("2 passed"), "{tested:?}");
}

#[test]
fn the_configuration_keeps_every_other_byte() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.join(".config/hookrail/config.toml");
    sandbox.run(&["enable", "claude"]).ends_with(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[dialects]\nenabled = [\"claude\"]\n");
    let text = "# mine\n[limits]\nprocesses = 3 # few\n\n[dialects]\nenabled = [] # none yet\n";
    std::fs::write(&file, text).unwrap();
    let first = sandbox.run(&["enable", "claude"]).ends_with(0);
    let again = sandbox.run(&["enable", "claude"]).ends_with(0);
    assert!(first.stdout.starts_with("enabled: claude") && again.stdout.contains("is enabled already"), "{again:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text.replace("[] #", "[\"claude\"] #"));
    sandbox.run(&["disable", "claude", "--yes"]).ends_with(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let off = sandbox.run(&["disable", "claude"]).ends_with(0);
    assert!(off.stdout.contains("is not enabled"), "{off:?}");
    std::fs::write(&file, "[dialects\n").unwrap();
    let broken = sandbox.run(&["enable", "claude"]).ends_with(1);
    assert!(broken.stderr.contains("cannot be read"), "{broken:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[dialects\n");
}

#[test]
fn a_model_does_not_switch_dialects() {
    let sandbox = Sandbox::new();
    let as_tool = |arguments: &[&str]| ProgramOutput::capture(sandbox.command(arguments).env("CLAUDECODE", "1"));
    let refused = as_tool(&["enable", "claude"]).ends_with(1);
    assert!(refused.stderr.contains("only a person can consent"), "{refused:?}");
    sandbox.run(&["enable", "claude"]).ends_with(0);
    as_tool(&["disable", "claude", "--yes"]).ends_with(1);
    assert!(sandbox.run(&["disable", "claude"]).ends_with(1).stderr.contains("no terminal to ask on"));
    assert!(sandbox.home.join(".config/hookrail/config.toml").exists());
    sandbox.run(&["disable", "claude", "--yes"]).ends_with(0);
}

#[test]
fn what_the_machine_enables_no_user_disables() {
    let sandbox = with_guard();
    let root = sandbox.path("machine");
    let run = |arguments: &[&str]| ProgramOutput::capture(sandbox.command(arguments).env("HOOKRAIL_FLEET_ROOT", &root));
    run(&["enable", "claude", "--scope", "system"]).ends_with(0);
    assert!(root.join("etc/hookrail/config.toml").is_file());
    let refused = run(&["disable", "claude", "--yes"]).ends_with(1);
    assert!(refused.stderr.contains("for every user of this machine"), "{refused:?}");
    run(&["trust", "grant", "--yes"]).ends_with(0);
    run(&[&["fire"], &PUSH[..]].concat()).ends_with(2);
    run(&["disable", "claude", "--scope", "system", "--yes"]).ends_with(0);
    run(&[&["fire"], &PUSH[..]].concat()).ends_with(0);
}

#[test]
fn init_and_install_offer_it() {
    for command in [&["init", "--dialect", "xcsh", "--lang", "typescript"][..], &["install", "codex", "--yes"]] {
        let with = with_guard().run(command).ends_with(0);
        assert!(with.stdout.contains("`hookrail enable claude` lets it take part"), "{with:?}");
        let without = Sandbox::new().run(command).ends_with(0);
        assert!(!without.stdout.contains("hookrail enable"), "{without:?}");
    }
}

/// A file of an agent with one group of hooks.
type Written = (&'static str, &'static str, Value);

fn of_claude(matcher: &str, hook: &Value) -> Written {
    (".claude/settings.json", "PreToolUse", json!({"matcher": matcher, "hooks": [hook]}))
}

fn of_codex(hook: &Value) -> Written {
    (".codex/hooks.json", "PreToolUse", json!({"matcher": "Bash", "hooks": [hook]}))
}

fn of_gemini(hook: &Value) -> Written {
    (".gemini/settings.json", "BeforeTool", json!({"matcher": "run_shell_command", "hooks": [hook]}))
}

/// What `check` finds in a file of an agent, with the help, and whether `enable` and `doctor` say it too.
fn looked_at(agent: &str, (file, event, group): &Written, code: &str, hint: &str) -> [bool; 3] {
    let sandbox = Sandbox::new();
    sandbox.write(file, settings(event, group));
    sandbox.write("plain.sh", "#!/bin/sh\nexit 2\n");
    make_executable(&sandbox, "runs.sh", "#!/bin/sh\nexit 2\n");
    let enabled = sandbox.run(&["enable", agent]).ends_with(0).stdout;
    sandbox.run(&["trust", "grant", "--yes"]);
    let is_checked = codes(&sandbox).iter().any(|(known, fix)| known == code && fix.contains(hint));
    // Another agent asks these hooks.
    let other = if agent == "codex" { "claude" } else { "codex" };
    let document = sandbox.run(&["doctor", other, "--json"]).json();
    let is_dead = |check: &&Value| check["name"] == "dead-guard" && check["fix"].as_str().unwrap().contains(hint);
    let is_diagnosed = document["checks"].as_array().unwrap().iter().any(|check| is_dead(&check));
    let is_told = enabled.contains(&format!("[{code}]")) && enabled.contains(hint) && enabled.contains(file);
    [is_checked, is_told, is_diagnosed]
}

/// Each kind of guard that never guards, and the same guard without the mistake.
#[test]
fn guards_that_never_guard_are_named_with_their_fix() {
    let shell = |command: &str| json!({"type": "command", "command": command});
    let timed = |timeout: u32| json!({"type": "command", "command": "cat >/dev/null", "timeout": timeout});
    let jq = |path: &str| shell(&format!("c=$(jq -r '{path}'); test -z \"$c\""));
    let answer = |text: &str| shell(&format!("echo '{text}'"));
    let variable = "echo \"$CLAUDE_TOOL_INPUT\" | grep -q push && exit 2";
    let updated = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {}}}"#;
    let without_list = |name: &'static str, event| (name, event, shell("true"));
    let (claude, codex) = (".claude/settings.json", ".codex/hooks.json");
    let rows = [
        (
            "claude",
            "script-missing",
            "",
            of_claude("Bash", &shell("./missing.sh")),
            of_claude("Bash", &shell("./runs.sh")),
        ),
        (
            "claude",
            "script-not-executable",
            "chmod +x plain.sh",
            of_claude("Bash", &shell("./plain.sh")),
            of_claude("Bash", &shell("sh ./plain.sh")),
        ),
        ("codex", "script-missing", "", of_codex(&shell("./missing.sh")), of_codex(&shell("./runs.sh"))),
        ("claude", "timeout-long", "\"timeout\": 5`", of_claude("Bash", &timed(5000)), of_claude("Bash", &timed(5))),
        ("claude", "timeout-long", "is in seconds", of_claude("Bash", &timed(700)), of_claude("Bash", &timed(600))),
        ("codex", "timeout-long", "\"timeout\": 30`", of_codex(&timed(30_000)), of_codex(&timed(30))),
        ("gemini", "timeout-short", "\"timeout\": 5000`", of_gemini(&timed(5)), of_gemini(&timed(5000))),
        (
            "claude",
            "matcher-no-tool",
            "",
            of_claude("Bash(git push:*)", &shell("true")),
            of_claude("Bash", &shell("true")),
        ),
        (
            "claude",
            "payload-field-unknown",
            "read `tool_input`",
            of_claude("Bash", &jq(".args.command")),
            of_claude("Bash", &jq(".tool_input.command")),
        ),
        (
            "claude",
            "variable-unknown",
            "jq -r '.tool_input'",
            of_claude("Bash", &shell(variable)),
            of_claude("Bash", &shell(&format!("CLAUDE_TOOL_INPUT=$(cat); {variable}"))),
        ),
        (
            "claude",
            "answer-key-unknown",
            "hookSpecificOutput.updatedInput",
            of_claude("Bash", &answer(r#"{"modifiedToolInput": {}}"#)),
            of_claude("Bash", &answer(updated)),
        ),
        ("claude", "group-shape", "\"hooks\"", without_list(claude, "PreToolUse"), of_claude("Bash", &shell("true"))),
        ("codex", "group-shape", "\"hooks\"", without_list(codex, "PreToolUse"), of_codex(&shell("true"))),
    ];
    for (agent, code, hint, dead, alive) in rows {
        assert_eq!(looked_at(agent, &dead, code, hint), [true; 3], "{agent} {code}: check, enable, doctor: {dead:?}");
        assert_eq!(looked_at(agent, &alive, code, hint), [false; 3], "{agent} {code} without the mistake: {alive:?}");
    }
}

#[test]
fn import_says_what_changes_and_refuses_a_loss() {
    let sandbox = with_guard();
    let lossy = sandbox.run(&["import", "--from", "claude", "--write", "--json"]).ends_with(2).json();
    let entry = &lossy["entries"][0];
    let text = sandbox.read(".claude/settings.json");
    let line = text.lines().collect::<Vec<_>>().iter().rposition(|line| line.trim() == "\"hooks\": [").unwrap() + 2;
    assert_eq!((&entry["lossy"], &entry["from"]["line"]), (&json!(true), &json!(line)), "{lossy}");
    assert_eq!(entry["to"]["event"], "BeforeTool");
    let changes = entry["changes"].to_string();
    assert!(changes.contains("the tool is called `run_shell_command` here"), "{changes}");
    assert!(!sandbox.project.join(".llxprt/settings.json").exists());
    let told = sandbox.run(&["import", "--from", "claude"]).ends_with(2).stdout;
    assert!(told.contains("nothing was written") && told.contains("hookrail enable claude"), "{told}");
    sandbox.run(&["import", "--from", "claude", "--write", "--allow-loss"]).ends_with(0);
    let written = sandbox.read(".llxprt/settings.json");
    assert!(written.contains("\"^run_shell_command$\"") && written.contains("\"BeforeTool\""), "{written}");
    let again = sandbox.run(&["import", "--from", "claude", "--write", "--allow-loss"]).ends_with(0).stdout;
    assert!(again.contains("unchanged") && sandbox.read(".llxprt/settings.json") == written, "{again}");
    // The copy runs beside the original, which doctor says.
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let doctor = sandbox.run(&["doctor", "claude", "--json"]).json();
    let names: Vec<&str> =
        doctor["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"double-run") && names.contains(&"own-hooks"), "{doctor}");
    let other = sandbox.run(&["doctor", "codex"]).stdout;
    assert!(!other.contains("runs twice"), "{other}");
}

#[test]
fn import_of_a_hook_that_means_the_same_needs_no_allowance() {
    let sandbox =
        with_entry("Bash", json!({"type": "command", "command": "grep -q push && exit 2; exit 0", "timeout": 5}));
    sandbox.run(&["import", "--from", "claude"]).ends_with(0);
    sandbox.run(&["import", "--from", "claude", "--write"]).ends_with(0);
    let written = sandbox.read(".llxprt/settings.json");
    assert!(written.contains("\"timeout\": 5000"), "{written}");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    fire(&sandbox, &["BeforeTool", "--tool", "run_shell_command", "--tool-input", r#"{"command":"git push"}"#])
        .ends_with(2);
    let one_more = json!({"type": "command", "command": "true", "async": true});
    let sandbox = with_entry("Bash", one_more);
    let lossy = sandbox.run(&["import", "--from", "claude"]).ends_with(2);
    assert!(lossy.stdout.contains("`async` is left out"), "{lossy:?}");
    let empty = Sandbox::new().run(&["import", "--from", "claude", "--write"]).ends_with(0);
    assert!(!empty.stdout.contains("written:"), "{empty:?}");
}

/// Between the formats of agents: into the file of the same layer, in its words and units, and as strict as before.
#[test]
fn import_writes_the_format_of_another_agent() {
    let line = |status: u8| format!("if grep -q push; then exit {status}; fi");
    for (from, file, event, matcher, timeout, to, target) in [
        ("claude", ".claude/settings.json", "PreToolUse", "Bash", 5, "gemini", ".gemini/settings.json"),
        ("claude", ".claude/settings.json", "PreToolUse", "Bash", 5, "codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json", "BeforeTool", "run_shell_command", 5000, "claude", ".claude/settings.json"),
        ("codex", ".codex/hooks.json", "PreToolUse", "Bash", 5, "claude", ".claude/settings.json"),
        ("codex", ".codex/hooks.json", "PreToolUse", "Bash", 5, "llxprt", ".llxprt/settings.json"),
    ] {
        for (status, decision) in [(2, 2), (0, 0)] {
            let sandbox = Sandbox::new();
            let hook = json!({"type": "command", "command": line(status), "timeout": timeout});
            sandbox.write(file, settings(event, &json!({"matcher": matcher, "hooks": [hook]})));
            let arguments = ["import", "--from", from, "--to", to, "--write"];
            let told = sandbox.run(&arguments).ends_with(0);
            let written = sandbox.read(target);
            let time = if ["gemini", "llxprt"].contains(&to) { "\"timeout\": 5000" } else { "\"timeout\": 5" };
            assert!(written.lines().any(|line| line.trim().trim_end_matches(',') == time), "{written} {told:?}");
            std::fs::remove_file(sandbox.project.join(file)).unwrap();
            if to != "llxprt" {
                assert!(told.stdout.contains(&format!("`hookrail enable {to}`")), "{told:?}");
                sandbox.run(&["enable", to]).ends_with(0);
            }
            sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
            fire(&sandbox, &PUSH).ends_with(decision);
        }
    }
}

/// Hooks of a user and of the machine stay theirs, and need no grant afterwards.
#[test]
fn import_keeps_the_layer_of_a_hook() {
    let line = |status: u8| format!("if grep -q push; then exit {status}; fi");
    let user = (".claude/settings.json", "claude");
    let (managed, one_of_many) = ("etc/claude-code/managed-settings.json", "etc/claude-code/managed-settings.d/2.json");
    let written_for_claude = "etc/claude-code/managed-settings.d/50-hookrail.json";
    let rows = [
        ("home", user.0, user.1, "gemini", ".gemini/settings.json"),
        ("home", user.0, user.1, "codex", ".codex/hooks.json"),
        ("home", ".gemini/settings.json", "gemini", "claude", ".claude/settings.json"),
        ("machine", managed, "claude", "gemini", "etc/gemini-cli/settings.json"),
        ("machine", one_of_many, "claude", "codex", "etc/codex/hooks.json"),
        ("machine", "etc/gemini-cli/settings.json", "gemini", "claude", written_for_claude),
        ("machine", "etc/codex/hooks.json", "codex", "claude", written_for_claude),
    ];
    for (place, file, from, to, target) in rows {
        for (status, decision) in [(2, 2), (0, 0)] {
            let sandbox = Sandbox::new();
            let run = |arguments: &[&str]| {
                let mut command = sandbox.command(arguments);
                ProgramOutput::capture(command.env("HOOKRAIL_FLEET_ROOT", sandbox.path("machine")))
            };
            let (event, matcher) =
                if from == "gemini" { ("BeforeTool", "run_shell_command") } else { ("PreToolUse", "Bash") };
            let hook = json!({"type": "command", "command": line(status)});
            let source = format!("{place}/{file}");
            sandbox.write_at(&source, settings(event, &json!({"matcher": matcher, "hooks": [hook]})));
            run(&["import", "--from", from, "--to", to, "--write"]).ends_with(0);
            assert!(sandbox.path(place).join(target).is_file(), "{source} becomes {target}");
            std::fs::remove_file(sandbox.path(&source)).unwrap();
            run(&["enable", to]).ends_with(0);
            let outcome = run(&[&["fire", "--json"], &PUSH[..]].concat()).ends_with(decision).json();
            let layer = if place == "home" { "user" } else { "system" };
            assert_eq!(outcome["runs"][0]["source"]["kind"], layer, "{source}: {outcome}");
        }
    }
}

#[test]
fn import_reads_the_toml_of_codex() {
    let text = |status: u8| {
        format!(
            "model = \"m\" # mine\n\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\n\
             command = \"if grep -q push; then exit {status}; fi\"\ntimeout = 5\n"
        )
    };
    for (to, target, time) in [
        ("llxprt", ".llxprt/settings.json", "\"timeout\": 5000"),
        ("claude", ".claude/settings.json", "\"timeout\": 5"),
    ] {
        for (status, decision) in [(2, 2), (0, 0)] {
            let sandbox = Sandbox::new();
            sandbox.write(".codex/config.toml", text(status));
            let planned = sandbox.run(&["import", "--from", "codex", "--to", to, "--json"]).ends_with(0).json();
            let entry = &planned["entries"][0];
            assert!(entry["from"]["file"].as_str().unwrap().ends_with(".codex/config.toml"), "{planned}");
            assert_eq!((&entry["from"]["line"], &entry["lossy"]), (&json!(5), &json!(false)), "{planned}");
            sandbox.run(&["import", "--from", "codex", "--to", to, "--write"]).ends_with(0);
            assert_eq!(sandbox.read(".codex/config.toml"), text(status), "the file that is read stays as it is");
            let written = sandbox.read(target);
            assert!(written.lines().any(|line| line.trim().trim_end_matches(',') == time), "{written}");
            std::fs::remove_file(sandbox.project.join(".codex/config.toml")).unwrap();
            if to == "claude" {
                sandbox.run(&["enable", to]).ends_with(0);
            }
            sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
            fire(&sandbox, &PUSH).ends_with(decision);
        }
    }
    // What hookrail would have to write into TOML goes into the other file that Codex reads beside it.
    let sandbox = with_entry("Bash", json!({"type": "command", "command": "if grep -q push; then exit 2; fi"}));
    sandbox.write(".codex/config.toml", text(0));
    sandbox.run(&["import", "--from", "claude", "--to", "codex", "--write"]).ends_with(0);
    assert!(sandbox.exists(".codex/hooks.json") && sandbox.read(".codex/config.toml") == text(0));
}

#[test]
fn import_refuses_what_cannot_become_an_entry() {
    let sandbox = with_guard();
    for (to, says) in [
        ("xcode", "command hooks of plugins"),
        ("xcsh", "JavaScript and TypeScript modules"),
        ("claude", "in its format already"),
    ] {
        let refused = sandbox.run(&["import", "--from", "claude", "--to", to]).ends_with(1);
        assert!(refused.stderr.contains(says), "{to}: {refused:?}");
    }
    // The guard looks at names that the other agent does not have.
    let lossy = sandbox.run(&["import", "--from", "claude", "--to", "gemini", "--write"]).ends_with(2);
    assert!(lossy.stdout.contains("the tool is called `run_shell_command` here"), "{lossy:?}");
    assert!(!sandbox.exists(".gemini/settings.json"));
}

/// What was installed is listed and left where it is.
#[test]
fn import_leaves_plugins_to_their_updates() {
    let sandbox = Sandbox::new();
    let plugin = sandbox.home.join("cache/guard");
    std::fs::create_dir_all(plugin.join("hooks")).unwrap();
    let hook = json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/deny.sh"});
    std::fs::write(plugin.join("hooks/hooks.json"), settings("PreToolUse", &json!({"hooks": [hook]}))).unwrap();
    let list = json!({"version": 2, "plugins": {"guard@here": [{"scope": "user", "installPath": plugin}]}});
    sandbox.write_home(".claude/plugins/installed_plugins.json", list.to_string());
    let lossy = sandbox.run(&["import", "--from", "claude", "--json"]).ends_with(2).json();
    let entry = &lossy["entries"][0];
    assert_eq!((&entry["to"], &entry["lossy"]), (&Value::Null, &json!(true)), "{lossy}");
    assert!(entry["changes"].to_string().contains("plugin `guard@here`"), "{lossy}");
    sandbox.run(&["import", "--from", "claude", "--write", "--allow-loss"]).ends_with(0);
    assert!(!sandbox.exists(".llxprt/settings.json"));
}

/// A name of another agent's event is not translated in place: the hook would no longer understand what it reads.
#[test]
fn check_does_not_port_hooks_silently() {
    let text = settings("PreToolUse", &json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}));
    let sandbox = Sandbox::with_settings(&text);
    let ran = sandbox.run(&["check", "--fix"]);
    assert_eq!(sandbox.read(".llxprt/settings.json"), text, "{ran:?}");
    assert!(
        ran.stdout.contains("hookrail enable claude") && ran.stdout.contains("hookrail import --from claude"),
        "{ran:?}"
    );
    let misspelt = Sandbox::with_settings(&text.replace("PreToolUse", "BeforTool"));
    misspelt.run(&["check", "--fix"]);
    assert!(misspelt.read(".llxprt/settings.json").contains("\"BeforeTool\""));
}
