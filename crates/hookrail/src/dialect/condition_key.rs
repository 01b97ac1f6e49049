//! The key `if` of an entry with the conditions of a rule, which is the same in every dialect with entries.
//!
//! Conditions that cannot be read never take a hook away: it is always asked.

use serde_json::{Value, json};

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedValue};
use crate::hook::condition::HookCondition;
use crate::rules::CallCondition;

/// The key of an entry.
pub(super) const KEY: &str = "if";

/// What the texts of the key are in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionTexts {
    /// Permission rules, which the dialect reads itself.
    PermissionRules,
    /// Nothing: the agent does not know the key.
    Unknown,
}

/// The schema of the key.
pub(super) fn schema() -> Value {
    json!({
        "type": ["object", "array"],
        "description": "Conditions, as `when` of a rule has them. The hook is asked where they hold, or may hold.",
    })
}

/// Whether a value is a table, or a list of tables.
pub(super) fn is_table(value: &PlacedValue) -> bool {
    let is_one = |node: &PlacedValue| node.members().is_some();
    is_one(value) || value.elements().is_some_and(|all| !all.is_empty() && all.iter().all(is_one))
}

/// Reads the key of an entry.
pub(super) fn read(
    document: &Document,
    node: &PlacedValue,
    texts: ConditionTexts,
    found: &mut Vec<Diagnostic>,
) -> Option<HookCondition> {
    let (key, value) = node.member(KEY)?;
    if !is_table(value) {
        if texts == ConditionTexts::Unknown {
            let message = "the key `if` is a table of conditions here, so the hook is always asked";
            let finding = document.finding(Code::UnknownKey, &key.span, message);
            found.push(finding.hint("write for example `\"if\": { \"commands\": \"git push\" }`"));
        }
        return None;
    }
    match CallCondition::read(value) {
        Ok(condition) => Some(HookCondition::Rule(condition)),
        Err(problems) => {
            for problem in problems {
                let message = format!("{}, so the hook is always asked", problem.message);
                let finding = document.finding(Code::SettingValue, &problem.span, message);
                found.push(match problem.hint {
                    Some(hint) => finding.hint(hint),
                    None => finding,
                });
            }
            None
        }
    }
}
