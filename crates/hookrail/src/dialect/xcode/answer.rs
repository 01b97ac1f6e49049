//! Reads the answer of a plugin's hook: nothing, or one JSON object whose `decision` is `allow`, `deny` or `modify`.

use std::sync::Arc;

use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::config::{explain_json_error, nearest};
use crate::dialect::answer_words::{AnswerFields, UnknownFields, decision_in_broken, meant_decision};
use crate::dialect::strict_answer::{self, Decided, NO_FIELD};
use crate::dialect::{DialectId, Reply};
use crate::event::{Abilities, EventKind};
use crate::hook::{Hook, OnFailure};
use crate::json::{Json, JsonKind, JsonObject};
use crate::outcome::{Decision, EndKind};
use crate::run::sentences::failure_reason;
use crate::run::{RawEnd, RunEnd};

/// The reason of a deny that gives none.
const NO_REASON: &str = "blocked by plugin hook";

/// What a hook prints to deny.
const EXAMPLE: &str = "print one JSON object such as {\"decision\": \"deny\", \"reason\": \"…\"}";

/// What an answer must have.
const NEEDED: &str = "`decision` must be `allow`, `deny` or `modify`";

/// The words of a decision.
const DECISIONS: [&str; 3] = ["allow", "deny", "modify"];

/// The fields of an answer, and what answers of other agents call them.
const FIELDS: AnswerFields<'_> = AnswerFields {
    known: &["decision", "reason", "args", "output", "context"],
    foreign: &[
        ("permissionDecision", "decision"),
        ("permission", "decision"),
        ("block", "decision"),
        ("continue", "decision"),
        ("permissionDecisionReason", "reason"),
        ("stopReason", "reason"),
        ("message", "reason"),
        ("updatedInput", "args"),
        ("toolInput", "args"),
        ("tool_input", "args"),
        ("modifiedArgs", "args"),
        ("input", "args"),
        ("updatedOutput", "output"),
        ("toolOutput", "output"),
        ("tool_response", "output"),
        ("additionalContext", "context"),
    ],
};

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
    NotJson(Unreadable),
    /// It is JSON and not a decision, for this reason.
    Invalid(Unreadable),
}

/// Why standard output is no answer, and what to do about it.
#[derive(Debug)]
pub(super) struct Unreadable {
    why: String,
    hint: String,
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
    let strict_problem = strict_problem(hook, kind, end);
    let (kind_of_end, answer) = match (end.how(), end.failure()) {
        (RawEnd::Exited(_), None) if strict_problem.is_some() => {
            diagnostics.push(strict_answer::finding(hook, &strict_problem.unwrap_or_default()));
            match printed_deny(end, &stdout) {
                Some(answer) => (EndKind::BadOutput, Some(answer)),
                None => failed(hook, on_failure, EndKind::BadOutput, end.how()),
            }
        }
        (RawEnd::Exited(_), None) => match parse_stdout(&stdout) {
            ParsedStdout::Answer(answer) => {
                diagnostics.extend(without_effect(hook, kind, &stdout));
                if answer.decision == AnswerDecision::Deny && can(kind) == Abilities::NONE {
                    let reason = answer.reason.as_deref().unwrap_or(NO_REASON);
                    let message = format!("{kind} cannot be denied; hook `{hook}` tried to: {reason}");
                    let hint = "hooks are only told of this event; deny in `UserPromptSubmit` or `PreToolUse`";
                    diagnostics.push(hook_diagnostic(hook, Code::DenyWithoutEffect, message).hint(hint));
                }
                (EndKind::Answered, Some(answer))
            }
            ParsedStdout::Nothing => (EndKind::Silent, None),
            // A guard may say so that it has nothing to say.
            ParsedStdout::Invalid(_) if answers_strictly(hook, kind) && is_empty_object(&stdout) => {
                (EndKind::Silent, None)
            }
            ParsedStdout::NotJson(Unreadable { why, hint }) | ParsedStdout::Invalid(Unreadable { why, hint }) => {
                let message = format!("hook `{hook}` gave no valid decision and counts as allow: {why}");
                diagnostics.push(hook_diagnostic(hook, Code::BadOutput, message).hint(hint));
                (EndKind::BadOutput, None)
            }
        },
        // The engine ends no hook that has answered, so the hook's own word stands.
        (RawEnd::Signalled(_), Some(failure)) => match printed_deny(end, &stdout) {
            Some(answer) => (failure, Some(answer)),
            None => failed(hook, on_failure, failure, end.how()),
        },
        (how, Some(failure)) => {
            if printed_deny(end, &stdout).is_some() {
                let message = format!("hook `{hook}` said `deny` but failed, so that does not count");
                diagnostics.push(hook_diagnostic(hook, Code::DecisionDiscarded, message));
            }
            failed(hook, on_failure, failure, how)
        }
        // These ends come from other runners only, so they are not an answer of a command.
        (_, None) => failed(hook, on_failure, EndKind::BadOutput, end.how()),
    };
    let decides = can(kind) != Abilities::NONE;
    let decision = answer.as_ref().filter(|_| decides).map(|answer| match answer.decision {
        AnswerDecision::Deny => Decision::Deny,
        AnswerDecision::Allow | AnswerDecision::Modify => Decision::Allow,
    });
    Reply { diagnostics, ..Reply::new(hook, end, kind_of_end, decision, answer.filter(|_| decides)) }
}

