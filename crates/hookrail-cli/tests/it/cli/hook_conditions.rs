//! The key `if` with the conditions of a rule, on hooks of each dialect with entries.

use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A hook that denies every call that it is asked about.
const DENIES: &str = "echo no >&2; exit 2";

fn shell(sandbox: &Sandbox, line: &str) -> ProgramOutput {
    let input = json!({ "command": line }).to_string();
    sandbox.run(&["fire", "before-tool", "--tool", "run_shell_command", "--tool-input", &input, "--json"])
}

/// Projects with this hook, one for each dialect.
fn projects(condition: &Value) -> Vec<(&'static str, Sandbox)> {
    let entry = json!({ "type": "command", "command": DENIES, "if": condition });
    let group = |event: &str| json!({ "hooksConfig": { "enabled": true }, "hooks": { event: [{ "hooks": [entry] }] } });
    let mut projects = Vec::new();
    let sandbox = Sandbox::new();
    sandbox.write_home(".llxprt/settings.json", group("BeforeTool").to_string());
    projects.push(("llxprt", sandbox));
    for (dialect, file, event) in [
        ("claude", ".claude/settings.json", "PreToolUse"),
        ("gemini", ".gemini/settings.json", "BeforeTool"),
        ("codex", ".codex/hooks.json", "PreToolUse"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.run(&["enable", dialect]).ends_with(0);
        sandbox.write_home(file, group(event).to_string());
        projects.push((dialect, sandbox));
    }
    projects
}

#[test]
fn a_hook_is_asked_where_its_conditions_hold_or_may_hold() {
    for (dialect, sandbox) in projects(&json!({ "deletes": { "outside": ["project"] } })) {
        for (line, status) in [
            ("rm -rf ../other", 2),
            ("sudo env A=1 rm -rf /opt/app", 2),
            ("rm -rf \"$DIR\"", 2),
            ("rm -rf build", 0),
            ("echo 'rm -rf /'", 0),
            ("./script.sh", 0),
        ] {
            let ran = shell(&sandbox, line);
            assert_eq!(ran.code, status, "{dialect}: {line}: {ran:?}");
        }
        let skipped = shell(&sandbox, "ls").json()["skipped"].to_string();
        assert!(skipped.contains("condition") && skipped.contains("outside"), "{dialect}: {skipped}");
    }
}

#[test]
fn one_of_several_conditions_is_enough() {
    for (dialect, sandbox) in projects(&json!([{ "git": "push-force" }, { "commands": ["npm publish"] }])) {
        for (line, status) in [("git push -f", 2), ("npm publish", 2), ("git push", 0), ("npm test", 0)] {
            let ran = shell(&sandbox, line);
            assert_eq!(ran.code, status, "{dialect}: {line}: {ran:?}");
        }
    }
}

#[test]
fn conditions_that_cannot_be_read_take_no_hook_away() {
    for (dialect, sandbox) in projects(&json!({ "delets": "a" })) {
        let outcome = shell(&sandbox, "ls").ends_with(2).json();
        let said = outcome["diagnostics"].to_string();
        assert!(said.contains("unknown key `delets`") && said.contains("always asked"), "{dialect}: {said}");
        assert!(said.contains("did you mean `deletes`?"), "{dialect}: {said}");
    }
}

#[test]
fn a_condition_that_is_added_to_a_granted_guard_does_not_disarm_it() {
    for condition in [json!("Bash(nothing *)"), json!({ "commands": "nothing" })] {
        let sandbox = Sandbox::new();
        sandbox.run(&["enable", "claude"]).ends_with(0);
        let settings = |condition: Option<&Value>| {
            let mut entry = json!({ "type": "command", "command": DENIES, "onFailure": "block" });
            if let Some(condition) = condition {
                entry["if"] = condition.clone();
            }
            let settings = json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [entry] }] } });
            sandbox.write(".claude/settings.json", settings.to_string());
        };
        settings(None);
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        shell(&sandbox, "ls").ends_with(2);
        settings(Some(&condition));
        shell(&sandbox, "ls").ends_with(2);
        // The control: a condition that was granted counts.
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        shell(&sandbox, "ls").ends_with(0);
    }
}
