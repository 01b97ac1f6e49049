//! Guards that are modules, through `fire`, the agent and a bridge: the same decision in each.

use serde_json::json;

use crate::cli::bridge::{bridge, denies, write_payload};
use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// Where a module of the user lies, which needs no grant.
const GUARD: &str = ".xcsh/agent/hooks/pre/guard.ts";

/// A module of the user with this source.
fn guarded_by(source: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write_home(GUARD, source);
    let call = json!({"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "x"}}]});
    sandbox.write("talk.jsonl", format!("{call}\n{}\n", json!({"text": "done"})));
    sandbox
}

fn fire(sandbox: &Sandbox) -> ProgramOutput {
    let input = json!({"file_path": "a.txt", "content": "x"}).to_string();
    sandbox.run(&["fire", "BeforeTool", "--json", "--tool", "write_file", "--tool-input", &input])
}

/// Asserts that every host denies a write of `a.txt` with a reason that has this text, or that none denies it.
#[track_caller]
fn every_host(sandbox: &Sandbox, reason: Option<&str>) {
    let fired = fire(sandbox);
    let (event, payload) = write_payload(sandbox, "claude");
    let bridged = bridge(sandbox, "claude", event, &payload, &[]);
    let _ = std::fs::remove_file(sandbox.project.join("a.txt"));
    let agent = sandbox.run(&["agent", "--script", "talk.jsonl", "--prompt", "write"]);
    match reason {
        Some(text) => {
            assert!(fired.code == 2 && fired.stdout.contains(text), "fire: {fired:?}");
            assert!(denies("claude", &bridged, text), "bridge: {bridged:?}");
            assert!(!sandbox.exists("a.txt"), "agent: {agent:?}");
            assert!(format!("{}{}", agent.stdout, agent.stderr).contains(text), "agent: {agent:?}");
        }
        None => {
            assert!(fired.code == 0, "fire: {fired:?}");
            assert!(bridged.code == 0 && !bridged.stdout.contains("\"deny\""), "bridge: {bridged:?}");
            assert!(sandbox.exists("a.txt"), "agent: {agent:?}");
        }
    }
}

#[test]
fn a_guard_that_a_timer_or_a_promise_of_the_factory_registers_is_asked() {
    for later in ["setTimeout(guard, 20)", "Promise.resolve().then(guard)", "pi.exec('true', []).then(guard, () => {})"]
    {
        let module = |answer: &str| {
            format!(
                "export default (pi) => {{\n  const guard = () => pi.on('tool_call', () => ({answer}));\n  {later};\n}};\n"
            )
        };
        every_host(&guarded_by(&module("{ block: true, reason: 'registered late' }")), Some("registered late"));
        every_host(&guarded_by(&module("undefined")), None);
    }
}

#[test]
fn a_result_of_another_shape_is_reported_and_denies_nothing() {
    let strange = [
        "'deny'",
        "['deny']",
        "true",
        "7",
        "{ blocked: true }",
        "{ Block: true }",
        "{ decision: 'deny', reason: 'no' }",
    ];
    let module = |answer: &str| format!("export default (pi) => {{ pi.on('tool_call', () => ({answer})); }};\n");
    for answer in strange {
        let sandbox = guarded_by(&module(answer));
        every_host(&sandbox, None);
        let fired = fire(&sandbox);
        let found = &fired.json()["diagnostics"];
        let reported = found.as_array().unwrap().iter().any(|found| {
            found["code"] == "unreadable-answer" && found["hint"].as_str().unwrap().contains("block: true")
        });
        assert!(reported, "{answer}: {found}");
        let agent = sandbox.run(&["agent", "--script", "talk.jsonl", "--prompt", "write"]);
        assert!(format!("{}{}", agent.stdout, agent.stderr).contains("is no result of it"), "{answer}: {agent:?}");
    }
    for answer in
        ["undefined", "null", "false", "{}", "{ block: false }", "{ block: false, note: 1 }", "{ reason: 'none' }"]
    {
        let fired = fire(&guarded_by(&module(answer))).ends_with(0);
        assert!(!fired.stdout.contains("unreadable-answer"), "{answer}: {fired:?}");
    }
}
