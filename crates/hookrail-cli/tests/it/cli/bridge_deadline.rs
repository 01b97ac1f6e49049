//! `bridge`: the agent has its answer at the deadline, whatever holds up the bridge, and no hook goes on after that.

#![cfg(unix)]

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use hookrail_testkit::{HANG, RunningProgram, Signal, process_state, wait_until};
use serde_json::Value;

use crate::cli::bridge::{bridge, recorded, write_payload};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// A hook that ignores SIGTERM, says its number and goes on until it is killed.
const STUBBORN: &str = "trap '' TERM; echo $$ > pid.tmp; mv pid.tmp pid; while :; do sleep 0.02; done";

fn granted(hooks: &str) -> Sandbox {
    let sandbox = Sandbox::with_hooks(hooks);
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    sandbox
}

fn stubborn(event: &str, timeout: u32) -> Sandbox {
    let command = Value::from(STUBBORN);
    granted(&format!(
        r#""{event}": [{{"hooks": [{{"type": "command", "timeout": {timeout}, "onFailure": "block", "command": {command}}}]}}]"#
    ))
}

/// Waits until the hook has written its number.
fn hook_number(sandbox: &Sandbox) -> u32 {
    let file = sandbox.project.join("pid");
    assert!(wait_until(|| file.exists(), HANG), "the hook was not started");
    std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

/// A killed process may be left for its new parent to collect.
fn is_gone(process: u32) -> bool {
    wait_until(|| matches!(process_state(process), None | Some('Z')), HANG)
}

fn start(sandbox: &Sandbox, agent: &str, event: &str, payload: &Value) -> Child {
    let mut command = sandbox.command(&["bridge", agent, "--event", event, "--deadline", "600000"]);
    command.env("CLAUDE_PROJECT_DIR", &sandbox.project);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    child
}

/// Sends SIGTERM, and returns the status and what was written as errors.
fn terminated(child: Child) -> (Option<i32>, String) {
    let mut program = RunningProgram::from(child);
    program.signal(Signal::TERM);
    let status = program.exit_status();
    (status, std::io::read_to_string(program.stderr.take().unwrap()).unwrap())
}

fn session_files(sandbox: &Sandbox, agent: &str) -> Vec<PathBuf> {
    let folder = sandbox.home.join(".local/state/hookrail/bridge").join(agent);
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("session-")).collect()
}

#[test]
fn a_hook_that_ignores_signals_does_not_go_on_after_the_deadline() {
    let sandbox = stubborn("BeforeTool", 60_000);
    let (event, payload) = write_payload(&sandbox, "codex");
    let ran = bridge(&sandbox, "codex", event, &payload, &["--deadline", "3000"]).ends_with(2);
    assert!(ran.stderr.contains("did not answer within 3 s"), "{ran:?}");
    assert!(is_gone(hook_number(&sandbox)), "the hook goes on after the denial");
}

#[test]
fn a_hook_that_ignores_signals_does_not_go_on_after_its_own_timeout() {
    let sandbox = stubborn("BeforeTool", 1000);
    let (event, payload) = write_payload(&sandbox, "codex");
    let ran = bridge(&sandbox, "codex", event, &payload, &[]).ends_with(2);
    assert!(!ran.stderr.contains("did not answer within"), "its failure denies, not the deadline: {ran:?}");
    assert!(is_gone(hook_number(&sandbox)), "the hook goes on after the denial");
}

