//! What `test` runs without `--trust-project`, and what it asks about.

use serde_json::Value;

use crate::cli::hook_tests::{DENIED, GUARD, guarded};
use crate::cli::sandbox::Sandbox;

/// A repository that was not trusted runs nothing, and a case cannot bring code to a hook that was granted.
/// cli:C15
#[test]
fn nothing_runs_without_consent() {
    let sandbox = Sandbox::new();
    let marker = sandbox.path("marker");
    let settings = |command: &str| {
        let command = Value::from(command);
        let hook = format!(r#"{{"type": "command", "name": "h", "command": {command}}}"#);
        format!(r#"{{"hooksConfig": {{"enabled": true}}, "hooks": {{"BeforeTool": [{{"hooks": [{hook}]}}]}}}}"#)
    };
    sandbox.write(".llxprt/settings.json", settings(&format!("touch {}", marker.display())));
    let case = "[[case]]\nname = \"a\"\nevent = \"BeforeTool\"\ntool = \"t\"\nexpect = { runs = 1 }\n";
    sandbox.write("a.hooktest.toml", case);
    let ran = sandbox.run(&["test"]).ends_with(1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: nothing was run: 1 hook is not trusted
    hint: review the hooks and the case files, then run `hookrail test --trust-project`
    hint: after `hookrail trust grant`, cases that only send data to granted hooks need no option
    ");
    assert!(!marker.exists() && ran.stdout.is_empty());
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&["test"]).ends_with(0);
    assert!(marker.exists());
    std::fs::remove_file(&marker).unwrap();
    for more in [
        "files = { a = \"b\" }",
        "links = { a = \"b\" }",
        "programs = { touch = \"#!/bin/sh\" }",
        "env = { LD_PRELOAD = \"x\" }",
        "copy = { b = \"a.hooktest.toml\" }",
        "settings = \".llxprt/settings.json\"",
        "hook = \"evil.sh\"",
        "hook = \"evil.ts\"",
    ] {
        sandbox.write("evil.sh", format!("touch {}", marker.display()));
        sandbox.write("evil.ts", "export default () => {}\n");
        sandbox.write("a.hooktest.toml", case.replace("tool =", &format!("{more}\ntool =")));
        let ran = sandbox.run(&["test"]).ends_with(1);
        assert!(ran.stderr.contains("1 case would run files of the project"), "{more}: {}", ran.stderr);
        assert!(!marker.exists(), "{more}");
    }
    // One good case does not make the other run.
    sandbox.write("b.hooktest.toml", case);
    sandbox.run(&["test"]).ends_with(1);
    assert!(!marker.exists());
    std::fs::remove_file(sandbox.project.join("a.hooktest.toml")).unwrap();
    sandbox.write(".llxprt/settings.json", settings(&format!("touch {}; true", marker.display())));
    let ran = sandbox.run(&["test"]).ends_with(1);
    assert!(ran.stderr.contains("1 hook is not trusted"), "{}", ran.stderr);
    assert!(!marker.exists(), "a hook that has changed does not run");
    sandbox.run(&["test", "--trust-project"]).ends_with(0);
    assert!(marker.exists());
}

/// A grant covers where a link leads, so a link of the project is one in the copy, too.
#[test]
fn a_granted_script_behind_a_link_is_tested() {
    let sandbox = guarded();
    std::fs::remove_file(sandbox.project.join(".llxprt/hooks/guard.sh")).unwrap();
    sandbox.write("scripts/guard.sh", GUARD);
    std::os::unix::fs::symlink("../../scripts/guard.sh", sandbox.project.join(".llxprt/hooks/guard.sh")).unwrap();
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.write("a.hooktest.toml", DENIED);
    let ran = sandbox.run(&["test", "-v"]).ends_with(0);
    assert!(ran.stdout.contains("guard exited 2, deny"), "{}", ran.stdout);
    sandbox.run(&["test", "--trust-project"]).ends_with(0);
}

/// On a terminal the user is asked, and only yes runs anything. Progress is shown there.
#[cfg(target_os = "linux")]
#[test]
fn a_user_is_asked_on_a_terminal() {
    use crate::cli::pseudo_terminal::OnTerminal;
    let sandbox = guarded();
    sandbox.write("a.hooktest.toml", DENIED);
    for (ahead, answer, ends) in [("", "n\n", 1), ("y\n", "\n", 1), ("", "y\n", 0)] {
        let mut terminal = OnTerminal::start(&sandbox, &["test"], ahead);
        let shown = terminal.sees_next("run them now? [y/N] ");
        assert!(shown.contains("1 hook is not trusted") && shown.contains("hook  guard"), "{shown}");
        terminal.types(answer);
        let passed = if ends == 0 { "1 passed" } else { "nothing was run" };
        terminal.sees_next(passed);
        assert_eq!(terminal.command.wait().unwrap().code(), Some(ends));
    }
    let slow = "#!/bin/sh\nsleep 1\n".to_owned() + GUARD;
    sandbox.write(".llxprt/hooks/guard.sh", slow);
    let shown = OnTerminal::start(&sandbox, &["test", "--trust-project"], "").everything();
    assert!(shown.contains("0/1 a.hooktest.toml: denied"), "{shown:?}");
}
