//! The member `source` of a configuration: the place that bundles come from.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

use super::NatsServer;
use crate::error::SourceError;

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
