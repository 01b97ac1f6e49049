//! `record`: cases from recorded events, which `test` runs.

use std::io::{BufRead as _, BufReader};

use hookrail_testkit::RunningProgram;
use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A trusted project whose hook denies, rewrites or lets pass, by the command.
fn recorded() -> Sandbox {
    let answers = r#"case $(cat) in
        *"rm "*) echo "not in $LLXPRT_PROJECT_DIR" >&2; exit 2;;
        *push*) echo '{"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": "git push --force-with-lease"}}}';;
    esac"#;
    let sandbox = Sandbox::with_hook("BeforeTool", answers);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

fn fire(sandbox: &Sandbox, input: &Value) {
    let input = input.to_string();
    let arguments =
        ["fire", "BeforeTool", "--tool", "shell", "--tool-input", &input, "--journal", "--session-id", "s1"];
    let _ = sandbox.run(&arguments);
}

/// cli:C17
#[test]
fn recorded_events_are_cases_that_pass() {
    let sandbox = recorded();
    let path = sandbox.project.join("src/a.rs");
    for input in [
        json!({"command": "ls"}),
        json!({"command": "rm -rf src"}),
        json!({"command": "git push --force"}),
        json!({"command": "cat", "path": path, "nothing": null, "text": "two\nlines \"quoted\" é"}),
    ] {
        fire(&sandbox, &input);
    }
    let ran = sandbox.run(&["record", "cases/a.hooktest.toml"]).ends_with(0);
    assert_eq!(ran.stdout.lines().count(), 4, "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
    let text = sandbox.read("cases/a.hooktest.toml");
    assert!(!text.contains(sandbox.project.to_str().unwrap()), "{text}");
    insta::assert_snapshot!(text, @r#"
    [[case]]
    name = "record-3"
    event = "before-tool"
    payload = { session_id = "s1", tool_input = { command = "ls" }, tool_name = "shell" }
    expect = { decision = "none" }

    [[case]]
    name = "record-4"
    event = "before-tool"
    payload = { session_id = "s1", tool_input = { command = "rm -rf src" }, tool_name = "shell" }
    expect = { decision = "deny", reason = "not in ${project}" }

    [[case]]
    name = "record-5"
    event = "before-tool"
    payload = { session_id = "s1", tool_input = { command = "git push --force" }, tool_name = "shell" }
    expect = { decision = "none", rewrite = { command = "git push --force-with-lease" } }

    [[case]]
    name = "record-6"
    event = "before-tool"
    payload = '{"session_id":"s1","tool_input":{"command":"cat","nothing":null,"path":"${project}/src/a.rs","text":"two\nlines \"quoted\" é"},"tool_name":"shell"}'
    expect = { decision = "none" }
    "#);
    let ran = sandbox.run(&["test"]).ends_with(0);
    assert!(ran.stdout.contains("4 cases run: 4 passed"), "{}", ran.stdout);
    // A case that is there already is not written twice.
    let again = sandbox.run(&["record", "cases/a.hooktest.toml"]).ends_with(1);
    assert!(again.stderr.contains("nothing was written: all 4 events are in the file already"), "{}", again.stderr);
    assert_eq!(sandbox.read("cases/a.hooktest.toml"), text);
    // The same cases in the other format, and on standard output.
    sandbox.run(&["record", "cases/b.hooktest.json", "--decision", "deny"]).ends_with(0);
    sandbox.run(&["record", "cases/b.hooktest.json", "-n", "1"]).ends_with(0);
    let ran = sandbox.run(&["test", "cases/b.hooktest.json"]).ends_with(0);
    assert!(ran.stdout.contains("2 cases run: 2 passed"), "{}", ran.stdout);
    let printed = sandbox.run(&["record"]).ends_with(0).stdout;
    assert_eq!(printed.trim_end(), text.trim_end());
    // Another hook decides otherwise, and the cases say so.
    sandbox.write(".llxprt/settings.json", "{\"hooksConfig\": {\"enabled\": true}}");
    assert!(sandbox.run(&["test", "cases/a.hooktest.toml"]).ends_with(1).stdout.contains("2 failed"));
}

#[test]
fn what_cannot_be_a_case_is_counted() {
    let sandbox = recorded();
    fire(&sandbox, &json!({"command": "ls", "token": "hunter2222"}));
    let ran = sandbox.run(&["record", "a.hooktest.toml"]).ends_with(1);
    assert!(ran.stderr.contains("note: 1 event left out: something was removed from the record"), "{}", ran.stderr);
    assert!(!sandbox.exists("a.hooktest.toml"), "nothing is written");
    sandbox.write_home(
        ".llxprt/settings.json",
        r#"{"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
    );
    fire(&sandbox, &json!({"command": "ls"}));
    let ran = sandbox.run(&["record", "a.hooktest.toml"]).ends_with(1);
    assert!(ran.stderr.contains("1 event left out: hooks from outside of the project took part"), "{}", ran.stderr);
}

/// cli:C17
#[test]
fn a_file_that_cannot_be_used_stays_as_it_is() {
    let sandbox = recorded();
    fire(&sandbox, &json!({"command": "ls"}));
    for (name, text, message) in [
        ("a.hooktest.toml", "[[case]]\nname = \"x\"\n", "nothing was written"),
        ("a.hooktest.toml", "[[case", "nothing was written"),
        ("a.hooktest.json", "{\"case\": [", "nothing was written"),
        ("a.toml", "", "is not the name of a case file"),
    ] {
        sandbox.write(name, text);
        let ran = sandbox.run(&["record", name]).ends_with(1);
        assert!(ran.stderr.contains(message), "{name}: {}", ran.stderr);
        assert_eq!(sandbox.read(name), text);
    }
    // Comments of a file stay.
    let case = "# mine\n[[case]]\nname = \"x\" # why\nevent = \"BeforeTool\"\nexpect = { runs = 1 }\n";
    sandbox.write("a.hooktest.toml", case);
    sandbox.run(&["record", "a.hooktest.toml"]).ends_with(0);
    assert!(sandbox.read("a.hooktest.toml").starts_with(case));
}

#[test]
fn the_next_events_are_recorded_as_they_happen() {
    let sandbox = recorded();
    fire(&sandbox, &json!({"command": "earlier"}));
    let mut command = sandbox.command(&["record", "a.hooktest.toml", "--follow", "--count", "2"]);
    let mut program = RunningProgram::start(&mut command);
    let mut told = BufReader::new(program.stderr.take().unwrap()).lines();
    assert!(told.next().unwrap().unwrap().starts_with("waiting for recorded events of "));
    fire(&sandbox, &json!({"command": "rm -rf /"}));
    fire(&sandbox, &json!({"command": "second"}));
    assert_eq!(program.exit_status(), Some(0));
    let text = sandbox.read("a.hooktest.toml");
    assert!(text.contains("rm -rf /") && text.contains("second") && !text.contains("earlier"), "{text}");
    sandbox.run(&["test"]).ends_with(0);
}

/// An event that a bridge fired names tools as the agent does.
#[test]
fn an_event_of_an_agent_is_a_case() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"type": "command", "name": "no", "command": "exit 2"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let payload = json!({
        "session_id": "s1", "hook_event_name": "PreToolUse", "cwd": sandbox.project, "turn_id": "t",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "model": "m", "permission_mode": "default",
    });
    let mut command = sandbox.command(&["bridge", "codex", "--event", "PreToolUse"]);
    let _ = ProgramOutput::with_input(&mut command, &payload.to_string());
    sandbox.run(&["record", "a.hooktest.toml"]).ends_with(0);
    let text = sandbox.read("a.hooktest.toml");
    assert!(text.contains("agent = \"codex\"") && text.contains("decision = \"deny\""), "{text}");
    let ran = sandbox.run(&["test"]);
    assert_eq!(ran.code, 0, "{}{}\n{text}", ran.stdout, ran.stderr);
}
