//! How failing hooks are handled: `engine:E2.2`, `llxprt:R67` to `llxprt:R73`, on a tool that is really guarded.

use serde_json::json;

use crate::world::{ProgramOutput, Shows as _, World, one_call};

fn script() -> serde_json::Value {
    one_call("write_file", json!({"path": "a.txt", "content": "x"}), json!({}))
}

/// Runs a hook before the tool. Gives the run, and whether the tool ran.
fn with_hook(body: &str) -> (ProgramOutput, bool) {
    let world = World::with(&[("BeforeTool", "", body)], script());
    let ran = world.say("go").ends_with(0);
    let wrote = world.exists("a.txt");
    (ran, wrote)
}

#[test]
fn switched_off_no_hook_fires() {
    let world = World::with(&[("BeforeTool", "", "touch fired; exit 2")], script());
    let settings = world.read(".llxprt/settings.json").replace("\"enabled\":true", "\"enabled\":false");
    world.write(".llxprt/settings.json", &settings);
    let ran = world.say("go").ends_with(0);
    assert!(world.exists("a.txt") && !world.exists("fired"));
    assert!(ran.shown("receipt").is_empty());
}

#[test]
fn without_hooks_nothing_fires() {
    let world = World::new(script());
    assert!(world.say("go").ends_with(0).shown("receipt").is_empty());
    assert!(world.exists("a.txt"));
}

#[test]
fn no_hooks_means_no_hooks_in_the_agent_too() {
    let world = World::with(&[("BeforeTool", "", "exit 2")], script());
    world.run(&["--no-hooks", "--prompt", "go"]).ends_with(0);
    assert!(world.exists("a.txt"));
}

#[test]
fn a_hook_that_does_not_match_does_not_fire() {
    let world = World::with(&[("BeforeTool", "read_file", "touch fired; exit 2")], script());
    world.say("go").ends_with(0);
    assert!(world.exists("a.txt") && !world.exists("fired"));
}

#[test]
fn exit_0_with_json_is_applied() {
    let (_, wrote) = with_hook(r#"echo '{"decision":"block","reason":"r"}'"#);
    assert!(!wrote);
}

#[test]
fn exit_0_with_plain_text_is_a_system_message() {
    let (ran, wrote) = with_hook("echo 'remember the tests'");
    assert!(wrote);
    assert_eq!(ran.texts("system_message", "text"), ["remember the tests"]);
}

#[test]
fn exit_0_with_nothing_is_allow() {
    let (ran, wrote) = with_hook("exit 0");
    assert!(wrote && ran.shown("warning").is_empty() && ran.shown("system_message").is_empty());
}

#[test]
fn exit_2_blocks_with_the_reason_of_stdout_or_stderr() {
    for (body, reason) in [
        (r#"echo '{"reason":"from json"}'; echo other >&2; exit 2"#, "from json"),
        ("echo 'from stderr' >&2; exit 2", "from stderr"),
    ] {
        let (ran, wrote) = with_hook(body);
        assert!(!wrote);
        assert_eq!(ran.texts("tool_result", "display"), [reason]);
    }
}

#[test]
fn other_exits_signals_and_timeouts_warn_and_go_on() {
    for (body, code) in
        [("exit 1", "hook-exited"), ("kill -SEGV $$", "hook-signalled"), ("sleep 60 # short", "hook-timed-out")]
    {
        let (ran, wrote) = with_hook(body);
        assert!(wrote, "{body}");
        assert_eq!(ran.texts("warning", "code"), [code], "{body}");
    }
}

#[test]
fn stderr_on_exit_0_changes_nothing() {
    let (ran, wrote) = with_hook("echo 'just a log line' >&2");
    assert!(wrote && !ran.stdout.contains("just a log line"));
}

#[test]
fn broken_json_on_exit_0_is_plain_text() {
    let (ran, wrote) = with_hook(r#"printf '{"note": '"#);
    assert!(wrote);
    assert_eq!(ran.texts("system_message", "text"), [r#"{"note":"#]);
}

#[test]
fn a_hook_that_cannot_be_started_warns_and_goes_on() {
    let world = World::with(&[("BeforeTool", "", "exec /nonexistent/program")], script());
    let ran = world.say("go").ends_with(0);
    assert!(world.exists("a.txt"));
    assert_eq!(ran.shown("warning").len(), 1);
}

#[test]
fn an_untrusted_hook_is_skipped_visibly() {
    let world = World::with(&[("BeforeTool", "", "exit 2")], script());
    let command = world.agent(&["--headless", "--prompt", "go"]);
    let args: Vec<_> = command.get_args().filter(|arg| *arg != "--trust-project").map(ToOwned::to_owned).collect();
    let mut untrusted = std::process::Command::new(command.get_program());
    untrusted.args(args).current_dir(&world.project).env_clear().env("HOME", &world.home).env("PATH", "/usr/bin:/bin");
    let ran = ProgramOutput::from(untrusted.stdin(std::process::Stdio::null()).output().unwrap()).ends_with(0);
    assert!(world.exists("a.txt"));
    assert!(ran.texts("warning", "code").contains(&"untrusted".to_owned()), "{}", ran.stdout);
}

#[test]
fn what_a_hook_says_never_reaches_the_terminal_raw() {
    let body = r#"printf '\033[2J\233evil\007' >&2; exit 2"#;
    let world = World::with(&[("BeforeTool", "", body)], script());
    for ran in [world.run(&["--prompt", "go"]), world.say("go")] {
        for shown in [&ran.stdout, &ran.stderr] {
            assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        }
        assert!(ran.stdout.contains("evil") || ran.stderr.contains("evil"));
    }
}

#[test]
fn what_a_model_calls_its_tools_never_reaches_the_terminal_raw() {
    let world = World::with(&[], one_call("\u{1b}[2Jevil\u{9b}", json!({}), json!({})));
    for ran in [world.run(&["--prompt", "go"]), world.say("go")] {
        for shown in [&ran.stdout, &ran.stderr] {
            assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        }
        assert!(ran.stdout.contains("evil") || ran.stderr.contains("evil"));
    }
}

#[test]
fn a_reason_is_shown_as_the_words_of_its_hook_and_a_cut_is_marked() {
    let body = "head -c 5000 /dev/zero | tr '\\0' x >&2; exit 2";
    let world = World::with(&[("BeforeTool", "", body)], script());
    let shown = world.run(&["--prompt", "go"]).stderr;
    assert!(shown.contains("denied by hook "), "{shown}");
    assert!(shown.contains(" more characters"), "{shown}");
    assert!(!shown.contains(&"x".repeat(2_000)), "{shown}");
    let told = world.say("go").ends_with(0).shown("tool_result");
    assert_eq!(told[0]["by"].as_array().map(Vec::len), Some(1), "{told:?}");
}
