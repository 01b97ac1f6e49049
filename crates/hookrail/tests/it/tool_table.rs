//! The table of tools: a call has one meaning under every name, and hooks find arguments under every name of their dialect.

use std::sync::Arc;

use crate::common::{drive_snapshot, exited, hook, module_end, module_hook, plugin_hook, stdin};
use hookrail::hook::GroupOrder;
use hookrail::matcher::{Language, MatchScope, Matcher, OnInvalid};
use hookrail::plan::{Plan, Snapshot};
use hookrail::process::{PlannedRun, RawEnd, RunEnd};
use hookrail::sources::SourceKind;
use hookrail::tools::{ColumnTool, ToolColumn, ToolTable, ToolUse};
use hookrail::{Code, Decision, DialectId, EndKind, Event, EventKind, Hook, Json, OnFailure, Outcome, ToolNames};
use pretty_assertions::assert_eq;
use serde_json::{Value, json as value};

const KIND: EventKind = EventKind::BeforeTool;

static OTHER_AGENT: ToolColumn = ToolColumn {
    whose: "Other Agent",
    tools: &[
        ColumnTool { tool: "write_file", name: "Write", arguments: &[("file_path", &["target"])] },
        ColumnTool { tool: "run_shell_command", name: "Bash", arguments: &[] },
        ColumnTool { tool: "write_file", name: "do", arguments: &[] },
    ],
    others: &[],
};

static THIRD_AGENT: ToolColumn = ToolColumn {
    whose: "Third Agent",
    tools: &[ColumnTool { tool: "read_file", name: "do", arguments: &[] }],
    others: &["Deploy"],
};

fn table() -> ToolTable {
    ToolTable::default().with_agent(&OTHER_AGENT).with_agent(&THIRD_AGENT)
}

fn call(tool: &str, input: &str) -> Event {
    Event::new(KIND, "/p").with_text("tool_name", tool).with("tool_input", Json::parse(input).unwrap())
}

fn fire_in(table: ToolTable, hooks: Vec<Hook>, event: Event, mut end: impl FnMut(&PlannedRun) -> RunEnd) -> Outcome {
    let snapshot = Snapshot::new(hooks, Vec::new()).with_tool_table(Some(Arc::new(table)));
    drive_snapshot(Arc::new(snapshot), event, &mut end, &mut |_| {})
}

fn matching(mut hook: Hook, pattern: &str) -> Hook {
    hook.matcher = Matcher::compile(pattern, Language::Regex, MatchScope::Anywhere, OnInvalid::MatchAll).matcher;
    hook
}

fn guard(mut hook: Hook) -> Hook {
    hook.on_failure = OnFailure::Block;
    hook
}

/// The name and the arguments that each hook was told.
fn told(table: ToolTable, hooks: Vec<Hook>, tool: &str, input: &str) -> Vec<(String, Value)> {
    let mut told = Vec::new();
    fire_in(table, hooks, call(tool, input), |request| {
        let stdin = stdin(request);
        let tool = stdin.get("tool").cloned().unwrap_or(stdin);
        let name = ["tool_name", "name", "toolName"].iter().find_map(|key| tool.get(key)?.as_str()).unwrap().to_owned();
        let input = ["tool_input", "args", "input"].iter().find_map(|key| tool.get(key)).cloned().unwrap();
        told.push((name, input));
        if request.hook.dialect == DialectId::Xcsh { module_end(RawEnd::Returned(None)) } else { exited(0, "", "") }
    });
    told
}

fn one_of_each() -> Vec<Hook> {
    vec![hook(KIND, "settings", SourceKind::User), plugin_hook(KIND, "plugin"), module_hook(KIND, "m.ts")]
}

