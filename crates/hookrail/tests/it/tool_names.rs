//! Declared tool names: every dialect sees its own words, and rewrites come back in the host's.

use std::sync::Arc;

use crate::common::{drive_snapshot, exited, hook, module_end, module_hook, plugin_hook, stdin, tool_call};
use crate::granting::World;
use hookrail::hook::GroupOrder;
use hookrail::matcher::{Language, MatchScope, Matcher, OnInvalid};
use hookrail::plan::Snapshot;
use hookrail::process::{PlannedRun, RawEnd, RunEnd};
use hookrail::sources::SourceKind;
use hookrail::{DialectId, Event, EventKind, Hook, Json, Outcome, ToolNames};
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

fn fire(hooks: Vec<Hook>, input: &str, mut end: impl FnMut(&PlannedRun) -> RunEnd) -> Outcome {
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
    let mut end = |request: &PlannedRun| match &*request.hook.label {
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

/// A tool whose path hooks of the settings dialect may look for under three names.
fn aliased() -> ToolNames {
    ToolNames::new("write_file")
        .in_dialect(DialectId::Xcode, "writeFile", [("file_path", "filePath")])
        .aliases_in_dialect(DialectId::Llxprt, "file_path", ["absolute_path", "path"])
}

fn fire_aliased(hooks: Vec<Hook>, input: &str, mut end: impl FnMut(&PlannedRun) -> RunEnd) -> Outcome {
    let snapshot = Snapshot::new(hooks, Vec::new()).with_tools([aliased()]);
    drive_snapshot(Arc::new(snapshot), tool_call(input), &mut end, &mut |_| {})
}

fn rewriting(input: &str) -> RunEnd {
    exited(0, &format!(r#"{{"hookSpecificOutput":{{"hookEventName":"BeforeTool","tool_input":{input}}}}}"#), "")
}

fn in_a_chain(mut hook: Hook) -> Hook {
    hook.order = GroupOrder::Sequential;
    hook
}

#[test]
fn all_aliases_go_out_together_and_an_untouched_input_stays_as_it_was() {
    for (input, told) in [
        (r#"{ "file_path": "a", "n": 1.0 }"#, value!({"file_path": "a", "n": 1.0, "absolute_path": "a", "path": "a"})),
        // What the tool itself reads counts: a value beside it cannot lead a guard astray.
        (r#"{"path":"b","file_path":"a"}"#, value!({"file_path": "a", "absolute_path": "a", "path": "a"})),
        (r#"{"path":"b"}"#, value!({"file_path": "b", "absolute_path": "b", "path": "b"})),
        (r#"{"n":1}"#, value!({"n": 1})),
    ] {
        let mut seen = None;
        let outcome = fire_aliased(vec![hook(KIND, "guard", SourceKind::User)], input, |request| {
            seen = Some(stdin(request)["tool_input"].clone());
            exited(0, "", "")
        });
        assert_eq!(seen.unwrap(), told);
        assert_eq!(outcome.effects.tool_input, None, "{input}");
    }
}

#[test]
fn the_changed_alias_counts_for_the_next_hook_the_next_dialect_and_the_host() {
    for changed in ["file_path", "absolute_path", "path"] {
        let hooks = vec![
            in_a_chain(hook(KIND, "one", SourceKind::User)),
            in_a_chain(hook(KIND, "two", SourceKind::User)),
            plugin_hook(KIND, "plugin"),
        ];
        let mut judged = Vec::new();
        let outcome = fire_aliased(hooks, r#"{"file_path":"a","content":"x"}"#, |request| match &*request.hook.label {
            "one" => rewriting(&format!(r#"{{"{changed}":"b"}}"#)),
            "two" => {
                judged.push(stdin(request)["tool_input"].clone());
                exited(0, "", "")
            }
            _ => {
                judged.push(stdin(request)["tool"]["args"].clone());
                exited(0, "", "")
            }
        });
        let both = [
            value!({"file_path": "b", "content": "x", "absolute_path": "b", "path": "b"}),
            value!({"filePath": "b", "content": "x"}),
        ];
        assert_eq!(judged, both, "{changed}");
        assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"file_path":"b","content":"x"}"#, "{changed}");
    }
}

#[test]
fn an_answer_that_repeats_the_other_aliases_means_the_one_it_changed() {
    for (order, hooks) in [
        ("side by side", vec![hook(KIND, "one", SourceKind::User)]),
        ("chain", vec![in_a_chain(hook(KIND, "one", SourceKind::User))]),
    ] {
        let outcome = fire_aliased(hooks, r#"{"file_path":"a","content":"x"}"#, |_| {
            rewriting(r#"{"file_path":"a","absolute_path":"a","path":"b","content":"y"}"#)
        });
        assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"file_path":"b","content":"y"}"#, "{order}");
        assert_eq!(outcome.diagnostics, [], "{order}");
    }
    // An answer that names the path once means all names of it, so no argument is reported as missing.
    let outcome = fire_aliased(vec![hook(KIND, "one", SourceKind::User)], r#"{"file_path":"a"}"#, |_| {
        rewriting(r#"{"absolute_path":"c"}"#)
    });
    assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"file_path":"c"}"#);
    assert_eq!(outcome.diagnostics, []);
}

#[test]
fn a_member_that_an_alias_covered_comes_back_beside_a_rewrite() {
    let outcome = fire_aliased(
        vec![in_a_chain(hook(KIND, "one", SourceKind::User))],
        r#"{"file_path":"a","path":"own"}"#,
        |_| rewriting(r#"{"absolute_path":"b"}"#),
    );
    assert_eq!(value!({"file_path": "b", "path": "own"}), outcome.effects.tool_input.unwrap().to_value());
}

#[test]
fn a_system_rewrite_of_an_alias_comes_last_and_no_guard_judges_a_stale_path() {
    let hooks = vec![
        in_a_chain(hook(KIND, "system", SourceKind::System)),
        in_a_chain(hook(KIND, "user", SourceKind::User)),
        plugin_hook(KIND, "plugin"),
    ];
    let mut judged = Vec::new();
    let outcome = fire_aliased(hooks, r#"{"file_path":"a"}"#, |request| match &*request.hook.label {
        // The answer repeats the path it was sent under the other names, as a script does that changes one member.
        "system" => {
            let mut input = stdin(request)["tool_input"].clone();
            input["absolute_path"] = value!("safe");
            rewriting(&input.to_string())
        }
        "user" => {
            let input = stdin(request)["tool_input"].clone();
            judged.push((input["file_path"].clone(), input["absolute_path"].clone(), input["path"].clone()));
            exited(0, "", "")
        }
        _ => exited(0, r#"{"decision":"modify","args":{"filePath":"/etc/passwd"}}"#, ""),
    });
    assert_eq!(judged, [(value!("safe"), value!("safe"), value!("safe"))]);
    assert!(!outcome.is_denied(), "{outcome:?}");
    assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"file_path":"safe"}"#);
}

#[test]
fn a_guard_is_asked_again_in_all_aliases_about_what_a_later_dialect_wrote() {
    let hooks = vec![hook(KIND, "guard", SourceKind::System), plugin_hook(KIND, "plugin")];
    let mut judged = Vec::new();
    let outcome = fire_aliased(hooks, r#"{"file_path":"a"}"#, |request| match &*request.hook.label {
        "guard" => {
            let path = stdin(request)["tool_input"]["absolute_path"].clone();
            judged.push(path.clone());
            exited(0, if path == "/etc/passwd" { r#"{"decision":"deny","reason":"no"}"# } else { "" }, "")
        }
        _ => exited(0, r#"{"decision":"modify","args":{"filePath":"/etc/passwd"}}"#, ""),
    });
    assert_eq!(judged, [value!("a"), value!("/etc/passwd")]);
    assert!(outcome.is_denied());
}

#[test]
fn the_plan_of_a_tool_is_not_that_of_a_tool_of_another_server_with_the_same_name() {
    let world = World::empty();
    let guards = |matcher: &str| value!([{"matcher": matcher, "hooks": [{"type": "command", "command": "exit 2"}]}]);
    let settings = value!({"hooks": {"PreToolUse": guards("mcp__prod__.*"), "SubagentStart": guards("writer")}});
    world.write("home/.claude/settings.json", &settings.to_string());
    std::fs::create_dir_all(world.path("project")).unwrap();
    let system = world.builder().enable_dialect(DialectId::Claude).build();
    let planned = |event: Event| system.explain(&event).hooks().count();
    let call = |server: &str| {
        let context = Json::of(&value!({"server_name": server, "tool_name": "query"})).unwrap();
        system.event(EventKind::BeforeTool).with_text("tool_name", "query").with("mcp_context", context)
    };
    // The plan of the second event is the one that may be kept.
    assert_eq!(["test", "test", "prod", "test"].map(|server| planned(call(server))), [0, 0, 1, 0]);
    let start = |agent: &str| system.event(EventKind::SubagentStart).with_text("agent_type", agent);
    assert_eq!(["reader", "reader", "writer"].map(|agent| planned(start(agent))), [0, 0, 1]);
}
