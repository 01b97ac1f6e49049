//! The manifest: what a publisher signs, and the rules by which a machine accepts it.

use serde::{Deserialize, Serialize};

use crate::digest::ArchiveDigest;
use crate::error::BundleError;
use crate::time::Timestamp;

pub use crate::name::{Name, NotAName};

/// The version of the manifest's format. A machine refuses every other one, because a field that it does not know could
/// restrict what it is about to do.
pub const FORMAT: u32 = 1;

/// The largest manifest that is read.
pub const LARGEST_MANIFEST: u64 = 64 * 1024;

/// The name of the manifest in every source.
pub const MANIFEST: &str = "manifest.json";

/// The name of an archive in every source.
#[must_use]
pub fn archive_name(digest: &ArchiveDigest) -> String {
    format!("{digest}.tar.gz")
}

/// The largest signature that is read.
pub(crate) const LARGEST_SIGNATURE: u64 = 4096;

/// A manifest with its signature, not verified yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedManifest {
    /// The text of the manifest, exactly as it was signed.
    pub manifest: String,
    /// The text of the signature.
    pub signature: String,
}

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

/// Reads a version of hookrail.
///
/// # Errors
/// If the text is no version.
pub fn parse_version(text: &str) -> Result<semver::Version, BundleError> {
    text.parse().map_err(|error| BundleError::ManifestInvalid(format!("`{text}` is no version: {error}")))
}
