//! What people see on a terminal of 50 columns: no line is wider, unless it is one word that cannot be broken.

#![cfg(target_os = "linux")]

use unicode_width::UnicodeWidthStr as _;

use crate::cli::pseudo_terminal::OnTerminal;
use crate::cli::sandbox::Sandbox;

const COLUMNS: usize = 50;

fn shown(sandbox: &Sandbox, args: &[&str], columns: usize) -> String {
    let mut command = sandbox.command(args);
    command.env("TERM", "xterm").env("COLUMNS", columns.to_string());
    let shown = OnTerminal::of(&mut command, "").everything();
    anstream::adapter::strip_str(&shown).to_string().replace("\r\n", "\n")
}

#[track_caller]
fn fits(sandbox: &Sandbox, args: &[&str]) -> String {
    let shown = shown(sandbox, args, COLUMNS);
    for line in shown.lines().filter(|line| line.width() > COLUMNS) {
        assert!(!line.trim().contains(' '), "{args:?}: {line:?} has {} columns in\n{shown}", line.width());
    }
    assert!(!shown.trim().is_empty(), "{args:?}");
    shown
}

fn project() -> Sandbox {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "write_file|replace|run_shell_command", "hooks": [
            {"type": "command", "name": "a-guard-that-has-a-rather-long-name", "command": "echo 'this file holds secrets and must not be written by an agent' >&2; exit 2", "timeout": 5, "onFailure": "block"},
            {"type": "command", "name": "watcher", "command": "echo '{\"systemMessage\": \"somewhat long text that a hook says to its user\"}'", "enforce": false}]},
            {"matcher": "Write, Edit", "hooks": [{"type": "command", "name": "never", "command": "./scripts/that/is/missing.sh --with --many --arguments"}]}],
        "PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]"#,
    );
    let input = r#"{"path": "a/folder/with/a/long/name/and/a/file/in/it.txt", "content": "one two three four five six seven eight nine ten"}"#;
    let fire = ["fire", "BeforeTool", "--tool", "write_file", "--tool-input", input, "--trust-project", "--journal"];
    sandbox.run(&fire).ends_with(2);
    sandbox
}

#[test]
fn every_table_fits() {
    let sandbox = project();
    let event = ["BeforeTool", "--tool", "write_file", "--trust-project"];
    fits(&sandbox, &["list"]);
    fits(&sandbox, &["list", "--trust-project"]);
    fits(&sandbox, &["log"]);
    fits(&sandbox, &["log", "--shadow"]);
    fits(&sandbox, &["stats"]);
    fits(&sandbox, &["check"]);
    fits(&sandbox, &["doctor", "claude"]);
    fits(&sandbox, &["plugin", "list"]);
    fits(&sandbox, &["trust"]);
    fits(&sandbox, &["trust", "diff"]);
    fits(&sandbox, &["docs"]);
    fits(&sandbox, &["--help"]);
    fits(&sandbox, &[]);
    fits(&sandbox, &["fire", "nonsense-that-no-agent-knows"]);
    fits(&sandbox, &[&["explain"], &event[..]].concat());
    fits(&sandbox, &[&["explain"], &event[..], &["--agent", "codex"]].concat());
    fits(&sandbox, &[&["fire"], &event[..]].concat());
    fits(&sandbox, &[&["fire", "-v"], &event[..]].concat());
    fits(&sandbox, &["dev", "--once", "--trust-project"]);
}

/// Names and paths in a table are broken too.
#[test]
fn a_table_has_no_line_that_is_too_wide() {
    let sandbox = Sandbox::with_hooks(&format!(
        r#""BeforeTool": [{{"matcher": "^(write_file|replace|run_shell_command|read_many_files)$", "hooks": [
            {{"type": "command", "name": "{}-{}", "command": "true"}}]}}]"#,
        "a".repeat(30),
        "b".repeat(30)
    ));
    sandbox.write(&format!(".xcsh/hooks/{}.ts", "a-long-name-of-a-module-".repeat(4)), "export default () => {};");
    for args in [&["list"][..], &["explain", "BeforeTool"], &["trust"]] {
        let shown = shown(&sandbox, args, COLUMNS);
        for line in shown.lines() {
            assert!(line.width() <= COLUMNS, "{args:?}: {line:?} has {} columns in\n{shown}", line.width());
        }
        assert!(shown.contains("settings.json"), "{args:?}: {shown}");
    }
}

#[test]
fn names_of_columns_go_with_the_values() {
    let stats = fits(&project(), &["stats"]);
    assert!(stats.contains("runs 1") && stats.contains("denied 1"), "{stats}");
}

#[test]
fn a_wide_terminal_and_a_pipe_have_aligned_columns() {
    let sandbox = project();
    let wide = shown(&sandbox, &["stats"], 200);
    assert!(wide.starts_with("hook ") && wide.contains("  runs  denied  asked  failed  "), "{wide}");
    assert_eq!(sandbox.run(&["stats"]).stdout, wide);
}
