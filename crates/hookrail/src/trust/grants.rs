//! What was granted for a project, hook by hook.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::fingerprint::{Definition, Fingerprint, NamedFile};
use crate::hook::{Hook, Trust};
use crate::run::Capabilities;

/// What was granted for one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
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
#[non_exhaustive]
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
    /// The only capabilities it has, when the grant narrows them: `read`, `write`, `run`, `network`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
}

impl Grant {
    /// What the grant leaves to a module. A name that nobody here knows leaves it nothing.
    fn narrowed_to(&self) -> Option<Capabilities> {
        let names = self.capabilities.as_ref()?;
        Some(Capabilities::of_names(names.iter().map(String::as_str)).unwrap_or(Capabilities::NONE))
    }
}

/// A file as it was when its hook was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GrantedFile {
    /// Where it is.
    pub path: PathBuf,
    /// The digest of its bytes.
    pub sha256: String,
}

impl Grants {
    /// What these grants say about a hook.
    #[must_use]
    pub fn judge(&self, fingerprint: Fingerprint) -> Trust {
        let definition = fingerprint.definition().hex();
        // Files are read only where a grant could cover them: a stranger could bring any number of large ones.
        let Some(grant) = self.hooks.iter().find(|grant| grant.definition == definition) else {
            return Trust::Never(fingerprint);
        };
        match fingerprint.content() {
            Some(content) if content.hex() == grant.content => {
                Trust::Granted(fingerprint.narrowed_to(grant.narrowed_to()))
            }
            _ => Trust::Changed(fingerprint),
        }
    }

    /// Adds a hook. Returns whether it could be granted: what cannot be fingerprinted cannot be trusted.
    pub fn grant(&mut self, hook: &Hook, fingerprint: &Fingerprint) -> bool {
        let Some(content) = fingerprint.content() else { return false };
        let grant = Grant {
            hook: hook.label.to_string(),
            event: hook.event.name().to_owned(),
            definition: fingerprint.definition().hex(),
            content: content.hex(),
            files: fingerprint.files().iter().filter_map(granted_file).collect(),
            described: Some(fingerprint.described().clone()),
            capabilities: None,
        };
        self.hooks.retain(|old| old.definition != grant.definition);
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

fn granted_file(file: &NamedFile) -> Option<GrantedFile> {
    Some(GrantedFile { path: file.path.clone(), sha256: file.digest?.hex() })
}
