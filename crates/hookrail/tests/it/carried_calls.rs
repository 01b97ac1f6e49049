//! A tool that carries calls of others: hooks are asked about each of them.

use std::sync::Arc;

use crate::common::{drive_snapshot, exited, hook, plugin_hook, stdin};
use hookrail::dialect::llxprt::AggregatedHookResult;
use hookrail::hook::Hook;
use hookrail::matcher::{Language, MatchScope, Matcher, OnInvalid};
use hookrail::plan::Snapshot;
use hookrail::process::{PlannedRun, RunEnd};
use hookrail::sources::SourceKind;
use hookrail::tools::{ColumnTool, ToolAccess, ToolColumn, ToolTable};
use hookrail::{Decision, Event, EventKind, Json, Outcome};
use pretty_assertions::assert_eq;

const KIND: EventKind = EventKind::BeforeTool;

static AGENT: ToolColumn = ToolColumn {
    whose: "An Agent",
    tools: &[
        ColumnTool::new("run_shell_command", "bash", &[("command", &["command"])]),
        ColumnTool::new("write_file", "write", &[("file_path", &["filePath"])]),
        ColumnTool::new(
            "batch",
            "batch",
            &[("calls", &["tool_calls"]), ("call_name", &["tool"]), ("call_input", &["parameters"])],
        ),
    ],
    others: &[],
};

const TWO_CALLS: &str = r#"{"tool_calls":[{"tool":"write","parameters":{"filePath":"a","n":1.0}},{"tool":"bash","parameters":{"command":"rm -rf x"}}],"note":1}"#;

fn event(input: &str) -> Event {
    Event::new(KIND, "/p").with_text("tool_name", "batch").with("tool_input", Json::parse(input).unwrap())
}

fn settings(label: &str, pattern: &str) -> Hook {
    let mut hook = hook(KIND, label, SourceKind::User);
    hook.matcher = Matcher::compile(pattern, Language::Regex, MatchScope::Anywhere, OnInvalid::MatchAll).matcher;
    hook
}

fn fire(hooks: Vec<Hook>, input: &str, mut end: impl FnMut(&PlannedRun) -> RunEnd) -> Outcome {
    let table = ToolTable::default().of_host(&AGENT);
    let snapshot = Snapshot::new(hooks, Vec::new()).with_tool_table(Some(Arc::new(table)));
    drive_snapshot(Arc::new(snapshot), event(input), &mut end, &mut |_| {})
}

fn denying(request: &PlannedRun) -> RunEnd {
    let denies = stdin(request)["tool_input"]["command"] == "rm -rf x";
    exited(0, if denies { r#"{"decision":"deny","reason":"no rm"}"# } else { "" }, "")
}

#[test]
fn a_deny_of_one_call_denies_them_all() {
    let guards = || vec![settings("shell guard", "run_shell_command")];
    let outcome = fire(guards(), TWO_CALLS, denying);
    assert_eq!((outcome.effects.decision, outcome.effects.reason.as_deref()), (Some(Decision::Deny), Some("no rm")));
    assert_eq!(outcome.runs.len(), 1);
    let merged = AggregatedHookResult::from_outcome(&outcome);
    assert_eq!((merged.success, merged.all_outputs.len()), (true, 1));
    assert!(merged.final_output.unwrap().is_blocking_decision());
    // The control: the same guard about calls that it allows, and about none.
    for input in [TWO_CALLS.replace("rm -rf x", "ls"), r#"{"tool_calls":[]}"#.to_owned(), "{}".to_owned()] {
        assert_eq!(fire(guards(), &input, denying).effects.decision, None, "{input}");
    }
}

#[test]
fn every_call_is_asked_about_in_order_after_the_call_that_carries_them() {
    let hooks = vec![settings("all", ".*"), settings("shell", "run_shell_command"), plugin_hook(KIND, "plugin")];
    let mut asked = Vec::new();
    let outcome = fire(hooks, TWO_CALLS, |request| {
        let stdin = stdin(request);
        let name = stdin.get("tool_name").or_else(|| stdin["tool"].get("name")).unwrap();
        asked.push(format!("{} {}", request.hook.label, name.as_str().unwrap()));
        exited(0, "", "")
    });
    assert_eq!(
        asked,
        [
            "all batch",
            "plugin batch",
            "all write_file",
            "plugin writeFile",
            "all run_shell_command",
            "shell run_shell_command",
            "plugin shell"
        ]
    );
    let numbers: Vec<usize> = outcome.runs.iter().map(|run| run.number).collect();
    assert_eq!(numbers, (0..7).collect::<Vec<_>>(), "each run has a number of its own");
    assert_eq!(outcome.effects.tool_input, None);
}

#[test]
fn a_rewrite_is_put_back_into_its_call_and_a_deny_takes_it_away() {
    let rewrite = r#"{"hookSpecificOutput":{"tool_input":{"file_path":"b","n":1.0}}}"#;
    let hooks = || vec![settings("file", "write_file"), settings("shell", "run_shell_command")];
    let end = |request: &PlannedRun| match &*request.hook.label {
        "file" => exited(0, rewrite, ""),
        _ => denying(request),
    };
    let harmless = TWO_CALLS.replace("rm -rf x", "ls");
    assert_eq!(
        fire(hooks(), &harmless, end).effects.tool_input.unwrap().text(),
        harmless.replace(r#""filePath":"a""#, r#""filePath":"b""#)
    );
    let denied = fire(hooks(), TWO_CALLS, end);
    assert_eq!((denied.effects.decision, denied.effects.tool_input), (Some(Decision::Deny), None));
}

#[test]
fn calls_inside_of_calls_and_members_that_are_no_calls_are_asked_about_too() {
    let nested = format!(r#"{{"tool_calls":[{{"tool":"batch","parameters":{TWO_CALLS}}}]}}"#);
    let outcome = fire(vec![settings("guard", "run_shell_command")], &nested, denying);
    assert_eq!(outcome.effects.decision, Some(Decision::Deny));
    let mut seen = Vec::new();
    fire(vec![settings("all", ".*")], r#"{"tool_calls":[{"command":"ls"},"x"]}"#, |request| {
        seen.push(stdin(request)["tool_input"].to_string());
        exited(0, "", "")
    });
    assert_eq!(seen, [r#"{"tool_calls":[{"command":"ls"},"x"]}"#, r#"{"command":"ls"}"#, r#""x""#]);
}

#[test]
fn what_the_calls_do_is_what_the_call_does() {
    let table = ToolTable::default().of_host(&AGENT);
    let accesses = table.accesses("batch", &Json::parse(TWO_CALLS).unwrap(), "/p".as_ref()).unwrap();
    let found: Vec<(ToolAccess, &str)> = accesses.iter().map(|one| (one.access, one.object.as_str())).collect();
    assert_eq!(found, [(ToolAccess::Write, "/p/a"), (ToolAccess::Run, "rm -rf x")]);
}
