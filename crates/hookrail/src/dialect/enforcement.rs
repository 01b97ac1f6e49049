//! The key of an entry that says whether what the hook answers counts, which is the same in every dialect with entries.
//!
//! A value that cannot be read never takes a guard's effect away: the hook is enforced.

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedValue, ValueShape};
use crate::hook::{ENFORCE_TERM, Enforcement};

/// The key of an entry.
pub(super) const KEY: &str = ENFORCE_TERM;

/// Reads the key of an entry.
pub(super) fn read(document: &Document, node: &PlacedValue, found: &mut Vec<Diagnostic>) -> Enforcement {
    let Some(value) = node.get(KEY) else { return Enforcement::Enforced };
    match value.shape {
        ValueShape::Flag(false) => Enforcement::Shadow,
        ValueShape::Flag(true) => Enforcement::Enforced,
        _ => {
            let message = format!("`{KEY}` must be true or false, not {}; the hook is enforced", value.described());
            found.push(document.finding(Code::SettingType, &value.span, message).hint("write `\"enforce\": false`"));
            Enforcement::Enforced
        }
    }
}
