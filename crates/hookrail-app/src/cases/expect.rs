//! Compares what happened with what a case expects.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::text::{one_line, short};
use hookrail::document::outcome_document;
use hookrail::{Code, Decision, Level, Outcome};
use serde_json::Value;

use super::case::{Case, Expectations, ExpectedDiagnostics, PerRun, Rewrite};
use super::scratch_path::{ScratchFolders, ScratchPath};

/// The longest value that is shown in a failure.
const SHOWN: usize = 400;

/// What happened when the event of a case was fired.
pub(super) struct CaseRun<'h> {
    pub(super) outcome: &'h Outcome,
    pub(super) took: Duration,
    /// The slash commands that modules offer.
    pub(super) commands: Vec<String>,
    pub(super) places: &'h ScratchFolders,
}

/// One expectation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetExpectation {
    /// The key of the expectation.
    pub key: &'static str,
    pub expected: String,
    pub found: String,
}

impl UnmetExpectation {
    pub(super) fn new(key: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { key, expected: expected.into(), found: found.into() }
    }
}

/// Returns every expectation that does not hold, but for the snapshot.
pub(super) fn mismatches(case: &Case, run: &CaseRun<'_>) -> Vec<UnmetExpectation> {
    let mut found = Vec::new();
    effects(&case.expect, run, &mut found);
    runs(&case.expect, run, &mut found);
    diagnostics(&case.expect, run, &mut found);
    files(&case.expect, run.places, &mut found);
    for command in case.expect.commands.iter().filter(|command| !run.commands.contains(command)) {
        found.push(UnmetExpectation::new("commands", format!("`{command}`"), listed(&run.commands)));
    }
    if let Some(most) = case.expect.max_ms
        && run.took > Duration::from_millis(most)
    {
        let took = format!("{:.1} ms", run.took.as_secs_f64() * 1000.0);
        found.push(UnmetExpectation::new("max_ms", format!("at most {most} ms"), took));
    }
    found
}

fn effects(expect: &Expectations, run: &CaseRun<'_>, found: &mut Vec<UnmetExpectation>) {
    let effects = &run.outcome.effects;
    let places = run.places;
    if let Some(expected) = &expect.decision {
        let decided = effects.decision.map(Decision::name);
        if decided != expected.as_deref() {
            found.push(UnmetExpectation::new(
                "decision",
                expected.as_deref().unwrap_or("none"),
                decided.unwrap_or("none"),
            ));
        }
    }
    whole("reason", expect.reason.as_deref(), effects.reason.as_deref(), places, found);
    whole("context", expect.context.as_deref(), effects.additional_context.as_deref(), places, found);
    let stop_reason = effects.stop.as_ref().map(|stop| stop.reason.as_str());
    let parts = [
        ("reason_contains", &expect.reason_contains, effects.reason.as_deref()),
        ("context_contains", &expect.context_contains, effects.additional_context.as_deref()),
        ("message_contains", &expect.message_contains, effects.system_message.as_deref()),
        ("stop_reason_contains", &expect.stop_reason_contains, stop_reason),
    ];
    for (key, expected, text) in parts {
        contains(key, expected, text.unwrap_or_default(), places, found);
    }
    if let Some(expected) = expect.stop
        && expected != effects.stop.is_some()
    {
        found.push(UnmetExpectation::new("stop", expected.to_string(), effects.stop.is_some().to_string()));
    }
    let rewritten = effects.tool_input.as_ref().map(hookrail::Json::to_value);
    match (&expect.rewrite, rewritten) {
        (None, _) | (Some(Rewrite::None), None) => {}
        (Some(Rewrite::None), Some(input)) => {
            found.push(UnmetExpectation::new("rewrite", "false", shown(&input.to_string())));
        }
        (Some(Rewrite::To(input)), None) => {
            found.push(UnmetExpectation::new("rewrite", shown(&input.to_string()), "the tool input is not rewritten"));
        }
        (Some(Rewrite::To(expected)), Some(input)) => {
            let expected = places.fill_value(expected);
            if expected != input {
                found.push(UnmetExpectation::new("rewrite", shown(&expected.to_string()), shown(&input.to_string())));
            }
        }
    }
    let document = outcome_document(run.outcome).to_value();
    if let Some(expected) = expect.silent {
        let said = said(&document);
        if expected != said.is_empty() {
            let found_text = if said.is_empty() { "silent".to_owned() } else { said.join(", ") };
            found.push(UnmetExpectation::new("silent", expected.to_string(), found_text));
        }
    }
    for (member, expected) in &expect.outcome {
        let expected = places.fill_value(expected);
        let value = document.get(member).cloned().unwrap_or(Value::Null);
        if !includes(&value, &expected) {
            let expected = format!("{member}: {}", shown(&expected.to_string()));
            found.push(UnmetExpectation::new("outcome", expected, shown(&value.to_string())));
        }
    }
}