/// The deny that a hook printed whole before it failed.
fn printed_deny(end: &RunEnd, stdout: &str) -> Option<Answer> {
    match parse_stdout(stdout) {
        ParsedStdout::Answer(answer) if answer.decision == AnswerDecision::Deny && !end.stdout().is_truncated() => {
            Some(answer)
        }
        _ => None,
    }
}

/// Whether a hook has to answer strictly. Unreadable output of any other hook allows.
fn answers_strictly(hook: &Hook, kind: EventKind) -> bool {
    strict_answer::is_required(hook.on_failure, can(kind))
}

fn is_empty_object(stdout: &str) -> bool {
    let value = Json::parse(trimmed(stdout)).ok();
    value.and_then(|value| value.as_object()).is_some_and(|object| object.iter().next().is_none())
}

/// Why the output of a hook that has to answer strictly is no answer.
pub(super) fn strict_problem(hook: &Hook, kind: EventKind, end: &RunEnd) -> Option<String> {
    if !answers_strictly(hook, kind) || *end.how() != RawEnd::Exited(0) {
        return None;
    }
    let stdout = end.stdout().lossy();
    let object = match parse_stdout(&stdout) {
        ParsedStdout::Nothing => return None,
        ParsedStdout::NotJson(Unreadable { why, .. }) => return Some(why),
        ParsedStdout::Answer(_) => Json::parse(trimmed(&stdout)).ok()?.as_object()?,
        ParsedStdout::Invalid(Unreadable { why, .. }) => {
            match Json::parse(trimmed(&stdout)).ok().and_then(|value| value.as_object()) {
                Some(object) => object,
                None => return Some(why),
            }
        }
    };
    let fields = answer_fields(kind);
    let known: Vec<&'static str> = fields.iter().map(|(field, _)| *field).collect();
    let is_decided =
        object.get("decision").and_then(Json::as_str).is_some_and(|word| DECISIONS.contains(&word.as_str()));
    let decided = if is_decided { Decided::Yes } else { Decided::No };
    let names = AnswerFields { known: &known, foreign: FIELDS.foreign };
    if let Some(why) = strict_answer::misspelled(object.iter(), &names, decided) {
        return Some(why);
    }
    let mut knows_one = object.iter().next().is_none();
    for (key, value) in object.iter() {
        let Some((_, expected)) = fields.iter().find(|(field, _)| *field == key) else { continue };
        knows_one = true;
        if key == "decision" && decided == Decided::No {
            return Some(NEEDED.to_owned());
        }
        if value.kind() != *expected && value.kind() != JsonKind::Null {
            return Some(format!("`{key}` must be {}", expected.described()));
        }
    }
    (!knows_one).then(|| NO_FIELD.to_owned())
}