#[test]
fn a_call_under_any_name_is_the_same_call_for_every_dialect() {
    for (tool, input) in [
        ("write_file", r#"{"path":"a"}"#),
        ("write_file", r#"{"absolute_path":"a"}"#),
        ("writeFile", r#"{"filePath":"a"}"#),
        ("write", r#"{"path":"a"}"#),
        ("Write", r#"{"target":"a"}"#),
    ] {
        let told = told(table(), one_of_each(), tool, input);
        let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["write_file", "writeFile", "write"], "{tool} {input}");
        assert_eq!(told[0].1, value!({"file_path": "a", "absolute_path": "a", "path": "a"}), "{tool} {input}");
        assert_eq!(told[1].1, value!({"filePath": "a", "path": "a"}), "{tool} {input}");
        assert_eq!(told[2].1, value!({"path": "a"}), "{tool} {input}");
    }
}

#[test]
fn a_name_without_the_main_argument_or_of_a_declared_tool_stays_what_it_is() {
    assert_eq!(told(table(), one_of_each(), "Write", r#"{"title":"x"}"#)[1], ("Write".into(), value!({"title": "x"})));
    assert_eq!(told(table(), one_of_each(), "Write", "{}")[1], ("Write".into(), value!({})));
    // With the host's own column the name alone says what it is.
    assert_eq!(told(table().of_host(&OTHER_AGENT), one_of_each(), "Write", "{}")[1], ("writeFile".into(), value!({})));
    let snapshot = Snapshot::new(one_of_each(), Vec::new())
        .with_tools([ToolNames::new("Write").in_dialect(DialectId::Xcode, "mine", [])])
        .with_tool_table(Some(Arc::new(table())));
    let mut names = Vec::new();
    let mut end = |request: &PlannedRun| {
        names.push(stdin(request).get("tool").map(|tool| tool["name"].clone()));
        exited(0, "", "")
    };
    drive_snapshot(Arc::new(snapshot), call("Write", r#"{"target":"a"}"#), &mut end, &mut |_| {});
    assert_eq!(names[1], Some(value!("mine")));
}

#[test]
fn without_an_input_the_name_decides() {
    let snapshot = Snapshot::new(vec![matching(plugin_hook(KIND, "p"), "^writeFile$")], Vec::new())
        .with_tool_table(Some(Arc::new(table())));
    let snapshot = Arc::new(snapshot);
    let planned = |event| Plan::new(&snapshot, &event).hooks().count();
    let named = || Event::new(KIND, "/p").with_text("tool_name", "Write");
    assert_eq!(planned(named()), 1);
    assert_eq!(planned(named().with("tool_input", Json::empty_object())), 0);
    assert_eq!(planned(named().with("tool_input", Json::parse(r#"{"target":"a"}"#).unwrap())), 1);
}

#[test]
fn a_matcher_is_compared_with_the_name_that_was_given_the_dialects_and_the_tables() {
    for (pattern, asked) in [("^Write$", 1), ("^writeFile$", 1), ("^write_file$", 1), ("^write$", 0), ("^create$", 0)] {
        let hooks = vec![matching(plugin_hook(KIND, "p"), pattern)];
        assert_eq!(told(table(), hooks, "Write", r#"{"target":"a"}"#).len(), asked, "{pattern}");
    }
}

#[test]
fn what_the_hosts_tool_reads_counts_whatever_stands_beside_it() {
    let input = r#"{"path":"/ok","target":"/etc/x","filePath":"/ok"}"#;
    let told = told(table().of_host(&OTHER_AGENT), one_of_each(), "Write", input);
    assert_eq!(
        told[0].1,
        value!({"file_path": "/etc/x", "absolute_path": "/etc/x", "path": "/etc/x", "filePath": "/ok"})
    );
    assert_eq!((told[1].1["filePath"].clone(), told[1].1["path"].clone()), (value!("/etc/x"), value!("/etc/x")));
    assert_eq!(told[2].1["path"], value!("/etc/x"));
}

#[test]
fn a_rewrite_of_any_alias_reaches_the_host_under_its_own_name() {
    for changed in ["filePath", "path"] {
        let answer = format!(r#"{{"decision":"modify","args":{{"{changed}":"b","content":"x"}}}}"#);
        let outcome = fire_in(table(), vec![plugin_hook(KIND, "p")], call("Write", r#"{"target":"a"}"#), |_| {
            exited(0, &answer, "")
        });
        assert_eq!(outcome.effects.tool_input.unwrap().text(), r#"{"target":"b","content":"x"}"#, "{changed}");
    }
}

#[test]
fn two_different_rewrites_of_one_argument_are_a_failure_of_the_hook() {
    let contradicting = r#"{"decision":"modify","args":{"filePath":"b","path":"c"}}"#;
    let event = || call("write_file", r#"{"path":"a"}"#);
    let ends = |hook, answer: &str| {
        let outcome = fire_in(table(), vec![hook], event(), |_| exited(0, answer, ""));
        (outcome.runs[0].end, outcome.effects.decision, outcome.effects.tool_input)
    };
    assert_eq!(ends(plugin_hook(KIND, "p"), contradicting), (EndKind::BadOutput, None, None));
    let (end, decision, rewrite) = ends(guard(plugin_hook(KIND, "p")), contradicting);
    assert_eq!((end, decision, rewrite), (EndKind::BadOutput, Some(Decision::Deny), None));
    // Both names with one new value are one rewrite.
    let (end, _, rewrite) =
        ends(guard(plugin_hook(KIND, "p")), r#"{"decision":"modify","args":{"filePath":"b","path":"b"}}"#);
    assert_eq!((end, rewrite.unwrap().text()), (EndKind::Answered, r#"{"path":"b"}"#));
    // A deny stands, whatever else the answer says.
    let mut settings = hook(KIND, "s", SourceKind::User);
    settings.order = GroupOrder::Sequential;
    let denying = r#"{"decision":"deny","reason":"no","hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"path":"b","file_path":"c"}}}"#;
    let (end, decision, _) = ends(settings, denying);
    assert_eq!((end, decision), (EndKind::Answered, Some(Decision::Deny)));
}

fn notes(table: ToolTable, hooks: Vec<Hook>, tool: &str, input: &str) -> (usize, Vec<Code>) {
    let snapshot = Arc::new(Snapshot::new(hooks, Vec::new()).with_tool_table(Some(Arc::new(table))));
    let plan = Plan::new(&snapshot, &call(tool, input));
    assert_eq!(plan.diagnostics, []);
    let (run, skipped) = (plan.hooks().count(), plan.skipped.len());
    assert_eq!(run + skipped, snapshot.hooks().len(), "each hook runs or is skipped");
    (run, plan.notes.iter().map(|note| note.code).collect())
}

#[test]
fn a_plain_list_of_other_agents_names_selects_their_tools_with_a_note() {
    let shell = r#"{"command":"ls"}"#;
    let of_settings = |pattern: &str| vec![matching(hook(KIND, "s", SourceKind::User), pattern)];
    for (pattern, tool, expected) in [
        ("Bash", "run_shell_command", (1, vec![Code::MatcherElsewhere])),
        ("Bash|Deploy", "shell", (1, vec![Code::MatcherElsewhere])),
        ("^Bash$", "run_shell_command", (1, vec![Code::MatcherElsewhere])),
        ("^(Bash|Deploy)$", "shell", (1, vec![Code::MatcherElsewhere])),
        ("^(?:Bash)$", "shell", (1, vec![Code::MatcherElsewhere])),
        // A name of its own dialect in the list, another pattern, another tool, another spelling.
        ("Bash|write_file", "run_shell_command", (0, vec![])),
        ("^(Bash|write_file)$", "run_shell_command", (0, vec![])),
        ("^Ba", "run_shell_command", (0, vec![])),
        ("Bash$", "run_shell_command", (0, vec![])),
        ("^Deploy|Bash$", "run_shell_command", (0, vec![])),
        // An anchored name of any dialect means that dialect's tool and no other.
        ("^shell$", "run_shell_command", (0, vec![])),
        ("^(bash|Bash)$", "run_shell_command", (0, vec![])),
        ("Write", "run_shell_command", (0, vec![])),
        ("BASH", "run_shell_command", (0, vec![])),
        // The name that was given is tried as it is.
        ("^Bash$", "Bash", (1, vec![])),
    ] {
        assert_eq!(notes(table(), of_settings(pattern), tool, shell), expected, "{pattern} {tool}");
    }
    let host = table().of_host(&OTHER_AGENT);
    assert_eq!(notes(host, of_settings("Bash"), "do", r#"{"command":"ls"}"#), (0, vec![]), "a name of the host itself");
}

#[test]
fn a_list_with_a_name_of_the_host_leaves_out_the_tools_that_it_names_as_other_agents_do() {
    static HOST: ToolColumn = ToolColumn {
        whose: "Host",
        tools: &[
            ColumnTool { tool: "run_shell_command", name: "Bash", arguments: &[] },
            ColumnTool { tool: "run_shell_command", name: "shell_2", arguments: &[] },
            ColumnTool { tool: "apply_patch", name: "patch_it", arguments: &[("patch", &["text"])] },
        ],
        others: &[],
    };
    let table = || table().of_host(&HOST);
    let patch = r#"{"text":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}"#;
    for (pattern, hidden, asked) in [
        ("Write|Bash", vec!["patch_it"], 0),
        ("^(Write|Bash)$", vec!["patch_it"], 0),
        // The controls: no name of the host, nothing else in the list, the dialect's own name, the host's own name.
        ("Write", vec![], 1),
        ("^(Write|Deploy)$", vec![], 1),
        ("write_file|Bash", vec![], 1),
        ("Write|Bash|patch_it", vec![], 1),
        // These never meant it.
        ("Bash", vec![], 0),
        ("Wr.*|Bash", vec![], 0),
    ] {
        let hooks = vec![matching(hook(KIND, "s", SourceKind::User), pattern)];
        let found = table().hidden_by_own_name(DialectId::Llxprt, &hooks[0].matcher);
        assert_eq!((found, notes(table(), hooks, "patch_it", patch).0), (hidden, asked), "{pattern}");
    }
}

#[test]
fn a_guard_is_asked_about_an_unknown_tool_that_carries_a_path_or_a_command() {
    let hooks = |pattern: &str| {
        let settings = |label| matching(hook(KIND, label, SourceKind::User), pattern);
        vec![guard(settings("guard")), settings("no guard")]
    };
    let asked = (1, vec![Code::ToolUnknown]);
    let not_asked = (0, vec![]);
    for (pattern, input, expected) in [
        ("write_file", r#"{"path":"/etc/x"}"#, &asked),
        ("read_file", r#"{"filePath":"/etc/x"}"#, &asked),
        ("run_shell_command", r#"{"command":"ls"}"#, &asked),
        ("run_shell_command", r#"{"path":"x"}"#, &not_asked),
        ("write_file", r#"{"command":"ls"}"#, &not_asked),
        ("write_file", r#"{"title":"x"}"#, &not_asked),
        ("glob", r#"{"path":"x"}"#, &not_asked),
    ] {
        assert_eq!(&notes(table(), hooks(pattern), "mcp__x__put", input), expected, "{pattern} {input}");
    }
    for (tool_use, pattern, expected) in [
        (ToolUse::None, "write_file", &not_asked),
        (ToolUse::Read, "write_file", &not_asked),
        (ToolUse::Read, "read_file", &asked),
        (ToolUse::Write, "replace", &asked),
        (ToolUse::Run, "run_shell_command", &asked),
    ] {
        let table = table().with_use("put", tool_use);
        assert_eq!(&notes(table, hooks(pattern), "put", r#"{"path":"x"}"#), expected, "{tool_use} {pattern}");
    }
    // The guard finds the path where it looks for it, and the tool keeps its name.
    let told = told(table(), vec![guard(matching(plugin_hook(KIND, "p"), "writeFile"))], "put", r#"{"file_path":"x"}"#);
    assert_eq!(told, [("put".to_owned(), value!({"file_path": "x", "filePath": "x", "path": "x"}))]);
}

#[test]
fn a_name_with_two_meanings_is_not_translated_and_guards_of_both_are_asked() {
    let guards = || vec![guard(matching(hook(KIND, "s", SourceKind::User), "write_file"))];
    let (asked, codes) = notes(table(), guards(), "do", r#"{"path":"x"}"#);
    assert_eq!((asked, codes), (1, vec![Code::ToolAmbiguous, Code::ToolUnknown]));
    assert_eq!(notes(table().of_host(&THIRD_AGENT), guards(), "do", r#"{"path":"x"}"#), (0, vec![]));
    assert_eq!(notes(table().of_host(&OTHER_AGENT), guards(), "do", r#"{"path":"x"}"#), (1, vec![]));
}
