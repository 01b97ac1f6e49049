//! The generated files of OpenCode and pi, called as these agents call them. A script takes the place of hookrail: it keeps
//! what it gets and gives a fixed answer.

use serde_json::{Value, json};

use crate::cli::new::has;
use crate::cli::sandbox::{ProgramOutput, Sandbox};

const DRIVER: &str = "\
import { readFileSync } from 'node:fs';
const { HookrailPlugin } = await import('./plugin.mjs');
const { event, input, output } = JSON.parse(readFileSync(0, 'utf8'));
const plugin = await HookrailPlugin({ directory: process.cwd() });
await plugin[event](input, output);
console.log(JSON.stringify(output));
";

/// Calls one hook of the plugin. Returns what hookrail got and what OpenCode gets.
fn call(sandbox: &Sandbox, event: &str, output: &Value, answer: &Value) -> (Value, Value) {
    sandbox.run(&["install", "opencode", "--yes"]).ends_with(0);
    let plugin = std::fs::read_to_string(sandbox.home.join(".config/opencode/plugin/hookrail.js")).unwrap();
    let program = sandbox.project.join("fake-hookrail");
    let plugin = plugin.replace(env!("CARGO_BIN_EXE_hookrail"), program.to_str().unwrap());
    std::fs::write(sandbox.project.join("plugin.mjs"), plugin).unwrap();
    std::fs::write(sandbox.project.join("driver.mjs"), DRIVER).unwrap();
    std::fs::write(sandbox.project.join("answer.json"), answer.to_string()).unwrap();
    std::fs::write(&program, "#!/bin/sh\ncat > got.json\ncat answer.json\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let input = json!({ "tool": "docs_search", "sessionID": "s", "callID": "c", "args": { "q": "x" } });
    let call = json!({ "event": event, "input": input, "output": output });
    let mut node = sandbox.place_command("node");
    let ran = ProgramOutput::with_input(node.arg("driver.mjs"), &call.to_string()).ends_with(0);
    let got = std::fs::read_to_string(sandbox.project.join("got.json")).unwrap();
    (serde_json::from_str(&got).unwrap(), ran.json())
}

/// OpenCode gives the result of a built-in tool as one text, and the result of a tool of an MCP server in parts.
#[test]
fn opencode_results_are_shown_to_hooks_and_changed_in_both_shapes() {
    if !has("node") {
        return;
    }
    let sandbox = Sandbox::new();
    let after = |output: &Value, answer: Value| call(&sandbox, "tool.execute.after", output, &answer);
    let text = json!({ "title": "t", "output": "one" });
    let (got, given) = after(&text, json!({ "context": "CTX" }));
    assert_eq!((&got["output"], &given["output"]), (&json!("one"), &json!("one\n\nCTX")));
    let (_, given) = after(&text, json!({ "output": "two", "context": "CTX" }));
    assert_eq!(given, json!({ "title": "t", "output": "two\n\nCTX" }));

    let image = json!({ "type": "image", "mimeType": "image/png", "data": "AA==" });
    let resource = json!({ "type": "resource", "resource": { "uri": "a", "text": "two" } });
    let parts = json!({ "content": [{ "type": "text", "text": "one" }, image, resource] });
    let (got, given) = after(&parts, json!({}));
    assert_eq!(got["output"], "one\n\ntwo");
    assert_eq!(given, parts);
    let (_, given) = after(&parts, json!({ "context": "CTX" }));
    let context = json!({ "type": "text", "text": "CTX" });
    assert_eq!(given, json!({ "content": [{ "type": "text", "text": "one" }, image, resource, context] }));
    // A replaced result leaves no text of the original behind.
    let (_, given) = after(&parts, json!({ "output": "REDACTED" }));
    assert_eq!(given, json!({ "content": [{ "type": "text", "text": "REDACTED" }, image] }));
    let (got, given) = after(&json!({ "content": [image] }), json!({ "output": "three", "context": "CTX" }));
    assert_eq!(got["output"], "");
    assert_eq!(given, json!({ "content": [{ "type": "text", "text": "three" }, image, context] }));
    let (_, given) = after(&json!({}), json!({ "context": "CTX" }));
    assert_eq!(given, json!({ "output": "CTX" }));
}

/// OpenCode announces a compaction, and nothing that hookrail answers changes it.
#[test]
fn opencode_announces_a_compaction() {
    if !has("node") {
        return;
    }
    let output = json!({ "context": ["own"] });
    let (got, given) = call(
        &Sandbox::new(),
        "experimental.session.compacting",
        &output,
        &json!({ "deny": "a hook stopped the agent" }),
    );
    assert_eq!((&got["hook_event_name"], &got["session_id"]), (&json!("experimental.session.compacting"), &json!("s")));
    assert_eq!(given, output);
}

const PI_DRIVER: &str = "\
import { readFileSync } from 'node:fs';
const { default: extension } = await import('./plugin.mjs');
const handlers = {};
extension({ on: (name, handler) => { handlers[name] = handler; } });
const results = [];
for (const [name, event] of JSON.parse(readFileSync(0, 'utf8'))) results.push((await handlers[name](event, {})) ?? null);
console.log(JSON.stringify(results));
";

/// Fires events in one process of pi. Returns what hookrail got and what pi gets.
fn fire_in_pi(sandbox: &Sandbox, answers: &[(&str, Value)], events: &[(&str, Value)]) -> (Vec<Value>, Vec<Value>) {
    sandbox.run(&["install", "pi", "--yes"]).ends_with(0);
    let extension = std::fs::read_to_string(sandbox.home.join(".pi/agent/extensions/hookrail.ts")).unwrap();
    let (program, got) = (sandbox.project.join("fake-hookrail"), sandbox.project.join("got.jsonl"));
    let extension = extension.replace(env!("CARGO_BIN_EXE_hookrail"), program.to_str().unwrap());
    std::fs::write(sandbox.project.join("plugin.mjs"), extension).unwrap();
    std::fs::write(sandbox.project.join("driver.mjs"), PI_DRIVER).unwrap();
    for (event, answer) in answers {
        std::fs::write(sandbox.project.join(format!("answer-{event}.json")), answer.to_string()).unwrap();
    }
    std::fs::write(&got, "").unwrap();
    let script = "#!/bin/sh\n{ cat; echo; } >> got.jsonl\nif [ -f answer-$4.json ]; then cat answer-$4.json; fi\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut node = sandbox.place_command("node");
    let ran = ProgramOutput::with_input(node.arg("driver.mjs"), &json!(events).to_string()).ends_with(0);
    let got = std::fs::read_to_string(got).unwrap();
    let got = got.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (got, serde_json::from_value(ran.json()).unwrap())
}

fn pi_call() -> Value {
    json!({ "toolName": "bash", "toolCallId": "c", "input": { "command": "ls" } })
}

/// The extension remembers a denied prompt itself: the answer may come from a bridge that cannot remember anything.
#[test]
fn pi_denies_the_calls_that_follow_from_a_denied_prompt() {
    if !has("node") {
        return;
    }
    let sandbox = Sandbox::new();
    let prompt = ("before_agent_start", json!({ "prompt": "go" }));
    let denied = [("before_agent_start", json!({ "deny": "the prompt is not a text" }))];
    let (got, given) = fire_in_pi(&sandbox, &denied, &[prompt.clone(), ("tool_call", pi_call())]);
    assert_eq!(got.len(), 1, "hooks are not asked about the call");
    assert_eq!(given[1], json!({ "block": true, "reason": "The prompt was denied: the prompt is not a text" }));
    let allowed = [("before_agent_start", json!({}))];
    let (got, given) = fire_in_pi(&sandbox, &allowed, &[prompt, ("tool_call", pi_call())]);
    assert_eq!((got.len(), &given[1]), (2, &Value::Null));
}

#[test]
fn pi_passes_on_failures_turns_and_compactions() {
    if !has("node") {
        return;
    }
    let failed = json!({ "toolName": "bash", "toolCallId": "c", "input": {}, "content": [{ "type": "text", "text": "no" }], "isError": true });
    let entry = json!({ "type": "compaction", "summary": "short" });
    let compaction =
        json!({ "preparation": { "tokensBefore": 9 }, "branchEntries": [], "customInstructions": "brief" });
    let events = [
        ("tool_result", failed),
        ("turn_end", json!({ "turnIndex": 3, "message": { "role": "assistant" }, "toolResults": [] })),
        ("session_before_compact", compaction),
        ("session_compact", json!({ "compactionEntry": entry, "fromExtension": false })),
    ];
    let answers = [("session_before_compact", json!({ "deny": "not now" }))];
    let (got, given) = fire_in_pi(&Sandbox::new(), &answers, &events);
    assert_eq!(given, [Value::Null, Value::Null, json!({ "cancel": true }), Value::Null]);
    assert_eq!(got[0]["result"]["isError"], true);
    assert_eq!((&got[1]["turn_index"], &got[1]["tool_results"]), (&json!(3), &json!([])));
    assert_eq!((&got[2]["preparation"]["tokensBefore"], &got[2]["custom_instructions"]), (&json!(9), &json!("brief")));
    assert_eq!((&got[3]["summary"], &got[3]["compaction_entry"]), (&json!("short"), &entry));
}
