//! `explain`: which hooks would run, and why others are skipped.

use serde_json::json;

use crate::cli::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::with_settings(
        r#"{
  "hooksConfig": {"enabled": true, "disabled": ["old"]},
  "hooks": {
    "BeforeTool": [
      {"matcher": "write_file", "sequential": true, "hooks": [
        {"type": "command", "name": "first", "command": "touch ran", "onFailure": "block", "timeout": 5000},
        {"type": "command", "name": "old", "command": "touch old"},
        {"type": "command", "name": "again", "command": "touch ran"}
      ]},
      {"matcher": "replace", "hooks": [{"type": "command", "name": "lint", "command": "touch lint"}]}
    ]
  }
}
"#,
    )
}

const ARGS: [&str; 5] = ["explain", "BeforeTool", "--tool", "write_file", "--trust-project"];

#[test]
fn the_document() {
    let sandbox = sandbox();
    let document = sandbox.run(&[&ARGS[..], &["--json"]].concat()).ends_with(0).json();
    assert_eq!((&document["event"], &document["mode"]), (&json!("before-tool"), &json!("sequential")));
    let plan = document["plan"].as_array().unwrap();
    assert_eq!(plan.len(), 1);
    assert_eq!(
        (&plan[0]["hook"], &plan[0]["dialect"], &plan[0]["mode"]),
        (&json!("first"), &json!("llxprt"), &json!("sequential"))
    );
    assert_eq!((&plan[0]["source"]["kind"], &plan[0]["source"]["line"]), (&json!("project"), &json!(6)));
    let skipped: Vec<_> = document["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skipped| (skipped["hook"].as_str().unwrap(), skipped["why"].as_str().unwrap()))
        .collect();
    assert_eq!(skipped, [("old", "disabled"), ("lint", "matcher"), ("again", "duplicate")]);
    assert!(document["diagnostics"].is_array());
}

#[test]
fn it_starts_nothing() {
    let sandbox = sandbox();
    sandbox.run(&ARGS).ends_with(0);
    assert!(!sandbox.project.join("ran").exists());
}

#[test]
fn for_people() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&ARGS).ends_with(0).stdout), @r"
    1 hook would run  before-tool write_file

    llxprt (sequential): one after the other
      1.  first  timeout: 60.0 s  on failure: block  .llxprt/settings.json:6

    would not run
      old    disabled   disabled by the list of disabled hooks in the project settings (.llxprt/settings.json)  .llxprt/settings.json:7
      lint   matcher    `replace` does not match tool_name `write_file`                                         .llxprt/settings.json:10
      again  duplicate  the same command is already planned from the project settings, .llxprt/settings.json:6  .llxprt/settings.json:8
    ");
}

#[test]
fn for_people_with_conditions() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [
        {"type": "command", "name": "pushes", "command": "true", "if": "Bash(git push:*), Edit(./src/**)"},
        {"type": "command", "name": "deletes", "command": "true ", "if": {"deletes": {"outside": "project"}}},
        {"type": "command", "name": "broken", "command": "true  ", "if": "Bash(git push"}
        ]}]"#,
    );
    let args = ["explain", "BeforeTool", "--tool", "run_shell_command", "--trust-project", "--tool-input"];
    let input = r#"{"command": "git push"}"#;
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&[&args[..], &[input]].concat()).ends_with(0).stdout), @r#"
    2 hooks would run  before-tool run_shell_command

    llxprt (parallel): all at once
      1.  pushes  timeout: 60.0 s  .llxprt/settings.json:5
          if run_shell_command with the command `git push *`; replace or write_file with the path `src/**`
      2.  broken  timeout: 60.0 s  .llxprt/settings.json:7
          if always: `Bash(git push` cannot be read

    would not run
      deletes  condition  its condition does not hold: {"deletes":{"outside":"project"}}  .llxprt/settings.json:6

    warning[setting-value]: `if` has a rule that cannot be read: `Bash(git push`; the hook is always asked
     --> .llxprt/settings.json:7:74
      |
    7 |         {"type": "command", "name": "broken", "command": "true  ", "if": "Bash(git push"}
      |                                                                          ^^^^^^^^^^^^^^^
      |
      = help: write a permission rule, such as `Bash(git push *)` or `Edit(src/**)`
    "#);
}

#[test]
fn for_people_when_nothing_would_run() {
    insta::assert_snapshot!(Sandbox::new().run(&["explain", "SessionEnd"]).ends_with(0).stdout, @"no hook would run  session-end");
}

#[test]
fn what_an_agent_cannot_honour_is_shown_for_the_hooks_of_the_event() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    let args = ["explain", "before-tool", "--tool", "write_file", "--trust-project", "--agent"];
    let explain = |agent: &str, more: &[&str]| sandbox.run(&[&args, &[agent][..], more].concat()).ends_with(0);
    let document = explain("codex", &["--json"]).json();
    assert_eq!(document["agent"], "codex");
    let losses: Vec<&str> =
        document["losses"].as_array().unwrap().iter().filter_map(|loss| loss["what"].as_str()).collect();
    assert_eq!(losses, ["loss.ask", "loss.stop", "loss.suppress-output"]);
    assert_eq!(document["losses"][0]["hooks"], serde_json::json!(["sample"]));
    assert_eq!(document["losses"][0]["detail"], "denied instead, with advice");
    let text = explain("codex", &[]).stdout;
    assert!(text.contains("what Codex CLI cannot honour") && text.contains("loss.ask"), "{text}");
    assert!(sandbox.run(&["explain", "before-tool", "--json"]).ends_with(0).json().get("losses").is_none());
    let none = Sandbox::new().run(&["explain", "before-tool", "--agent", "codex"]).ends_with(0).stdout;
    assert!(!none.contains("Codex CLI"), "of no hook nothing is promised: {none}");
    let sandbox = Sandbox::with_hook("BeforeModel", "true");
    let ran = sandbox.run(&["explain", "before-model", "--trust-project", "--agent", "claude", "--json"]).ends_with(0);
    assert_eq!(ran.json()["losses"][0]["what"], "loss.event");
}

#[test]
fn events_and_tools_may_have_the_names_of_the_agent() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"matcher": "write_file", "hooks": [{"type": "command", "name": "guard", "command": "true"}]}]"#,
    );
    for (agent, event, tool) in [
        ("claude", "PreToolUse", "Write"),
        ("copilot", "preToolUse", "create"),
        ("opencode", "tool.execute.before", "write"),
    ] {
        let args = ["explain", event, "--tool", tool, "--agent", agent, "--trust-project", "--json"];
        let plan = sandbox.run(&args).ends_with(0).json();
        assert_eq!(plan["plan"][0]["hook"], "guard", "{agent}: {plan}");
    }
}
