//! The publisher's side: a folder with a manifest, its signature and archives. The folder is what every source serves, so it
//! can be copied to a web server or committed as it is.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::archive::{self, ArchiveLimits, PackedFile};
use crate::digest::ArchiveDigest;
use crate::error::BundleError;
use crate::files::{create_shared_folder, read_limited, write_atomically};
use crate::manifest::{FORMAT, LARGEST_MANIFEST, MANIFEST, Manifest, Rollout, archive_name};
use crate::name::Name;
use crate::signature::{self, Password, PublicKey, signature_path};
use crate::source::BundleSource;
use crate::time::Timestamp;

/// What a new manifest says.
#[derive(Clone, Debug)]
pub struct NewManifest {
    /// The organisation.
    pub tenant: Name,
    /// The channel.
    pub channel: Name,
    /// The version; one more than that of the manifest that is replaced, if this is missing.
    pub version: Option<u64>,
    /// The oldest hookrail that understands the content.
    pub min_hookrail: semver::Version,
    /// When the manifest was made.
    pub issued: Timestamp,
    /// When the bundle expires.
    pub expires: Option<Timestamp>,
    /// The share of machines in percent.
    pub percent: u8,
    /// The text that decides which machines are the first ones; the digest, if this is missing.
    pub seed: Option<String>,
    /// Whether the bundle is only tried out.
    pub shadow: bool,
}

/// The content of a new bundle.
#[derive(Clone, Debug)]
pub enum Content<'c> {
    /// Archive bytes that were packed just now.
    Packed(&'c archive::PackedArchive),
    /// The archive of that digest, which the folder has already: for a rollback.
    Existing(ArchiveDigest),
}

/// Writes an archive and an unsigned manifest into a publisher's folder. A signature of an earlier manifest is removed, because
/// it fits no more.
///
/// # Errors
/// If the version does not grow, the archive of a rollback is missing, or a file cannot be written.
pub fn write_bundle(folder: &Path, content: &Content<'_>, new: NewManifest) -> Result<Manifest, BundleError> {
    create_shared_folder(folder).map_err(BundleError::at(folder))?;
    let (digest, size) = match content {
        Content::Packed(packed) => {
            let file = folder.join(archive_name(&packed.digest));
            write_atomically(&file, &packed.bytes, 0o644).map_err(BundleError::at(&file))?;
            (packed.digest, packed.bytes.len() as u64)
        }
        Content::Existing(digest) => (*digest, read_archive(folder, digest)?.len() as u64),
    };
    let newest = match read_manifest(folder) {
        Ok((before, _)) if before.tenant == new.tenant && before.channel == new.channel => before.version,
        Ok(_) => 0,
        Err(BundleError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    let version = new.version.unwrap_or(newest.saturating_add(1));
    if version <= newest {
        return Err(BundleError::OlderVersion { found: version, newest });
    }
    let manifest = Manifest {
        format: FORMAT,
        tenant: new.tenant,
        channel: new.channel,
        version,
        digest,
        size,
        min_hookrail: new.min_hookrail,
        issued: new.issued,
        expires: new.expires,
        rollout: Rollout { percent: new.percent, seed: new.seed.unwrap_or_else(|| digest.to_string()) },
        shadow: new.shadow,
    };
    let file = folder.join(MANIFEST);
    let signature = signature_path(&file);
    match fs::remove_file(&signature) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(BundleError::at(&signature)(error)),
        _ => {}
    }
    write_atomically(&file, manifest.to_text()?.as_bytes(), 0o644).map_err(BundleError::at(&file))?;
    Ok(manifest)
}

/// Signs the manifest of a publisher's folder. Its archive is checked first, so that nothing is signed that no machine accepts.
///
/// # Errors
/// If the folder is not a whole bundle, or the key cannot be used.
pub fn sign(folder: &Path, secret: &str, password: Password) -> Result<Manifest, BundleError> {
    let (manifest, text) = read_manifest(folder)?;
    check_archive(&manifest, &read_archive(folder, &manifest.digest)?)?;
    let comment = format!("hookrail bundle {} {} {}", manifest.tenant, manifest.channel, manifest.version);
    let signature = signature::sign(&text, secret, password, &comment)?;
    let file = signature_path(&folder.join(MANIFEST));
    write_atomically(&file, signature.as_bytes(), 0o644).map_err(BundleError::at(&file))?;
    Ok(manifest)
}

/// Verifies a bundle of any source as a machine would, but for what depends on the machine. Returns its manifest and files.
///
/// # Errors
/// If a machine would refuse it.
pub fn verify(source: &mut dyn BundleSource, keys: &[PublicKey]) -> Result<(Manifest, Vec<PackedFile>), BundleError> {
    let signed = source.signed_manifest()?;
    signature::verify(&signed.manifest, &signed.signature, keys)?;
    let manifest = Manifest::parse(&signed.manifest)?;
    let files = check_archive(&manifest, &fetch_archive(source, &manifest)?)?;
    Ok((manifest, files))
}

/// Returns what a publisher's folder holds, signed or not.
///
/// # Errors
/// If the manifest or its archive is missing, or they do not fit.
pub fn inspect(folder: &Path) -> Result<(Manifest, Vec<PackedFile>), BundleError> {
    let (manifest, _) = read_manifest(folder)?;
    let files = check_archive(&manifest, &read_archive(folder, &manifest.digest)?)?;
    Ok((manifest, files))
}

/// A difference between the files of two bundles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackedFileChange {
    /// Only the new bundle has it.
    Added(PackedFile),
    /// Only the old bundle has it.
    Removed(PackedFile),
    /// Both have it, with another content or another permission.
    Changed {
        /// As it was.
        old: PackedFile,
        /// As it is.
        new: PackedFile,
    },
}