#[test]
fn a_lock_that_another_process_holds_does_not_hold_up_the_answer() {
    let sandbox = granted(r#""BeforeTool": [{"hooks": [{"type": "command", "command": "exit 0"}]}]"#);
    let (event, payload) = write_payload(&sandbox, "codex");
    bridge(&sandbox, "codex", event, &payload, &[]).ends_with(0);
    let files = session_files(&sandbox, "codex");
    let held = File::open(files.first().unwrap()).unwrap();
    held.lock().unwrap();
    let ran = bridge(&sandbox, "codex", event, &payload, &["--deadline", "500"]).ends_with(2);
    assert!(ran.stderr.contains("another process holds the lock"), "{ran:?}");
    held.unlock().unwrap();
    // The journal waits for its lock without asking whether an agent can wait.
    let held = File::open(sandbox.home.join(".local/state/hookrail/journal/lock")).unwrap();
    held.lock().unwrap();
    let ran = bridge(&sandbox, "codex", event, &payload, &["--deadline", "500"]).ends_with(2);
    assert!(ran.stderr.contains("did not answer within 0.5 s"), "{ran:?}");
    let ran = sandbox.run_with_input(&["bridge", "codex", "--event", event, "--deadline", "500"], "{").ends_with(2);
    assert!(ran.stderr.contains("hookrail"), "{ran:?}");
}

#[test]
fn a_signal_denies_and_ends_the_hooks() {
    let sandbox = stubborn("BeforeTool", 600_000);
    let (event, payload) = write_payload(&sandbox, "codex");
    let child = start(&sandbox, "codex", event, &payload);
    let hook = hook_number(&sandbox);
    let (code, said) = terminated(child);
    assert!(code == Some(2) && said.contains("SIGTERM") && said.contains("denied"), "{code:?}: {said}");
    assert!(is_gone(hook));
}

/// Claude Code ends the hooks of a session's end with SIGTERM, and Codex CLI kills them.
#[test]
fn a_session_is_forgotten_and_its_hooks_end_when_the_agent_does_not_wait_for_its_end() {
    let sandbox = stubborn("SessionEnd", 600_000);
    let prompt = recorded(&sandbox, "claude", "UserPromptSubmit");
    bridge(&sandbox, "claude", "UserPromptSubmit", &prompt, &[]).ends_with(0);
    assert_eq!(session_files(&sandbox, "claude").len(), 1);
    let end = recorded(&sandbox, "claude", "SessionEnd.other");
    let child = start(&sandbox, "claude", "SessionEnd", &end);
    let hook = hook_number(&sandbox);
    assert_eq!(session_files(&sandbox, "claude").len(), 0, "also if this process were killed now");
    let (code, said) = terminated(child);
    assert!(code == Some(0) && said.contains("SIGTERM"), "{code:?}: {said}");
    assert!(is_gone(hook));
    assert_eq!(session_files(&sandbox, "claude").len(), 0);
}

/// Hooks that no event waits for outlive an answer, but not the session.
#[test]
fn detached_hooks_go_on_until_the_session_ends() {
    let start_event = |event: &str, name: &str, payload: &str| -> (Sandbox, ProgramOutput) {
        let sandbox = Sandbox::with_hooks("");
        sandbox.write(
            ".x-code/plugins/slow/plugin.json",
            format!(
                r#"{{"name": "slow", "version": "1.0.0", "hooks": {{"{event}": [{{"command": "echo $$ > pid.tmp; mv pid.tmp pid; until test -e go; do sleep 0.02; done; touch went-on", "timeout": 30000}}]}}}}"#
            ),
        );
        sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
        let payload = recorded(&sandbox, "claude", payload);
        let ran = bridge(&sandbox, "claude", name, &payload, &[]).ends_with(0);
        (sandbox, ran)
    };
    let (sandbox, _) = start_event("SessionStart", "SessionStart", "SessionStart.startup");
    sandbox.write("go", "");
    assert!(wait_until(|| sandbox.project.join("went-on").exists(), HANG), "it was killed");
    let (sandbox, _) = start_event("SessionEnd", "SessionEnd", "SessionEnd.other");
    assert!(is_gone(hook_number(&sandbox)));
}

#[test]
fn the_deadline_at_the_end_of_a_session_is_below_what_the_agent_waits_there() {
    for (agent, deadline) in [("claude", "1200"), ("codex", "800"), ("gemini", "48000")] {
        let sandbox = Sandbox::with_hook("SessionEnd", "exit 0");
        let shown = sandbox.run(&["install", agent, "--dry-run", "-v"]).ends_with(0).stdout;
        assert!(shown.contains(&format!("--event SessionEnd --deadline {deadline}")), "{agent}: {shown}");
        assert!(shown.contains("--event SessionStart --deadline 48000"), "{agent}: {shown}");
    }
}
