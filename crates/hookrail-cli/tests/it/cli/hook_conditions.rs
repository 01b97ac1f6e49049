//! The key `if` with the conditions of a rule, on hooks of each dialect with entries.

use serde_json::{Value, json};

use crate::cli::every_host::{Judged, judged_everywhere};
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
    let sandbox = Sandbox::new();
    let denies = "echo '{\"decision\": \"deny\", \"reason\": \"no\"}'";
    let hooks = json!({ "PreToolUse": [{ "command": denies, "if": condition }] });
    let manifest = json!({ "name": "gate", "version": "1.0.0", "hooks": hooks });
    sandbox.write(".x-code/plugins/gate/plugin.json", manifest.to_string());
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    projects.push(("xcode", sandbox));
    let sandbox = Sandbox::new();
    let module = format!(
        "export default (pi) => {{ pi.on(\"tool_call\", () => ({{ block: true, reason: \"no\" }})); }};\n\
         const conditions = {condition};\nexport {{ conditions as if }};\n"
    );
    sandbox.write(".xcsh/hooks/pre/gate.js", module);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    projects.push(("xcsh", sandbox));
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

/// A text is a permission rule as Claude Code writes it. A name that the tool has elsewhere means every call of it.
#[test]
fn permission_rules_are_read_in_every_dialect() {
    for (condition, asked, passed) in [
        (
            "Bash(git push *)",
            &["git push origin", "cd src && git push", "$(x) y"][..],
            &["git pull", "echo git push"][..],
        ),
        ("Edit(src/**), Bash(rm *)", &["rm a"], &["ls src"]),
        ("Bash(git push", &["ls"], &[]),
        ("run_shell_command(git push *)", &["ls"], &[]),
        ("Read", &[], &["ls"]),
    ] {
        for (dialect, sandbox) in projects(&json!(condition)) {
            // Its own dialect knows no other names.
            if dialect == "claude" && condition.starts_with("run_") {
                continue;
            }
            for (lines, status) in [(asked, 2), (passed, 0)] {
                for line in lines {
                    let ran = shell(&sandbox, line);
                    assert_eq!(ran.code, status, "{dialect}: {condition}: {line}: {ran:?}");
                }
            }
        }
    }
}

fn explained(sandbox: &Sandbox, line: &str) -> Value {
    let input = json!({ "command": line }).to_string();
    let args = ["explain", "before-tool", "--tool", "run_shell_command", "--tool-input", &input, "--json"];
    sandbox.run(&args).ends_with(0).json()
}

#[test]
fn explain_shows_what_a_text_became() {
    for (dialect, sandbox) in projects(&json!("Bash(git push:*), WebFetch(domain:example.com)")) {
        let (shell, fetch) = match dialect {
            "claude" | "codex" => ("Bash", "WebFetch"),
            "xcode" => ("shell", "webFetch"),
            "xcsh" => ("bash", "fetch"),
            _ => ("run_shell_command", "web_fetch"),
        };
        let calls = json!([
            { "tools": [shell], "command": "git push *" },
            { "tools": [fetch], "host": "example.com" },
        ]);
        let asked = explained(&sandbox, "git push origin");
        assert_eq!(asked["plan"][0]["if"], json!([{ "calls": calls }]), "{dialect}");
        let passed = explained(&sandbox, "git pull");
        assert_eq!(passed["plan"], json!([]), "{dialect}");
        let skipped = &passed["skipped"][0];
        assert_eq!(skipped["if"], json!([{ "calls": calls }]), "{dialect}");
        let detail = format!("{shell} with the command `git push *`; {fetch} with the host `example.com`");
        assert_eq!(skipped["detail"], format!("its condition does not hold: {detail}"), "{dialect}");
    }
}

