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

/// A module that cannot be loaded once the file `broken` is in the project.
fn breakable(registers: &str) -> String {
    format!(
        "import {{ existsSync }} from 'node:fs';\nif (existsSync('broken')) throw new Error('a file is there');\n\
         export default (pi) => {{ {registers} }};\n"
    )
}

const PASSES: &str = "pi.on('tool_call', () => undefined);";

#[test]
fn a_guard_that_loaded_before_and_cannot_be_loaded_now_has_failed() {
    let sandbox = guarded_by(&breakable(PASSES));
    every_host(&sandbox, None);
    sandbox.write("broken", "");
    every_host(&sandbox, Some("cannot be loaded now"));
    std::fs::remove_file(sandbox.project.join("broken")).unwrap();
    every_host(&sandbox, None);
    sandbox.write_home(GUARD, "export default (pi) => {");
    every_host(&sandbox, Some("cannot be loaded now"));
    // Taking a module of one's own away is the user's act.
    std::fs::remove_file(sandbox.home.join(GUARD)).unwrap();
    every_host(&sandbox, None);
}

#[test]
fn a_module_that_never_loaded_or_had_no_guard_is_an_error_that_denies_nothing() {
    let never = guarded_by("export default (pi) => {");
    every_host(&never, None);
    assert!(fire(&never).stdout.contains("module-load"));
    for registers in ["pi.on('session_start', () => {});", ""] {
        let sandbox = guarded_by(&breakable(registers));
        every_host(&sandbox, None);
        sandbox.write("broken", "");
        every_host(&sandbox, None);
        assert!(fire(&sandbox).stdout.contains("module-load"), "{registers}");
    }
}

#[test]
fn a_granted_guard_that_cannot_be_loaded_has_failed() {
    let sandbox = guarded_by("export default () => {};");
    sandbox.write(".xcsh/hooks/pre/gate.ts", breakable(PASSES));
    sandbox.run(&["trust", "grant", "--yes"]).ends_with(0);
    every_host(&sandbox, None);
    // The grant says that it is a guard, whatever the state remembers.
    std::fs::remove_dir_all(sandbox.home.join(".local/state/hookrail/guard-modules")).unwrap();
    sandbox.write("broken", "");
    every_host(&sandbox, Some("cannot be loaded now"));
}
