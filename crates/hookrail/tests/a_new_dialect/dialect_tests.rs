//! A dialect is a folder and a line in the registry: the smallest one loads, runs, folds, and is in every document,
//! although nothing else in the engine knows it.

use crate::dialect::find_event;
use crate::plan::SkipReason;
use crate::system::document::{explain_document, list_document, outcome_document};
use crate::{Code, Decision, DialectId, Environment, Event, EventKind, HookSystem};
use serde_json::{Value, json};
use std::path::Path;

const HOOKS: &str = r#"[
    {"on": "tool/ask", "only": "write_*", "run": "read line; echo \"no, because $line\""},
    {"on": "tool/ask", "run": "echo 'note: first'"},
    {"on": "tool/told", "run": "echo 'no, because it is too late'"},
    {"on": "elsewhere", "run": "true"}
]"#;

/// A system whose user has those hooks. The project has one, which is not trusted.
fn system(home: &Path) -> HookSystem {
    let project = home.join("project");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(home.join(".test-dialect.json"), HOOKS).unwrap();
    std::fs::write(project.join(".test-dialect.json"), r#"[{"on": "tool/ask", "run": "true"}]"#).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let environment: Environment = [("PATH", path), ("HOME", home.as_os_str().to_owned())].into_iter().collect();
    HookSystem::builder(project).environment(environment).build()
}

fn event(system: &HookSystem, kind: EventKind, tool: &str) -> Event {
    Event::new(kind, system.project()).with_text("tool_name", tool)
}

fn value(document: &crate::Json) -> Value {
    document.to_value()
}

#[test]
fn it_stands_in_the_registry_and_nothing_else_has_to_know() {
    let dialect = DialectId::from_name("test-dialect").unwrap();
    assert!(DialectId::CONFIGURED.contains(&dialect) && DialectId::ORDER.contains(&dialect));
    assert_eq!(dialect.title(), "one-line hooks of the tests");
    // These are what the reference is made from.
    assert_eq!(find_event("tool/ask"), Some(EventKind::BeforeTool));
    let column = EventKind::BeforeTool.spec().column(dialect).unwrap();
    assert_eq!((column.name, column.matched_on), ("tool/ask", Some("tool_name")));
    assert!(EventKind::BeforeTool.spec().gated_by(dialect) && !EventKind::AfterTool.spec().gated_by(dialect));
}

#[test]
fn it_is_loaded_listed_and_watched() {
    let home = tempfile::tempdir().unwrap();
    let system = system(home.path());
    let snapshot = system.snapshot();
    let list = value(&list_document(&snapshot));
    let listed: Vec<Value> = list["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hook| json!([hook["dialect"], hook["event"], hook["source"]["kind"], hook["trusted"]]))
        .collect();
    let hook = |event: &str, kind: &str, trusted: bool| json!(["test-dialect", event, kind, trusted]);
    let user = |event: &str| hook(event, "user", true);
    assert_eq!(listed, [hook("tool/ask", "project", false), user("tool/ask"), user("tool/ask"), user("tool/told")]);
    assert!(snapshot.diagnostics().iter().any(|finding| finding.code == Code::SettingType));
    assert!(snapshot.files().contains(&home.path().join(".test-dialect.json")));
}

#[cfg(unix)]
#[test]
fn it_runs_and_folds() {
    let home = tempfile::tempdir().unwrap();
    let system = system(home.path());
    let outcome = system.fire_blocking(event(&system, EventKind::BeforeTool, "write_file"));
    assert_eq!(outcome.effects.decision, Some(Decision::Deny));
    assert_eq!(outcome.effects.reason.as_deref(), Some("tool/ask write_file"));
    assert_eq!(outcome.effects.additional_context.as_deref(), Some("first"));
    assert!(outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::Untrusted));
    let document = value(&outcome_document(&outcome));
    assert_eq!(document["runs"][0]["dialect"], "test-dialect");
    let other = system.fire_blocking(event(&system, EventKind::BeforeTool, "read_file"));
    assert_eq!((other.effects.decision, other.runs.len()), (None, 1));
    let late = system.fire_blocking(event(&system, EventKind::AfterTool, "write_file"));
    assert!(!late.is_denied(), "that event cannot be denied");
    assert!(late.diagnostics.iter().any(|finding| finding.code == Code::DenyWithoutEffect));
}

#[test]
fn it_is_explained() {
    let home = tempfile::tempdir().unwrap();
    let system = system(home.path());
    let document = value(&explain_document(&system.explain(&event(&system, EventKind::BeforeTool, "read_file"))));
    let planned: Vec<&Value> = document["plan"].as_array().unwrap().iter().map(|hook| &hook["dialect"]).collect();
    assert_eq!(planned, ["test-dialect"]);
    let reasons: Vec<&Value> = document["skipped"].as_array().unwrap().iter().map(|hook| &hook["why"]).collect();
    assert_eq!(reasons, ["untrusted", "matcher"]);
}