#[test]
fn explain_shows_every_kind_of_condition() {
    for (condition, became) in [
        (json!("Bash"), json!({ "calls": [{ "tools": ["run_shell_command"] }] })),
        (
            json!("Edit(/src/**)|Bash(rm *)"),
            json!({ "calls": [
                { "tools": ["replace", "write_file"], "path": "src/**" },
                { "tools": ["run_shell_command"], "command": "rm *" },
            ] }),
        ),
        (json!("Bash(git push"), json!({ "unreadable": "Bash(git push" })),
        (json!({ "git": ["push", "push-force"] }), json!({ "when": { "git": ["push", "push-force"] } })),
    ] {
        let (_, sandbox) = projects(&condition).swap_remove(0);
        let plan = explained(&sandbox, "rm x; git push");
        assert_eq!(plan["plan"][0]["if"], json!([became]), "{condition}");
    }
    let without = Sandbox::with_hook("BeforeTool", "true");
    let plan = without.run(&["explain", "before-tool", "--trust-project", "--json"]).ends_with(0).json();
    assert_eq!(plan["plan"][0].get("if"), None);
}

#[test]
fn the_conditions_hold_in_every_host() {
    for condition in [json!({ "git": "push-force" }), json!("Bash(git push *)")] {
        for (dialect, sandbox) in projects(&condition) {
            for (line, expected) in [("git push -f", true), ("git status", false)] {
                for Judged { host, is_stopped, said } in judged_everywhere(&sandbox, line) {
                    // An agent runs the hooks of its own settings itself.
                    if host == dialect {
                        continue;
                    }
                    assert_eq!(is_stopped, expected, "{dialect} in {host}: {condition}: {line}: {said}");
                }
            }
        }
    }
}

#[test]
fn the_condition_of_a_module_is_about_calls_only() {
    let sandbox = Sandbox::new();
    let module = "export default (pi) => {\n\
        pi.on(\"session_start\", () => { console.log(\"began\"); });\n\
        pi.on(\"tool_call\", () => ({ block: true, reason: \"no\" }));\n};\n\
        const conditions = { commands: \"git push\" };\nexport { conditions as if };\n";
    sandbox.write(".xcsh/hooks/pre/gate.js", module);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    shell(&sandbox, "git push").ends_with(2);
    shell(&sandbox, "git pull").ends_with(0);
    let began = sandbox.run(&["fire", "session-start", "--json"]).ends_with(0).json();
    assert_eq!(began["runs"].as_array().map(Vec::len), Some(1), "{began}");
}

/// A missing guard is asked as it was granted: its condition is read back from the grant.
#[test]
fn the_condition_of_a_granted_guard_that_goes_missing_still_counts() {
    for condition in [json!({ "commands": "git push" }), json!("Bash(git push *)")] {
        for (dialect, file, event) in
            [("claude", ".claude/settings.json", "PreToolUse"), ("llxprt", ".llxprt/settings.json", "BeforeTool")]
        {
            let sandbox = Sandbox::new();
            if dialect == "claude" {
                sandbox.run(&["enable", "claude"]).ends_with(0);
            }
            let entry = json!({ "type": "command", "command": DENIES, "onFailure": "block", "if": condition });
            let settings = |hooks: Value| json!({ "hooksConfig": { "enabled": true }, "hooks": hooks }).to_string();
            sandbox.write(file, settings(json!({ event: [{ "hooks": [entry] }] })));
            sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
            let mut edited = entry.clone();
            edited["if"] = json!("Bash(nothing *)");
            for (hooks, code) in [
                (json!({ event: [{ "hooks": [entry] }] }), None),
                (json!({ event: [{ "hooks": [edited] }] }), Some("trust-changed")),
                (json!({}), Some("guard-missing")),
            ] {
                sandbox.write(file, settings(hooks));
                let denied = shell(&sandbox, "git push").ends_with(2).json().to_string();
                assert!(code.is_none_or(|code| denied.contains(code)), "{dialect}: {condition}: {denied}");
                shell(&sandbox, "git pull").ends_with(0);
            }
        }
    }
}
