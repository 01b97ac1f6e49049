//! The manifest: what a publisher signs, and the rules by which a machine accepts it.

use serde::{Deserialize, Serialize};

use crate::{ArchiveDigest, BundleError, Timestamp};

/// The version of the manifest's format. A machine refuses every other one, because a field that it does not know could
/// restrict what it is about to do.
pub const FORMAT: u32 = 1;

/// The largest manifest that is read.
pub const LARGEST_MANIFEST: u64 = 64 * 1024;

/// What a publisher says about a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of this format.
    pub format: u32,
    /// The organisation whose machines the bundle is for.
    pub tenant: Name,
    /// The channel that machines follow, such as `stable`.
    pub channel: Name,
    /// A number that only grows in its channel.
    pub version: u64,
    /// The digest of the archive.
    pub digest: ArchiveDigest,
    /// The size of the archive in bytes.
    pub size: u64,
    /// The oldest hookrail that understands the content.
    pub min_hookrail: semver::Version,
    /// When the manifest was made.
    pub issued: Timestamp,
    /// When the bundle expires; never, if this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// Which machines it is for.
    pub rollout: Rollout,
    /// Whether its hooks are only tried out: they run and are recorded, and have no effect.
    pub shadow: bool,
}

/// The share of machines that a bundle is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rollout {
    /// The share in percent, from 0 to 100.
    pub percent: u8,
    /// The text that decides which machines are the first ones.
    pub seed: String,
}

/// The name of a tenant, a channel or a machine. It can be part of a path and of a subject.
///
/// ```
/// use hookrail_fleet::manifest::Name;
///
/// assert!("acme-dev".parse::<Name>().is_ok());
/// assert!("../acme".parse::<Name>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Name(String);

/// A text that is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no name: a name has 1 to 63 letters a to z, digits, `-` and `_`, and begins with a letter or digit")]
pub struct NotAName(String);

impl Name {
    /// Returns the text of the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Name {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<Self, NotAName> {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins_well = text.bytes().next().is_some_and(is_word);
        let is_known = text.bytes().all(|byte| is_word(byte) || byte == b'-' || byte == b'_');
        if begins_well && is_known && text.len() <= 63 {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAName(text.to_owned()))
        }
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Name {
    type Error = NotAName;

    fn try_from(text: String) -> Result<Self, NotAName> {
        text.parse()
    }
}

/// A machine's side of the rules.
#[derive(Clone, Debug)]
pub struct Expected<'e> {
    /// The tenant of the machine.
    pub tenant: &'e Name,
    /// The channel of the machine.
    pub channel: &'e Name,
    /// The current time.
    pub now: Timestamp,
    /// The version of this hookrail.
    pub hookrail: &'e semver::Version,
}

impl Manifest {
    /// Reads a manifest whose signature was verified.
    ///
    /// # Errors
    /// If it is not a manifest of this format.
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        /// The one field that every format has.
        #[derive(Deserialize)]
        struct AnyFormat {
            format: u32,
        }
        let invalid = |error: serde_json::Error| BundleError::ManifestInvalid(error.to_string());
        let AnyFormat { format } = serde_json::from_str(text).map_err(invalid)?;
        if format != FORMAT {
            return Err(BundleError::ManifestFormat { found: format, known: FORMAT });
        }
        let manifest: Self = serde_json::from_str(text).map_err(invalid)?;
        if manifest.rollout.percent > 100 {
            return Err(BundleError::ManifestInvalid("`rollout.percent` is more than 100".to_owned()));
        }
        Ok(manifest)
    }

    /// Returns the text that is signed.
    ///
    /// # Errors
    /// If it cannot be written as JSON, which no manifest of this type causes.
    pub fn to_text(&self) -> Result<String, BundleError> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|error| BundleError::ManifestInvalid(error.to_string()))
    }

    /// Checks what does not depend on the bundle that is in force.
    ///
    /// # Errors
    /// If the bundle is not for this machine, has expired, or needs a newer hookrail.
    pub fn check(&self, expected: &Expected<'_>) -> Result<(), BundleError> {
        if self.tenant != *expected.tenant {
            return Err(BundleError::WrongTenant { found: self.tenant.clone(), expected: expected.tenant.clone() });
        }
        if self.channel != *expected.channel {
            return Err(BundleError::WrongChannel { found: self.channel.clone(), expected: expected.channel.clone() });
        }
        if let Some(expired) = self.expires.filter(|at| *at <= expected.now) {
            return Err(BundleError::Expired(expired));
        }
        if self.min_hookrail > *expected.hookrail {
            return Err(BundleError::HookrailTooOld {
                needed: self.min_hookrail.clone(),
                this: expected.hookrail.clone(),
            });
        }
        Ok(())
    }

    /// Returns whether two manifests say the same but for the share of machines.
    #[must_use]
    pub fn is_same_but_for_rollout(&self, other: &Self) -> bool {
        Self { rollout: other.rollout.clone(), ..self.clone() } == *other
    }
}
