//! Strict answers of command hooks: which output is none, and what can be recognised in it all the same.

use super::CommandDialect;
use super::answer::{Parsed, objects_in};
use super::output::{FIELDS, HookDecision, HookOutput};
use crate::config::diagnostic::{Code, Diagnostic};
use crate::dialect::answer_words::{AnswerFields, decision_in_broken};
use crate::dialect::strict_answer::{Decided, NO_FIELD, misspelled};
use crate::event::EventKind;
use crate::json::{Json, JsonObject};

/// Why the output of a hook that has to answer strictly is no answer; none if it is one. `output` is what was read of it, and
/// `found` what reading reported.
pub(super) fn problem<D: CommandDialect>(
    kind: EventKind,
    text: &str,
    parsed: &Parsed,
    output: Option<&HookOutput>,
    found: &[Diagnostic],
) -> Option<String> {
    match parsed {
        Parsed::Nothing if text.is_empty() => None,
        Parsed::Broken(why) => Some(format!("it is not JSON ({why})")),
        Parsed::Object(answer) if text.starts_with('{') => {
            let wrong = found.iter().find(|found| found.code == Code::AnswerField);
            let is_decided = output.is_some_and(|output| output.effective_decision().is_some());
            let decided = if is_decided { Decided::Yes } else { Decided::No };
            wrong.map(|wrong| wrong.message.clone()).or_else(|| problem_with_object::<D>(kind, &answer.object, decided))
        }
        Parsed::Nothing | Parsed::Text | Parsed::Object(_) => Some(match Json::parse(text) {
            Ok(value) => format!("an object is needed, not {}", value.kind().described()),
            Err(_) => "it is not one JSON object".to_owned(),
        }),
    }
}

fn problem_with_object<D: CommandDialect>(kind: EventKind, object: &JsonObject, decided: Decided) -> Option<String> {
    let mut specific = object.get("hookSpecificOutput").and_then(Json::as_object).unwrap_or_default();
    // For which event an answer is, says nothing by itself.
    specific.remove("hookEventName");
    let members = D::specific_members(kind);
    let inner = AnswerFields { known: &members, foreign: FIELDS.foreign };
    let says_nothing = |object: &JsonObject| object.iter().next().is_none();
    let is_known = |key: &str| match key {
        "hookSpecificOutput" => says_nothing(&specific) || specific.iter().any(|(key, _)| members.contains(&key)),
        other => FIELDS.known.contains(&other),
    };
    misspelled(object.iter(), &FIELDS, decided).or_else(|| misspelled(specific.iter(), &inner, decided)).or_else(|| {
        let is_answer = says_nothing(object) || object.iter().any(|(key, _)| is_known(key));
        (!is_answer).then(|| NO_FIELD.to_owned())
    })
}

/// What can be recognised in output that is no answer: the strictest decision with its reason, and a stop.
pub(super) fn recognised(text: &str, parsed: &Parsed) -> HookOutput {
    let read = |object: &JsonObject| HookOutput::read(object).0;
    let mut found = match parsed {
        Parsed::Nothing => HookOutput::default(),
        Parsed::Object(answer) => read(&answer.object),
        Parsed::Text | Parsed::Broken(_) => {
            objects_in(text).map(|object| read(&object)).fold(HookOutput::default(), stricter)
        }
    };
    if matches!(parsed, Parsed::Broken(_)) && found.effective_decision().is_none() {
        found.decision = decision_in_broken(text).and_then(HookDecision::from_word);
    }
    found
}

/// Of two outputs the one with the stricter decision, with the stop of either.
fn stricter(first: HookOutput, second: HookOutput) -> HookOutput {
    let rank = |output: &HookOutput| output.effective_decision().map(HookDecision::decision);
    let (mut kept, other) = if rank(&second) > rank(&first) { (second, first) } else { (first, second) };
    if other.should_stop_execution() && !kept.should_stop_execution() {
        kept.r#continue = other.r#continue;
        kept.stop_reason = other.stop_reason;
    }
    kept
}
