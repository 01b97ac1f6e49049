//! What was granted for one hook.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use super::capabilities::Capabilities;
use super::fingerprint::{Definition, Fingerprint, NamedFile};
use super::missing_guard::GuardFacts;
use super::{Action, Enforcement, Hook, OnFailure};
use crate::text::digest::Digest;

/// One granted hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its name for users.
    pub hook: String,
    /// Its event.
    pub event: String,
    /// The digest of its definition.
    pub definition: String,
    /// The digest of its definition and files.
    pub content: String,
    /// The files that were reviewed, with the digests of their content.
    #[serde(default)]
    pub files: Vec<GrantedFile>,
    /// Files outside of the project that its command names, with the digests of what each is known by: where it leads, or
    /// which interpreter it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<GrantedFile>,
    /// The definition in readable form; grants of the first version do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub described: Option<Definition>,
    /// The only capabilities it has, when the grant narrows them, as [`Capabilities::parse`] reads them.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "only_capabilities")]
    pub capabilities: Option<Vec<String>>,
    /// Its failure policy when it was granted; for a module, whether it guards tool calls. Grants of earlier versions
    /// do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
    /// What is known of a guard, so that it is missed when it is gone. Grants of earlier versions get it from the next
    /// load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<GuardFacts>,
}

/// The name under which a module registers a guard of tool calls.
const GUARDS_TOOL_CALLS: &str = "tool_call";

impl Grant {
    /// A grant for a hook.
    pub(crate) fn new(hook: &Hook, fingerprint: &Fingerprint, content: Option<Digest>, policy: OnFailure) -> Self {
        Self {
            hook: hook.label.to_string(),
            event: hook.event.name().to_owned(),
            definition: fingerprint.definition().hex(),
            content: content.map_or_else(String::new, |content| content.hex()),
            files: fingerprint.files().iter().filter_map(granted_file).collect(),
            outside: fingerprint.outside().to_vec(),
            described: Some(fingerprint.described().clone()),
            capabilities: None,
            on_failure: Some(policy.name().to_owned()),
            guard: GuardFacts::of(hook, fingerprint.root(), policy),
        }
    }

    /// The grant that a hook would get if its failure has an effect; none for any other hook.
    pub(crate) fn of_guard(hook: &Hook, fingerprint: &Fingerprint) -> Option<Self> {
        let policy = policy_to_grant(hook, fingerprint);
        (policy != OnFailure::Allow).then(|| Self::new(hook, fingerprint, fingerprint.content(), policy))
    }

    /// The failure policy by this grant. An unknown word is read as the strictest policy. A grant of an earlier version
    /// has none: then the hook's current policy is used, and a module may be a guard.
    pub(crate) fn policy(&self, hook: &Hook) -> OnFailure {
        match (self.on_failure.as_deref(), &hook.action) {
            (Some("allow"), _) => OnFailure::Allow,
            (Some("ask"), _) => OnFailure::Ask,
            (Some(_), _) | (None, Action::Module(_)) => OnFailure::Block,
            (None, _) => hook.on_failure,
        }
    }

    /// The digest of the hook's definition that this grant is compared with, if the grant is for that hook.
    pub(crate) fn definition_of(&self, fingerprint: &Fingerprint) -> Option<Digest> {
        let without_terms = self.on_failure.is_none().then(|| fingerprint.definition_without_terms());
        [Some(fingerprint.definition()), without_terms].into_iter().flatten().find(|one| one.is_hex(&self.definition))
    }

    /// Whether the grant is for that hook, whatever the content of its files.
    pub(crate) fn is_of(&self, fingerprint: &Fingerprint) -> bool {
        self.definition_of(fingerprint).is_some()
    }

    /// The capabilities that the grant leaves a module. A store with a malformed capability cannot be read; if a host's
    /// own store returns one, the module gets none.
    pub(crate) fn narrowed_to(&self) -> Option<Capabilities> {
        let names = self.capabilities.as_ref()?;
        Some(Capabilities::parse(names.iter().map(String::as_str)).unwrap_or(Capabilities::NONE))
    }
}

/// Parses the capabilities of a grant. A malformed one makes the store unusable and is reported with its line, because
/// what it was meant to allow is not known.
fn only_capabilities<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let texts = Option::<Vec<String>>::deserialize(deserializer)?;
    if let Some(texts) = &texts {
        Capabilities::parse(texts.iter().map(String::as_str)).map_err(serde::de::Error::custom)?;
    }
    Ok(texts)
}

/// A file as it was when its hook was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedFile {
    /// Where it is.
    pub path: PathBuf,
    /// The digest of its bytes.
    pub sha256: String,
}

impl GrantedFile {
    /// A file with the digest of its bytes in hexadecimal.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, sha256: impl Into<String>) -> Self {
        Self { path: path.into(), sha256: sha256.into() }
    }
}

/// The failure policy that the hook keeps after it has changed. The events of a module are known only when it runs, so
/// a module that mentions the event in any of its files is taken as a guard.
pub(crate) fn policy_to_grant(hook: &Hook, fingerprint: &Fingerprint) -> OnFailure {
    // A shadow hook has none when it has changed.
    if hook.enforcement == Enforcement::Shadow {
        return OnFailure::Allow;
    }
    if fingerprint.is_module_mentioning(GUARDS_TOOL_CALLS) { OnFailure::Block } else { hook.on_failure }
}

fn granted_file(file: &NamedFile) -> Option<GrantedFile> {
    Some(GrantedFile { path: file.path.clone(), sha256: file.digest?.hex() })
}
