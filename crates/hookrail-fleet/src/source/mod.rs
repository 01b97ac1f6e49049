//! Where bundles come from. All kinds of source offer the same three things: a manifest, its signature, and archives by
//! digest. Nothing of it is believed before its signature and its digest were checked.

mod file;
mod git;
mod https;
mod nats;
mod open;

use crate::digest::ArchiveDigest;
use crate::manifest::{LARGEST_MANIFEST, LARGEST_SIGNATURE};
use crate::signature::SIGNATURE_ENDING;

pub use crate::config::SourceLocation;
pub use crate::error::SourceError;
pub use crate::manifest::{MANIFEST, SignedManifest, archive_name};
pub use nats::{fetch_object, fetch_signed_manifest};

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
