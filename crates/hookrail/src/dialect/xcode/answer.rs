//! Reads the answer of a plugin's hook: nothing, or one JSON object whose `decision` is `allow`, `deny` or `modify`.

use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::{DialectId, Reply, failure_reason};
use crate::event::{Abilities, EventKind};
use crate::hook::{Hook, OnFailure};
use crate::json::{Json, JsonKind};
use crate::outcome::{Decision, EndKind};
use crate::run::{RawEnd, RunEnd};

/// The reason of a deny that gives none.
const NO_REASON: &str = "blocked by plugin hook";

/// A parsed answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(super) decision: AnswerDecision,
    pub(super) reason: Option<String>,
    pub(super) args: Option<Json>,
    pub(super) output: Option<Json>,
    pub(super) context: Option<String>,
}

/// The three decision words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerDecision {
    Allow,
    Deny,
    Modify,
}

/// What standard output holds.
pub(super) enum ParsedStdout {
    Nothing,
    Answer(Answer),
    /// It is not JSON, for this reason.
    NotJson(String),
    /// It is JSON and not a decision, for this reason.
    Invalid(String),
}

/// Turns a raw end into an answer. Exit codes have no special values: any but zero is a failure.
pub(super) fn read(hook: &Arc<Hook>, on_failure: OnFailure, kind: EventKind, end: &RunEnd) -> Reply<Answer> {
    let mut diagnostics = Vec::new();
    let stdout = end.stdout().lossy();
    if *end.how() == RawEnd::Exited(2) {
        let message = format!("hook `{hook}` exited with 2, which has no meaning of its own for plugins");
        let hint = "print {\"decision\": \"deny\"} and exit with 0, or set `failurePolicy` to \"block\"";
        diagnostics.push(hook_diagnostic(hook, Code::ExitStatusWithoutMeaning, message).hint(hint));
    }
    let (kind_of_end, answer) = match (end.how(), end.failure()) {
        (RawEnd::Exited(_), None) => match parse_stdout(&stdout) {
            ParsedStdout::Answer(answer) => {
                diagnostics.extend(without_effect(hook, kind, &stdout));
                (EndKind::Answered, Some(answer))
            }
            ParsedStdout::Nothing => (EndKind::Silent, None),
            ParsedStdout::NotJson(why) | ParsedStdout::Invalid(why) => {
                let message = format!("hook `{hook}` gave no valid decision and counts as allow: {why}");
                diagnostics.push(hook_diagnostic(hook, Code::BadOutput, message));
                (EndKind::BadOutput, None)
            }
        },
        (_, Some(failure)) => failed(hook, on_failure, failure, end.how()),
        // These ends come from other runners only, so they are not an answer of a command.
        (_, None) => failed(hook, on_failure, EndKind::BadOutput, end.how()),
    };
    if *end.how() != RawEnd::Exited(0)
        && !end.stdout().is_truncated()
        && let ParsedStdout::Answer(Answer { decision: AnswerDecision::Deny, .. }) = parse_stdout(&stdout)
    {
        let message = format!("hook `{hook}` said `deny` but failed, so that does not count");
        diagnostics.push(hook_diagnostic(hook, Code::DecisionDiscarded, message));
    }
    let decides = can(kind) != Abilities::NONE;
    let decision = answer.as_ref().filter(|_| decides).map(|answer| match answer.decision {
        AnswerDecision::Deny => Decision::Deny,
        AnswerDecision::Allow | AnswerDecision::Modify => Decision::Allow,
    });
    Reply { diagnostics, ..Reply::new(hook, end, kind_of_end, decision, answer.filter(|_| decides)) }
}

fn can(kind: EventKind) -> Abilities {
    kind.spec().column(DialectId::Xcode).map_or(Abilities::NONE, |column| column.can)
}

fn failed(hook: &Hook, on_failure: OnFailure, end: EndKind, how: &RawEnd) -> (EndKind, Option<Answer>) {
    let answer = (on_failure == OnFailure::Block).then(|| Answer {
        decision: AnswerDecision::Deny,
        reason: Some(failure_reason(hook, on_failure, end, how)),
        args: None,
        output: None,
        context: None,
    });
    (end, answer)
}

