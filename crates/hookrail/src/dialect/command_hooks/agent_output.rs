//! What the hooks of agents print, as far as every such dialect reads it alike.

use super::answer::objects_in;
use super::foreign_errors::foreign_status;
use super::output::{HookDecision, HookOutput};
use super::unambiguous::Unambiguous;
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::answer_words::decision_in_broken;
use crate::json::{Json, JsonKind, JsonObject, without_lone_surrogates};
use crate::outcome::{Effects, Stop};
use crate::run::RunEnd;

/// What standard output holds.
pub(crate) enum ParsedOutput {
    /// No text, or a value that says nothing.
    Nothing,
    /// An object, and what was noticed about its keys.
    Object(JsonObject, Vec<Diagnostic>),
    /// Text, or a value that is no object.
    Text(String),
    /// It begins like an object or a list and is no JSON.
    Broken(serde_json::Error),
}

/// Parses the output of a hook. All of it must be one value.
pub(crate) fn parse_output(text: &str) -> ParsedOutput {
    let text = &*without_lone_surrogates(text.trim_start_matches('\u{feff}').trim());
    if text.is_empty() {
        return ParsedOutput::Nothing;
    }
    match Json::parse(text) {
        Ok(value) => parsed_value(&value, text),
        Err(why) if text.starts_with(['{', '[']) => ParsedOutput::Broken(why),
        Err(_) => ParsedOutput::Text(text.to_owned()),
    }
}

fn parsed_value(value: &Json, text: &str) -> ParsedOutput {
    match (value.kind(), Unambiguous::read(value)) {
        (_, Some(answer)) => {
            let found = answer.findings().collect();
            ParsedOutput::Object(answer.object, found)
        }
        (JsonKind::Null, None) => ParsedOutput::Nothing,
        (_, None) => ParsedOutput::Text(text.to_owned()),
    }
}

/// The strictest decision and the stop that can be recognised in output that is no answer.
pub(crate) fn recognised_in(text: &str) -> Effects {
    let mut recognised = Effects::default();
    for object in objects_in(text) {
        let output = HookOutput::read(&object).0;
        let decision = output.effective_decision().map(HookDecision::decision);
        if decision > recognised.decision {
            recognised.decision = decision;
            recognised.reason = output.effective_reason();
        }
        if output.should_stop_execution() && recognised.stop.is_none() {
            recognised.stop = Some(Stop { reason: output.get_effective_reason() });
        }
    }
    if recognised.decision.is_none() {
        let word = decision_in_broken(text).and_then(HookDecision::from_word);
        recognised.decision = word.map(HookDecision::decision);
    }
    recognised
}

/// The finding about a denial that the agent would ignore for these mistakes, and that counts here.
pub(crate) fn stricter_than_agent(agent: &str, mistakes: &[String], hint: &str) -> Diagnostic {
    let message = format!("it denies, and {agent} would ignore that: {}; the denial counts here", mistakes.join("; "));
    Diagnostic::new(Code::StricterThanAgent, message).hint(hint)
}

/// What a hook that exited with 2 wrote.
pub(crate) struct StatusTwo {
    /// The text on standard error.
    pub(crate) on_stderr: Option<String>,
    /// The reason of an object on standard output, else the text there.
    pub(crate) on_stdout: Option<String>,
    /// Whether the status is most likely not the hook's own.
    pub(crate) found: Option<Diagnostic>,
}

impl StatusTwo {
    pub(crate) fn of(end: &RunEnd) -> Self {
        let (stdout, stderr) = (end.stdout().lossy(), end.stderr().lossy());
        let on_stdout = match parse_output(&stdout) {
            ParsedOutput::Object(object, _) => {
                let output = HookOutput::read(&object).0;
                output.effective_reason().or(output.system_message)
            }
            ParsedOutput::Text(text) => Some(text),
            ParsedOutput::Nothing | ParsedOutput::Broken(_) => None,
        };
        let on_stderr = Some(stderr.trim().to_owned()).filter(|text| !text.is_empty());
        let found = stdout.trim().is_empty().then(|| foreign_status(&stderr)).flatten();
        Self { on_stderr, on_stdout, found }
    }
}