impl PackedFileChange {
    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Added(file) | Self::Removed(file) | Self::Changed { new: file, .. } => &file.path,
        }
    }

    /// Returns the name used in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Added(_) => "added",
            Self::Removed(_) => "removed",
            Self::Changed { .. } => "changed",
        }
    }
}

/// Returns how the files of two bundles differ, by path.
#[must_use]
pub fn compare(old: &[PackedFile], new: &[PackedFile]) -> Vec<PackedFileChange> {
    let by_path = |files: &[PackedFile]| -> BTreeMap<String, PackedFile> {
        files.iter().map(|file| (file.path.clone(), file.clone())).collect()
    };
    let (mut before, after) = (by_path(old), by_path(new));
    let mut changes: Vec<PackedFileChange> = Vec::new();
    for (path, new) in after {
        match before.remove(&path) {
            Some(old) if old == new => {}
            Some(old) => changes.push(PackedFileChange::Changed { old, new }),
            None => changes.push(PackedFileChange::Added(new)),
        }
    }
    changes.extend(before.into_values().map(PackedFileChange::Removed));
    changes.sort_by(|one, other| one.path().cmp(other.path()));
    changes
}

/// Fetches the archive that a manifest names.
pub(crate) fn fetch_archive(source: &mut dyn BundleSource, manifest: &Manifest) -> Result<Vec<u8>, BundleError> {
    let limit = ArchiveLimits::DEFAULT.archive;
    if manifest.size > limit {
        return Err(BundleError::Archive(archive::ArchiveError::TooLarge { what: "the archive".to_owned(), limit }));
    }
    Ok(source.archive(&manifest.digest, manifest.size)?)
}

/// Checks an archive against its manifest, and every rule for archives. Returns its files.
pub(crate) fn check_archive(manifest: &Manifest, bytes: &[u8]) -> Result<Vec<PackedFile>, BundleError> {
    let found = bytes.len() as u64;
    if found != manifest.size {
        return Err(BundleError::WrongSize { found, expected: manifest.size });
    }
    let found = ArchiveDigest::of(bytes);
    if found != manifest.digest {
        return Err(BundleError::WrongDigest { found, expected: manifest.digest });
    }
    Ok(archive::list(bytes, &ArchiveLimits::DEFAULT)?)
}

fn read_manifest(folder: &Path) -> Result<(Manifest, String), BundleError> {
    let file = folder.join(MANIFEST);
    let bytes = read_limited(&file, LARGEST_MANIFEST).map_err(BundleError::at(&file))?;
    let text = String::from_utf8(bytes).map_err(|error| BundleError::ManifestInvalid(error.to_string()))?;
    Ok((Manifest::parse(&text)?, text))
}

fn read_archive(folder: &Path, digest: &ArchiveDigest) -> Result<Vec<u8>, BundleError> {
    let file = folder.join(archive_name(digest));
    read_limited(&file, ArchiveLimits::DEFAULT.archive).map_err(BundleError::at(&file))
}
