//! Makes the line of a response fit the limit, so that an answer is never lost because hooks said too much.
//!
//! Texts for people are cut first. What changes an operation that may go on is never cut: a shortened tool input would be
//! another operation. A denial needs nothing but its reason, so everything else of it may be left out.

use hookrail::{Json, JsonKind, JsonObject};
use serde_json::Value;

use crate::error::{BusError, ErrorCode};
use crate::message::Response;
use crate::report::cut_text;

/// How much of a text is kept in an answer that does not fit.
const TEXT: usize = 64 * 1024;

/// How much is kept of what single runs wrote, and of a reason when nothing else is left.
const SHORT_TEXT: usize = 1024;

/// What an executed request came to.
pub(super) struct Parts {
    pub(super) output: Json,
    pub(super) outcome: Json,
    pub(super) truncated: bool,
}

impl Parts {
    fn cut(outcome: &JsonObject) -> Self {
        let output = outcome.get("aggregated").cloned().unwrap_or_else(Json::empty_object);
        Self { output, outcome: outcome.to_json(), truncated: true }
    }
}

/// The line of a response, as `write` makes it from its parts or from an error, with at most so many bytes.
pub(super) fn fitting(
    response: &Response,
    limit: usize,
    write: impl Fn(Result<&Parts, &BusError>) -> String,
) -> String {
    let report = match &response.result {
        Ok(report) => report,
        Err(error) => return write(Err(error)),
    };
    let (output, outcome) = report.parts();
    let whole = Parts { output, outcome, truncated: response.truncated || report.is_cut() };
    let line = write(Ok(&whole));
    if line.len() <= limit {
        return line;
    }
    let length = line.len();
    drop(line);
    let outcome = whole.outcome.as_object().unwrap_or_default();
    let line = write(Ok(&Parts::cut(&with_short_texts(&outcome))));
    if line.len() <= limit {
        return line;
    }
    if report.is_denied() {
        return write(Ok(&Parts::cut(&bare_denial(&outcome))));
    }
    let message = format!(
        "the answer has {length} bytes, the limit for a line is {limit}, and what hooks change in an operation is not cut"
    );
    write(Err(&BusError::new(ErrorCode::AnswerTooLong, message)))
}

/// The outcome with its texts for people cut. Everything that acts on the operation is whole.
fn with_short_texts(outcome: &JsonObject) -> JsonObject {
    let mut short = JsonObject::new();
    for (key, value) in outcome.iter() {
        let value = match key {
            "reason" | "stopReason" | "systemMessage" => cut_string(value, TEXT),
            "runs" => short_runs(value),
            "diagnostics" | "skipped" => cut_deeply(value, SHORT_TEXT),
            "aggregated" => short_aggregate(value),
            _ => value.clone(),
        };
        short.set(key, value);
    }
    short
}

/// The runs with little of what they wrote. A run whose output was cut says so.
fn short_runs(runs: &Json) -> Json {
    let mut runs = runs.to_value();
    for run in runs.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        for (text, mark) in [("stdout", "stdoutTruncated"), ("stderr", "stderrTruncated")] {
            if let Some(Value::String(written)) = run.get_mut(text)
                && cut_text(written, SHORT_TEXT)
            {
                run.insert(mark.to_owned(), Value::Bool(true));
            }
        }
    }
    let mut runs = Json::from(runs);
    if runs.text().len() > TEXT {
        runs = cut_deeply(&runs, SHORT_TEXT);
    }
    runs
}

/// The aggregate without the outputs of single hooks. The merged output keeps what acts on the operation.
fn short_aggregate(aggregated: &Json) -> Json {
    let mut short = JsonObject::new();
    for (key, value) in aggregated.as_object().unwrap_or_default().iter() {
        let value = match key {
            "allOutputs" => no_values(),
            "errors" => cut_deeply(value, SHORT_TEXT),
            "finalOutput" => {
                let mut output = value.as_object().unwrap_or_default();
                for key in ["reason", "stopReason", "systemMessage"] {
                    if let Some(text) = output.get(key).map(|text| cut_string(text, TEXT)) {
                        output.set(key, text);
                    }
                }
                output.to_json()
            }
            _ => value.clone(),
        };
        short.set(key, value);
    }
    short.to_json()
}

/// The decision and its reason. Lists are empty, and other texts and documents are null.
fn bare_denial(outcome: &JsonObject) -> JsonObject {
    let mut bare = JsonObject::new();
    for (key, value) in outcome.iter() {
        let value = match (key, value.kind()) {
            ("event" | "decision" | "reason" | "stopReason", _) => cut_string(value, SHORT_TEXT),
            ("aggregated", _) => {
                let mut aggregated = bare_denial(&value.as_object().unwrap_or_default());
                aggregated.set("allOutputs", no_values());
                aggregated.to_json()
            }
            ("finalOutput", _) => bare_denial(&value.as_object().unwrap_or_default()).to_json(),
            (_, JsonKind::Boolean | JsonKind::Number | JsonKind::Null) => value.clone(),
            (_, JsonKind::Array) => no_values(),
            (_, JsonKind::String | JsonKind::Object) => Json::null(),
        };
        bare.set(key, value);
    }
    bare
}

fn no_values() -> Json {
    Json::from(Value::Array(Vec::new()))
}

fn cut_string(value: &Json, most: usize) -> Json {
    let mut text = value.as_str().unwrap_or_default();
    if cut_text(&mut text, most) { Json::string(&text) } else { value.clone() }
}

/// The value with every text in it cut.
fn cut_deeply(value: &Json, most: usize) -> Json {
    fn cut(value: &mut Value, most: usize) {
        match value {
            Value::String(text) => {
                cut_text(text, most);
            }
            Value::Array(values) => values.iter_mut().for_each(|value| cut(value, most)),
            Value::Object(members) => members.values_mut().for_each(|value| cut(value, most)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    if value.text().len() <= most {
        return value.clone();
    }
    let mut value = value.to_value();
    cut(&mut value, most);
    Json::from(value)
}
