//! Hooks of three dialects share one event: a rewritten input flows through all of them, a deny anywhere leaves the
//! later ones unrun and recorded, and a hook may make its host fire another event.

use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};

use crate::common::{drive, exited, hook, json, module_end, module_hook, plugin_hook, skipped, stdin, tool_call};
use hookrail::hook::GroupOrder;
use hookrail::module::{CutOffProcess, ModuleCall, ModuleReturn};
use hookrail::process::{RawEnd, RunEnd};
use hookrail::sources::SourceKind;
use hookrail::{Decision, EventKind, Hook, HookSystem, ModuleRunner};
use pretty_assertions::assert_eq;

const KIND: EventKind = EventKind::BeforeTool;

/// Two command hooks of a settings file in a chain, two of a plugin, one module.
fn hooks_of_three_dialects() -> Vec<Hook> {
    let mut first = hook(KIND, "settings-1", SourceKind::User);
    let mut second = hook(KIND, "settings-2", SourceKind::User);
    first.order = GroupOrder::Sequential;
    second.order = GroupOrder::Sequential;
    vec![first, second, plugin_hook(KIND, "plugin-1"), plugin_hook(KIND, "plugin-2"), module_hook(KIND, "module.ts")]
}

fn returned(result: Option<&str>) -> RunEnd {
    module_end(RawEnd::Returned(result.map(json)))
}

/// What each hook was shown as the tool's input.
fn judged(request: &hookrail::process::PlannedRun) -> serde_json::Value {
    let stdin = stdin(request);
    let input = stdin.get("tool_input").or_else(|| stdin.pointer("/tool/args")).or_else(|| stdin.get("input"));
    input.cloned().unwrap_or_default()
}