/// The fields of an answer to an event, with the kind of value that each must have.
fn answer_fields(kind: EventKind) -> Vec<(&'static str, JsonKind)> {
    let always = [("decision", JsonKind::String), ("reason", JsonKind::String)];
    always
        .into_iter()
        .chain(
            EFFECTS
                .into_iter()
                .filter(|(_, needs, _)| can(kind).includes(*needs))
                .map(|(field, _, expected)| (field, expected)),
        )
        .collect()
}

/// The fields of an answer that have an effect, with what an event must allow and the kind of their value.
const EFFECTS: [(&str, Abilities, JsonKind); 3] = [
    ("args", Abilities::REWRITE_TOOL_INPUT, JsonKind::Object),
    ("output", Abilities::REPLACE_TOOL_OUTPUT, JsonKind::String),
    ("context", Abilities::ADD_CONTEXT, JsonKind::String),
];

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
    let mut unknown = UnknownFields::default();
    for (key, _) in object.iter().filter(|(key, _)| !FIELDS.known.contains(key)) {
        if let Some(finding) = unknown.report(&FIELDS, key) {
            let message = format!("hook `{hook}`: {}", finding.message);
            found.push(Diagnostic { message, ..finding }.at(hook.origin.location.clone()));
        }
    }
    let modifies = object.get("decision").and_then(Json::as_str).as_deref() == Some("modify");
    let changes = [("args", Abilities::REWRITE_TOOL_INPUT), ("output", Abilities::REPLACE_TOOL_OUTPUT)];
    let change = changes.into_iter().find(|(_, needs)| can(kind).includes(*needs));
    if let Some((field, _)) = change.filter(|(field, _)| modifies && object.get(field).is_none()) {
        let message = format!("hook `{hook}` said `modify` without `{field}`, which changes nothing");
        let mut finding = hook_diagnostic(hook, Code::AnswerIgnored, message);
        finding.level = Level::Warning;
        found.push(finding.hint(format!("print the whole new value as `{field}`")));
    }
    for (field, needs, expected) in EFFECTS {
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
        Err(error) => return ParsedStdout::NotJson(broken(text, &error)),
    };
    let Some(object) = value.as_object() else {
        let why = format!("an object is needed, not {}", value.kind().described());
        return ParsedStdout::Invalid(Unreadable { why, hint: EXAMPLE.to_owned() });
    };
    // If any `decision` key says deny, it is a deny, whatever else is written and in whichever order.
    let denies =
        value.members().iter().any(|(key, word)| key == "decision" && word.as_str().as_deref() == Some("deny"));
    let word = object.get("decision").and_then(Json::as_str).filter(|_| !denies);
    let decision = match word.as_deref().unwrap_or(if denies { "deny" } else { "" }) {
        "allow" => AnswerDecision::Allow,
        "deny" => AnswerDecision::Deny,
        "modify" => AnswerDecision::Modify,
        _ => return ParsedStdout::Invalid(without_decision(&object)),
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

/// Says why an object is no decision, and which one was most likely meant.
fn without_decision(object: &JsonObject) -> Unreadable {
    if let Some(value) = object.get("decision") {
        let Some(word) = value.as_str() else {
            let why = format!("{NEEDED}, not {}", value.kind().described());
            return Unreadable { why, hint: EXAMPLE.to_owned() };
        };
        let hint = match meant_decision(&word, &DECISIONS) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if word == "ask" => "a plugin cannot ask the user; print `deny` with a `reason`".to_owned(),
            None => EXAMPLE.to_owned(),
        };
        return Unreadable { why: format!("{NEEDED}, not `{}`", short(&word)), hint };
    }
    let foreign = |key: &str| FIELDS.foreign.iter().any(|(other, here)| *other == key && *here == "decision");
    let meant = object.iter().find_map(|(key, _)| match nearest(key, ["decision"]) {
        Some(near) => Some((key, format!("did you mean `{near}`?"))),
        None => foreign(key).then(|| (key, format!("here it is `decision`: {EXAMPLE}"))),
    });
    match meant {
        Some((key, hint)) => {
            Unreadable { why: format!("{NEEDED}, and `{}` is not a field of an answer", short(key)), hint }
        }
        None if object.get("hookSpecificOutput").is_some() => Unreadable {
            why: format!("{NEEDED}, and there is none"),
            hint: format!("plugins answer without `hookSpecificOutput`: {EXAMPLE}"),
        },
        None => Unreadable { why: format!("{NEEDED}, and there is none"), hint: EXAMPLE.to_owned() },
    }
}

