//! Hooks of other agents in what is recorded: the journal, cases, replays and the inspector treat them like every hook.

#![cfg(unix)]

use serde_json::{Value, json};

use super::sandbox::{ProgramOutput, Sandbox};

/// A dialect with its file in a project, its event before a tool runs, and what it calls the shell tool.
struct Format {
    dialect: &'static str,
    file: &'static str,
    event: &'static str,
    shell: &'static str,
    /// The bridge of another agent, with its event and the name of its shell tool.
    elsewhere: (&'static str, &'static str, &'static str),
}

const FORMATS: [Format; 3] = [
    Format {
        dialect: "claude",
        file: ".claude/settings.json",
        event: "PreToolUse",
        shell: "Bash",
        elsewhere: ("codex", "PreToolUse", "Bash"),
    },
    Format {
        dialect: "gemini",
        file: ".gemini/settings.json",
        event: "BeforeTool",
        shell: "run_shell_command",
        elsewhere: ("claude", "PreToolUse", "Bash"),
    },
    Format {
        dialect: "codex",
        file: ".codex/hooks.json",
        event: "PreToolUse",
        shell: "Bash",
        elsewhere: ("gemini", "BeforeTool", "run_shell_command"),
    },
];

/// Denies what removes, rewrites what pushes and lets all else pass, in the words of each dialect.
fn guard(format: &Format) -> String {
    let input = json!({"command": "git push --dry-run"});
    let answer = match format.dialect {
        "gemini" => json!({"hookEventName": format.event, "tool_input": input}),
        _ => json!({"hookEventName": format.event, "permissionDecision": "allow", "updatedInput": input}),
    };
    let rewrite = json!({"hookSpecificOutput": answer});
    format!("#!/bin/sh\ncase $(cat) in *'rm '*) echo 'not here' >&2; exit 2;; *push*) echo '{rewrite}';; esac\n")
}

fn install(sandbox: &Sandbox, format: &Format, script: &str) {
    sandbox.write_program("guard.sh", script);
    let hook = json!({"type": "command", "command": "./guard.sh"});
    let group = json!({"matcher": format.shell, "hooks": [hook]});
    sandbox.write(format.file, json!({"hooks": {format.event: [group]}}).to_string());
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
}

fn guarded(format: &Format) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["enable", format.dialect]).ends_with(0);
    install(&sandbox, format, &guard(format));
    sandbox
}

fn fire(sandbox: &Sandbox, format: &Format, command: &str) -> ProgramOutput {
    let input = json!({"command": command}).to_string();
    let fields = ["--tool", format.shell, "--tool-input", &input, "--session-id", "s1", "--journal"];
    sandbox.run(&[&["fire", format.event], &fields[..]].concat())
}

/// Sends the call through the bridge of another agent, which records it.
fn fire_elsewhere(sandbox: &Sandbox, format: &Format, command: &str) -> ProgramOutput {
    let (agent, event, tool) = format.elsewhere;
    let payload = json!({
        "session_id": "s2", "hook_event_name": event, "cwd": sandbox.project, "tool_name": tool,
        "tool_input": {"command": command},
    });
    let mut command = sandbox.command(&["bridge", agent, "--event", event]);
    for variable in ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"] {
        command.env(variable, &sandbox.project);
    }
    ProgramOutput::with_input(&mut command, &payload.to_string())
}

