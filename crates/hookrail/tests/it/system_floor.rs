//! The system layer is a floor: what it says stands, its rewrites come last, and it is asked once more when the input
//! changed after it had answered.

use crate::common::{drive, exited, hook, json, plugin_hook, tool_call};
use hookrail::hook::GroupOrder;
use hookrail::sources::SourceKind;
use hookrail::{Code, Decision, EventKind, Hook};

const KIND: EventKind = EventKind::BeforeTool;

fn chain(layers: &[(&str, SourceKind)]) -> Vec<Hook> {
    layers
        .iter()
        .map(|(name, layer)| {
            let mut made = hook(KIND, name, *layer);
            made.order = GroupOrder::Sequential;
            made
        })
        .collect()
}

fn rewrite(input: &str) -> String {
    format!(r#"{{"hookSpecificOutput":{{"tool_input":{input}}}}}"#)
}

#[test]
fn a_systems_rewrite_is_applied_last_also_over_another_dialect() {
    let mut hooks = chain(&[("guard", SourceKind::System)]);
    hooks.push(plugin_hook(KIND, "plugin"));
    let outcome = drive(hooks, tool_call(r#"{"path":"a","n":1}"#), |request| match &*request.hook.label {
        "plugin" => exited(0, r#"{"decision":"modify","args":{"path":"x","n":2,"more":true}}"#, ""),
        _ => exited(0, &rewrite(r#"{"path":"safe"}"#), ""),
    });
    assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"path":"safe","n":2,"more":true}"#);
    assert_eq!(outcome.effects.decision, Some(Decision::Allow));
}

#[test]
fn side_by_side_a_systems_rewrite_wins_over_every_other() {
    let hooks = vec![hook(KIND, "guard", SourceKind::System), hook(KIND, "later", SourceKind::Extension)];
    let outcome = drive(hooks, tool_call(r#"{"path":"a","n":1}"#), |request| {
        exited(0, &rewrite(&format!(r#"{{"path":"{}"}}"#, request.hook.label)), "")
    });
    assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"path":"guard"}"#);
    assert_eq!(outcome.runs.len(), 2, "its own rewrite needs no second look");
    assert!(outcome.diagnostics.iter().any(|found| found.code == Code::RewriteConflict));
}

#[test]
fn a_deny_that_cannot_block_takes_no_word_of_a_later_hook_away() {
    let kind = EventKind::ToolSelection;
    let mut hooks = vec![
        hook(kind, "first", SourceKind::User),
        hook(kind, "guard", SourceKind::System),
        hook(kind, "later", SourceKind::Extension),
    ];
    hooks.iter_mut().for_each(|hook| hook.order = GroupOrder::Sequential);
    let event = hookrail::Event::new(kind, "/p").with("llm_request", json(r#"{"messages":[]}"#));
    let outcome = drive(hooks, event, |request| match &*request.hook.label {
        "first" => exited(2, "", "no"),
        _ => exited(0, r#"{"hookSpecificOutput":{"toolConfig":{"allowedFunctionNames":["read"]}}}"#, ""),
    });
    let list = outcome.effects.tool_config.unwrap().to_value();
    assert_eq!(list["allowedFunctionNames"], serde_json::json!(["read"]));
    assert_eq!(outcome.runs.len(), 3, "tools cannot be denied by their selection, so the chain goes on");
}

#[test]
fn what_a_guard_wanted_changed_is_not_used_because_it_was_there_before() {
    // The first guard turns 1 into 0, the second one 0 into 1: the event has come back to what the first one refused.
    for first in [r#"{"a":9}"#, r#"{"a":1}"#, r#"{"a":0}"#] {
        let hooks = chain(&[("user", SourceKind::User), ("one", SourceKind::System), ("two", SourceKind::System)]);
        let outcome = drive(hooks, tool_call("{}"), |request| match &*request.hook.label {
            "user" => exited(0, &rewrite(first), ""),
            "one" => exited(0, &rewrite(r#"{"a":0}"#), ""),
            _ => exited(0, &rewrite(r#"{"a":1}"#), ""),
        });
        assert!(outcome.is_denied(), "{first}");
    }
}
