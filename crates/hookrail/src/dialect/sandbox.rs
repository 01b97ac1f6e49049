//! The keys of an entry that ask for a sandbox, which are the same in every dialect with entries.
//!
//! A value that cannot be read never means less than was asked for: it is read as `guard`, and for a hook that requires its
//! sandbox it makes the entry unusable.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedValue, ValueShape, nearest};
use crate::hook::sandbox::{SandboxProfile, SandboxRequirement};
use crate::hook::{Action, Hook};

/// The keys of an entry.
pub(super) const PROFILE_KEY: &str = "sandbox";
pub(super) const REQUIRED_KEY: &str = "sandboxRequired";

/// The keys of a profile.
const KEYS: [&str; 3] = ["read", "write", "network"];

const HINT: &str =
    "write \"none\", \"guard\" or for example {\"read\": \"all\", \"write\": [\"out\"], \"network\": false}";

/// Reads the keys of an entry into its hook.
pub(super) fn read_into(hook: &mut Hook, document: &Document, node: &PlacedValue, found: &mut Vec<Diagnostic>) {
    hook.sandbox_requirement = match node.get(REQUIRED_KEY) {
        None => SandboxRequirement::Reported,
        Some(value) => match value.shape {
            ValueShape::Flag(false) => SandboxRequirement::Reported,
            ValueShape::Flag(true) => SandboxRequirement::Required,
            _ => {
                let message = format!("`{REQUIRED_KEY}` must be true or false; it is read as true");
                found.push(document.finding(Code::SettingValue, &value.span, message));
                SandboxRequirement::Required
            }
        },
    };
    let is_required = hook.sandbox_requirement == SandboxRequirement::Required;
    let profile = node.get(PROFILE_KEY).map_or(Ok(None), |value| profile(document, value, found));
    hook.sandbox = match profile {
        Ok(None) if is_required => {
            let span = node.get(REQUIRED_KEY).map_or(&node.span, |value| &value.span);
            let message = format!("`{REQUIRED_KEY}` stands on a hook without a sandbox; \"guard\" applies");
            found.push(document.finding(Code::SettingValue, span, message).hint("add `\"sandbox\": \"guard\"`"));
            Some(Arc::new(SandboxProfile::guard()))
        }
        Ok(profile) => profile.map(Arc::new),
        Err(Unreadable) => {
            if is_required && matches!(hook.action, Action::Shell(_) | Action::Program(_)) {
                hook.action = Action::Unusable(format!("its `{PROFILE_KEY}` cannot be read and is required").into());
            }
            Some(Arc::new(SandboxProfile::guard()))
        }
    };
}

/// Reads a profile that others cannot leave; one that cannot be read is `guard`.
pub(super) fn floor(
    document: &Document,
    value: &PlacedValue,
    found: &mut Vec<Diagnostic>,
) -> Option<Arc<SandboxProfile>> {
    let profile = profile(document, value, found);
    profile.unwrap_or_else(|Unreadable| Some(SandboxProfile::guard())).map(Arc::new)
}

/// What stands there is not a profile, and that was reported.
struct Unreadable;

/// Reads a profile; none for "none".
fn profile(
    document: &Document,
    value: &PlacedValue,
    found: &mut Vec<Diagnostic>,
) -> Result<Option<SandboxProfile>, Unreadable> {
    SandboxProfile::from_json(&value.to_json().to_value()).map_err(|problem| {
        let part = problem.key.as_deref().and_then(|key| value.member(key));
        let span =
            part.map_or(&value.span, |(key, part)| if KEYS.contains(&&*key.name) { &part.span } else { &key.span });
        let message = format!("{problem}; it is read as \"guard\"");
        let finding = document.finding(Code::SandboxInvalid, span, message);
        let written = problem.key.as_deref().or(value.text()).unwrap_or_default();
        let known = nearest(written, KEYS.into_iter().chain(["none", SandboxProfile::GUARD]));
        let known = known.filter(|known| *known != written);
        found.push(finding.hint(known.map_or(HINT.to_owned(), |name| format!("did you mean `{name}`?"))));
        Unreadable
    })
}

/// The JSON Schema of a profile, with a description.
pub(super) fn profile_schema(about: &str) -> Value {
    let path = json!({"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"});
    let paths = json!({"type": "array", "items": path});
    let profile = json!({
        "type": "object",
        "properties": {
            "read": {"anyOf": [{"const": "all"}, paths], "default": "all"},
            "write": paths,
            "network": {"type": "boolean", "default": false},
        },
        "additionalProperties": false,
    });
    json!({"anyOf": [{"enum": ["none", "guard"]}, profile], "description": about})
}

/// The JSON Schema that holds if a sandbox is required: there must be one.
pub(super) fn required_schema() -> Value {
    json!({
        "if": {"properties": {REQUIRED_KEY: {"const": true}}, "required": [REQUIRED_KEY]},
        "then": {"properties": {PROFILE_KEY: {"not": {"const": "none"}}}, "required": [PROFILE_KEY]},
    })
}
