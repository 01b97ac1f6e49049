//! The four modes: one conversation, the same receipts. And what a signal does.

use std::io::{BufRead as _, BufReader};

use hookrail_testkit::{Signal, send_signal};
use serde_json::{Value, json};

use crate::terminal::Terminal;
use crate::world::{World, turns};

fn conversation() -> Value {
    turns(json!([
        {"text": "working", "calls": [
            {"name": "write_file", "args": {"path": ".env", "content": "x"}},
            {"name": "write_file", "args": {"path": "a.txt", "content": "x"}},
            {"name": "run_shell_command", "args": {"command": "echo hi"}}
        ]},
        {"text": "done", "expect": {"contains": ["no secrets", "checked"]}}
    ]))
}

fn world() -> World {
    let world = World::with(
        &[
            ("SessionStart", "", "exit 0"),
            ("BeforeAgent", "", r#"cat >/dev/null; echo '{"hookSpecificOutput":{"additionalContext":"be careful"}}'"#),
            ("BeforeTool", "write_file", "grep -q '\"path\":\".env\"' && { echo 'no secrets' >&2; exit 2; }; exit 0"),
            (
                "AfterTool",
                "write_file",
                r#"cat >/dev/null; echo '{"hookSpecificOutput":{"additionalContext":"checked"}}'"#,
            ),
            ("BeforeToolSelection", "", "exit 0"),
            ("BeforeModel", "", "exit 1"),
            ("AfterModel", "", "exit 0"),
            ("AfterAgent", "", "exit 0"),
            ("SessionEnd", "", "exit 0"),
        ],
        conversation(),
    );
    world.plugin(json!({"PreToolUse": [{"matcher": "shell", "command": "echo '{\"decision\":\"allow\"}'"}]}));
    world.module(
        r#"export default (pi) => { pi.on("turn_end", async () => {}); pi.on("agent_end", async () => {}); };"#,
    );
    world
}

/// The receipts, with the project's own path, which is the label of a module, taken out. Everything else must be the
/// same, the digests of what was judged included.
fn receipts(world: &World) -> Vec<String> {
    let here = world.project.to_str().unwrap();
    world.receipts().iter().map(|receipt| format!("{receipt:#}").replace(here, "[PROJECT]")).collect()
}

#[test]
fn hooks_behave_the_same_in_all_four_modes() {
    let headless = world();
    headless.say("go").ends_with(0);
    let expected = receipts(&headless);
    let count = |operation: &str| {
        let named = format!("\"operation\": \"{operation}\"");
        expected.iter().filter(|receipt| receipt.contains(&named)).count()
    };
    assert_eq!(
        (count("session-start"), count("tool write_file"), count("model-call"), count("session-end")),
        (1, 2, 2, 1)
    );

    let prompt = world();
    prompt.run(&["--prompt", "go"]).ends_with(0);
    same(&receipts(&prompt), &expected, "--prompt");

    let piped = world();
    piped.feed(&[], "go").ends_with(0);
    same(&receipts(&piped), &expected, "pipe");

    let interactive = world();
    let mut terminal = Terminal::start(&interactive, &[]);
    terminal.expect("type a prompt");
    terminal.line("go");
    terminal.expect("done");
    terminal.expect("> ");
    terminal.line("/exit");
    terminal.ends_with(0);
    same(&receipts(&interactive), &expected, "interactive");
}

#[track_caller]
fn same(found: &[String], expected: &[String], mode: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{mode}");
    }
    assert_eq!(found.len(), expected.len(), "{mode}");
}

#[test]
fn a_signal_ends_everything_and_the_session_ends_too() {
    let world = World::with(&[("SessionEnd", "", "cat > end.json")], turns(json!([{"text": "I hang", "hang": true}])));
    let mut child = world.agent(&["--headless", "--prompt", "go"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("I hang")), "the answer has begun");
    send_signal(child.id(), Signal::TERM);
    assert!(lines.any(|line| line.unwrap().contains("cancelled")));
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert!(world.read("end.json").contains(r#""reason":"other""#));
}

#[test]
fn a_signal_while_the_session_begins_ends_its_hooks_and_nothing_is_done() {
    let world =
        World::with(&[("SessionStart", "", "touch started; sleep 600")], turns(json!([{"text": "never said"}])));
    let child = world.agent(&["--headless", "--prompt", "go"]).spawn().unwrap();
    while !world.exists("started") {
        std::thread::yield_now();
    }
    send_signal(child.id(), Signal::INT);
    let ran = crate::world::ProgramOutput::from(child.wait_with_output().unwrap()).ends_with(128 + 2);
    assert!(!ran.stdout.contains("never said"));
}

#[test]
fn a_long_prompt_from_a_pipe_is_one_prompt() {
    let world = World::new(turns(json!([{"text": "ok", "expect": {"contains": ["line one\nline two"]}}])));
    let ran = world.feed(&[], "line one\nline two\n").ends_with(0);
    assert_eq!(ran.stdout, "ok\n");
}

#[test]
fn a_slow_hook_is_named_to_programs_too() {
    let world = World::with(
        &[("BeforeModel", "", "while [ ! -e go-on ]; do sleep 0.05; done")],
        turns(json!([{"text": "ok"}])),
    );
    let mut child = world.agent(&["--headless", "--prompt", "go"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == r#"{"type":"hook_running","hook":"h1"}"#));
    world.write("go-on", "");
    assert!(lines.any(|line| line.unwrap() == r#"{"type":"hook_ended","hook":"h1"}"#));
    assert!(child.wait().unwrap().success());
}
