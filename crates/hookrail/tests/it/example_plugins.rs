//! The example plugins of this repository, with a stand-in for `eslint`.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::json;
use hookrail::dialect::xcode::{PluginPlaces, install};
use hookrail::tools::ToolTable;
use hookrail::{Builder, Environment, EventKind, HookSystem, Outcome};
use hookrail_testkit::TestProject;
use pretty_assertions::assert_eq;

/// A linter that knows one rule. It reads a file, or standard input where that is asked for.
const LINTER: &str = r#"#!/bin/sh
echo "$@" >> "$LINT_LOG"
text=$(case " $* " in *" --stdin "*) cat ;; *) for last; do :; done; cat "$last" ;; esac)
case "$text" in *"var "*) echo "1:1 error Unexpected var"; exit 1 ;; esac
"#;

/// Whether `node` is here. With `HOOKRAIL_REQUIRE_ALL=1` it has to be.
fn node(test: &str) -> Option<PathBuf> {
    let found = std::env::split_paths(&std::env::var_os("PATH")?).find(|folder| folder.join("node").is_file());
    if found.is_none() {
        let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
        assert!(!required, "{test} needs node");
        println!("skipped: {test} (no node)");
    }
    found
}

/// The example installed as its user would, in a project of its own.
fn installed(example: &str, node: &Path) -> (TestProject, Builder) {
    let place = TestProject::new();
    place.write_program_at("bin/eslint", LINTER);
    let path = format!("{}:{}:/usr/bin:/bin", place.path("bin").display(), node.display());
    let environment =
        Environment::new().with("PATH", path).with("HOME", &place.home).with("LINT_LOG", place.path("lint.log"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plugins").join(example);
    let places = PluginPlaces::new(&place.project, &environment);
    let (plugin, left_out) = install(&source, &places, &environment.clone().into()).unwrap();
    assert_eq!((plugin.problems, left_out), (Vec::new(), Vec::new()));
    let builder = HookSystem::builder(&place.project).environment(environment);
    (place, builder)
}

fn linted(place: &TestProject) -> String {
    fs::read_to_string(place.path("lint.log")).unwrap_or_default()
}

fn call(system: &HookSystem, tool: &str, input: &str) -> Outcome {
    let event = system.event(EventKind::BeforeTool).with_text("tool_name", tool).with("tool_input", json(input));
    let outcome = system.fire_blocking(event);
    assert!(outcome.runs.iter().all(|run| run.end.name() == "answered"), "{:?}", outcome.diagnostics);
    outcome
}

#[test]
fn the_lint_gate_with_the_names_of_this_projects_agent() {
    let Some(node) = node("the_lint_gate_with_the_names_of_this_projects_agent") else { return };
    let (place, builder) = installed("ts-lint-gate", &node);
    let system = builder.build();
    assert_eq!(system.snapshot().diagnostics(), []);
    let denied = call(&system, "write_file", r#"{"path":"a b.ts","content":"var x = 1"}"#);
    assert_eq!(denied.effects.reason.as_deref(), Some("Lint failed:\n1:1 error Unexpected var\n"));
    assert!(denied.is_denied());
    assert!(!call(&system, "write_file", r#"{"path":"a.ts","content":"const x = 1"}"#).is_denied());
    place.write("old.ts", "var x = 1");
    assert!(call(&system, "replace", r#"{"path":"old.ts","old_string":"a","new_string":"b"}"#).is_denied());
    let before = linted(&place);
    assert!(!call(&system, "write_file", r#"{"path":"notes.md","content":"var x"}"#).is_denied());
    assert_eq!(call(&system, "run_shell_command", r#"{"command":"ls"}"#).runs.len(), 0);
    assert_eq!(linted(&place), before, "neither was linted");
}

#[test]
fn the_original_lint_gate_works_where_tools_are_known() {
    let Some(node) = node("the_original_lint_gate_works_where_tools_are_known") else { return };
    let (place, builder) = installed("ts-lint-gate-original", &node);
    let system = builder.tool_table(ToolTable::default()).build();
    place.write("bad.ts", "var x = 1");
    place.write("good.ts", "const x = 1");
    for tool in ["write_file", "replace"] {
        let denied = call(&system, tool, r#"{"path":"bad.ts"}"#);
        assert_eq!((denied.runs.len(), denied.is_denied()), (1, true), "{tool}");
        assert!(denied.effects.reason.unwrap().contains("Unexpected var"));
        let allowed = call(&system, tool, r#"{"path":"good.ts"}"#);
        assert_eq!((allowed.runs.len(), allowed.is_denied()), (1, false), "{tool}");
        assert_eq!(allowed.effects.tool_input, None);
    }
}

#[test]
fn without_a_table_the_original_does_not_match() {
    let Some(node) = node("without_a_table_the_original_does_not_match") else { return };
    let (_place, builder) = installed("ts-lint-gate-original", &node);
    assert_eq!(call(&builder.build(), "write_file", r#"{"path":"a.ts"}"#).runs.len(), 0);
}
