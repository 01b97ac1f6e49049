//! A row of the list: what the page needs of every record, before the record itself is looked at.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The longest subject of a row, in characters.
const LONGEST_SUBJECT: usize = 120;

/// What a row needs of a line. Members that are missing are empty.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'l> {
    seq: u64,
    #[serde(borrow)]
    at: Cow<'l, str>,
    #[serde(borrow)]
    kind: Cow<'l, str>,
    host: Host,
    #[serde(borrow)]
    project: Cow<'l, str>,
    #[serde(borrow)]
    fire: Cow<'l, str>,
    #[serde(borrow)]
    session: Cow<'l, str>,
    event: Option<Cow<'l, str>>,
    tool: Option<Cow<'l, str>>,
    decision: Option<Cow<'l, str>>,
    /// The fields of an event. In an answer to a question it is what was asked about, of any form.
    #[serde(borrow)]
    input: Option<&'l RawValue>,
    outcome: Outcome,
    hooks: Vec<Run>,
    /// Shadow hooks that had answered when the outcome was made.
    shadow: Vec<Run>,
    ms: f64,
    /// A text, or what stays of it if it was removed.
    reason: Option<Value>,
    operation: Option<Cow<'l, str>>,
    answer: Option<Cow<'l, str>>,
    loss: Option<Cow<'l, str>>,
    change: Option<Cow<'l, str>>,
    hook: Option<Cow<'l, str>>,
    why: Option<Cow<'l, str>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Host {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Input {
    tool_input: Option<Value>,
    prompt: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Outcome {
    stop: bool,
    tool_input: Option<IgnoredAny>,
    tool_output: Option<IgnoredAny>,
    prompt: Option<IgnoredAny>,
    llm_request: Option<IgnoredAny>,
    llm_response: Option<IgnoredAny>,
    tool_config: Option<IgnoredAny>,
    messages: Vec<IgnoredAny>,
    entries: Vec<IgnoredAny>,
    shadow: Vec<IgnoredAny>,
    diagnostics: Vec<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Run {
    id: String,
    hook: String,
    layer: String,
    end: String,
    health: Option<String>,
    decision: Option<String>,
    ms: f64,
}

/// Of a run: id, name, layer, end, decision, milliseconds, and whether it failed (1) or not (0).
type RunRow<'r> = (&'r str, &'r str, &'r str, &'r str, &'r str, f64, u8);

#[derive(Serialize)]
struct Row<'r> {
    n: u64,
    seq: u64,
    at: &'r str,
    kind: &'r str,
    event: &'r str,
    tool: &'r str,
    decision: &'r str,
    session: &'r str,
    host: &'r str,
    project: &'r str,
    fire: &'r str,
    ms: f64,
    text: String,
    hooks: Vec<RunRow<'r>>,
    /// The runs of shadow hooks, which are found by the same conditions and counted nowhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shadow: Vec<RunRow<'r>>,
    marks: Vec<&'static str>,
}

/// The row of a line, as JSON.
pub(crate) fn row_of(number: u64, line: &Result<String, String>) -> String {
    let parsed = match line {
        Ok(line) => serde_json::from_str::<Line<'_>>(line).map_err(|error| error.to_string()),
        Err(problem) => Err(problem.clone()),
    };
    match parsed {
        Ok(line) => write(&row(number, &line)),
        Err(problem) => {
            let nothing = Line { kind: Cow::Borrowed("unreadable"), ..Line::default() };
            write(&Row { text: shortened(&problem), marks: vec!["failed"], ..row(number, &nothing) })
        }
    }
}

fn write(row: &Row<'_>) -> String {
    // A row consists of texts and numbers, so it has a JSON form.
    serde_json::to_string(row).unwrap_or_default()
}

fn row<'r>(number: u64, line: &'r Line<'_>) -> Row<'r> {
    let text = |value: &'r Option<Cow<'_, str>>| value.as_deref().unwrap_or_default();
    let outcome = &line.outcome;
    let hooks = run_rows(&line.hooks);
    let shadow = run_rows(&line.shadow);
    let Outcome { tool_input, tool_output, prompt, llm_request, llm_response, tool_config, .. } = outcome;
    let replaced = [tool_input, tool_output, prompt, llm_request, llm_response, tool_config];
    let is_rewritten = replaced.iter().any(|rewrite| rewrite.is_some());
    let marks = [
        ("rewrite", is_rewritten || !outcome.messages.is_empty() || !outcome.entries.is_empty()),
        ("stop", outcome.stop),
        ("failed", hooks.iter().any(|run| run.6 == 1)),
        ("shadow", !shadow.is_empty() || !outcome.shadow.is_empty() || line.why.as_deref() == Some("shadow")),
        ("diagnostic", !outcome.diagnostics.is_empty()),
    ];
    Row {
        n: number,
        seq: line.seq,
        at: &line.at,
        kind: &line.kind,
        event: text(&line.event),
        tool: text(&line.tool),
        decision: text(&line.decision),
        session: &line.session,
        host: &line.host.name,
        project: &line.project,
        fire: &line.fire,
        ms: line.ms,
        text: subject(line),
        hooks,
        shadow,
        marks: marks.into_iter().filter_map(|(mark, is_set)| is_set.then_some(mark)).collect(),
    }
}

