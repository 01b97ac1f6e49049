//! `trust diff`: the changes since a grant, and the exit status.

use serde_json::json;

use crate::cli::sandbox::Sandbox;

const HOOKS: &str = r#""BeforeTool": [{"matcher": "write_*", "hooks": [
  {"type": "command", "name": "guard", "command": "sh guard.sh"},
  {"type": "command", "name": "lint", "command": "npm run lint"}
]}], "SessionStart": [{"hooks": [{"type": "command", "command": "sh greet.sh"}]}]"#;

fn granted() -> Sandbox {
    let sandbox = Sandbox::with_hooks(HOOKS);
    sandbox.write("guard.sh", "exit 2\n");
    sandbox.write("greet.sh", "true\n");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

fn rewrite(sandbox: &Sandbox, from: &str, to: &str) {
    assert!(HOOKS.contains(from));
    let settings = std::fs::read_to_string(sandbox.project.join(".llxprt/settings.json")).unwrap();
    sandbox.write(".llxprt/settings.json", settings.replace(from, to));
}

#[test]
fn nothing_has_changed() {
    let sandbox = granted();
    insta::assert_snapshot!(sandbox.run(&["trust", "diff"]).ends_with(0).stdout, @"nothing has changed since it was granted");
    let document = sandbox.run(&["trust", "diff", "--json"]).ends_with(0).json();
    assert_eq!(document, json!({"project": sandbox.project, "trusted": true, "hooks": []}));
}

#[test]
fn a_changed_script_a_changed_command_a_new_hook_and_one_that_is_gone() {
    let sandbox = granted();
    sandbox.write("guard.sh", "exit 0\n");
    sandbox.write("lib.sh", "true\n");
    rewrite(&sandbox, "npm run lint", "npm run lint\\u001b[8m --fix\\n; sh lib.sh");
    rewrite(
        &sandbox,
        r#""SessionStart": [{"hooks": [{"type": "command", "command": "sh greet.sh"}]}]"#,
        r#""AfterTool": [{"hooks": [{"type": "command", "name": "log", "command": "cat >> log"}]}]"#,
    );
    insta::assert_snapshot!(sandbox.run(&["trust", "diff"]).ends_with(1).stdout, @r"
    guard  changed
      source      .llxprt/settings.json:5
      file        changed  guard.sh  5362fb632b15 → 28d3b9e880a7
                  @@ -1 +1 @@
                  -exit 2
                  +exit 0
    lint  changed
      command     - npm run lint
      command     + npm run lint\x1b[8m --fix
                    ; sh lib.sh
      source      .llxprt/settings.json:6
      file        added    lib.sh  a17fcf0a2f50
    log  new
      event       after-tool
      command     cat >> log
      may         do everything that you can do (no sandbox)
      source      .llxprt/settings.json:7
      file        none (open-ended: only a shell can tell what it runs); the grant covers only the text of the command
    sh greet.sh  gone
      event       - session-start
      matcher     - *
      command     - sh greet.sh

    hint: 3 hooks are not trusted; run `hookrail trust grant` to look at them and trust them
    ");
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let after = sandbox.run(&["trust", "diff"]).ends_with(0);
    assert!(after.stdout.starts_with("sh greet.sh  gone"), "what is gone cannot run: {}", after.stdout);
    assert!(!after.stdout.contains("lint"), "what a hook was is not granted any more: {}", after.stdout);
}

#[cfg(unix)]
#[test]
fn a_changed_text_is_shown_with_hidden_characters_written_out() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [{"type": "command", "name": "guard", "command": "sh guard.sh && sh linked.sh"}]}]"#,
    );
    sandbox.write("guard.sh", "# checks\nexit 2\n");
    let secret = sandbox.home.join("secret.sh");
    std::fs::write(&secret, "token=before\n").unwrap();
    std::os::unix::fs::symlink(&secret, sandbox.project.join("linked.sh")).unwrap();
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox.write("guard.sh", "# checks\nexit\u{2003}0 # \u{202e}\u{1b}[8m\n");
    std::fs::write(&secret, "token=after\n").unwrap();
    let shown = sandbox.run(&["trust", "diff"]).ends_with(1).stdout;
    let expected = ["@@ -1 +1 @@", " # checks", "-exit 2", "+exit\\u{2003}0 # \\u{202e}\\x1b[8m"];
    for row in expected {
        assert!(shown.contains(&format!("         {row}\n")), "{row:?} is not in {shown}");
    }
    assert!(!shown.contains("token="), "what a link leads to outside of the project is not shown: {shown}");
    let document = sandbox.run(&["trust", "diff", "--json"]).ends_with(1).json();
    let files = document["hooks"][0]["files"].as_array().unwrap();
    let of = |name: &str| files.iter().find(|file| file["path"].as_str().unwrap().ends_with(name)).unwrap();
    assert_eq!(of("guard.sh")["diff"], json!(expected));
    assert_eq!(of("linked.sh")["diff"], json!(null));
    let kept = sandbox.home.join(".local/state/hookrail/granted");
    assert_eq!(std::fs::read_dir(kept).unwrap().count(), 1, "only the text of the project's own file is kept");
}

#[test]
fn a_hook_without_a_name_is_found_again() {
    let sandbox = granted();
    rewrite(&sandbox, "sh greet.sh", "sh greet.sh --loud");
    rewrite(&sandbox, "write_*", "*");
    let document = sandbox.run(&["trust", "diff", "--json"]).ends_with(1).json();
    let hooks = document["hooks"].as_array().unwrap();
    let greet = hooks.iter().find(|hook| hook["hook"] == "sh greet.sh --loud").unwrap();
    assert_eq!((&greet["change"], &greet["files"]), (&json!("changed"), &json!([])));
    assert_eq!(
        (&greet["before"]["command"], &greet["after"]["command"]),
        (&json!("sh greet.sh"), &json!("sh greet.sh --loud"))
    );
    let guard = hooks.iter().find(|hook| hook["hook"] == "guard").unwrap();
    assert_eq!((&guard["before"]["matcher"], &guard["after"]["matcher"]), (&json!("write_*"), &json!("*")));
    assert_eq!(guard["source"]["line"], 5);
}

#[test]
fn what_an_earlier_version_granted_has_no_text_to_compare() {
    let sandbox = granted();
    let store = sandbox.home.join(".local/state/hookrail/trust.json");
    let mut contents: serde_json::Value = serde_json::from_slice(&std::fs::read(&store).unwrap()).unwrap();
    contents["version"] = json!(1);
    for hook in contents["projects"][sandbox.project.to_str().unwrap()]["hooks"].as_array_mut().unwrap() {
        assert!(hook.as_object_mut().unwrap().remove("described").is_some());
    }
    std::fs::write(&store, contents.to_string()).unwrap();
    insta::assert_snapshot!(sandbox.run(&["trust", "diff"]).ends_with(0).stdout, @"nothing has changed since it was granted");
    rewrite(&sandbox, "npm run lint", "npm run format");
    insta::assert_snapshot!(sandbox.run(&["trust", "diff"]).ends_with(1).stdout, @r"
    lint  changed
      before      not stored: the grant was made with an earlier version of hookrail
      event       + before-tool
      matcher     + write_*
      command     + npm run format
      source      .llxprt/settings.json:6

    hint: 1 hook is not trusted; run `hookrail trust grant` to look at it and trust it
    ");
}
