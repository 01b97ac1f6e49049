//! The program shows a dialect that it has no code for: `list`, `explain` and the reference take it from the registry.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failure here is a failed test")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn hookrail(home: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookrail"));
    let output = command.args(arguments).current_dir(home.join("project")).env("HOME", home).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_new_dialect_is_listed_explained_and_documented() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("project")).unwrap();
    std::fs::write(home.path().join(".test-dialect.json"), r#"[{"on": "tool/ask", "run": "true"}]"#).unwrap();
    let document = |arguments: &[&str]| -> Value { serde_json::from_str(&hookrail(home.path(), arguments)).unwrap() };
    let list = document(&["list", "--json"]);
    assert_eq!(
        (&list["hooks"][0]["dialect"], &list["hooks"][0]["event"]),
        (&"test-dialect".into(), &"tool/ask".into())
    );
    let plan = document(&["explain", "--json", "tool/ask", "--tool", "edit"]);
    assert_eq!(plan["plan"][0]["dialect"], "test-dialect");
    let only = document(&["fire", "--json", "--dialect", "test-dialect", "tool/ask"]);
    assert_eq!(only["runs"][0]["dialect"], "test-dialect");
    let reference = hookrail(home.path(), &["reference", "events"]);
    assert!(reference.contains("* test-dialect: one-line hooks of the tests\n"));
    assert!(reference.contains("| event | llxprt | xcode | xcsh | test-dialect | dialects that can deny |"));
    assert!(reference.contains("**test-dialect: `tool/ask`**"));
}
