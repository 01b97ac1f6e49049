//! Where bundles come from. All kinds of source offer the same three things: a manifest, its signature, and archives by
//! digest. Nothing of it is believed before its signature and its digest were checked.

mod file;
mod git;
mod https;
mod nats;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

use crate::ArchiveDigest;
use crate::config::FleetConfig;
use crate::manifest::LARGEST_MANIFEST;
use crate::nats::{FleetMember, NatsServer};
use crate::signature::SIGNATURE_ENDING;

pub use nats::{fetch_object, fetch_signed_manifest};

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

/// A place that bundles come from.
pub trait BundleSource {
    /// Fetches a file whole. A source must not return more bytes than the limit.
    ///
    /// # Errors
    /// If the source cannot be reached, has no such file, or the file is larger than the limit.
    fn fetch(&mut self, name: &str, limit: u64) -> Result<Vec<u8>, SourceError>;

    /// Fetches the manifest and its signature.
    ///
    /// # Errors
    /// As [`BundleSource::fetch`], or if one of them is not text.
    fn signed_manifest(&mut self) -> Result<SignedManifest, SourceError> {
        fetch_apart(self)
    }

    /// Fetches an archive.
    ///
    /// # Errors
    /// As [`BundleSource::fetch`].
    fn archive(&mut self, digest: &ArchiveDigest, limit: u64) -> Result<Vec<u8>, SourceError> {
        self.fetch(&archive_name(digest), limit)
    }
}

/// Fetches the manifest and its signature from a source that keeps them apart.
fn fetch_apart<S: BundleSource + ?Sized>(source: &mut S) -> Result<SignedManifest, SourceError> {
    let signature = text(source.fetch(&format!("{MANIFEST}.{SIGNATURE_ENDING}"), LARGEST_SIGNATURE)?)?;
    let manifest = text(source.fetch(MANIFEST, LARGEST_MANIFEST)?)?;
    Ok(SignedManifest { manifest, signature })
}

fn text(bytes: Vec<u8>) -> Result<String, SourceError> {
    String::from_utf8(bytes).map_err(|_| SourceError::NotText)
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

/// The place of a source, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum SourceLocation {
    /// A folder.
    Folder(PathBuf),
    /// The address of a folder on a web server.
    Https(String),
    /// A folder in a commit of a git repository.
    Git {
        /// The address of the repository.
        url: String,
        /// The branch, tag or commit.
        reference: String,
        /// The folder in the repository.
        folder: String,
    },
    /// The object store of the servers in `[nats]`, or of one that is named.
    Nats(Option<NatsServer>),
}

impl SourceLocation {
    /// Opens the source. Files that it needs meanwhile go into a folder that the caller removes. The object store needs the
    /// configuration of the machine.
    ///
    /// # Errors
    /// If it is the object store, and the configuration names no servers and no key.
    pub fn open(&self, scratch: &Path, config: Option<&FleetConfig>) -> Result<Box<dyn BundleSource>, SourceError> {
        match self {
            Self::Folder(folder) => Ok(Box::new(file::FolderSource::new(folder))),
            Self::Https(url) => Ok(Box::new(https::HttpsSource::new(url))),
            Self::Git { url, reference, folder } => {
                Ok(Box::new(git::GitSource::new(url, reference, folder, &scratch.join("repository"))))
            }
            Self::Nats(server) => {
                let not_configured = || SourceError::NotConfigured(self.to_string());
                let config = config.ok_or_else(not_configured)?;
                let mut member = FleetMember::of_machine(config).map_err(|_| not_configured())?;
                if let Some(server) = server {
                    member.use_server(server.clone());
                }
                Ok(Box::new(nats::NatsSource::new(member, config.channel.name.clone())))
            }
        }
    }
}

