//! Turns the raw end of a process into an answer: exit codes, JSON, plain text, and failures.

use std::sync::Arc;

use super::foreign_errors::{foreign_status, silent_failure};
use super::output::{EXIT_CODE_BLOCKING_ERROR, EXIT_CODE_SUCCESS, HookDecision, HookOutput};
use super::unambiguous::Unambiguous;
use super::{CommandDialect, FailingStatus, NearJson, remote, strict};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::explain_json_error;
use crate::dialect::answer_words::decision_in_broken;
use crate::dialect::{Reply, failure_decision, strict_answer};
use crate::event::{Abilities, EventKind};
use crate::hook::{Hook, OnFailure};
use crate::json::{Json, JsonKind, JsonObject, without_lone_surrogates};
use crate::outcome::{Decision, Effects, EndKind, Health};
use crate::run::sentences::failure_reason;
use crate::run::{RawEnd, RunEnd};

/// An answer, and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) output: HookOutput,
    pub(crate) provenance: Provenance,
}

/// The origin of an answer. An answer that the engine made never overrides one that a hook gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provenance {
    /// The hook gave it as JSON.
    Explicit,
    /// The hook gave it with exit code 2, which always blocks.
    ExitCode,
    /// The engine made it from plain text.
    PlainText,
    /// The engine made it from a failure.
    Failure,
}

impl Provenance {
    /// Whether the hook itself gave the answer.
    pub(crate) fn is_the_hooks_own(self) -> bool {
        matches!(self, Self::Explicit | Self::ExitCode)
    }
}

impl Answer {
    fn plain_text<D: CommandDialect>(kind: EventKind, text: &str) -> Self {
        Self { output: D::text_answer(kind, text), provenance: Provenance::PlainText }
    }

    fn failure(hook: &Hook, on_failure: OnFailure, end: EndKind, how: &RawEnd) -> Option<Self> {
        let decision = match failure_decision(on_failure)? {
            Decision::Ask => HookDecision::Ask,
            _ => HookDecision::Deny,
        };
        let output = HookOutput {
            decision: Some(decision),
            reason: Some(failure_reason(hook, on_failure, end, how)),
            ..HookOutput::default()
        };
        Some(Self { output, provenance: Provenance::Failure })
    }

    /// The failure of a hook whose output is no answer. What can be recognised in the output counts if it is stricter.
    fn unreadable(self, recognised: HookOutput, text: &str) -> Self {
        let own = recognised.effective_decision().filter(|own| {
            let policy = self.output.effective_decision().map(HookDecision::decision);
            Some(own.decision()) >= policy
        });
        let (decision, reason, provenance) = match own {
            Some(own) => (Some(own), recognised.effective_reason(), Provenance::Explicit),
            None => (self.output.decision, self.output.reason, self.provenance),
        };
        let stops = recognised.should_stop_execution();
        let message = recognised.system_message.or_else(|| (!text.starts_with('{')).then(|| text.to_owned()));
        let output = HookOutput {
            decision,
            reason,
            r#continue: stops.then_some(false),
            stop_reason: recognised.stop_reason.filter(|_| stops),
            system_message: message,
            ..HookOutput::default()
        };
        Self { output, provenance }
    }
}

/// The result of reading one end.
struct Reading {
    end: EndKind,
    answer: Option<Answer>,
    diagnostics: Vec<Diagnostic>,
    /// Why the output of a hook that has to answer strictly is no answer.
    unreadable: Option<String>,
}

impl Reading {
    fn new(end: EndKind, answer: Option<Answer>) -> Self {
        Self { end, answer, diagnostics: Vec::new(), unreadable: None }
    }

    fn with(self, diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, ..self }
    }
}