#[test]
fn a_rewritten_input_flows_through_all_three() {
    let mut seen = Vec::new();
    let outcome = drive(hooks_of_three_dialects(), tool_call(r#"{"path":"a","n":1.0}"#), |request| {
        seen.push((request.hook.label.to_string(), judged(request).to_string()));
        match &*request.hook.label {
            "settings-1" => exited(0, r#"{"hookSpecificOutput":{"tool_input":{"path":"b"}}}"#, ""),
            "settings-2" => exited(0, r#"{"hookSpecificOutput":{"tool_input":{"mode":"x"}}}"#, ""),
            "plugin-1" => exited(0, r#"{"decision":"modify","args":{"path":"c"}}"#, ""),
            "plugin-2" => exited(0, "", ""),
            _ => returned(None),
        }
    });
    let seen: Vec<(&str, &str)> = seen.iter().map(|(hook, input)| (hook.as_str(), input.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("settings-1", r#"{"n":1.0,"path":"a"}"#),
            ("settings-2", r#"{"n":1.0,"path":"b"}"#),
            ("plugin-1", r#"{"mode":"x","n":1.0,"path":"b"}"#),
            ("plugin-2", r#"{"path":"c"}"#),
            ("module.ts", r#"{"path":"c"}"#),
        ]
    );
    assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"path":"c"}"#);
    assert_eq!(outcome.effects.decision, Some(Decision::Allow));
    assert_eq!(outcome.runs.len(), 5);
}

#[test]
fn a_deny_in_any_position_leaves_the_later_ones_recorded_as_chain_ended() {
    let names = ["settings-1", "settings-2", "plugin-1", "plugin-2", "module.ts"];
    for (position, denier) in names.iter().enumerate() {
        let outcome = drive(hooks_of_three_dialects(), tool_call("{}"), |request| {
            let denies = &*request.hook.label == *denier;
            match (&*request.hook.label, denies) {
                ("module.ts", true) => returned(Some(r#"{"block":true,"reason":"no"}"#)),
                ("module.ts", false) => returned(None),
                (_, true) => exited(0, r#"{"decision":"deny","reason":"no"}"#, ""),
                (_, false) => exited(0, "", ""),
            }
        });
        let ran: Vec<&str> = outcome.runs.iter().map(|run| &*run.hook.label).collect();
        assert_eq!(ran, names[..=position], "{denier}");
        let expected: Vec<(String, &str)> =
            names[position + 1..].iter().map(|name| ((*name).to_owned(), "chain-ended")).collect();
        assert_eq!(skipped(&outcome), expected, "{denier}");
        assert_eq!(outcome.effects.decision, Some(Decision::Deny), "{denier}");
        assert_eq!(outcome.effects.reason.as_deref(), Some("no"), "{denier}");
    }
}

#[test]
fn a_stop_without_a_deny_lets_the_later_dialects_run() {
    let outcome = drive(hooks_of_three_dialects(), tool_call("{}"), |request| match &*request.hook.label {
        "settings-1" => exited(0, r#"{"continue":false,"stopReason":"enough"}"#, ""),
        "module.ts" => returned(None),
        _ => exited(0, "", ""),
    });
    assert_eq!(outcome.runs.len(), 5);
    assert_eq!(outcome.effects.stop.unwrap().reason, "enough");
}

#[test]
fn a_module_that_fails_blocks_the_tool() {
    let outcome = drive(hooks_of_three_dialects(), tool_call("{}"), |request| match &*request.hook.label {
        "module.ts" => module_end(RawEnd::Threw("boom".to_owned())),
        _ => exited(0, "", ""),
    });
    assert_eq!(outcome.effects.decision, Some(Decision::Deny));
    assert_eq!(outcome.runs.last().unwrap().end.name(), "threw");
}

/// A module runner that is a closure.
struct FakeModules<F>(F);

impl<F: Fn(&ModuleCall<'_>) -> ModuleReturn + Send + Sync> ModuleRunner for FakeModules<F> {
    fn call<'a>(&'a self, call: ModuleCall<'a>) -> Pin<Box<dyn Future<Output = ModuleReturn> + Send + 'a>> {
        Box::pin(async move { (self.0)(&call) })
    }

    fn shutdown(&self) -> Pin<Box<dyn Future<Output = Vec<CutOffProcess>> + Send + '_>> {
        Box::pin(std::future::ready(Vec::new()))
    }
}

/// The hooks of three dialects, live: real processes, and a module that makes its host fire another event while it
/// runs, once by waiting for it and once by blocking the engine's own thread.
#[test]
fn a_module_that_makes_the_host_fire_another_event_does_not_deadlock() {
    let dir = tempfile::tempdir().unwrap();
    let system: Arc<OnceLock<HookSystem>> = Arc::default();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let runner = {
        let (system, seen) = (Arc::clone(&system), Arc::clone(&seen));
        FakeModules(move |call: &ModuleCall<'_>| {
            seen.lock().unwrap().push(call.payload.to_owned());
            let system = system.get().unwrap();
            let inner = system.fire_blocking(
                system.event(EventKind::AfterTool).with_text("tool_name", "inner").with("tool_response", json("{}")),
            );
            assert_eq!(inner.effects.additional_context.as_deref(), Some("nested"));
            ModuleReturn::new(RawEnd::Returned(Some(json(r#"{"block":true,"reason":"module"}"#))))
        })
    };
    let mut rewriting = hook(KIND, r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b"}}}'"#, SourceKind::User);
    rewriting.order = GroupOrder::Sequential;
    let nested = r#"echo '{"hookSpecificOutput":{"additionalContext":"nested"}}'"#;
    let built = HookSystem::builder(dir.path())
        .environment([("PATH", "/usr/bin:/bin")].into_iter().collect())
        .runner(runner)
        .hook(rewriting)
        .hook(hook(KIND, "cat > /dev/null", SourceKind::User))
        .hook(plugin_hook(KIND, r#"read line; echo '{"decision":"modify","args":{"path":"c"}}'"#))
        .hook(plugin_hook(KIND, "true"))
        .hook(module_hook(KIND, "module.ts"))
        .hook(hook(EventKind::AfterTool, nested, SourceKind::User))
        .build();
    system.set(built.clone()).unwrap();
    let event = built.event(KIND).with_text("tool_name", "write_file").with("tool_input", json(r#"{"path":"a"}"#));
    let outcome = built.fire_blocking(event);
    assert_eq!(outcome.effects.reason.as_deref(), Some("module"), "{:?}", outcome.diagnostics);
    assert_eq!(outcome.runs.len(), 5);
    assert!(seen.lock().unwrap()[0].contains(r#""input":{"path":"c"}"#));
    built.shutdown_blocking();
}
