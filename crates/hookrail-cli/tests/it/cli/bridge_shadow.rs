//! `bridge` and hooks that are not enforced: the agent has its answer while they still run.

use std::time::Duration;

use hookrail_testkit::wait_until;
use serde_json::{Value, json};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

fn records(sandbox: &Sandbox) -> Vec<Value> {
    let shown = sandbox.run(&["log", "--json", "--session", "s"]).ends_with(0);
    shown.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The hook goes on until the test lets it, which is after the bridge has ended and longer than a shutdown waits.
#[test]
fn a_slow_hook_without_an_effect_delays_no_answer_and_is_recorded_when_it_ends() {
    let sandbox = Sandbox::with_hooks(
        r#""BeforeTool": [{"hooks": [{"type": "command", "name": "slow", "enforce": false,
            "command": "touch began; while [ ! -e go ]; do sleep 0.05; done; cat > seen; echo 'too late' >&2; exit 2"}]}]"#,
    );
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    let payload = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": sandbox.project, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"},
    });
    let mut command = sandbox.command(&["bridge", "claude", "--event", "PreToolUse"]);
    command.env("CLAUDE_PROJECT_DIR", &sandbox.project);
    let answered = ProgramOutput::with_input(&mut command, &payload.to_string());
    assert_eq!((answered.code, answered.stdout.as_str(), answered.stderr.as_str()), (0, "", ""), "{answered:?}");
    let guard = Duration::from_secs(60);
    assert!(wait_until(|| sandbox.project.join("began").exists(), guard), "the hook runs");
    let before = records(&sandbox);
    assert_eq!(before.len(), 1, "the event is recorded, and the hook has no end yet: {before:?}");
    assert_eq!(before[0]["kind"], "fired");

    std::fs::write(sandbox.project.join("go"), "").unwrap();
    assert!(wait_until(|| records(&sandbox).len() == 2, guard), "{:?}", records(&sandbox));
    let late = records(&sandbox).pop().unwrap();
    assert_eq!((&late["kind"], &late["why"], &late["reason"]), (&json!("late"), &json!("shadow"), &json!("too late")));
    assert_eq!((&late["fire"], &late["session"]), (&before[0]["fire"], &before[0]["session"]), "{late}");
    let seen: Value = serde_json::from_slice(&std::fs::read(sandbox.project.join("seen")).unwrap()).unwrap();
    assert_eq!(seen["tool_input"]["command"], "ls");
    let summary = sandbox.run(&["log", "--shadow"]);
    assert!(summary.stdout.contains("would have blocked 1 of 1"), "{summary:?}");
}
