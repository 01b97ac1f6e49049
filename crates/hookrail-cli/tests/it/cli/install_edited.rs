//! `uninstall` after the user edited what was installed, and files of the user in the places of hookrail's own files.

use serde_json::{Value, json};

use crate::cli::install::{files, files_and_folders};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// The agents whose entries stand in a file that they share with others.
const SHARED: [(&str, &str); 3] =
    [("claude", ".claude/settings.json"), ("qwen", ".qwen/settings.json"), ("codex", ".codex/hooks.json")];

/// The files that belong to hookrail alone.
const OWN: [(&str, &str); 5] = [
    ("copilot", ".copilot/hooks/hookrail.json"),
    ("gemini", ".gemini/extensions/hookrail/hooks/hooks.json"),
    ("gemini", ".gemini/extensions/hookrail/gemini-extension.json"),
    ("opencode", ".config/opencode/plugin/hookrail.js"),
    ("pi", ".pi/agent/extensions/hookrail.ts"),
];

#[test]
fn an_edited_entry_is_taken_out_by_one_uninstallation() {
    let program = env!("CARGO_BIN_EXE_hookrail");
    for (agent, file) in SHARED {
        for (from, to) in [
            ("--event PreToolUse --deadline 48000", "--event PreToolUse --deadline 30000"),
            (program, "/usr/local/bin/hookrail"),
            (program, "/usr/local/bin/hr"),
        ] {
            for before in [None, Some("{\n  \"a\": 1\n}\n"), Some("{}")] {
                let sandbox = Sandbox::new();
                if let Some(text) = before {
                    sandbox.write_home(file, text);
                }
                let untouched = files_and_folders(&sandbox.home);
                sandbox.run(&["install", agent, "--yes"]).ends_with(0);
                let path = sandbox.home.join(file);
                let installed = std::fs::read_to_string(&path).unwrap();
                assert!(installed.contains(from), "{agent}: {installed}");
                std::fs::write(&path, installed.replace(from, to)).unwrap();
                let ran = sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
                assert!(ran.stdout.contains("no longer calls hookrail"), "{agent} {to}: {ran:?}");
                assert_eq!(files_and_folders(&sandbox.home), untouched, "{agent} {to}");
            }
        }
    }
}

#[test]
fn a_hook_that_was_added_to_a_group_stays_after_the_uninstallation() {
    for (agent, file) in SHARED {
        let sandbox = Sandbox::new();
        sandbox.run(&["install", agent, "--yes"]).ends_with(0);
        let path = sandbox.home.join(file);
        let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let theirs = json!({ "type": "command", "command": "theirs" });
        settings["hooks"]["PreToolUse"][0]["hooks"].as_array_mut().unwrap().push(theirs.clone());
        std::fs::write(&path, serde_json::to_string_pretty(&settings).unwrap()).unwrap();
        sandbox.run(&["install", agent, "--yes", "--timeout", "30"]).ends_with(0);
        let duplicates = sandbox.run(&["doctor", agent]).stdout.contains("calls hookrail 2 times");
        assert!(!duplicates, "{agent}: the entry is changed inside of its group");
        let ran = sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
        assert!(ran.stdout.contains("no longer calls hookrail"), "{agent}: {ran:?}");
        let left: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(left, json!({ "hooks": { "PreToolUse": [{ "hooks": [theirs] }] } }), "{agent}");
    }
}

/// A call of the bridge that the user wrote is given back, and the uninstallation says that it is there.
#[test]
fn what_still_calls_hookrail_is_named_with_its_line() {
    let sandbox = Sandbox::new();
    let text = "{\"hooks\": {\n  \"PreToolUse\": [{\"matcher\": \"Write\",\n    \"hooks\": [{\"type\": \"command\", \
                \"command\": \"hookrail bridge claude\"}]}]}}";
    sandbox.write_home(".claude/settings.json", text);
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let ran = sandbox.run(&["uninstall", "claude", "--yes"]).ends_with(1);
    assert_eq!(files(&sandbox.home)[".claude/settings.json"], text);
    assert!(ran.stdout.contains("Claude Code still calls hookrail"), "{ran:?}");
    assert!(ran.stdout.contains(".claude/settings.json:3: hookrail bridge claude\n"), "{ran:?}");
    assert!(!ran.stdout.contains("no longer calls"), "{ran:?}");
    // Entries of the project that another user's installation wrote.
    let sandbox = Sandbox::new();
    sandbox.run(&["install", "claude", "--scope", "project", "--yes"]).ends_with(0);
    std::fs::remove_dir_all(sandbox.home.join(".local")).unwrap();
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let ran = sandbox.run(&["uninstall", "claude", "--yes"]).ends_with(1);
    assert!(ran.stdout.contains("project/.claude/settings.json:"), "{ran:?}");
    let ran = sandbox.run(&["uninstall", "claude", "--yes"]).ends_with(0);
    assert!(ran.stdout.contains("no longer calls hookrail"), "{ran:?}");
}