fn run_rows(runs: &[Run]) -> Vec<RunRow<'_>> {
    let rows = runs.iter().map(|run| {
        let Run { id, hook, layer, end, health, decision, ms } = run;
        let decision = decision.as_deref().unwrap_or_default();
        let failed = u8::from(health.as_deref() == Some("failed"));
        (id.as_str(), hook.as_str(), layer.as_str(), end.as_str(), decision, *ms, failed)
    });
    rows.collect()
}

/// What a record is about, in a few words.
fn subject(line: &Line<'_>) -> String {
    let names = ["command", "file_path", "path", "absolute_path", "url", "query", "pattern"];
    let of_tool = |input: &Value| {
        let named = names.iter().find_map(|field| input.get(field)?.as_str());
        let any = || input.as_object()?.values().find_map(Value::as_str);
        named.or_else(any).map(str::to_owned)
    };
    let fields = line.input.and_then(|input| serde_json::from_str::<Input>(input.get()).ok());
    let of_input = fields.and_then(|input| {
        let prompt = || input.prompt.as_ref().and_then(Value::as_str).map(str::to_owned);
        input.tool_input.as_ref().and_then(of_tool).or_else(prompt)
    });
    let others = [&line.operation, &line.answer, &line.loss, &line.change, &line.hook, &line.why];
    let text = of_input.unwrap_or_else(|| {
        let reason = line.reason.as_ref().and_then(Value::as_str);
        let words = others.into_iter().filter_map(|word| word.as_deref()).chain(reason);
        Vec::from_iter(words).join(" ")
    });
    shortened(&text)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SUBJECT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Value {
        serde_json::from_str(&row_of(3, &Ok(line.to_owned()))).unwrap()
    }

    #[test]
    fn a_row_says_what_was_decided_about_what() {
        let row = parsed(
            r#"{"seq":9,"at":"2026-11-16T03:00:00.123Z","kind":"fired","event":"before-tool","tool":"bash","decision":"deny",
                "input":{"tool_input":{"command":"rm -rf \u001b[31m"}},"outcome":{"toolInput":{"a":1},"runs":[{"exitCode":2}]},
                "hooks":[{"id":"x","hook":"guard","layer":"user","end":"exited","decision":"deny","ms":1.5}]}"#,
        );
        assert_eq!((row["n"].as_u64(), row["seq"].as_u64()), (Some(3), Some(9)));
        assert_eq!(row["text"], "rm -rf \u{1b}[31m");
        assert_eq!(row["hooks"][0], serde_json::json!(["x", "guard", "user", "exited", "deny", 1.5, 0]));
        assert_eq!(row["marks"], serde_json::json!(["rewrite"]));
    }

    #[test]
    fn a_failure_is_marked_and_an_answer_by_status_is_not() {
        for (health, failed) in [(r#","health":"failed""#, 1), ("", 0)] {
            let run = format!(r#"{{"hook":"h","end":"exited","exit":2{health}}}"#);
            let line = format!(r#"{{"seq":1,"kind":"fired","hooks":[{run}]}}"#);
            assert_eq!(parsed(&line)["hooks"][0][6], failed, "{health}");
        }
    }

    #[test]
    fn runs_without_an_effect_stand_apart() {
        let row = parsed(
            r#"{"seq":1,"kind":"fired","hooks":[],"shadow":[{"id":"y","hook":"new","layer":"user","end":"exited","decision":"deny","ms":2.5}]}"#,
        );
        assert_eq!(
            (&row["hooks"], &row["shadow"]),
            (&serde_json::json!([]), &serde_json::json!([["y", "new", "user", "exited", "deny", 2.5, 0]]))
        );
        assert_eq!(row["marks"], serde_json::json!(["shadow"]));
    }

    #[test]
    fn every_change_that_an_outcome_asks_for_is_marked() {
        for effect in [r#""toolConfig":{"mode":"none"}"#, r#""messages":[{}]"#, r#""entries":[1]"#, r#""prompt":"p""#] {
            assert_eq!(
                parsed(&format!(r#"{{"seq":1,"kind":"fired","outcome":{{{effect}}}}}"#))["marks"][0],
                "rewrite",
                "{effect}"
            );
        }
        assert_eq!(
            parsed(r#"{"seq":1,"kind":"fired","outcome":{"messages":[],"toolConfig":null}}"#)["marks"],
            serde_json::json!([])
        );
    }

    #[test]
    fn texts_that_were_removed_are_no_reason_to_refuse_a_record() {
        let row = parsed(
            r#"{"seq":1,"kind":"answered","input":{"redacted":"ab","bytes":3},"reason":{"redacted":"ab","bytes":3},"answer":"refused"}"#,
        );
        assert_eq!((&row["kind"], &row["text"]), (&Value::from("answered"), &Value::from("refused")));
        assert_eq!(parsed(r#"{"seq":1,"kind":"answered","input":"a prompt"}"#)["kind"], "answered");
    }

    #[test]
    fn a_long_subject_is_cut_between_characters() {
        let line = format!(r#"{{"seq":1,"kind":"fired","input":{{"prompt":"{}"}}}}"#, "é".repeat(500));
        assert_eq!(parsed(&line)["text"].as_str().unwrap().chars().count(), LONGEST_SUBJECT + 1);
    }
}
