//! Declared tool names: every dialect sees its own words, and rewrites come back in the host's.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

mod common;

use std::sync::Arc;

use common::{drive_snapshot, exited, hook, module_end, module_hook, plugin_hook, stdin, tool_call};
use hookrail::matcher::{Language, MatchScope, Matcher, OnInvalid};
use hookrail::plan::Snapshot;
use hookrail::process::{RawEnd, RunEnd, RunRequest};
use hookrail::sources::SourceKind;
use hookrail::{DialectId, EventKind, Hook, Outcome, ToolNames};
use pretty_assertions::assert_eq;
use serde_json::json as value;

const KIND: EventKind = EventKind::BeforeTool;

fn names() -> ToolNames {
    ToolNames::new("write_file").in_dialect(DialectId::Xcode, "writeFile", [("path", "filePath")]).in_dialect(
        DialectId::Xcsh,
        "write",
        [("path", "file")],
    )
}

fn fire(hooks: Vec<Hook>, input: &str, mut end: impl FnMut(&RunRequest) -> RunEnd) -> Outcome {
    let snapshot = Snapshot::new(hooks, Vec::new()).with_tools([names()]);
    drive_snapshot(Arc::new(snapshot), tool_call(input), &mut end, &mut |_| {})
}

fn matching(mut hook: Hook, pattern: &str) -> Hook {
    hook.matcher = Matcher::compile(pattern, Language::Regex, MatchScope::Anywhere, OnInvalid::MatchAll).matcher;
    hook
}

fn nothing() -> RunEnd {
    module_end(RawEnd::Returned(None))
}

#[test]
fn every_dialect_is_told_its_own_names_and_an_untouched_input_stays_as_it_was() {
    let hooks = vec![hook(KIND, "settings", SourceKind::User), plugin_hook(KIND, "plugin"), module_hook(KIND, "m.ts")];
    let mut told = Vec::new();
    let outcome = fire(hooks, r#"{ "path": "a", "n": 1.0 }"#, |request| {
        let stdin = stdin(request);
        let tool = stdin.get("tool").cloned().unwrap_or(stdin);
        let name = ["tool_name", "name", "toolName"].iter().find_map(|key| tool.get(key)).cloned().unwrap();
        let input = ["tool_input", "args", "input"].iter().find_map(|key| tool.get(key)).cloned().unwrap();
        told.push((name, input));
        if request.hook.dialect == DialectId::Xcsh { nothing() } else { exited(0, "", "") }
    });
    assert_eq!(
        told,
        [
            (value!("write_file"), value!({"path": "a", "n": 1.0})),
            (value!("writeFile"), value!({"filePath": "a", "n": 1.0})),
            (value!("write"), value!({"file": "a", "n": 1.0})),
        ]
    );
    assert_eq!(outcome.effects.tool_input, None);
}

#[test]
fn a_rewrite_is_mapped_back_and_on_to_the_next_dialect() {
    let hooks = vec![plugin_hook(KIND, "one"), plugin_hook(KIND, "two"), module_hook(KIND, "m.ts")];
    let mut last = None;
    let outcome = fire(hooks, r#"{"path":"a"}"#, |request| match &*request.hook.label {
        "one" => exited(0, r#"{"decision":"modify","args":{"filePath":"b","x":1}}"#, ""),
        "two" => {
            assert_eq!(stdin(request)["tool"]["args"], value!({"filePath": "b", "x": 1}));
            exited(0, "", "")
        }
        _ => {
            last = Some(stdin(request)["input"].clone());
            nothing()
        }
    });
    assert_eq!(last.unwrap(), value!({"file": "b", "x": 1}));
    assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"path":"b","x":1}"#);
}

#[test]
fn a_matcher_may_use_either_name() {
    for (pattern, runs) in [("^writeFile$", 1), ("^write_file$", 1), ("^write$", 0), ("edit", 0)] {
        let outcome = fire(vec![matching(plugin_hook(KIND, "p"), pattern)], "{}", |_| exited(0, "", ""));
        assert_eq!(outcome.runs.len(), runs, "{pattern}");
    }
    let outcome = fire(vec![matching(hook(KIND, "s", SourceKind::User), "writeFile")], "{}", |_| exited(0, "", ""));
    assert_eq!(outcome.runs.len(), 0, "another dialect's name means nothing");
}

#[test]
fn a_system_guard_with_names_of_its_own_is_asked_again_about_the_final_input() {
    let names = ToolNames::new("write_file").in_dialect(DialectId::Llxprt, "write", [("path", "target")]).in_dialect(
        DialectId::Xcode,
        "writeFile",
        [("path", "filePath")],
    );
    let hooks = vec![hook(KIND, "guard", SourceKind::System), plugin_hook(KIND, "plugin")];
    let snapshot = Snapshot::new(hooks, Vec::new()).with_tools([names]);
    let mut judged = Vec::new();
    let mut end = |request: &RunRequest| match &*request.hook.label {
        "guard" => {
            let input = stdin(request)["tool_input"].clone();
            judged.push(input.clone());
            let denies = input["target"] == "/etc/passwd";
            exited(0, if denies { r#"{"decision":"deny","reason":"no"}"# } else { "" }, "")
        }
        _ => exited(0, r#"{"decision":"modify","args":{"filePath":"/etc/passwd"}}"#, ""),
    };
    let outcome = drive_snapshot(Arc::new(snapshot), tool_call(r#"{"path":"a"}"#), &mut end, &mut |_| {});
    assert_eq!(judged, [value!({"target": "a"}), value!({"target": "/etc/passwd"})]);
    assert!(outcome.is_denied());
}
