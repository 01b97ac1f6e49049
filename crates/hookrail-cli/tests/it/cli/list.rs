//! `list`: every configured hook.

use serde_json::json;

use crate::cli::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_settings(
        r#"{
  "hooksConfig": {"enabled": true, "disabled": ["old"]},
  "hooks": {
    "SessionStart": [{"hooks": [{"type": "command", "name": "greet", "command": "true"}]}],
    "BeforeTool": [
      {"matcher": "write_*", "hooks": [{"type": "command", "name": "guard", "command": "true", "description": "d"}]},
      {"hooks": [{"type": "command", "name": "old", "command": "true"}]}
    ],
    "Nonsense": []
  }
}
"#,
    );
    let user = r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#;
    std::fs::create_dir(sandbox.home.join(".llxprt")).unwrap();
    std::fs::write(sandbox.home.join(".llxprt/settings.json"), user).unwrap();
    sandbox
}

#[test]
fn a_broken_configuration_is_no_reason_to_create_a_first_hook() {
    let broken = Sandbox::with_settings("{").run(&["list", "--trust-project"]).ends_with(0);
    assert_eq!(broken.stdout.matches("hookrail check").count(), 1, "{}", broken.stdout);
    assert!(!broken.stdout.contains("hookrail init"), "{}", broken.stdout);
    let empty = Sandbox::with_settings("{}").run(&["list", "--trust-project"]).ends_with(0);
    assert!(empty.stdout.contains("hookrail init"), "{}", empty.stdout);
}

#[test]
fn the_document() {
    let document = sandbox().run(&["list", "--json", "--trust-project"]).ends_with(0).json();
    let hooks = document["hooks"].as_array().unwrap();
    assert_eq!(hooks.len(), 4);
    let guard = hooks.iter().find(|hook| hook["hook"] == "guard").unwrap();
    assert_eq!((&guard["event"], &guard["matcher"]), (&json!("BeforeTool"), &json!("write_*")));
    assert_eq!(
        (&guard["dialect"], &guard["enabled"], &guard["trusted"]),
        (&json!("llxprt"), &json!(true), &json!(true))
    );
    assert_eq!((&guard["source"]["kind"], &guard["source"]["line"]), (&json!("project"), &json!(6)));
    assert_eq!(hooks.iter().find(|hook| hook["hook"] == "old").unwrap()["enabled"], false);
    assert_eq!(document["diagnostics"][0]["code"], "unknown-event");
}

#[test]
fn for_people() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&["list"]).ends_with(0).stdout), @r"
    session-start
      untrusted  greet  *  llxprt  .llxprt/settings.json:4

    before-tool
      untrusted  guard  write_*  llxprt  .llxprt/settings.json:6
      untrusted  old    *        llxprt  .llxprt/settings.json:7
      off        mine   *        llxprt  ~/.llxprt/settings.json:1  no settings file switches hooks on

    hint: 1 warning in the configuration; run `hookrail check` for details
    hint: 3 hooks are not trusted; run `hookrail trust grant` to look at them and trust them
    ");
}

#[test]
fn for_people_when_trusted() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.steady(&sandbox.run(&["list", "--trust-project"]).ends_with(0).stdout), @r"
    session-start
      on  greet  *  llxprt  .llxprt/settings.json:4

    before-tool
      on   guard  write_*  llxprt  .llxprt/settings.json:6
      off  old    *        llxprt  .llxprt/settings.json:7    disabled by the list of disabled hooks in the project settings (.llxprt/settings.json)
      on   mine   *        llxprt  ~/.llxprt/settings.json:1

    hint: 1 warning in the configuration; run `hookrail check` for details
    ");
}

#[test]
fn an_empty_project_says_so() {
    insta::assert_snapshot!(Sandbox::new().run(&["list"]).ends_with(0).stdout, @r"
    no hooks are configured
    hint: run `hookrail init` to create a first one
    ");
}