fn hook_diagnostic(hook: &Hook, code: Code, message: String) -> Diagnostic {
    Diagnostic::new(code, message).at(hook.origin.location.clone())
}

/// The parts of a valid answer that have no effect: of the wrong type, or for another event.
fn without_effect(hook: &Hook, kind: EventKind, stdout: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let Ok(value) = Json::parse(trimmed(stdout)) else { return found };
    let Some(object) = value.as_object() else { return found };
    if let Some(key) = value.repeated_member() {
        let used = if key == "decision" { "strictest" } else { "last" };
        let message = format!("hook `{hook}`: duplicate key `{key}` in its answer; the {used} value is used");
        found.push(hook_diagnostic(hook, Code::AnswerDuplicateKey, message).hint("write every key once"));
    }
    let modifies = object.get("decision").and_then(Json::as_str).as_deref() == Some("modify");
    let fields = [
        ("args", Abilities::REWRITE_TOOL_INPUT, JsonKind::Object),
        ("output", Abilities::REPLACE_TOOL_OUTPUT, JsonKind::String),
        ("context", Abilities::ADD_CONTEXT, JsonKind::String),
    ];
    for (field, needs, expected) in fields {
        let Some(value) = object.get(field) else { continue };
        let (code, problem) = if !can(kind).includes(needs) {
            (Code::AnswerIgnored, format!("has no effect on {kind}"))
        } else if value.kind() != expected {
            (Code::AnswerField, format!("must be {}; it was left out", expected.described()))
        } else if field != "context" && !modifies {
            (Code::AnswerIgnored, "counts only with the decision `modify`".to_owned())
        } else {
            continue;
        };
        found.push(hook_diagnostic(hook, code, format!("`{field}` of hook `{hook}` {problem}")));
    }
    found
}

/// The text without the blanks around it, and without a byte order mark.
fn trimmed(stdout: &str) -> &str {
    stdout.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
}

/// Parses standard output. All of it must be one object.
pub(super) fn parse_stdout(stdout: &str) -> ParsedStdout {
    let text = trimmed(stdout);
    if text.is_empty() {
        return ParsedStdout::Nothing;
    }
    let value = match Json::parse(text) {
        Ok(value) => value,
        Err(error) => return ParsedStdout::NotJson(format!("{error}{}", last_line(text))),
    };
    let Some(object) = value.as_object() else {
        return ParsedStdout::Invalid(format!("an object is needed, not {}", value.kind().described()));
    };
    // If any `decision` key says deny, it is a deny, whatever else is written and in whichever order.
    let denies =
        value.members().iter().any(|(key, word)| key == "decision" && word.as_str().as_deref() == Some("deny"));
    let word = object.get("decision").and_then(Json::as_str).filter(|_| !denies);
    let decision = match word.as_deref().unwrap_or(if denies { "deny" } else { "" }) {
        "allow" => AnswerDecision::Allow,
        "deny" => AnswerDecision::Deny,
        "modify" => AnswerDecision::Modify,
        _ => return ParsedStdout::Invalid("`decision` must be `allow`, `deny` or `modify`".to_owned()),
    };
    let modifies = decision == AnswerDecision::Modify;
    let reason = object.get("reason").and_then(Json::as_str).filter(|reason| !reason.is_empty());
    ParsedStdout::Answer(Answer {
        decision,
        reason: reason.or_else(|| (decision == AnswerDecision::Deny).then(|| NO_REASON.to_owned())),
        args: object.get("args").filter(|args| modifies && args.as_object().is_some()).cloned(),
        output: object.get("output").filter(|output| modifies && output.as_str().is_some()).cloned(),
        context: object.get("context").and_then(Json::as_str),
    })
}

/// A hint for hooks that print something before their decision.
fn last_line(text: &str) -> &'static str {
    let alone = text.lines().last().filter(|_| text.lines().count() > 1);
    match alone.map(parse_stdout) {
        Some(ParsedStdout::Answer(_)) => "; its last line alone would be a decision, so print nothing else",
        _ => "",
    }
}