#[test]
fn a_file_of_the_user_in_the_place_of_an_own_file_comes_back() {
    let mentions = "{\"version\":1,\"hooks\":{\"preToolUse\":[{\"type\":\"command\",\"bash\":\"my-guard.sh # runs \
                    beside hookrail\"}]}}\n";
    for (agent, file) in OWN {
        for text in ["{\"mine\":1}\n", mentions, "// my hookrail\n", "{\"name\": \"hookrail\", \"mcpServers\": {}}"] {
            let sandbox = Sandbox::new();
            sandbox.write_home(file, text);
            let before = files_and_folders(&sandbox.home);
            let copy = format!("{file}.before-hookrail");
            for _ in 0..2 {
                sandbox.run(&["install", agent, "--yes"]).ends_with(0);
                assert_eq!(files(&sandbox.home).get(&copy).map(String::as_str), Some(text), "{file}");
            }
            sandbox.run(&["install", agent, "--yes", "--timeout", "30"]).ends_with(0);
            sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
            assert_eq!(files_and_folders(&sandbox.home), before, "{file}");
            // Without a record, nothing of it is taken for an installation.
            sandbox.run(&["uninstall", agent, "--yes"]).ends_with(0);
            assert_eq!(files_and_folders(&sandbox.home), before, "{file}");
        }
    }
}

/// What the user adds to a file of hookrail's own is not lost.
#[test]
fn an_addition_to_an_own_file_survives() {
    let theirs = json!({ "type": "command", "bash": "theirs" });
    let file = ".copilot/hooks/hookrail.json";
    for again in [false, true] {
        let sandbox = Sandbox::new();
        sandbox.run(&["install", "copilot", "--yes"]).ends_with(0);
        let path = sandbox.home.join(file);
        let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        settings["hooks"]["preToolUse"].as_array_mut().unwrap().push(theirs.clone());
        std::fs::write(&path, settings.to_string()).unwrap();
        if again {
            sandbox.run(&["install", "copilot", "--yes"]).ends_with(0);
        }
        sandbox.run(&["uninstall", "copilot", "--yes"]).ends_with(0);
        let left = files(&sandbox.home);
        let kept = if again { &left[".copilot/hooks/hookrail.json.before-hookrail"] } else { &left[file] };
        assert!(kept.contains("theirs"), "{left:?}");
        assert!(again || !kept.contains("bridge"), "{left:?}");
    }
}

/// A copy of the program under another name calls the bridge as well.
#[cfg(unix)]
#[test]
fn a_renamed_program_is_recognised() {
    let sandbox = Sandbox::new();
    for name in ["hookrail-0.2", "hr"] {
        let program = sandbox.project.join(name);
        // Copied by another process: a child of another test could inherit the open file, which then cannot be executed.
        let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_hookrail")).arg(&program).status();
        assert!(copied.unwrap().success());
        let run = |arguments: &[&str]| {
            let mut command = sandbox.place_command(program.to_str().unwrap());
            ProgramOutput::capture(command.args(arguments))
        };
        for agent in ["gemini", "qwen", "opencode", "claude", "copilot"] {
            run(&["install", agent, "--yes"]).ends_with(0);
            let ran = run(&["doctor", agent]).ends_with(0);
            assert!(ran.stdout.contains("ok       the entries call `"), "{agent}: {ran:?}");
            run(&["install", agent, "--yes", "--timeout", "30"]).ends_with(0);
            let ran = run(&["doctor", agent]).ends_with(0);
            assert!(!ran.stdout.contains("2 times"), "{agent}: {ran:?}");
            // With the record gone, the entries are known by their form.
            std::fs::remove_dir_all(sandbox.home.join(".local")).unwrap();
            run(&["uninstall", agent, "--yes"]).ends_with(0);
            let left: String = files(&sandbox.home).into_values().collect();
            assert!(!left.contains("bridge"), "{agent}: {left}");
        }
        std::fs::remove_file(program).unwrap();
    }
}
