//! Why a bundle is not made, not accepted or not put in force.

use std::io;
use std::path::{Path, PathBuf};

use crate::archive::ArchiveError;
use crate::digest::ArchiveDigest;
use crate::name::Name;
use crate::time::Timestamp;

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

/// A file or folder that is not as safe as it must be.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be used: {problem}", path.display())]
pub struct PlaceProblem {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Unsafe,
}

/// What is wrong with a file or folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unsafe {
    /// It belongs to another user.
    #[error("it belongs to another user")]
    Owner,
    /// Other users can write it.
    #[error("other users can write it; remove the permission with `chmod go-w`")]
    Mode,
    /// It is a link.
    #[error("it is a link")]
    Link,
    /// It is not what it must be.
    #[error("it is not a {0}")]
    Kind(&'static str),
    /// Its path is relative, so that it would be another one in every directory.
    #[error("its path is relative")]
    Relative,
    /// It cannot be looked at.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyProblem {
    /// A text is no public key.
    #[error("this is not a public key of minisign: {0}")]
    NotAPublicKey(String),
    /// A text is no secret key, or its password is wrong.
    #[error("the secret key cannot be used: {0}")]
    NotASecretKey(String),
    /// A key could not be made.
    #[error("no key could be made: {0}")]
    NotMade(String),
    /// Signing failed.
    #[error("the manifest could not be signed: {0}")]
    NotSigned(String),
}

/// Why a source gave nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The text does not name a source.
    #[error("`{0}` is no source: use a folder, https://HOST/PATH, git+https://HOST/REPOSITORY#REF:FOLDER, or nats")]
    NotASource(String),
    /// The object store needs a key, and no configuration names one.
    #[error("`{0}` needs `[nats]` in the configuration of the machine")]
    NotConfigured(String),
    /// The source has no such file.
    #[error("`{place}` has no `{name}`")]
    NotFound {
        /// The source.
        place: String,
        /// The file.
        name: String,
    },
    /// The file is larger than it may be.
    #[error("`{name}` of `{place}` is larger than {limit} bytes")]
    TooLarge {
        /// The source.
        place: String,
        /// The file.
        name: String,
        /// The limit.
        limit: u64,
    },
    /// The manifest or the signature is not text.
    #[error("the manifest or its signature is not UTF-8 text")]
    NotText,
    /// The source cannot be reached, or answered with an error.
    #[error("`{place}` cannot be reached: {problem}")]
    Unreachable {
        /// The source.
        place: String,
        /// What happened.
        problem: String,
    },
}

impl SourceError {
    /// Returns the stable name of the reason, for programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NotASource(_) => "not-a-source",
            Self::NotConfigured(_) => "nats-not-configured",
            Self::NotFound { .. } => "not-found",
            Self::TooLarge { .. } => "too-large",
            Self::NotText => "not-text",
            Self::Unreachable { .. } => "unreachable",
        }
    }
}

/// Why a machine has no name.
#[derive(Debug, thiserror::Error)]
#[error("`{file}` cannot be read: {source}; set `machine` in the configuration")]
pub struct MachineIdProblem {
    pub(crate) file: &'static str,
    pub(crate) source: std::io::Error,
}