fn records(sandbox: &Sandbox, options: &[&str]) -> Vec<Value> {
    let ran = sandbox.run(&[&["log", "--json"], options].concat()).ends_with(0);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_journal_names_the_hook_its_dialect_and_what_it_said() {
    for format in &FORMATS {
        let sandbox = guarded(format);
        fire(&sandbox, format, "rm -r x").ends_with(2);
        fire(&sandbox, format, "git push").ends_with(0);
        fire(&sandbox, format, "ls").ends_with(0);
        fire_elsewhere(&sandbox, format, "rm -r x");
        let of = |decision: &str| records(&sandbox, &["--event", format.event, "--decision", decision]);
        let denied = of("deny");
        assert_eq!(denied.len(), 2, "{}: {denied:?}", format.dialect);
        for record in &denied {
            let hook = &record["hooks"][0];
            assert_eq!((&hook["dialect"], &hook["decision"]), (&json!(format.dialect), &json!("deny")), "{record}");
            assert!(hook["hook"].as_str().unwrap().ends_with("guard.sh"), "{record}");
            assert!(record["outcome"]["reason"].as_str().unwrap().contains("not here"), "{record}");
        }
        let rewritten = records(&sandbox, &["--session", "s1"]);
        assert!(rewritten.iter().any(|record| record["outcome"].to_string().contains("--dry-run")), "{rewritten:?}");
        let told = sandbox.run(&["log", "--denied"]).ends_with(0).stdout;
        assert!(told.contains("guard.sh") && told.contains("not here"), "{told}");
    }
}

#[test]
fn recorded_events_become_cases_that_pass_and_fail_without_the_guard() {
    for format in &FORMATS {
        let sandbox = guarded(format);
        fire(&sandbox, format, "rm -r x").ends_with(2);
        fire(&sandbox, format, "git push").ends_with(0);
        fire(&sandbox, format, "ls").ends_with(0);
        fire_elsewhere(&sandbox, format, "rm -r y");
        let ran = sandbox.run(&["record", "a.hooktest.toml"]).ends_with(0);
        let text = sandbox.read("a.hooktest.toml");
        let agent = format!("agent = \"{}\"", format.elsewhere.0);
        assert!(text.contains(&agent) && text.contains("--dry-run") && text.contains("not here"), "{ran:?} {text}");
        let tested = sandbox.run(&["test"]).ends_with(0);
        assert!(tested.stdout.contains("4 cases run: 4 passed"), "{}: {tested:?}", format.dialect);
        install(&sandbox, format, "#!/bin/sh\ncat > /dev/null\n");
        let tested = sandbox.run(&["test"]).ends_with(1);
        assert!(tested.stdout.contains("3 failed"), "{}: {tested:?}", format.dialect);
    }
}

#[test]
fn a_replay_asks_the_hooks_as_they_are_now() {
    for format in &FORMATS {
        let sandbox = guarded(format);
        for command in ["rm -r x", "git push", "ls"] {
            fire(&sandbox, format, command);
        }
        fire_elsewhere(&sandbox, format, "rm -r y");
        let replay = |status: i32| sandbox.run(&["replay", "--json"]).ends_with(status).json();
        let same = replay(0);
        assert_eq!((&same["replayed"], &same["same"]), (&json!(4), &json!(4)), "{}: {same}", format.dialect);
        install(&sandbox, format, "#!/bin/sh\ncat > /dev/null\n");
        let changed = replay(2);
        let found: Vec<(&Value, &Value)> =
            changed["different"].as_array().unwrap().iter().map(|group| (&group["from"], &group["count"])).collect();
        assert!(found.contains(&(&json!("denied"), &json!(2))), "{}: {changed}", format.dialect);
        assert!(found.contains(&(&json!("allowed, rewritten"), &json!(1))), "{}: {changed}", format.dialect);
    }
}

#[test]
fn what_is_loaded_is_shown_with_its_dialect_by_every_command_that_looks() {
    for format in &FORMATS {
        let sandbox = guarded(format);
        let document = |arguments: &[&str]| sandbox.run(arguments).json();
        let list = document(&["list", "--json"]);
        let hook = &list["hooks"][0];
        assert_eq!((&hook["dialect"], &hook["trusted"]), (&json!(format.dialect), &json!(true)), "{list}");
        let plan = document(&["explain", format.event, "--tool", format.shell, "--json"]);
        assert_eq!(plan["plan"][0]["dialect"], format.dialect, "{plan}");
        let trust = document(&["trust", "status", "--json"]);
        assert_eq!(trust["hooks"][0]["state"], "granted", "{trust}");
        sandbox.run(&["check", "--json"]).ends_with(0);
    }
}
