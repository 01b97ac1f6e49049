//! The realistic examples of the agent's own documentation, as they stand in `examples/modules`.

use std::sync::Arc;

use super::common::{Project, Scripted, block_on, json, reason};
use hookrail::{EventKind, FireOptions, HookSystem, Host, Outcome};

fn example(name: &str) -> HookSystem {
    let path = format!("{}/../../examples/modules/{name}", env!("CARGO_MANIFEST_DIR"));
    let project = Project::new();
    project.write("x.ts", std::fs::read_to_string(path).unwrap());
    let system = project.system(&["x.ts"]);
    assert!(system.snapshot().diagnostics().is_empty(), "{:?}", system.snapshot().diagnostics());
    // The folder has to outlive the system, which opens it again at the first call.
    std::mem::forget(project);
    system
}

fn call(system: &HookSystem, command: &str, host: Arc<dyn Host>) -> Outcome {
    let input = json(&format!(r#"{{"command":"{command}"}}"#));
    let event = system.event(EventKind::BeforeTool).with_text("tool_name", "bash").with("tool_input", input);
    block_on(system.fire_with(event, FireOptions::new().host(host)))
}

#[test]
fn unsafe_commands_are_blocked_or_asked_about() {
    let system = example("block-unsafe-bash.ts");
    let no_user = || Arc::new(Scripted { no_user: true, ..Scripted::default() }) as Arc<dyn Host>;
    assert!(!call(&system, "ls", no_user()).is_denied());
    assert_eq!(reason(&call(&system, "rm -rf /", no_user())), "rm -rf blocked (no UI)");
    let says = |answer: &str| Scripted::new(&[answer]) as Arc<dyn Host>;
    assert!(!call(&system, "rm -rf build", says("yes")).is_denied());
    assert_eq!(reason(&call(&system, "rm -rf build", says("no"))), "user denied command");
}

#[test]
fn keys_are_redacted() {
    let system = example("redact-output.ts");
    let response = json(r#"{"llmContent":"a API_KEY=secret b","returnDisplay":null}"#);
    let read = |tool: &str| block_on(system.fire_after_tool(tool, json("{}"), response.clone())).effects.tool_output;
    let output = read("read").unwrap();
    assert!(output.text().contains("a API_KEY=[REDACTED] b"), "{output:?}");
    assert!(read("grep").is_none());
}

#[test]
fn debug_messages_do_not_reach_the_model() {
    let system = example("filter-context.ts");
    let messages = json(r#"[{"role":"custom","customType":"debug-only","content":"d"},{"role":"user","content":"u"}]"#);
    let outcome = system.fire_blocking(system.event(EventKind::BeforeModel).with("messages", messages));
    assert_eq!(outcome.effects.result.unwrap().text(), r#"{"messages":[{"role":"user","content":"u"}]}"#);
}

#[test]
fn handoff_is_offered_as_a_command() {
    assert_eq!(example("handoff-command.ts").commands()[0].name, "handoff");
}
