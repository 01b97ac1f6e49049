//! `trust`: only hooks that were shown run, and a changed hook needs a new grant.

use serde_json::json;

use crate::cli::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [
  {"type": "command", "name": "guard", "command": "sh guard.sh"},
  {"type": "command", "name": "lint", "command": "npm run lint \u001b[8m; hidden"}
]}]"#,
    );
    sandbox.write("guard.sh", "exit 2\n");
    sandbox
}

fn state(sandbox: &Sandbox, hook: &str) -> String {
    let document = sandbox.run(&["trust", "status", "--json"]).ends_with(0).json();
    let hooks = document["hooks"].as_array().unwrap();
    hooks.iter().find(|found| found["hook"] == hook).unwrap()["state"].as_str().unwrap().to_owned()
}

#[test]
fn without_a_terminal_the_answer_is_no() {
    let sandbox = sandbox();
    let ran = sandbox.run(&["trust", "grant"]).ends_with(1);
    insta::assert_snapshot!(sandbox.steady(&ran.stdout), @r"
    project: its settings will apply, including those that enable and disable hooks
    guard
      event       before-tool
      command     sh guard.sh
      may         do everything that you can do (no sandbox)
      source      .llxprt/settings.json:5
      file        guard.sh  5362fb632b15
    lint
      event       before-tool
      command     npm run lint \x1b[8m; hidden
      may         do everything that you can do (no sandbox)
      source      .llxprt/settings.json:6
      file        none (open-ended: it contains a character that cannot be seen); the grant covers only the text of the command
    ");
    insta::assert_snapshot!(ran.stderr, @r"
    error: nothing was granted: there is no terminal to ask on
    hint: pass `--yes` to grant what is shown above
    ");
    assert_eq!(state(&sandbox, "guard"), "not-granted");
}

#[test]
fn a_grant_lets_hooks_run_until_they_change() {
    let sandbox = sandbox();
    sandbox.run(&["fire", "BeforeTool"]).ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.run(&["fire", "BeforeTool"]).ends_with(2);
    sandbox.write("guard.sh", "exit 0\n");
    assert_eq!(state(&sandbox, "guard"), "changed");
    assert_eq!(state(&sandbox, "lint"), "granted");
    let ran = sandbox.run(&["fire", "BeforeTool", "--json"]).ends_with(0).json();
    assert_eq!((&ran["skipped"][0]["hook"], &ran["skipped"][0]["why"]), (&json!("guard"), &json!("untrusted")));
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    assert_eq!(state(&sandbox, "guard"), "granted");
}

#[test]
fn single_hooks_are_granted_and_revoked_by_name() {
    let sandbox = sandbox();
    sandbox.run(&["trust", "grant", "guard", "--yes"]).ends_with(0);
    assert_eq!((state(&sandbox, "guard"), state(&sandbox, "lint")), ("granted".into(), "not-granted".into()));
    sandbox.run(&["trust", "revoke", "guard"]).ends_with(0);
    assert_eq!(state(&sandbox, "guard"), "not-granted");
    let ran = sandbox.run(&["trust", "grant", "gaurd", "--yes"]).ends_with(1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: `gaurd` is not a hook of this project
    hint: did you mean `guard`?
    ");
    sandbox.run(&["trust", "revoke", "guard"]).ends_with(1);
}

#[test]
fn revoking_takes_everything_back() {
    let sandbox = sandbox();
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    insta::assert_snapshot!(sandbox.run(&["trust", "revoke"]).ends_with(0).stdout, @"revoked: the project and 2 hooks");
    sandbox.run(&["fire", "BeforeTool"]).ends_with(0);
    insta::assert_snapshot!(sandbox.run(&["trust", "revoke"]).ends_with(0).stdout, @"nothing to revoke: nothing of this project is trusted");
}

#[test]
fn the_status_for_people() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.run(&["trust"]).ends_with(0).stdout, @r"
    project: not trusted

      not granted  guard  before-tool  guard.sh    .llxprt/settings.json:5
      not granted  lint   before-tool  open-ended  .llxprt/settings.json:6

    hint: 2 hooks are not trusted; run `hookrail trust grant` to look at them and trust them
    ");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.write("guard.sh", "exit 0\n");
    insta::assert_snapshot!(sandbox.run(&["trust", "status"]).ends_with(0).stdout, @r"
    project: trusted

      changed  guard  before-tool  guard.sh    .llxprt/settings.json:5
      granted  lint   before-tool  open-ended  .llxprt/settings.json:6

    hint: `guard` was edited since you trusted it; run `hookrail trust diff` to look at the change, then `hookrail trust grant`
    ");
}

#[test]
fn the_document() {
    let sandbox = sandbox();
    let document = sandbox.run(&["trust", "status", "--json"]).ends_with(0).json();
    assert_eq!((&document["project"], &document["trusted"]), (&json!(sandbox.project), &json!(false)));
    let settings = sandbox.project.join(".llxprt/settings.json");
    assert_eq!(
        document["hooks"][0],
        json!({
            "hook": "guard", "event": "BeforeTool", "state": "not-granted", "openEnded": false,
            "sandbox": null, "sandboxRequired": false,
            "files": [sandbox.project.join("guard.sh")],
            "source": {"kind": "project", "file": settings, "line": 5},
        })
    );
    assert_eq!((&document["hooks"][1]["openEnded"], &document["hooks"][1]["files"]), (&json!(true), &json!([])));
}

#[cfg(unix)]
#[test]
fn the_project_is_known_by_its_real_name() {
    let sandbox = sandbox();
    let link = sandbox.home.join("link");
    std::os::unix::fs::symlink(&sandbox.project, &link).unwrap();
    sandbox.run(&["trust", "grant", "--yes", "--project", link.to_str().unwrap()]).ends_with(0);
    assert_eq!(state(&sandbox, "guard"), "granted");
    sandbox.run(&["fire", "BeforeTool", "--project", link.to_str().unwrap()]).ends_with(2);
}

#[test]
fn a_damaged_store_grants_nothing_and_says_so() {
    let sandbox = sandbox();
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let store = sandbox.home.join(".local/state/hookrail/trust.json");
    std::fs::write(&store, "{").unwrap();
    let ran = sandbox.run(&["trust", "status"]).ends_with(1);
    insta::assert_snapshot!(sandbox.steady(&ran.stderr), @r"
    error: the trust store `[HOME]/.local/state/hookrail/trust.json` is damaged: EOF while parsing an object at line 1 column 1
    hint: bring back a copy, or move it away with `mv [HOME]/.local/state/hookrail/trust.json [HOME]/.local/state/hookrail/trust.json.broken` and run `hookrail trust grant`
    ");
    sandbox.run(&["fire", "BeforeTool"]).ends_with(2);
    sandbox.run(&["fire", "SessionStart"]).ends_with(0);
}

/// A module that uses nothing but its events needs no capability: a grant shows that and leaves it none.
#[test]
fn a_module_that_only_answers_is_granted_no_capability() {
    let sandbox = Sandbox::new();
    sandbox.write(".xcsh/hooks/pre/guard.ts", "export default (pi) => pi.on('tool_call', () => ({ block: true }));\n");
    let imports =
        "import fs from 'node:fs';\nexport default (pi) => pi.on('tool_call', () => { fs.readFileSync('a'); });\n";
    sandbox.write(".xcsh/hooks/pre/reader.ts", imports);
    let offer = sandbox.run(&["trust", "grant", "--yes"]).ends_with(0).stdout;
    let may = |name: &str| {
        let (_, after) = offer.split_once(name).unwrap_or_else(|| panic!("no {name} in {offer}"));
        after.split("may ").nth(1).unwrap().lines().next().unwrap().trim().to_owned()
    };
    assert_eq!(may("guard.ts"), "only answer events");
    assert!(may("reader.ts").starts_with("read, "), "{offer}");
    let document = sandbox.run(&["trust", "status", "--json"]).ends_with(0).json();
    let left = |name: &str| {
        let hooks = document["hooks"].as_array().unwrap();
        hooks.iter().find(|hook| hook["hook"].as_str().unwrap().ends_with(name)).unwrap()["capabilities"].clone()
    };
    assert_eq!(left("guard.ts"), json!([]));
    assert_ne!(left("reader.ts"), json!([]));
    sandbox.run(&["fire", "tool_call", "--tool", "bash"]).ends_with(2);
}

/// The review of a rule shows its parts as its file has them, and no other form of the same.
#[test]
fn a_rule_is_shown_as_it_was_written() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".hookrail/rules.toml",
        "[[rule]]\nname = \"no-force-push\"\ndeny = \"no forced pushes\"\nwhen = { git = [\"push-force\"], not = { tool = \"x\" } }\n",
    );
    let shown = sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let shown = format!("{}{}", shown.stdout, shown.stderr);
    assert!(shown.contains("\n  deny        \"no forced pushes\"\n"), "{shown}");
    assert!(shown.contains("\n  when        { git = [\"push-force\"], not = { tool = \"x\" } }\n"), "{shown}");
    assert!(!shown.contains("command  ") && !shown.contains("{\""), "{shown}");
    // A hook has a command.
    let sandbox = Sandbox::new();
    sandbox.write_hooks(&json!({"BeforeTool": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}));
    let shown = sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    assert!(format!("{}{}", shown.stdout, shown.stderr).contains("\n  command     exit 2\n"), "{shown:?}");
}