impl FromStr for SourceLocation {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let refused = || SourceError::NotASource(text.to_owned());
        if text.chars().any(|character| character.is_control() || character.is_whitespace()) && text.contains("://") {
            return Err(refused());
        }
        if let Some(repository) = text.strip_prefix("git+") {
            return git_location(repository).ok_or_else(refused);
        }
        match text.split_once("://") {
            Some(("https", _)) => Ok(Self::Https(text.trim_end_matches('/').to_owned())),
            Some(("http", rest)) if is_loopback(rest) => Ok(Self::Https(text.trim_end_matches('/').to_owned())),
            Some(("nats" | "tls", _)) => text.parse().map(|server| Self::Nats(Some(server))).map_err(|_| refused()),
            Some(("file", path)) if Path::new(path).is_absolute() => Ok(Self::Folder(path.into())),
            Some(_) => Err(refused()),
            None if text == "nats" => Ok(Self::Nats(None)),
            None if Path::new(text).is_absolute() => Ok(Self::Folder(text.into())),
            None => Err(refused()),
        }
    }
}

impl TryFrom<String> for SourceLocation {
    type Error = SourceError;

    fn try_from(text: String) -> Result<Self, SourceError> {
        text.parse()
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Https(url) => f.write_str(url),
            Self::Nats(None) => f.write_str("nats"),
            Self::Nats(Some(server)) => write!(f, "{server}"),
            Self::Git { url, reference, folder } if folder.is_empty() => write!(f, "git+{url}#{reference}"),
            Self::Git { url, reference, folder } => write!(f, "git+{url}#{reference}:{folder}"),
        }
    }
}

/// Plain HTTP would let others on the way withhold updates, so only this machine itself may be asked without encryption.
fn is_loopback(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    matches!(host, "127.0.0.1" | "[::1]" | "localhost")
}

fn git_location(text: &str) -> Option<SourceLocation> {
    let (url, rest) = text.split_once('#')?;
    let (reference, folder) = rest.split_once(':').unwrap_or((rest, ""));
    let known = ["https://", "ssh://", "file:///"].iter().any(|scheme| url.starts_with(scheme));
    // What begins with a dash would be an option of git.
    let is_reference = |text: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_');
        !text.is_empty() && !text.starts_with('-') && !text.contains("..") && text.bytes().all(allowed)
    };
    let is_folder = folder.is_empty() || (is_reference(folder) && !folder.starts_with('/'));
    (known && is_reference(reference) && is_folder).then(|| SourceLocation::Git {
        url: url.to_owned(),
        reference: reference.to_owned(),
        folder: folder.trim_end_matches('/').to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_recognised_by_its_text() {
        for (text, shown) in [
            ("/srv/bundles", "/srv/bundles"),
            ("file:///srv/bundles", "/srv/bundles"),
            ("https://policy.example/acme/", "https://policy.example/acme"),
            ("http://127.0.0.1:8080/acme", "http://127.0.0.1:8080/acme"),
            ("git+https://git.example/policy.git#main:stable", "git+https://git.example/policy.git#main:stable"),
            ("git+file:///srv/policy.git#v1.2", "git+file:///srv/policy.git#v1.2"),
            ("nats", "nats"),
            ("nats://n1.example:4222", "nats://n1.example:4222"),
            ("tls://n1.example:4222", "tls://n1.example:4222"),
        ] {
            assert_eq!(text.parse::<SourceLocation>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_is_not_safe_is_no_source() {
        for text in [
            "bundles",
            "",
            "file://bundles",
            "ftp://x/y",
            "http://policy.example/acme",
            "http://127.0.0.1.evil.example/",
            "https://a b/",
            "git+https://git.example/policy.git",
            "git+https://git.example/policy.git#--upload-pack=x",
            "git+https://git.example/policy.git#main:../secrets",
            "git+https://git.example/policy.git#main:/etc",
            "git+ext::sh -c x#main",
            "git+http://git.example/policy.git#main",
            "nats://user:password@n1.example:4222",
        ] {
            assert!(matches!(text.parse::<SourceLocation>(), Err(SourceError::NotASource(_))), "{text}");
        }
    }
}
