//! Rules of several layers, exceptions, sessions, and what an invalid rule is about.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::cli::bridge::bridge;
use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A rule that denies or asks about commands that begin so.
fn rule(name: &str, answer: &str, command: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\n{answer} = \"because of {name}\"\nwhen = {{ commands = \"{command}\" }}\n")
}

fn user(sandbox: &Sandbox, text: &str) {
    sandbox.write_home(".config/hookrail/rules.toml", text);
}

/// Rules of the machine. In a test its files stand below another root.
fn machine(sandbox: &Sandbox, text: &str) {
    sandbox.write_at("machine/etc/hookrail/rules.toml", text);
}

fn fired(sandbox: &Sandbox, line: &str, variables: &[(&str, &str)]) -> ProgramOutput {
    let input = json!({ "command": line }).to_string();
    let mut command =
        sandbox.command(&["fire", "before-tool", "--tool", "run_shell_command", "--tool-input", &input, "--json"]);
    command.env("HOOKRAIL_FLEET_ROOT", sandbox.path("machine")).envs(variables.iter().copied());
    ProgramOutput::capture(&mut command)
}

fn line(sandbox: &Sandbox, text: &str, status: i32) -> Value {
    fired(sandbox, text, &[]).ends_with(status).json()
}

#[test]
fn rules_of_the_machine_are_a_floor() {
    let sandbox = Sandbox::new();
    machine(&sandbox, &rule("floor", "deny", "deploy"));
    let lifts =
        "[[exception]]\nrule = \"floor\"\nwhen = { commands = \"deploy\" }\nuntil = 2999-01-31\nreason = \"x\"\n";
    user(&sandbox, &format!("{}{}{lifts}", rule("floor", "allow", "deploy"), rule("own", "ask", "publish")));
    sandbox.write_home(".config/hookrail/config.toml", "[rules]\ndisabled = [\"floor\", \"own\"]\n");
    let outcome = line(&sandbox, "deploy", 2);
    assert_eq!(outcome["runs"][0]["source"]["kind"], "system", "{outcome}");
    // The control: of the user they are switched off.
    line(&sandbox, "publish", 0);
    fired(&sandbox, "deploy", &[("HOOKRAIL_DISABLE", "1")]).ends_with(2);
    machine(&sandbox, "[[rule");
    line(&sandbox, "ls", 2);
}

#[test]
fn an_exception_lifts_rules_of_the_user_and_of_a_project_and_none_of_a_project_counts() {
    let sandbox = Sandbox::new();
    let lifts = |rule: &str| {
        format!(
            "[[exception]]\nrule = \"{rule}\"\nwhen = {{ commands = \"deploy --dry\" }}\nuntil = 2999-01-31\nreason = \"x\"\n"
        )
    };
    sandbox.write(".hookrail/rules.toml", format!("{}{}", rule("of-project", "deny", "deploy"), lifts("of-user")));
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    user(&sandbox, &rule("of-user", "deny", "publish"));
    line(&sandbox, "deploy --dry", 2);
    user(&sandbox, &format!("{}{}", rule("of-user", "deny", "deploy"), lifts("of-project")));
    let outcome = line(&sandbox, "deploy --dry", 2);
    assert!(outcome["reason"].as_str().unwrap().contains("of-user"), "{outcome}");
    user(&sandbox, &lifts("of-project"));
    line(&sandbox, "deploy --dry", 0);
    line(&sandbox, "deploy", 2);
    // What is hidden is not described by an exception.
    line(&sandbox, "$(echo deploy) --dry", 2);
}

#[test]
fn deny_counts_more_than_ask_whatever_the_order_and_the_layer() {
    for [first, second] in [["deny", "ask"], ["ask", "deny"]] {
        let sandbox = Sandbox::new();
        user(&sandbox, &format!("{}{}", rule("one", first, "deploy"), rule("two", second, "deploy")));
        line(&sandbox, "deploy", 2);
        machine(&sandbox, &rule("floor", "ask", "publish"));
        user(&sandbox, &format!("{}{}", rule("one", "allow", "publish"), rule("two", "context", "publish")));
        line(&sandbox, "publish", 4);
        line(&sandbox, "ls", 0);
    }
}

