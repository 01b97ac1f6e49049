//! Shortens the line of a response to the limit, so that an answer is not lost because hooks wrote too much. Other messages
//! have no parts that could be left out.
//!
//! Texts for users are cut first. A change of an operation that is not denied is never cut: a shortened tool input would be
//! another operation. Of a denial only the decision and its reason are necessary, so everything else may be left out.

use hookrail::recorder::HandedRecord;
use hookrail::{Json, JsonKind, JsonObject};
use serde_json::Value;

use crate::error::{BusError, ErrorCode};
use crate::payload::Response;
use crate::report::cut_text;

/// The number of bytes that are kept of a reason or a message if the answer does not fit.
const TEXT_LIMIT: usize = 64 * 1024;

/// The number of bytes that are kept of each output of a run and of each text of a diagnostic; and of a denial's reason if
/// everything else is left out.
const SHORT_TEXT_LIMIT: usize = 1024;

/// The two documents in the response to an executed request, and whether they were cut.
pub(super) struct ResponseParts {
    pub(super) output: Json,
    pub(super) outcome: Json,
    pub(super) truncated: bool,
    pub(super) record: Option<Json>,
}

impl ResponseParts {
    /// Makes the parts from a shortened outcome, which contains the output as `aggregated`.
    fn from_cut_outcome(outcome: &JsonObject) -> Self {
        let output = outcome.get("aggregated").cloned().unwrap_or_else(Json::empty_object);
        Self { output, outcome: outcome.to_json(), truncated: true, record: None }
    }
}

/// Returns the line of a response with at most this many bytes. `write` makes it from the parts or from an error.
pub(super) fn write_fitting(
    response: &Response,
    limit: usize,
    write: impl Fn(Result<&ResponseParts, &BusError>) -> String,
) -> String {
    let report = match &response.result {
        Ok(report) => report,
        Err(error) => return write(Err(error)),
    };
    let (output, outcome) = report.parts();
    let handed = report.outcome().and_then(|outcome| outcome.handed_record.as_ref());
    let record = response.record.clone().or_else(|| handed?.record());
    let whole = ResponseParts { output, outcome, truncated: response.truncated || report.is_cut(), record };
    let line = write(Ok(&whole));
    if line.len() <= limit {
        // The reader of the line writes the record. One that is left here is written by the server.
        drop(handed.and_then(HandedRecord::take));
        return line;
    }
    let length = line.len();
    // The line can be many times as long as the limit, so it is freed before the next one is made.
    drop(line);
    let outcome = whole.outcome.as_object().unwrap_or_default();
    let line = write(Ok(&ResponseParts::from_cut_outcome(&with_short_texts(&outcome))));
    if line.len() <= limit {
        return line;
    }
    if report.is_denied() {
        return write(Ok(&ResponseParts::from_cut_outcome(&bare_denial(&outcome))));
    }
    let message = format!(
        "the answer has {length} bytes, the limit for a line is {limit}, and what hooks change in an operation is not cut"
    );
    write(Err(&BusError::new(ErrorCode::AnswerTooLong, message)))
}

/// Returns the outcome with the texts for users cut. Everything that affects the operation is kept.
fn with_short_texts(outcome: &JsonObject) -> JsonObject {
    let mut short = JsonObject::new();
    for (key, value) in outcome.iter() {
        let value = match key {
            "reason" | "stopReason" | "systemMessage" => cut_string(value, TEXT_LIMIT),
            "runs" => short_runs(value),
            "diagnostics" | "skipped" => cut_deeply(value, SHORT_TEXT_LIMIT),
            "aggregated" => short_aggregate(value),
            _ => value.clone(),
        };
        short.set(key, value);
    }
    short
}

/// Returns the runs with short outputs. A run whose output was cut is marked.
fn short_runs(runs: &Json) -> Json {
    let mut runs = runs.to_value();
    for run in runs.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        for (text, mark) in [("stdout", "stdoutTruncated"), ("stderr", "stderrTruncated")] {
            if let Some(Value::String(written)) = run.get_mut(text)
                && cut_text(written, SHORT_TEXT_LIMIT)
            {
                run.insert(mark.to_owned(), Value::Bool(true));
            }
        }
    }
    let mut runs = Json::from(runs);
    // Many runs, or long values beside the outputs.
    if runs.text().len() > TEXT_LIMIT {
        runs = cut_deeply(&runs, SHORT_TEXT_LIMIT);
    }
    runs
}

/// Returns the aggregate without the outputs of single hooks. The merged output keeps what affects the operation.
fn short_aggregate(aggregated: &Json) -> Json {
    let mut short = JsonObject::new();
    for (key, value) in aggregated.as_object().unwrap_or_default().iter() {
        let value = match key {
            "allOutputs" => empty_array(),
            "errors" => cut_deeply(value, SHORT_TEXT_LIMIT),
            "finalOutput" => {
                let mut output = value.as_object().unwrap_or_default();
                for key in ["reason", "stopReason", "systemMessage"] {
                    if let Some(text) = output.get(key).map(|text| cut_string(text, TEXT_LIMIT)) {
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

/// Returns a denial with its decision and reason alone. Every key is kept: lists are empty, and other texts and
/// documents are null.
fn bare_denial(outcome: &JsonObject) -> JsonObject {
    let mut bare = JsonObject::new();
    for (key, value) in outcome.iter() {
        let value = match (key, value.kind()) {
            ("event" | "decision" | "reason" | "stopReason", _) => cut_string(value, SHORT_TEXT_LIMIT),
            ("aggregated", _) => {
                let mut aggregated = bare_denial(&value.as_object().unwrap_or_default());
                aggregated.set("allOutputs", empty_array());
                aggregated.to_json()
            }
            ("finalOutput", _) => bare_denial(&value.as_object().unwrap_or_default()).to_json(),
            (_, JsonKind::Boolean | JsonKind::Number | JsonKind::Null) => value.clone(),
            (_, JsonKind::Array) => empty_array(),
            (_, JsonKind::String | JsonKind::Object) => Json::null(),
        };
        bare.set(key, value);
    }
    bare
}

fn empty_array() -> Json {
    Json::from(Value::Array(Vec::new()))
}

fn cut_string(value: &Json, limit: usize) -> Json {
    let mut text = value.as_str().unwrap_or_default();
    if cut_text(&mut text, limit) { Json::string(&text) } else { value.clone() }
}

/// Returns the value with every text in it cut.
fn cut_deeply(value: &Json, limit: usize) -> Json {
    fn cut(value: &mut Value, limit: usize) {
        match value {
            Value::String(text) => {
                cut_text(text, limit);
            }
            Value::Array(values) => values.iter_mut().for_each(|value| cut(value, limit)),
            Value::Object(members) => members.values_mut().for_each(|value| cut(value, limit)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    if value.text().len() <= limit {
        return value.clone();
    }
    let mut value = value.to_value();
    cut(&mut value, limit);
    Json::from(value)
}
