//! The generated plugin of OpenCode, called as OpenCode calls it. A script takes the place of hookrail: it keeps what it gets
//! and gives a fixed answer.

use serde_json::{Value, json};

use crate::new::has;
use crate::sandbox::{ProgramOutput, Sandbox};

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