/// Turns a raw end into an answer.
pub(crate) fn read_answer<D: CommandDialect>(
    hook: &Arc<Hook>,
    on_failure: OnFailure,
    kind: EventKind,
    end: &RunEnd,
) -> Reply<Answer> {
    let failed = |as_what: EndKind| Reading::new(as_what, Answer::failure(hook, on_failure, as_what, end.how()));
    let mut reading = match (end.how(), end.failure()) {
        (RawEnd::Exited(EXIT_CODE_BLOCKING_ERROR), _) => blocked::<D>(kind, end),
        (RawEnd::Exited(EXIT_CODE_SUCCESS), None) => read_success::<D>(hook, on_failure, kind, end),
        (RawEnd::Decided(effects), _) => read_effects::<D>(kind, effects),
        (RawEnd::Exited(_), Some(failure)) => {
            denied_with_status::<D>(kind, end, failure).unwrap_or_else(|| failed(failure))
        }
        (_, Some(failure)) => failed(failure),
        // These ends come from other runners only, so they are not an answer of a command.
        (_, None) => failed(EndKind::BadOutput),
    };
    let was_heard =
        matches!(end.how(), RawEnd::Exited(EXIT_CODE_SUCCESS | EXIT_CODE_BLOCKING_ERROR) | RawEnd::Decided(_));
    let is_heard_all_the_same = reading.answer.as_ref().is_some_and(|answer| answer.provenance.is_the_hooks_own());
    if !was_heard && !is_heard_all_the_same && !end.stdout().is_truncated() {
        reading.diagnostics.extend(discarded_decision::<D>(end));
    }
    let unreadable = reading.unreadable.map(|why| strict_answer::finding(hook, &why));
    let found = reading.diagnostics.into_iter().map(|diagnostic| attributed(hook, diagnostic));
    let diagnostics = unreadable.into_iter().chain(found).collect();
    let decision =
        reading.answer.as_ref().and_then(|answer| answer.output.effective_decision()).map(HookDecision::decision);
    let mut reply = Reply { diagnostics, ..Reply::new(hook, end, reading.end, decision, reading.answer) };
    if *end.how() == RawEnd::Exited(EXIT_CODE_BLOCKING_ERROR) {
        // Exit code 2 is a deliberate block and not a failure.
        reply.health = Health::Well;
    }
    reply
}

/// A finding about an answer, with the hook's name and place.
fn attributed(hook: &Hook, diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic { message: format!("hook `{hook}`: {}", diagnostic.message), ..diagnostic }
        .at(hook.origin.location.clone())
}

/// Reads exit code 2, which always blocks.
fn blocked<D: CommandDialect>(kind: EventKind, end: &RunEnd) -> Reading {
    let stdout = end.stdout().lossy();
    let mut diagnostics = Vec::new();
    let mut output = match parse::<D>(stdout.trim()) {
        Parsed::Object(parsed) if !end.stdout().is_truncated() => {
            let (output, found) = HookOutput::read(&parsed.object);
            diagnostics.extend(parsed.findings());
            diagnostics.extend(found);
            output
        }
        _ => HookOutput::default(),
    };
    if matches!(output.effective_decision().map(HookDecision::decision), Some(Decision::Allow | Decision::Ask)) {
        let message = "it exited with code 2, which blocks, although its output says otherwise";
        diagnostics.push(Diagnostic::new(Code::DecisionDiscarded, message));
    }
    diagnostics.extend(D::check_specific(kind, &mut output));
    if output.decision != Some(HookDecision::Block) {
        output.decision = Some(HookDecision::Deny);
    }
    if output.effective_reason().is_none() {
        let stderr = end.stderr().lossy();
        let plain = if matches!(parse::<D>(stdout.trim()), Parsed::Object(_)) { "" } else { stdout.trim() };
        let reason = [stderr.trim(), plain].into_iter().find(|text| !text.is_empty());
        output.reason = Some(reason.unwrap_or("the hook blocked this with exit code 2 and gave no reason").to_owned());
    }
    // A hook that prints an answer chose its status.
    if stdout.trim().is_empty() {
        diagnostics.extend(foreign_status(&end.stderr().lossy()));
    }
    let answer = Answer { output, provenance: Provenance::ExitCode };
    Reading::new(EndKind::Exited, Some(answer)).with(diagnostics)
}

/// Reads the denial that a hook printed before it exited with a status of a failure, where its dialect counts that.
fn denied_with_status<D: CommandDialect>(kind: EventKind, end: &RunEnd, failure: EndKind) -> Option<Reading> {
    if D::OUTPUT.failing_status == FailingStatus::Discards || end.stdout().is_truncated() {
        return None;
    }
    let stdout = end.stdout().lossy();
    let Parsed::Object(answer) = parse::<D>(stdout.trim()) else { return None };
    let (mut output, mut diagnostics) = HookOutput::read(&answer.object);
    diagnostics.extend(D::check_specific(kind, &mut output));
    if !output.is_blocking_decision() {
        return None;
    }
    let denial =
        HookOutput { decision: Some(HookDecision::Deny), reason: output.effective_reason(), ..HookOutput::default() };
    let answer = Answer { output: denial, provenance: Provenance::Explicit };
    Some(Reading::new(failure, Some(answer)).with(diagnostics))
}

/// Reads the effects of an event that was fired elsewhere, as the answer of the one hook that asked.
fn read_effects<D: CommandDialect>(kind: EventKind, effects: &Effects) -> Reading {
    if *effects == Effects::default() {
        return Reading::new(EndKind::Silent, None);
    }
    let (mut output, mut diagnostics) = remote::output_of(effects);
    diagnostics.extend(D::check_specific(kind, &mut output));
    let answer = Some(Answer { output, provenance: Provenance::Explicit });
    Reading::new(EndKind::Answered, answer).with(diagnostics)
}