/// The members of an outcome by which it does anything.
pub(super) const EFFECTS: [&str; 16] = [
    "decision",
    "reason",
    "stop",
    "systemMessage",
    "suppressOutput",
    "clearContext",
    "additionalContext",
    "toolInput",
    "toolOutput",
    "prompt",
    "messages",
    "entries",
    "llmRequest",
    "llmResponse",
    "toolConfig",
    "result",
];

/// Returns the members by which this outcome does something.
fn said(document: &Value) -> Vec<&'static str> {
    let is_something = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Array(list) => !list.is_empty(),
        Value::Number(_) | Value::String(_) | Value::Object(_) => true,
    };
    EFFECTS.into_iter().filter(|name| document.get(name).is_some_and(is_something)).collect()
}

fn runs(expect: &Expectations, run: &CaseRun<'_>, found: &mut Vec<UnmetExpectation>) {
    let runs = &run.outcome.runs;
    if let Some(expected) = expect.runs
        && usize::try_from(expected) != Ok(runs.len())
    {
        found.push(UnmetExpectation::new("runs", expected.to_string(), runs.len().to_string()));
    }
    let ends: Vec<String> = runs.iter().map(|run| run.end.name().to_owned()).collect();
    each("ends", expect.ends.as_ref(), &ends, found);
    let status = |code: Option<i32>| code.map_or_else(|| "none".to_owned(), |code| code.to_string());
    let statuses: Vec<String> = runs.iter().map(|run| status(run.exit_code)).collect();
    let expected = expect.exit.as_ref().map(|exit| match exit {
        PerRun::All(status) => PerRun::All(status.to_string()),
        PerRun::Each(statuses) => PerRun::Each(statuses.iter().map(u64::to_string).collect()),
    });
    each("exit", expected.as_ref(), &statuses, found);
    let stdout: String = runs.iter().map(|run| run.stdout.as_str()).collect();
    let stderr: String = runs.iter().map(|run| run.stderr.as_str()).collect();
    contains("stdout_contains", &expect.stdout_contains, &stdout, run.places, found);
    contains("stderr_contains", &expect.stderr_contains, &stderr, run.places, found);
}

fn each(key: &'static str, expected: Option<&PerRun<String>>, values: &[String], found: &mut Vec<UnmetExpectation>) {
    let (holds, expected) = match expected {
        None => return,
        // An expectation about every hook must not hold because there is none.
        Some(PerRun::All(one)) => (!values.is_empty() && values.iter().all(|value| value == one), one.clone()),
        Some(PerRun::Each(all)) => (all == values, listed(all)),
    };
    if !holds {
        found.push(UnmetExpectation::new(
            key,
            expected,
            if values.is_empty() { "no hook ran".to_owned() } else { listed(values) },
        ));
    }
}

/// Compares the warnings and errors that the hooks caused. A misspelt field of an answer is one of them, and a case must
/// not pass in spite of it. A guard that gave no answer may decide as expected, so that has to be expected by its name.
fn diagnostics(expect: &Expectations, run: &CaseRun<'_>, found: &mut Vec<UnmetExpectation>) {
    let reported: Vec<&hookrail::Diagnostic> =
        run.outcome.diagnostics.iter().filter(|diagnostic| diagnostic.level >= Level::Warning).collect();
    let mut codes: Vec<String> = reported.iter().map(|diagnostic| diagnostic.code.name().to_owned()).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut expected = match &expect.diagnostics {
        ExpectedDiagnostics::Any if !codes.iter().any(|code| code == Code::UnreadableAnswer.name()) => return,
        ExpectedDiagnostics::Any => {
            codes.iter().filter(|code| *code != Code::UnreadableAnswer.name()).cloned().collect()
        }
        ExpectedDiagnostics::None => Vec::new(),
        ExpectedDiagnostics::Exactly(codes) => codes.clone(),
    };
    expected.sort_unstable();
    expected.dedup();
    if codes != expected {
        let told = reported.iter().map(|one| {
            // What the hook wrote is shown whole below what ran.
            let message = one_line(one.message.lines().next().unwrap_or_default());
            let help = one.hint.as_ref().map(|hint| format!("\nhelp: {}", one_line(hint))).unwrap_or_default();
            format!("{}: {}{help}", one.code.name(), run.places.unfill(&message))
        });
        let told = told.collect::<Vec<_>>().join("\n");
        found.push(UnmetExpectation::new(
            "diagnostics",
            listed(&expected),
            if told.is_empty() { listed(&codes) } else { told },
        ));
    }
}

