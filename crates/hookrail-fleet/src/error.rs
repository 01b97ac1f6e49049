//! Why a bundle is not made, not accepted or not put in force.

use std::io;
use std::path::{Path, PathBuf};

use crate::archive::ArchiveError;
use crate::manifest::Name;
use crate::places::PlaceProblem;
use crate::signature::KeyProblem;
use crate::source::SourceError;
use crate::{ArchiveDigest, MachineIdProblem, Timestamp};

/// Why a bundle is refused, or why a step failed. Nothing that is in force has changed then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The manifest is not valid JSON, or lacks a field, or has one that is not known.
    #[error("the manifest cannot be read: {0}")]
    ManifestInvalid(String),
    /// The manifest has the format of another version of hookrail.
    #[error("the manifest has format {found}, and this hookrail knows format {known}")]
    ManifestFormat {
        /// The format of the manifest.
        found: u32,
        /// The format that is known.
        known: u32,
    },
    /// The bundle is for the machines of another organisation.
    #[error("the bundle is for tenant `{found}`, and this machine belongs to `{expected}`")]
    WrongTenant {
        /// The tenant of the manifest.
        found: Name,
        /// The tenant of the machine.
        expected: Name,
    },
    /// The bundle is for another channel.
    #[error("the bundle is for channel `{found}`, and this machine follows `{expected}`")]
    WrongChannel {
        /// The channel of the manifest.
        found: Name,
        /// The channel of the machine.
        expected: Name,
    },
    /// The bundle has expired.
    #[error("the bundle expired at {0}")]
    Expired(Timestamp),
    /// The bundle needs a newer hookrail.
    #[error("the bundle needs hookrail {needed} or later, and this is {this}")]
    HookrailTooOld {
        /// The oldest version that would do.
        needed: semver::Version,
        /// This version.
        this: semver::Version,
    },
    /// A later version was in force already.
    #[error("version {found} is older than version {newest}, which was in force already")]
    OlderVersion {
        /// The version of the manifest.
        found: u64,
        /// The newest version that was in force.
        newest: u64,
    },
    /// Two different manifests have the same version.
    #[error("version {0} is in force with another content; a change needs a higher version")]
    VersionReused(u64),
    /// No signature of an accepted key fits the manifest.
    #[error("the signature does not fit the manifest")]
    BadSignature,
    /// The signature is of a key that is not among the accepted ones.
    #[error("the manifest is signed with key {0}, which is not one of the accepted keys")]
    UnknownKey(String),
    /// The archive is not the one that the manifest names.
    #[error("the archive has the digest {found}, and the manifest names {expected}")]
    WrongDigest {
        /// The digest of the archive.
        found: ArchiveDigest,
        /// The digest in the manifest.
        expected: ArchiveDigest,
    },
    /// The archive does not have the size that the manifest names.
    #[error("the archive has {found} bytes, and the manifest names {expected}")]
    WrongSize {
        /// The size of the archive.
        found: u64,
        /// The size in the manifest.
        expected: u64,
    },
    /// The archive breaks a rule.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The engine cannot use the content.
    #[error("the content of the bundle cannot be used: {0}")]
    Content(String),
    /// The configuration is missing or wrong.
    #[error("`{}`: {problem}", file.display())]
    Configuration {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file or folder is not as safe as it must be.
    #[error(transparent)]
    Place(#[from] PlaceProblem),
    /// The record of what is in force cannot be read.
    #[error("`{}` cannot be used: {problem}; what is in force is not known", file.display())]
    State {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyProblem),
    /// A source of bundles cannot be used.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The machine has no name.
    #[error(transparent)]
    Machine(#[from] MachineIdProblem),
    /// A file cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl BundleError {
    /// Returns a function that adds a path to an error of the operating system.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }

    /// Returns the stable name of the reason, for programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::ManifestInvalid(_) => "manifest-invalid",
            Self::ManifestFormat { .. } => "manifest-format",
            Self::WrongTenant { .. } => "wrong-tenant",
            Self::WrongChannel { .. } => "wrong-channel",
            Self::Expired(_) => "expired",
            Self::HookrailTooOld { .. } => "hookrail-too-old",
            Self::OlderVersion { .. } => "older-version",
            Self::VersionReused(_) => "version-reused",
            Self::BadSignature => "bad-signature",
            Self::UnknownKey(_) => "unknown-key",
            Self::WrongDigest { .. } => "wrong-digest",
            Self::WrongSize { .. } => "wrong-size",
            Self::Archive(error) => error.reason(),
            Self::Content(_) => "content-unusable",
            Self::Configuration { .. } => "configuration",
            Self::Place(_) => "unsafe-place",
            Self::State { .. } => "state",
            Self::Key(_) => "key",
            Self::Source(error) => error.reason(),
            Self::Machine(_) => "machine",
            Self::Io { .. } => "io",
        }
    }
}
