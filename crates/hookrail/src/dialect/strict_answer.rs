//! Strict answers: what is asked of a hook whose own entry says what its failure does. It prints nothing, `{}` or one answer;
//! whatever else it prints is a failure, because it may be a denial that cannot be read.

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::nearest;
use crate::dialect::answer_words::{AnswerFields, meant_decision};
use crate::event::Abilities;
use crate::hook::{Hook, OnFailure};
use crate::json::Json;

/// Why an object without a known field is no answer.
pub(super) const NO_FIELD: &str = "it has no field of an answer to this event";

/// The field of a decision.
const DECISION: &str = "decision";

/// Whether a hook with this failure policy has to answer strictly to an event that can do that.
pub(super) fn is_required(on_failure: OnFailure, can: Abilities) -> bool {
    on_failure != OnFailure::Allow && can.includes(Abilities::DENY)
}

/// The finding about output that is no answer.
pub(super) fn finding(hook: &Hook, why: &str) -> Diagnostic {
    let message = format!("hook `{hook}` gave no answer that can be read, so it failed: {why}");
    Diagnostic::new(Code::UnreadableAnswer, message)
        .at(hook.origin.location.clone())
        .hint("print nothing or one answer; messages belong on standard error")
}

/// Whether an answer holds a decision. Beside one, an unknown key is no attempt to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    Yes,
    No,
}

/// Why a member is a known field in another spelling; none if no member is.
pub(super) fn misspelled<'m>(
    mut members: impl Iterator<Item = (&'m str, &'m Json)>,
    fields: &AnswerFields<'_>,
    decided: Decided,
) -> Option<String> {
    members.find_map(|(key, value)| {
        if fields.known.contains(&key) {
            return None;
        }
        let field = fields.known.iter().copied().find(|field| letters(field).eq(letters(key)));
        let tries = || decided == Decided::No && tries_to_decide(key, value, fields);
        let meant = field.or_else(|| tries().then_some(DECISION))?;
        let shown: String = key.chars().take(80).collect();
        Some(match shown == meant {
            true => format!("`{shown}` does not stand where it counts"),
            false => format!("`{shown}` is not the field `{meant}`"),
        })
    })
}

/// Whether a member is what another agent calls the decision, or a decision under nearly the right name.
fn tries_to_decide(key: &str, value: &Json, fields: &AnswerFields<'_>) -> bool {
    /// A hook may print keys of any length, which take long to compare.
    const LONGEST: usize = 32;
    let is_foreign = fields.foreign.iter().any(|(other, here)| *other == key && *here == DECISION);
    let is_decision = || value.as_str().is_some_and(|word| meant_decision(&word, &["allow", "ask", "deny"]).is_some());
    is_foreign || key.len() <= LONGEST && is_decision() && nearest(key, [DECISION]).is_some()
}

/// The letters of a name without their case, and without separators.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|letter| !matches!(letter, '_' | '-')).map(|letter| letter.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: AnswerFields<'_> = AnswerFields {
        known: &["decision", "systemMessage"],
        foreign: &[("block", "decision"), ("message", "systemMessage")],
    };

    fn found(key: &str, decided: Decided) -> Option<String> {
        misspelled([(key, &Json::string("deny"))].into_iter(), &FIELDS, decided)
    }

    #[test]
    fn a_known_field_in_another_spelling_is_found() {
        for key in ["Decision", "DECISION", "SystemMessage", "system_message", "system-message"] {
            assert!(found(key, Decided::Yes).is_some(), "{key}");
        }
        for key in ["decision", "systemMessage", "note", "version", "message"] {
            assert_eq!(found(key, Decided::No), None, "{key}");
        }
    }

    #[test]
    fn an_attempt_to_decide_counts_only_without_a_decision() {
        for key in ["block", "decison"] {
            assert!(found(key, Decided::No).is_some(), "{key}");
            assert_eq!(found(key, Decided::Yes), None, "{key}");
        }
        let revision = Json::string("4f2a");
        assert_eq!(misspelled([("revision", &revision)].into_iter(), &FIELDS, Decided::No), None);
    }
}