/// Reads exit code 0: standard output is the answer.
fn read_success<D: CommandDialect>(hook: &Hook, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reading {
    // Invalid UTF-8 is replaced instead of rejected, because a deny in such text is still a deny.
    let text = end.stdout().lossy();
    let is_utf8 = end.stdout().text().is_some();
    let text = text.trim_start_matches('\u{feff}').trim();
    let mut reading = read_text::<D>(hook, on_failure, kind, text);
    if reading.end == EndKind::Silent {
        reading.diagnostics.extend(silent_failure(&end.stderr().lossy()));
    }
    if !is_utf8 {
        let message = "its standard output is not UTF-8; the wrong bytes were replaced";
        reading.diagnostics.push(Diagnostic::new(Code::BadOutput, message));
    }
    reading
}

fn read_text<D: CommandDialect>(hook: &Hook, on_failure: OnFailure, kind: EventKind, text: &str) -> Reading {
    let failure = || Answer::failure(hook, on_failure, EndKind::BadOutput, &RawEnd::Exited(EXIT_CODE_SUCCESS));
    let parsed = parse::<D>(text);
    let reading = match &parsed {
        Parsed::Nothing => Reading::new(EndKind::Silent, None),
        Parsed::Object(answer) => {
            let (mut output, mut diagnostics) = HookOutput::read(&answer.object);
            diagnostics.extend(answer.findings());
            diagnostics.extend(D::check_specific(kind, &mut output));
            Reading::new(EndKind::Answered, Some(Answer { output, provenance: Provenance::Explicit })).with(diagnostics)
        }
        Parsed::Text => {
            let found = answer_in(text).into_iter().collect();
            Reading::new(EndKind::Answered, Some(Answer::plain_text::<D>(kind, text))).with(found)
        }
        Parsed::Broken(why) => {
            let found = std::iter::once(broken(text, why)).chain(answer_in(text)).collect();
            let mut answer = Answer::plain_text::<D>(kind, text);
            if let Some(failure) = failure() {
                let message = answer.output.system_message.take();
                answer = failure;
                answer.output.system_message = message;
            }
            Reading::new(EndKind::BadOutput, Some(answer)).with(found)
        }
    };
    let can = kind.spec().column(D::DIALECT).map_or(Abilities::NONE, |column| column.can);
    if !strict_answer::is_required(on_failure, can) {
        return reading;
    }
    let output = reading.answer.as_ref().map(|answer| &answer.output);
    let Some(why) = strict::problem::<D>(kind, text, &parsed, output, &reading.diagnostics) else { return reading };
    // What these say about the output is true only of a hook that need not answer strictly.
    let is_said = |found: &Diagnostic| !matches!(found.code, Code::BadOutput | Code::DecisionInText);
    Reading {
        end: EndKind::BadOutput,
        answer: failure().map(|failure| failure.unreadable(strict::recognised(text, &parsed), text)),
        diagnostics: reading.diagnostics.into_iter().filter(is_said).collect(),
        unreadable: Some(why),
    }
}

/// How an answer is always valid.
const LIBRARY: &str = "a JSON library or `jq -n` writes a valid answer";

/// Says what is wrong with an answer that is no JSON, and what is lost with it.
fn broken(text: &str, why: &serde_json::Error) -> Diagnostic {
    let word = decision_in_broken(text).and_then(HookDecision::from_word).map(HookDecision::word);
    let lost = word.map(|word| format!(", and the decision `{word}` in it is lost")).unwrap_or_default();
    let message = format!("its output looks like JSON and is not ({why}); it counts as plain text{lost}");
    let hint = match explain_json_error(text, why) {
        Some(explained) => format!("{explained}; {LIBRARY}"),
        None => LIBRARY.to_owned(),
    };
    Diagnostic::new(Code::BadOutput, message).hint(hint)
}

/// The kind of text on standard output.
pub(super) enum Parsed {
    Nothing,
    Object(Unambiguous),
    Text,
    /// It begins like an object and is not valid JSON.
    Broken(serde_json::Error),
}

fn parse<D: CommandDialect>(text: &str) -> Parsed {
    let mut parsed = parse_as_written::<D>(text);
    if let Parsed::Object(answer) = &mut parsed {
        D::prepare_answer(&mut answer.object);
    }
    parsed
}

fn parse_as_written<D: CommandDialect>(text: &str) -> Parsed {
    let text = &*without_lone_surrogates(text.trim_start_matches('\u{feff}').trim());
    let is_repaired = D::OUTPUT.near_json == NearJson::Repaired;
    if text.is_empty() {
        return Parsed::Nothing;
    }
    let value = match Json::parse(text) {
        Ok(value) => value,
        Err(why) if text.starts_with('{') => {
            // Shell scripts often put unescaped line breaks into a reason. The deny beside it is meant, so the text is
            // repaired.
            let repaired = is_repaired.then(|| with_escaped_breaks(text)).flatten();
            let repaired = repaired.and_then(|text| Json::parse(&text).ok());
            let answer = repaired.and_then(|value| Unambiguous::read(&value));
            return match answer {
                Some(answer) => Parsed::Object(answer.with_raw_line_breaks()),
                None => Parsed::Broken(why),
            };
        }
        Err(_) => return Parsed::Text,
    };
    match value.kind() {
        JsonKind::Object => Unambiguous::read(&value).map_or(Parsed::Text, Parsed::Object),
        // A JSON string that contains an object is an answer that was encoded twice; it is decoded once more.
        JsonKind::String if is_repaired => {
            let inner = value.as_str().and_then(|inner| Json::parse(inner.trim()).ok());
            inner.and_then(|inner| Unambiguous::read(&inner)).map_or(Parsed::Text, Parsed::Object)
        }
        JsonKind::Null => Parsed::Nothing,
        JsonKind::Boolean | JsonKind::Number if matches!(value.text(), "false" | "0") => Parsed::Nothing,
        JsonKind::String | JsonKind::Boolean | JsonKind::Number | JsonKind::Array => Parsed::Text,
    }
}

/// Escapes line breaks, tabs and other control characters inside strings; `None` if there is nothing to escape.
fn with_escaped_breaks(text: &str) -> Option<String> {
    let mut repaired = String::with_capacity(text.len() + 16);
    let mut in_string = false;
    let mut escaped = false;
    let mut changed = false;
    for character in text.chars() {
        if in_string && character < ' ' {
            // After a backslash a line break would be an invalid escape, so the backslash is escaped too.
            repaired.push_str(if escaped { "\\" } else { "" });
            match character {
                '\n' => repaired.push_str("\\n"),
                '\r' => repaired.push_str("\\r"),
                '\t' => repaired.push_str("\\t"),
                other => repaired.push_str(&format!("\\u{:04x}", u32::from(other))),
            }
            (escaped, changed) = (false, true);
            continue;
        }
        match character {
            '"' if !escaped => in_string = !in_string,
            _ => {}
        }
        escaped = in_string && character == '\\' && !escaped;
        repaired.push(character);
    }
    changed.then_some(repaired)
}

/// Reports an answer inside text that is not one JSON document, because its author most likely meant it.
fn answer_in(text: &str) -> Option<Diagnostic> {
    let found = objects_in(text).filter_map(|object| what_it_answers(&object)).next()?;
    let message =
        format!("its output contains {found}, which does NOT count because the output is not one JSON object");
    Some(
        Diagnostic::new(Code::DecisionInText, message)
            .hint("print the JSON object and nothing else to standard output"),
    )
}

/// The objects that stand in a text.
pub(super) fn objects_in(text: &str) -> impl Iterator<Item = JsonObject> {
    const MOST_TRIES: usize = 200;
    let starts = text.match_indices('{').take(MOST_TRIES).map(|(at, _)| at);
    starts.filter_map(|at| text.get(at..)).filter_map(first_object)
}

/// The object that a text begins with, also if its strings have line breaks in them.
fn first_object(text: &str) -> Option<JsonObject> {
    /// The most bytes that are repaired: enough for an answer, and a bound for a long log.
    const LONGEST_REPAIRED: usize = 16 * 1024;
    let read = |text: &str| serde_json::Deserializer::from_str(text).into_iter::<JsonObject>().next()?.ok();
    read(text).or_else(|| {
        let end = text.floor_char_boundary(LONGEST_REPAIRED.min(text.len()));
        read(&with_escaped_breaks(text.get(..end)?)?)
    })
}

/// The decision that an object would have as an answer; none if it has no field of an answer.
fn what_it_answers(object: &JsonObject) -> Option<String> {
    if let Some(word) = HookOutput::read(object).0.effective_decision() {
        return Some(format!("the decision `{}`", word.word()));
    }
    let known = object.iter().map(|(key, _)| key).find(|key| HookOutput::FIELDS.contains(key))?;
    Some(format!("an answer with `{known}`"))
}

/// Reports a decision that a hook printed before it failed, was ended or died.
pub(super) fn discarded_decision<D: CommandDialect>(end: &RunEnd) -> Option<Diagnostic> {
    let Parsed::Object(parsed) = parse::<D>(end.stdout().lossy().trim()) else { return None };
    let word = HookOutput::read(&parsed.object).0.effective_decision()?;
    let message = format!("it said `{}` but failed, so that does not count", word.word());
    Some(Diagnostic::new(Code::DecisionDiscarded, message).hint("exit with 0 to answer, or with 2 to block"))
}
