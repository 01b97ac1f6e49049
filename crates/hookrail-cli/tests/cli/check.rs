//! `check`: all problems of the configuration, with their places.

use crate::sandbox::Sandbox;

const WARNING: &str = r#"{
  "hooksConfig": {"enabled": true},
  "hooks": {"BeforTool": [], "BeforeTool": [{"hooks": [{"type": "command", "command": "true", "timeout": -1}]}]}
}"#;

#[test]
fn an_error_is_1_and_a_warning_is_not_unless_denied() {
    Sandbox::with_settings("{ \"hooks\": ").run(&["check"]).ends_with(1);
    let sandbox = Sandbox::with_settings(WARNING);
    sandbox.run(&["check"]).ends_with(0);
    sandbox.run(&["check", "--deny-warnings"]).ends_with(1);
    Sandbox::new().run(&["check", "--deny-warnings"]).ends_with(0);
}

#[test]
fn the_document_has_level_code_message_and_place() {
    let sandbox = Sandbox::with_settings("{\n  \"hooks\": [],\n}");
    let document = sandbox.run(&["check", "--json"]).ends_with(1).json();
    let found = &document["diagnostics"][0];
    assert_eq!(found["level"], "error");
    assert_eq!(found["code"], "setting-type");
    assert_eq!((found["line"].as_u64(), found["column"].as_u64()), (Some(2), Some(12)));
    assert_eq!(found["file"], sandbox.project.join(".llxprt/settings.json").to_str().unwrap());
    assert!(found["message"].is_string());
}

#[test]
fn warnings_for_people() {
    let sandbox = Sandbox::with_settings(WARNING);
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(0).stdout, @r#"
    warning[unknown-event]: `BeforTool` is not an event; its hooks will not run
     --> .llxprt/settings.json:3:13
      |
    3 |   "hooks": {"BeforTool": [], "BeforeTool": [{"hooks": [{"type": "command", "command": "true", "timeout": -1}]}]}
      |             ^^^^^^^^^^^
      |
      = help: did you mean `BeforeTool`?

    warning[timeout-invalid]: `timeout` must be a positive number of milliseconds; the default of 60000 applies
     --> .llxprt/settings.json:3:106
      |
    3 |   "hooks": {"BeforTool": [], "BeforeTool": [{"hooks": [{"type": "command", "command": "true", "timeout": -1}]}]}
      |                                                                                                          ^^

    2 warnings: 1 hook in 1 file
    "#);
}

#[test]
fn a_syntax_error_for_people() {
    let sandbox = Sandbox::with_settings("{\n  \"hooks\": {\n    \"BeforeTool\": [}\n}\n");
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(1).stdout, @r#"
    error[file-syntax]: not valid JSON: unexpected close brace
     --> .llxprt/settings.json:3:20
      |
    3 |     "BeforeTool": [}
      |                    ^

    1 error: no hooks are configured
    "#);
}

#[test]
fn a_mark_at_the_beginning_of_a_file_does_not_move_the_caret() {
    let sandbox = Sandbox::with_settings("\u{feff}{\n  \"hooks\": []\n}\n");
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(1).stdout, @r#"
    error[setting-type]: `hooks` must be an object, not a list
     --> .llxprt/settings.json:2:12
      |
    2 |   "hooks": []
      |            ^^

    1 error: no hooks are configured
    "#);
}

#[test]
fn a_very_long_line_is_not_printed_whole() {
    let sandbox = Sandbox::with_settings(&format!("{{\"x\": \"{}\", \"hooks\": []}}", "y".repeat(5_000)));
    let ran = sandbox.run(&["check"]).ends_with(1);
    assert!(ran.stdout.lines().all(|line| line.chars().count() < 200), "{}", ran.stdout);
    assert!(ran.stdout.contains("settings.json:1:5020"), "{}", ran.stdout);
    let sandbox = Sandbox::with_settings(&format!("{{\"x\": \"{}\", \"hooks\": []}}", "y".repeat(50_000)));
    let ran = sandbox.run(&["check"]).ends_with(1);
    assert!(ran.stdout.contains("settings.json:1:50020"), "{}", ran.stdout);
}

#[test]
fn what_a_file_holds_is_not_passed_to_the_terminal() {
    let sandbox = Sandbox::with_settings("{\"hooks\": \"\u{9b}31m\u{202e}x\"}");
    let ran = sandbox.run(&["check"]).ends_with(1);
    assert!(!ran.stdout.contains(['\u{9b}', '\u{202e}', '\u{1b}']), "{:?}", ran.stdout);
}

#[test]
fn no_problems() {
    let sandbox = Sandbox::with_hook("BeforeTool", "true");
    insta::assert_snapshot!(sandbox.run(&["check"]).ends_with(0).stdout, @"no problems: 1 hook in 1 file");
    insta::assert_snapshot!(Sandbox::new().run(&["check"]).ends_with(0).stdout, @"no problems: no hooks are configured");
}
