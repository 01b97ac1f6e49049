//! What was granted for a project, hook by hook.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use super::fingerprint::{Definition, Digest, Fingerprint, NamedFile};
use crate::hook::{Action, Enforcement, Hook, OnFailure, Trust};
use crate::run::capabilities::Capabilities;

/// What was granted for one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// Whether the project itself is trusted, which covers its switches.
    #[serde(default)]
    pub project: bool,
    /// The hooks.
    #[serde(default)]
    pub hooks: Vec<Grant>,
}

/// One granted hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What people call it.
    pub hook: String,
    /// Its event.
    pub event: String,
    /// The digest of its definition.
    pub definition: String,
    /// The digest of its definition and files.
    pub content: String,
    /// The files that were looked at, with what was in them.
    #[serde(default)]
    pub files: Vec<GrantedFile>,
    /// The definition in words; grants of the first version do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub described: Option<Definition>,
    /// The only capabilities it has, when the grant narrows them, as [`Capabilities::parse`] reads them.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "only_capabilities")]
    pub capabilities: Option<Vec<String>>,
    /// What a failure of it does, as it was when it was granted; for a module, whether it guards tool calls. Grants of
    /// earlier versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<String>,
}

/// The name under which a module registers a guard of tool calls.
const GUARDS_TOOL_CALLS: &str = "tool_call";

impl Grant {
    /// What a grant says about a hook.
    fn new(hook: &Hook, fingerprint: &Fingerprint, content: Option<Digest>, policy: OnFailure) -> Self {
        Self {
            hook: hook.label.to_string(),
            event: hook.event.name().to_owned(),
            definition: fingerprint.definition().hex(),
            content: content.map_or_else(String::new, |content| content.hex()),
            files: fingerprint.files().iter().filter_map(granted_file).collect(),
            described: Some(fingerprint.described().clone()),
            capabilities: None,
            on_failure: Some(policy.name().to_owned()),
        }
    }

    /// What a grant would say about a hook whose failure has an effect; none for any other hook.
    pub(super) fn of_guard(hook: &Hook, fingerprint: &Fingerprint) -> Option<Self> {
        let policy = policy_to_grant(hook, fingerprint);
        (policy != OnFailure::Allow).then(|| Self::new(hook, fingerprint, fingerprint.content(), policy))
    }

    /// What a failure of the hook does by this grant. A word that is not known is read as the strictest one. A grant of an
    /// earlier version does not say: then the hook's present policy is all there is, and a module may be a guard.
    pub(crate) fn policy(&self, hook: &Hook) -> OnFailure {
        match (self.on_failure.as_deref(), &hook.action) {
            (Some("allow"), _) => OnFailure::Allow,
            (Some("ask"), _) => OnFailure::Ask,
            (Some(_), _) | (None, Action::Module(_)) => OnFailure::Block,
            (None, _) => hook.on_failure,
        }
    }

    /// The digest of the hook's definition that this grant compares, if the grant is one of that hook.
    fn definition_of(&self, fingerprint: &Fingerprint) -> Option<Digest> {
        let without_terms = self.on_failure.is_none().then(|| fingerprint.definition_without_terms());
        [Some(fingerprint.definition()), without_terms].into_iter().flatten().find(|one| one.is_hex(&self.definition))
    }

    /// Whether the grant is one of that hook, whatever its files hold.
    pub(super) fn is_of(&self, fingerprint: &Fingerprint) -> bool {
        self.definition_of(fingerprint).is_some()
    }

    /// What the grant leaves to a module. A store with a malformed capability cannot be read; a host's own store that gives
    /// one leaves the module nothing.
    fn narrowed_to(&self) -> Option<Capabilities> {
        let names = self.capabilities.as_ref()?;
        Some(Capabilities::parse(names.iter().map(String::as_str)).unwrap_or(Capabilities::NONE))
    }
}

/// Reads the capabilities of a grant. A malformed one makes the store unusable, with the line of it: what it
/// was meant to leave to the module is not known.
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

impl Grants {
    /// What these grants say about a hook.
    #[must_use]
    pub fn judge(&self, fingerprint: Fingerprint) -> Trust {
        // Files are read only where a grant could cover them: a stranger could bring any number of large ones.
        let found = self.hooks.iter().find_map(|grant| Some((grant, grant.definition_of(&fingerprint)?)));
        let Some((grant, definition)) = found else { return Trust::Never(fingerprint) };
        let fingerprint = fingerprint.granted_by(grant);
        match fingerprint.content_under(definition) {
            Some(content) if content.hex() == grant.content => {
                Trust::Granted(fingerprint.narrowed_to(grant.narrowed_to()))
            }
            _ => Trust::Changed(fingerprint),
        }
    }

    /// Whether any of these grants may be one of a guard.
    pub(super) fn may_hold_guards(&self) -> bool {
        self.hooks.iter().any(|grant| grant.on_failure.as_deref() != Some(OnFailure::Allow.name()))
    }

    /// Adds a hook. Returns whether it could be granted: what cannot be fingerprinted cannot be trusted.
    pub fn grant(&mut self, hook: &Hook, fingerprint: &Fingerprint) -> bool {
        let Some(content) = fingerprint.content() else { return false };
        let grant = Grant::new(hook, fingerprint, Some(content), policy_to_grant(hook, fingerprint));
        // What the hook was before it changed is not granted any more.
        let superseded = fingerprint.granted().map(|old| old.definition.clone());
        self.hooks.retain(|old| old.definition != grant.definition && Some(&old.definition) != superseded.as_ref());
        self.hooks.push(grant);
        true
    }

    /// Takes a grant back.
    pub fn forget(&mut self, grant: &Grant) {
        self.hooks.retain(|kept| kept.definition != grant.definition);
    }

    /// Leaves a granted module these capabilities and no others.
    pub fn narrow(&mut self, fingerprint: &Fingerprint, capabilities: &[String]) {
        let definition = fingerprint.definition().hex();
        for grant in self.hooks.iter_mut().filter(|grant| grant.definition == definition) {
            grant.capabilities = Some(capabilities.to_vec());
        }
    }
}

/// What a failure of the hook shall do when it has changed. Which events a module handles is known only when it runs, so
/// one that mentions the event in any of its files is taken for a guard.
fn policy_to_grant(hook: &Hook, fingerprint: &Fingerprint) -> OnFailure {
    // A hook without an effect has none when it has changed.
    if hook.enforcement == Enforcement::Shadow {
        return OnFailure::Allow;
    }
    if fingerprint.is_module_mentioning(GUARDS_TOOL_CALLS) { OnFailure::Block } else { hook.on_failure }
}

fn granted_file(file: &NamedFile) -> Option<GrantedFile> {
    Some(GrantedFile { path: file.path.clone(), sha256: file.digest?.hex() })
}
