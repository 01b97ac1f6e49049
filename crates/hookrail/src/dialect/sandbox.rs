//! The keys of an entry that ask for a sandbox, which are the same in every dialect with entries.
//!
//! A value that cannot be read never means less than was asked for: it is read as `guard`, and for a hook that requires its
//! sandbox it makes the entry unusable.

use std::path::PathBuf;
use std::sync::Arc;

use hookrail_spawn::{Network, Readable};

use crate::config::{Document, Node, Shape, nearest};
use crate::diagnostic::{Code, Diagnostic};
use crate::hook::{Action, Hook};
use crate::sandbox::{SandboxProfile, SandboxRequirement};

/// The keys of an entry.
pub(super) const PROFILE_KEY: &str = "sandbox";
pub(super) const REQUIRED_KEY: &str = "sandboxRequired";

/// The keys of a profile.
const KEYS: [&str; 3] = ["read", "write", "network"];

const HINT: &str =
    "write \"none\", \"guard\" or for example {\"read\": \"all\", \"write\": [\"out\"], \"network\": false}";

/// Reads the keys of an entry into its hook.
pub(super) fn read_into(hook: &mut Hook, document: &Document, node: &Node, found: &mut Vec<Diagnostic>) {
    hook.sandbox_requirement = match node.get(REQUIRED_KEY) {
        None => SandboxRequirement::Reported,
        Some(value) => match value.shape {
            Shape::Flag(false) => SandboxRequirement::Reported,
            Shape::Flag(true) => SandboxRequirement::Required,
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
pub(super) fn floor(document: &Document, value: &Node, found: &mut Vec<Diagnostic>) -> Option<Arc<SandboxProfile>> {
    let profile = profile(document, value, found);
    profile.unwrap_or_else(|Unreadable| Some(SandboxProfile::guard())).map(Arc::new)
}

/// What stands there is not a profile, and that was reported.
struct Unreadable;

/// Reads a profile; none for "none".
fn profile(
    document: &Document,
    value: &Node,
    found: &mut Vec<Diagnostic>,
) -> Result<Option<SandboxProfile>, Unreadable> {
    let problem = match (&value.shape, value.text()) {
        (_, Some("none")) => return Ok(None),
        (_, Some(SandboxProfile::GUARD)) => return Ok(Some(SandboxProfile::guard())),
        (Shape::Object(members), _) => {
            let unknown = members.iter().find(|(key, _)| !KEYS.contains(&key.name.as_str()));
            match unknown {
                Some((key, _)) => {
                    let message = format!("`{}` is not a key of a sandbox; the profile is read as \"guard\"", key.name);
                    let finding = document.finding(Code::SandboxInvalid, &key.span, message);
                    let known = nearest(&key.name, KEYS);
                    found.push(finding.hint(known.map_or(HINT.to_owned(), |name| format!("did you mean `{name}`?"))));
                    return Err(Unreadable);
                }
                None => match parts(value) {
                    Ok(profile) => return Ok(Some(profile)),
                    Err(problem) => problem,
                },
            }
        }
        (_, Some(other)) => (value, format!("\"{other}\" is not a sandbox profile")),
        (_, None) => (value, format!("`{PROFILE_KEY}` must be a profile, not {}", value.described())),
    };
    let (node, message) = problem;
    let message = format!("{message}; it is read as \"guard\"");
    found.push(document.finding(Code::SandboxInvalid, &node.span, message).hint(HINT));
    Err(Unreadable)
}

/// Reads the parts of a profile. A part that is missing is that of `guard`.
fn parts(value: &Node) -> Result<SandboxProfile, (&Node, String)> {
    let mut profile = SandboxProfile::guard();
    if let Some(read) = value.get("read") {
        profile.read = match read.text() {
            Some("all") => Readable::Everything,
            Some(_) => return Err((read, "`read` must be \"all\" or a list of paths".to_owned())),
            None => Readable::Only(paths("read", read)?),
        };
    }
    if let Some(write) = value.get("write") {
        profile.write = paths("write", write)?;
    }
    if let Some(network) = value.get("network") {
        profile.network = match network.shape {
            Shape::Flag(true) => Network::Allowed,
            Shape::Flag(false) => Network::Denied,
            _ => return Err((network, format!("`network` must be true or false, not {}", network.described()))),
        };
    }
    Ok(profile)
}

fn paths<'n>(key: &str, list: &'n Node) -> Result<Vec<PathBuf>, (&'n Node, String)> {
    let Some(elements) = list.elements() else {
        return Err((list, format!("`{key}` must be a list of paths, not {}", list.described())));
    };
    let path = |element: &'n Node| match element.text() {
        Some(text) if !text.is_empty() && !text.contains('\0') => Ok(PathBuf::from(text)),
        _ => Err((element, format!("`{key}` must hold paths, which are strings that are not empty"))),
    };
    elements.iter().map(path).collect()
}
