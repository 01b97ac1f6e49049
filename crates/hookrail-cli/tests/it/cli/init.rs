//! `init`: the first hook works, and no file is overwritten.

use crate::cli::sandbox::Sandbox;

fn fire(sandbox: &Sandbox, path: &str) -> crate::cli::sandbox::ProgramOutput {
    let input = serde_json::json!({ "path": path, "content": "\"path\": \".env\"" }).to_string();
    sandbox.run(&["fire", "BeforeTool", "--tool", "write_file", "--tool-input", &input])
}

#[test]
fn the_sample_is_without_problems_and_guards() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["init", "--lang", "bash"]).ends_with(0).stdout, @r#"
    created  .llxprt/hooks/guard.sh             the hook: it keeps the agent from writing `.env` files
    created  .llxprt/hooks/guard.hooktest.toml  its test cases
    created  .llxprt/settings.json              one hook for BeforeTool

    next
      hookrail trust grant
      hookrail test
      hookrail install claude    or codex, gemini and others
    "#);
    let names = |folder: &str| {
        let entries = std::fs::read_dir(sandbox.project.join(folder)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(".llxprt"), ["hooks", "settings.json"], "a schema is written only on request");
    assert_eq!(names(".llxprt/hooks"), ["guard.hooktest.toml", "guard.sh"]);
    assert!(!sandbox.read(".llxprt/settings.json").contains("$schema"));
    sandbox.run(&["check", "--deny-warnings"]).ends_with(0);
    fire(&sandbox, ".env").ends_with(0);
    let offered = sandbox.run(&["trust", "grant", "--yes"]).ends_with(0).stdout;
    assert!(offered.contains("sandbox     guard (reads everything, writes a private temporary folder"), "{offered}");
    for shown in [&["list"] as &[&str], &["explain", "BeforeTool", "--tool", "write_file"], &["trust", "status"]] {
        let text = sandbox.run(shown).ends_with(0).stdout;
        assert!(text.contains("sandbox: guard"), "{text}");
    }
    for path in [".env", "a/.env", ".env.local"] {
        fire(&sandbox, path).ends_with(2);
    }
    for path in ["notes.md", "a.env", ".envrc", ".env/readme"] {
        fire(&sandbox, path).ends_with(0);
    }
}

#[cfg(unix)]
#[test]
fn the_script_can_be_executed() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    sandbox.run(&["init", "--lang", "bash"]).ends_with(0);
    let about = std::fs::metadata(sandbox.project.join(".llxprt/hooks/guard.sh")).unwrap();
    assert_eq!(about.permissions().mode() & 0o100, 0o100);
}

#[test]
fn nothing_is_overwritten() {
    let sandbox = Sandbox::with_settings("{}");
    let ran = sandbox.run(&["init", "--lang", "bash"]).ends_with(1);
    insta::assert_snapshot!(ran.stderr, @r"
    error: `.llxprt/settings.json` already exists; nothing was written
    hint: run `hookrail list` to see the hooks
    hint: run `hookrail new NAME` to add a hook; the file keeps what it has
    ");
    assert_eq!(std::fs::read_to_string(sandbox.project.join(".llxprt/settings.json")).unwrap(), "{}");
    assert!(!sandbox.project.join(".llxprt/hooks").exists());
}

#[test]
fn without_a_word_about_a_hook_the_first_guard_is_a_rule() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["init"]).ends_with(0).stdout, @r"
    created  .hookrail/rules.toml  a rule: denies touching files with secrets, asks before all variables are printed

    next
      hookrail trust grant
      hookrail rules test
      hookrail add     lists more rules
      hookrail install claude    or codex, gemini and others
    ");
    sandbox.run(&["check", "--deny-warnings"]).ends_with(0);
    fire(&sandbox, ".env").ends_with(0);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    for path in [".env", "a/.env", ".env.local"] {
        fire(&sandbox, path).ends_with(2);
    }
    for path in ["notes.md", "a.env", ".env.example"] {
        fire(&sandbox, path).ends_with(0);
    }
    insta::assert_snapshot!(sandbox.run(&["init"]).ends_with(1).stderr, @r"
    error: `.hookrail/rules.toml` already exists; nothing was written
    hint: run `hookrail rules` to see the rules
    hint: run `hookrail add NAME` to add a rule; the file keeps what it has
    ");
}