/// The beginning of a text that a hook wrote, for messages.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Says what is wrong with output that is no JSON, and what is lost with it.
fn broken(text: &str, error: &serde_json::Error) -> Unreadable {
    let lost = decision_in_broken(text).filter(|word| DECISIONS.contains(word));
    let lost = lost.map(|word| format!("; the decision `{word}` in it is lost")).unwrap_or_default();
    let alone = text.lines().last().filter(|_| text.lines().count() > 1);
    let (alone, hint) = match alone.map(parse_stdout) {
        Some(ParsedStdout::Answer(_)) => {
            ("; its last line alone would be a decision", "print the decision and nothing else".to_owned())
        }
        Some(ParsedStdout::Nothing | ParsedStdout::NotJson(_) | ParsedStdout::Invalid(_)) | None => {
            let explained = explain_json_error(text, error).filter(|_| text.starts_with('{'));
            ("", explained.unwrap_or_else(|| EXAMPLE.to_owned()))
        }
    };
    Unreadable { why: format!("it is not JSON ({error}){alone}{lost}"), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreadable(stdout: &str) -> (String, String) {
        match parse_stdout(stdout) {
            ParsedStdout::NotJson(Unreadable { why, hint }) | ParsedStdout::Invalid(Unreadable { why, hint }) => {
                (why, hint)
            }
            ParsedStdout::Nothing | ParsedStdout::Answer(_) => panic!("`{stdout}` is read"),
        }
    }

    #[test]
    fn what_is_no_decision_names_the_one_that_was_meant() {
        let here = format!("here it is `decision`: {EXAMPLE}");
        for (stdout, hint) in [
            (r#"{"decison": "deny"}"#, "did you mean `decision`?"),
            (r#"{"permissionDecision": "deny"}"#, here.as_str()),
            (r#"{"block": true}"#, &here),
            (r#"{"decision": "block"}"#, "did you mean `deny`?"),
            (r#"{"decision": "approve"}"#, "did you mean `allow`?"),
            (r#"{"decision": "Deny"}"#, "did you mean `deny`?"),
            (r#"{"decision": "modified"}"#, "did you mean `modify`?"),
            (r#"{"decision": "ask"}"#, "a plugin cannot ask the user; print `deny` with a `reason`"),
            (r#"{"decision": true}"#, EXAMPLE),
            (r#"["deny"]"#, EXAMPLE),
            (r#"{}"#, EXAMPLE),
            ("checking\n{\"decision\": \"deny\"}", "print the decision and nothing else"),
            (r#"{"decision": "deny", "reason": "x""#, "`{` of line 1 is not closed; add `}`"),
            (
                "{\"decision\": \"modify\", \"args\": {\n\"a\": [1\n}}",
                "`[` of line 2 is still open; close it with `]` first",
            ),
        ] {
            assert_eq!(unreadable(stdout).1, hint, "{stdout}");
        }
        let specific = unreadable(r#"{"hookSpecificOutput": {"permissionDecision": "deny"}}"#).1;
        assert!(specific.starts_with("plugins answer without `hookSpecificOutput`"), "{specific}");
    }

    #[test]
    fn a_decision_that_is_lost_is_named() {
        let (why, _) = unreadable(r#"{"decision": "deny", "reason": "x""#);
        assert!(why.ends_with("; the decision `deny` in it is lost"), "{why}");
        assert!(!unreadable("hello").0.contains("lost"));
    }
}