fn files(expect: &Expectations, places: &ScratchFolders, found: &mut Vec<UnmetExpectation>) {
    let path = |name: &str| ScratchPath::parse(name).map(|path| path.in_place(places));
    for (name, expected) in &expect.files_contain {
        let expected = places.fill(expected);
        match path(name).and_then(|path| fs::read_to_string(path).ok()) {
            Some(text) if text.contains(&expected) => {}
            Some(text) => {
                found.push(UnmetExpectation::new(
                    "files_contain",
                    format!("`{name}`: {}", shown(&expected)),
                    shown(&text),
                ));
            }
            None => {
                found.push(UnmetExpectation::new(
                    "files_contain",
                    format!("`{name}`: {}", shown(&expected)),
                    "no such file",
                ));
            }
        }
    }
    for name in &expect.files_absent {
        if path(name).is_some_and(|path| path.symlink_metadata().is_ok()) {
            found.push(UnmetExpectation::new("files_absent", format!("no `{name}`"), "it is there"));
        }
    }
    for (name, expected) in &expect.file_count {
        let count = path(name).map_or(0, |path| files_below(&path));
        if count != *expected {
            found.push(UnmetExpectation::new("file_count", format!("`{name}`: {expected}"), count.to_string()));
        }
    }
}

fn files_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| if entry.file_type().is_ok_and(|kind| kind.is_dir()) { files_below(&entry.path()) } else { 1 })
        .sum()
}

fn whole(
    key: &'static str,
    expected: Option<&str>,
    text: Option<&str>,
    places: &ScratchFolders,
    found: &mut Vec<UnmetExpectation>,
) {
    let Some(expected) = expected.map(|expected| places.fill(expected)) else { return };
    if text.map(str::trim_end) != Some(expected.trim_end()) {
        found.push(UnmetExpectation::new(key, shown(&expected), text.map_or_else(|| "nothing".to_owned(), shown)));
    }
}

fn contains(
    key: &'static str,
    expected: &[String],
    text: &str,
    places: &ScratchFolders,
    found: &mut Vec<UnmetExpectation>,
) {
    for part in expected {
        let part = places.fill(part);
        if !text.contains(&part) {
            found.push(UnmetExpectation::new(
                key,
                shown(&part),
                if text.is_empty() { "nothing".to_owned() } else { shown(text) },
            ));
        }
    }
}

/// Whether a value has all members of another one.
fn includes(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Object(value), Value::Object(expected)) => {
            expected.iter().all(|(key, expected)| value.get(key).is_some_and(|value| includes(value, expected)))
        }
        _ => value == expected,
    }
}

fn listed(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn shown(text: &str) -> String {
    short(&one_line(text.trim_end()), SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A case that expects a silent hook must notice each effect.
    #[test]
    fn every_effect_is_noticed() {
        assert!(said(&json!({"decision": null, "stop": false, "clearContext": false, "messages": []})).is_empty());
        assert_eq!(said(&json!({"clearContext": true, "messages": [1]})), ["clearContext", "messages"]);
    }

    #[test]
    fn a_table_may_have_more_members_than_are_expected() {
        assert!(includes(&json!({"a": {"b": 1, "c": 2}}), &json!({"a": {"b": 1}})));
        assert!(!includes(&json!({"a": {"b": 1}}), &json!({"a": {"b": 2}})));
        assert!(!includes(&json!([1, 2]), &json!([1])));
    }

    #[test]
    fn an_expectation_about_every_hook_needs_one() {
        let mut found = Vec::new();
        each("exit", Some(&PerRun::All("0".to_owned())), &[], &mut found);
        assert_eq!(found, [UnmetExpectation::new("exit", "0", "no hook ran")]);
    }
}
