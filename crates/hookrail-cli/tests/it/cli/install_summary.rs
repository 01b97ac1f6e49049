//! What `install` and `uninstall` say about the change: its meaning first, a line for each event, all of it with `-v`.

use crate::cli::sandbox::Sandbox;

#[test]
fn an_installation_says_what_it_means_and_one_line_for_each_event() {
    let sandbox = Sandbox::new();
    let dry = sandbox.run(&["install", "claude", "--dry-run"]).ends_with(0).stdout;
    insta::assert_snapshot!(dry, @r"
    9 events of Claude Code will ask hookrail; ~/.claude/settings.json is created; undo: `hookrail uninstall claude`
      +  SessionStart        hookrail bridge claude
      +  SessionEnd          hookrail bridge claude
      +  UserPromptSubmit    hookrail bridge claude  blocks on failure
      +  PreToolUse          hookrail bridge claude  blocks on failure
      +  PermissionRequest   hookrail bridge claude  blocks on failure
      +  PostToolUse         hookrail bridge claude
      +  PostToolUseFailure  hookrail bridge claude
      +  Stop                hookrail bridge claude
      +  PreCompact          hookrail bridge claude
    ");
    let written = sandbox.run(&["install", "claude", "--yes"]).ends_with(0).stdout;
    assert!(
        written.starts_with(&dry) && written.contains("Claude Code now calls hookrail: 1 file written"),
        "{written}"
    );
    let again = sandbox.run(&["install", "claude", "--dry-run"]).ends_with(0).stdout;
    assert!(!again.contains("will ask hookrail") && again.contains("nothing to change"), "{again}");
    insta::assert_snapshot!(sandbox.run(&["uninstall", "claude", "--dry-run"]).ends_with(0).stdout, @r"
    9 events of Claude Code will no longer ask hookrail; ~/.claude/settings.json is removed; undo: `hookrail install claude`
      -  SessionStart        hookrail bridge claude
      -  SessionEnd          hookrail bridge claude
      -  UserPromptSubmit    hookrail bridge claude
      -  PreToolUse          hookrail bridge claude
      -  PermissionRequest   hookrail bridge claude
      -  PostToolUse         hookrail bridge claude
      -  PostToolUseFailure  hookrail bridge claude
      -  Stop                hookrail bridge claude
      -  PreCompact          hookrail bridge claude
    ");
}

#[test]
fn what_is_different_in_an_entry_is_named() {
    let sandbox = Sandbox::new();
    sandbox.run(&["install", "claude", "--yes"]).ends_with(0);
    let more = ["install", "claude", "--dry-run", "--timeout", "30", "--strict-trust"];
    let said = sandbox.run(&more).ends_with(0).stdout;
    let line = said.lines().find(|line| line.contains("PreToolUse")).unwrap();
    assert!(line.starts_with("  ~ ") && line.ends_with("other options, time limit"), "{said}");
    assert!(line.contains("hookrail bridge claude --strict-trust"), "{said}");
    let fewer = ["install", "claude", "--dry-run", "--events", "before-tool"];
    let said = sandbox.run(&fewer).ends_with(0).stdout;
    assert!(
        said.starts_with("2 events of Claude Code will ask hookrail; ~/.claude/settings.json is changed; "),
        "{said}"
    );
    assert!(said.lines().any(|line| line.trim_end() == "  -  Stop                hookrail bridge claude"), "{said}");
    assert!(!said.contains("PreToolUse"), "what stays is not listed: {said}");
}

/// Settings of agents have dozens of lines for each event, which only those who ask for them want to see.
#[test]
fn the_whole_difference_is_shown_with_v_and_nothing_of_it_with_q() {
    for agent in ["claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi"] {
        let sandbox = Sandbox::new();
        let lines = |ran: &str| ran.lines().filter(|line| line.starts_with("+ ") || line.starts_with("- ")).count();
        for command in ["install", "uninstall"] {
            let plain = sandbox.run(&[command, agent, "--dry-run"]).ends_with(0).stdout;
            assert_eq!(lines(&plain), 0, "{agent}: {plain}");
            assert!(plain.contains(" ask hookrail; ") && plain.lines().count() < 20, "{agent}: {plain}");
            let whole = sandbox.run(&[command, agent, "--dry-run", "-v"]).ends_with(0).stdout;
            assert!(whole.starts_with(&plain) && lines(&whole) > 20, "{agent}: {whole}");
            let quiet = sandbox.run(&[command, agent, "--dry-run", "-q"]).ends_with(0).stdout;
            assert_eq!(Some(quiet.trim_end()), plain.lines().next(), "{agent}");
            let done = sandbox.run(&[command, agent, "--yes", "-q"]).ends_with(0).stdout;
            assert!(!done.contains("ask hookrail;") && lines(&done) == 0, "{agent}: {done}");
        }
    }
}

#[test]
fn a_failure_blocks_prompts_and_tools_and_nothing_else() {
    let sandbox = Sandbox::new();
    for (agent, event, effect) in [
        ("claude", "PreToolUse", "blocks on failure"),
        ("claude", "Stop", ""),
        ("claude", "PostToolUse", ""),
        ("gemini", "BeforeTool", "blocks on failure"),
        ("codex", "PreToolUse", "blocks on failure"),
        ("codex", "Stop", ""),
        ("qwen", "UserPromptSubmit", "blocks on failure"),
        ("copilot", "preToolUse", "blocks on failure"),
        ("pi", "every event", "blocks on failure"),
    ] {
        let said = sandbox.run(&["install", agent, "--dry-run"]).ends_with(0).stdout;
        let line = said.lines().find(|line| line.contains(&format!("+  {event} "))).unwrap();
        let expected = format!("hookrail bridge {agent}  {effect}");
        assert!(line.ends_with(expected.trim_end()), "{agent}: {said}");
    }
}

#[test]
fn a_file_of_the_user_that_gives_way_and_the_trust_of_codex_are_named() {
    let sandbox = Sandbox::new();
    let kept = "is kept as ~/.copilot/hooks/hookrail.json.before-hookrail";
    assert!(!sandbox.run(&["install", "copilot", "--dry-run"]).ends_with(0).stdout.contains("is kept as"));
    sandbox.write_home(".copilot/hooks/hookrail.json", "{\"version\": 1, \"hooks\": {}}");
    let said = sandbox.run(&["install", "copilot", "--dry-run"]).ends_with(0).stdout;
    assert!(said.contains(kept), "{said}");
    assert!(!sandbox.run(&["install", "codex", "--dry-run"]).ends_with(0).stdout.contains("config.toml"));
    let said = sandbox.run(&["install", "codex", "--trust", "--dry-run"]).ends_with(0).stdout;
    assert!(
        said.contains("~/.codex/config.toml is created") && said.contains("Codex CLI trusts these hooks"),
        "{said}"
    );
}