#[test]
fn a_rule_that_cannot_be_used_is_about_the_events_and_tools_that_it_names() {
    let sandbox = Sandbox::new();
    let fire = |tool: &str, input: Value, status: i32| {
        sandbox
            .run(&["fire", "before-tool", "--tool", tool, "--tool-input", &input.to_string(), "--json"])
            .ends_with(status)
    };
    let broken = |when: &str| {
        user(&sandbox, &format!("[[rule]]\nname = \"typo\"\ndeny = \"x\"\nwhen = {{ {when} }}\n"));
    };
    broken("tool = \"write_file\", delets = \"a\"");
    fire("write_file", json!({ "file_path": "a", "content": "" }), 2);
    fire("Edit", json!({ "file_path": "a", "old_string": "a", "new_string": "b" }), 0);
    fire("run_shell_command", json!({ "command": "ls" }), 0);
    broken("delets = \"a\"");
    for (tool, input, status) in [
        ("write_file", json!({ "file_path": "a", "content": "" }), 2),
        ("run_shell_command", json!({ "command": "ls" }), 2),
        ("read_file", json!({ "file_path": "a" }), 0),
    ] {
        let outcome = fire(tool, input, status).json();
        let reason = outcome["reason"].as_str().unwrap_or_default();
        assert_eq!(
            reason.contains("rules.toml:2") && reason.contains("hookrail rules check"),
            status == 2,
            "{outcome}"
        );
    }
    user(&sandbox, "[[rule]]\nname = \"typo\"\ndeny = \"x\"\nwhen = { event = \"prompt\", promt = \"a\" }\n");
    fire("run_shell_command", json!({ "command": "ls" }), 0);
    sandbox.run(&["fire", "prompt", "--prompt", "hello", "--json"]).ends_with(2);
}

/// Whether Claude Code is told to deny a call. After the call its answer denies nothing.
fn is_denied(sandbox: &Sandbox, event: &str, session: &str, tool: &str, input: &Value) -> bool {
    let payload = json!({
        "session_id": session, "cwd": sandbox.project, "transcript_path": "/t", "permission_mode": "default",
        "hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_response": {},
    });
    bridge(sandbox, "claude", event, &payload, &[]).ends_with(0).stdout.contains(r#""permissionDecision":"deny""#)
}

#[test]
fn a_rule_knows_what_the_session_did_and_what_is_lost_is_not_known() {
    let sandbox = Sandbox::new();
    let rules = |more: &str| {
        let when = "when = { network = \"*\", session = { read = \"secret/**\" } }";
        user(&sandbox, &format!("[[rule]]\nname = \"later\"\ndeny = \"x\"\n{when}\n{more}"));
    };
    rules("");
    let line = |text: &str| json!({ "command": text });
    let connects =
        |session: &str| is_denied(&sandbox, "PreToolUse", session, "Bash", &line("curl https://example.com"));
    let key = json!({ "file_path": sandbox.project.join("secret/key") });
    assert!(!connects("one"));
    assert!(!is_denied(&sandbox, "PreToolUse", "one", "Read", &key));
    assert!(!connects("one"), "it has not been read yet");
    is_denied(&sandbox, "PostToolUse", "one", "Read", &key);
    assert!(connects("one"));
    assert!(!is_denied(&sandbox, "PreToolUse", "one", "Bash", &line("ls")));
    assert!(!connects("two"), "another session");
    is_denied(&sandbox, "PostToolUse", "two", "Bash", &line("cat secret/key"));
    assert!(connects("two"));
    let folder = sandbox.home.join(".local/state/hookrail/facts");
    let kept: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let files: Vec<_> = kept.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect();
    assert_eq!(files.len(), 2, "{kept:?}");
    for file in files {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
        fs::write(file, "{").unwrap();
    }
    assert!(!connects("one"), "what is lost is opaque");
    rules("match-unknown = [\"opaque\"]\n");
    assert!(connects("one"));
    assert!(!is_denied(&sandbox, "PreToolUse", "one", "Bash", &line("ls")));
}

#[test]
fn an_exception_that_holds_once_holds_once_in_a_session_and_never_in_one_without_a_name() {
    let sandbox = Sandbox::new();
    let once = "[[exception]]\nrule = \"r\"\nwhen = { commands = \"deploy\" }\nonce = true\nreason = \"x\"\n";
    user(&sandbox, &format!("{}{once}", rule("r", "deny", "deploy")));
    let deploys = |session: &str| is_denied(&sandbox, "PreToolUse", session, "Bash", &json!({ "command": "deploy" }));
    assert!(deploys(""));
    assert!(!deploys("a"));
    assert!(deploys("a"));
    assert!(!deploys("b"));
}
