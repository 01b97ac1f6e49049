//! The key `if` of a hook that is no rule, which is the same in every dialect: the conditions of a rule, or permission rules as
//! Claude Code has them.
//!
//! Conditions that cannot be read never take a hook away: it is always asked.

use serde_json::{Value, json};

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedValue};
use crate::hook::condition::HookCondition;
use crate::hook::permission_rules::PermissionRules;
use crate::rules::CallCondition;

/// The key of an entry.
pub(super) const KEY: &str = "if";

/// The schema of the key.
pub(super) fn schema() -> Value {
    json!({
        "type": ["object", "array", "string"],
        "description": "Conditions, as `when` of a rule has them, or permission rules, `Bash(git push *)`. The hook is asked where they hold, or may hold.",
    })
}

/// Whether a value is a table, or a list of tables.
fn is_table(value: &PlacedValue) -> bool {
    let is_one = |node: &PlacedValue| node.members().is_some();
    is_one(value) || value.elements().is_some_and(|all| !all.is_empty() && all.iter().all(is_one))
}

/// Reads the key of an entry.
pub(super) fn read(document: &Document, node: &PlacedValue, found: &mut Vec<Diagnostic>) -> Option<HookCondition> {
    node.get(KEY).and_then(|value| read_value(document, value, found))
}

/// Reads what stands behind the key.
pub(super) fn read_value(
    document: &Document,
    value: &PlacedValue,
    found: &mut Vec<Diagnostic>,
) -> Option<HookCondition> {
    if !is_table(value) {
        return Some(HookCondition::Permission(permission_rules(document, value, found)));
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

/// Reads permission rules: one text, or a list of them. A value of another type is no rule that can be read.
fn permission_rules(document: &Document, value: &PlacedValue, found: &mut Vec<Diagnostic>) -> PermissionRules {
    let list = || value.elements().and_then(|rules| rules.iter().map(PlacedValue::text).collect::<Option<Vec<_>>>());
    let text = value.text().map(str::to_owned).or_else(|| list().map(|rules| rules.join(", ")));
    let rules = PermissionRules::read(&text.unwrap_or_default());
    if let Some(text) = rules.unreadable() {
        let message = format!("`if` has a rule that cannot be read: `{text}`; the hook is always asked");
        let finding = document.finding(Code::SettingValue, &value.span, message);
        found.push(finding.hint("write a permission rule, such as `Bash(git push *)` or `Edit(src/**)`"));
    }
    rules
}
