//! Hooks that Claude Code, Gemini CLI and Codex CLI have in their own files: counted in one line, and never run.

use serde_json::{Value, json};

use crate::cli::bridge::{bridge, write_payload};
use crate::cli::sandbox::Sandbox;

/// The commands that say it, and what they end with in a project without hooks.
const COMMANDS: [(&[&str], i32); 7] = [
    (&["list"], 0),
    (&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", "{}"], 0),
    (&["explain", "BeforeTool", "--tool", "write_file"], 0),
    (&["trust"], 0),
    (&["trust", "grant", "--yes"], 0),
    (&["doctor", "claude"], 1),
    (&["init", "--dialect", "xcsh", "--lang", "typescript"], 0),
];

/// The commands with a document that has diagnostics.
const DOCUMENTS: [&[&str]; 5] = [
    &["list", "--json"],
    &["fire", "BeforeTool", "--tool", "write_file", "--tool-input", "{}", "--json"],
    &["explain", "BeforeTool", "--tool", "write_file", "--json"],
    &["trust", "status", "--json"],
    &["check", "--json"],
];

/// Settings with hooks of an agent's own, in groups, which leave a trace where they run.
fn own_hooks(event: &str, count: usize) -> Value {
    let hook = json!({"type": "command", "command": "touch ran"});
    json!({"hooks": {event: [{"matcher": "*", "hooks": vec![hook; count]}]}})
}

fn foreign(document: &Value) -> Vec<&Value> {
    document["diagnostics"].as_array().unwrap().iter().filter(|found| found["code"] == "foreign-hooks").collect()
}

/// What is said of hooks for which there is a dialect names the command that lets them take part.
fn as_told(agent: &str, line: &str) -> String {
    let is_switchable = hookrail::DialectId::from_name(agent).is_some_and(hookrail::DialectId::needs_enabling);
    let (_, pronoun) = line.split_once("hookrail does not run ").unwrap();
    let enable = format!("`hookrail enable {agent}` lets {pronoun} take part");
    if is_switchable { line.replace(&format!("hookrail does not run {pronoun}"), &enable) } else { line.to_owned() }
}

#[test]
fn hooks_of_other_agents_are_counted_in_one_line() {
    for (agent, file, text, line) in [
        ("claude", ".claude/settings.json", own_hooks("PreToolUse", 3).to_string(), "3 hooks in .claude/settings.json are Claude Code's own; hookrail does not run them"),
        ("claude", ".claude/settings.local.json", own_hooks("Stop", 1).to_string(), "1 hook in .claude/settings.local.json is Claude Code's own; hookrail does not run it"),
        ("gemini", ".gemini/settings.json", format!("// mine\n{}", own_hooks("BeforeTool", 2)), "2 hooks in .gemini/settings.json are Gemini CLI's own; hookrail does not run them"),
        ("codex", ".codex/hooks.json", own_hooks("PreToolUse", 2).to_string(), "2 hooks in .codex/hooks.json are Codex CLI's own; hookrail does not run them"),
        ("codex", ".codex/config.toml", "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"touch ran\"\n\n[hooks.state.x]\ntrusted_hash = \"y\"\n".to_owned(), "1 hook in .codex/config.toml is Codex CLI's own; hookrail does not run it"),
    ] {
        for is_of_user in [false, true] {
            if is_of_user && file.ends_with(".local.json") {
                continue;
            }
            let with_hooks = || {
                let sandbox = Sandbox::new();
                match is_of_user {
                    true => sandbox.write_home(file, &text),
                    false => sandbox.write(file, &text),
                };
                sandbox
            };
            let place = if is_of_user { format!("~/{file}") } else { file.to_owned() };
            let expected = format!("note: {}", as_told(agent, &line.replace(file, &place)));
            for (command, status) in COMMANDS {
                let command: Vec<&str> = command.iter().map(|word| if *word == "claude" { agent } else { word }).collect();
                let sandbox = with_hooks();
                let ran = sandbox.run(&command).ends_with(status);
                let lines = ran.stdout.lines().filter(|line| *line == expected).count();
                assert_eq!(lines, 1, "{command:?}: {ran:?}");
                let quiet = with_hooks().run(&[&["-q"], &command[..]].concat());
                assert!(!quiet.stdout.contains("'s own; "), "{command:?}: {quiet:?}");
                assert!(!sandbox.project.join("ran").exists(), "{command:?}");
            }
            let sandbox = with_hooks();
            for command in DOCUMENTS {
                let document = sandbox.run(command).json();
                let found = foreign(&document);
                let folder = if is_of_user { &sandbox.home } else { &sandbox.project };
                assert_eq!(found.len(), 1, "{command:?}: {document}");
                assert_eq!((&found[0]["level"], &found[0]["file"]), (&json!("note"), &json!(folder.join(file))));
                assert!(expected.ends_with(found[0]["message"].as_str().unwrap()), "{document}");
            }
            let document = sandbox.run(&["doctor", agent, "--json"]).json();
            let check = document["checks"].as_array().unwrap().iter().find(|check| check["name"] == "foreign-hooks");
            assert_eq!(check.unwrap()["status"], "ok", "{document}");
            let other = if agent == "gemini" { "claude" } else { "gemini" };
            assert!(!sandbox.run(&["doctor", other]).stdout.contains("'s own; "), "it is not about {other}");
        }
    }
}

#[test]
fn without_such_hooks_nothing_is_said() {
    for text in
        ["{}", "{\"hooks\": {}}", "{\"hooks\": {\"PreToolUse\": [], \"disabled\": [\"a\"]}}", "{\"model\": \"hooks\"}"]
    {
        let sandbox = Sandbox::new();
        for file in [".claude/settings.json", ".gemini/settings.json", ".codex/hooks.json"] {
            sandbox.write(file, text);
        }
        for (command, status) in COMMANDS {
            let ran = sandbox.run(command).ends_with(status);
            assert!(!ran.stdout.contains("note:"), "{command:?}: {ran:?}");
        }
        for command in DOCUMENTS {
            assert_eq!(foreign(&sandbox.run(command).json()).len(), 0, "{command:?}");
        }
    }
}

/// What `install` writes calls hookrail, which is the opposite of being left alone.
#[test]
fn entries_that_call_hookrail_are_not_counted() {
    let sandbox = Sandbox::new();
    for agent in ["claude", "gemini", "codex", "qwen"] {
        let trust: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        for scope in ["user", "project"] {
            sandbox.run(&[&["install", agent, "--scope", scope, "--yes"], trust].concat()).ends_with(0);
        }
    }
    assert!(!sandbox.run(&["list"]).ends_with(0).stdout.contains("'s own; "));
    assert_eq!(foreign(&sandbox.run(&["list", "--json"]).ends_with(0).json()).len(), 0);
    sandbox.run(&["uninstall", "claude", "--yes"]).ends_with(0);
    sandbox.write(".claude/settings.json", own_hooks("PreToolUse", 2).to_string());
    sandbox.run(&["install", "claude", "--scope", "project", "--yes"]).ends_with(0);
    let listed = sandbox.run(&["list"]).ends_with(0).stdout;
    assert!(listed.contains("2 hooks in .claude/settings.json are Claude Code's own"), "{listed}");
}

#[test]
fn a_file_that_cannot_be_read_harms_nothing() {
    let sandbox = Sandbox::with_hook("BeforeTool", "exit 2");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let deep = format!("{{\"hooks\": {}", "[".repeat(200_000));
    let file = sandbox.project.join(".claude/settings.json");
    for bytes in [
        &b"{\"hooks\": {\"Stop\": [{\"hooks\": ["[..],
        b"hooks \xff",
        deep.as_bytes(),
        b"[\"hooks\"]",
        b"{\"hooks\": 1}",
    ] {
        for name in [".claude/settings.json", ".gemini/settings.json", ".codex/config.toml", ".cursor/hooks.json"] {
            sandbox.write(name, "");
            std::fs::write(sandbox.project.join(name), bytes).unwrap();
        }
        let fired = sandbox.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", "{}"]).ends_with(2);
        assert!(!fired.stdout.contains("note:"), "{fired:?}");
        sandbox.run(&["list", "--json"]).ends_with(0);
    }
    std::fs::remove_file(&file).unwrap();
    #[cfg(unix)]
    {
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert!(!sandbox.run(&["list"]).ends_with(0).stdout.contains("note:"), "a pipe is not waited for");
        std::fs::remove_file(&file).unwrap();
    }
    sandbox.write(".claude/settings.json", own_hooks("Stop", 1).to_string());
    let fired = sandbox.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", "{}"]).ends_with(2);
    assert!(fired.stdout.contains("1 hook in .claude/settings.json is Claude Code's own"), "{fired:?}");
}

/// Where project and home directory are the same, a file is one of both.
#[test]
fn a_file_is_counted_once_and_the_bridge_says_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write_home(".claude/settings.json", own_hooks("PreToolUse", 3).to_string());
    let home = sandbox.home.to_str().unwrap().to_owned();
    let document = sandbox.run(&["list", "--json", "--project", &home]).ends_with(0).json();
    assert_eq!(foreign(&document).len(), 1, "{document}");
    let (event, payload) = write_payload(&sandbox, "claude");
    let ran = bridge(&sandbox, "claude", event, &payload, &[]).ends_with(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}
