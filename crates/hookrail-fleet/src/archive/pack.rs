//! Packing a folder: the same files give the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};

use super::{ArchiveError, ArchiveLimits, PackedFile, PathProblem, check_path};
use crate::digest::ArchiveDigest;
use crate::files::read_limited;

/// An archive in memory.
#[derive(Clone, Debug)]
pub struct PackedArchive {
    /// The bytes of the archive.
    pub bytes: Vec<u8>,
    /// The digest of the bytes.
    pub digest: ArchiveDigest,
    /// The files in it, by path.
    pub files: Vec<PackedFile>,
}

/// Packs what a folder holds.
///
/// # Errors
/// If the folder holds what a bundle must not hold, or cannot be read.
pub fn pack(folder: &Path, limits: &ArchiveLimits) -> Result<PackedArchive, ArchiveError> {
    let mut found = BTreeMap::new();
    collect(folder, "", limits, &mut found)?;
    if found.is_empty() {
        return Err(ArchiveError::Empty);
    }
    let compressed = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    let mut archive = tar::Builder::new(compressed);
    let mut files = Vec::new();
    let mut total = 0;
    for (path, file) in found {
        let content = read_limited(&file, limits.file).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => {
                ArchiveError::TooLarge { what: format!("`{path}`"), limit: limits.file }
            }
            _ => ArchiveError::Io { path: file.clone(), source: error },
        })?;
        let size = content.len() as u64;
        total += size;
        if total > limits.total {
            return Err(ArchiveError::TooLarge { what: "the content of the bundle".to_owned(), limit: limits.total });
        }
        let executable = is_executable(&file).map_err(ArchiveError::at(&file))?;
        let header = header(&path, size, executable)?;
        archive.append(&header, content.as_slice()).map_err(ArchiveError::at(&file))?;
        files.push(PackedFile { digest: ArchiveDigest::of(&content), path, size, executable });
    }
    // Writing to memory fails only when the memory is gone.
    let in_memory = |error: std::io::Error| ArchiveError::Damaged(error.to_string());
    let compressed = archive.into_inner().map_err(in_memory)?;
    let mut bytes = compressed.finish().map_err(in_memory)?;
    bytes.flush().map_err(in_memory)?;
    if bytes.len() as u64 > limits.archive {
        return Err(ArchiveError::TooLarge { what: "the archive".to_owned(), limit: limits.archive });
    }
    Ok(PackedArchive { digest: ArchiveDigest::of(&bytes), bytes, files })
}

/// Collects the files below a folder, by their path in the archive.
fn collect(
    folder: &Path,
    above: &str,
    limits: &ArchiveLimits,
    found: &mut BTreeMap<String, PathBuf>,
) -> Result<(), ArchiveError> {
    for entry in fs::read_dir(folder).map_err(ArchiveError::at(folder))? {
        let entry = entry.map_err(ArchiveError::at(folder))?;
        let file = entry.path();
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return Err(ArchiveError::path(&name.to_string_lossy(), PathProblem::Characters));
        };
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
        let kind = entry.file_type().map_err(ArchiveError::at(&file))?;
        if kind.is_symlink() {
            return Err(ArchiveError::Link(path));
        } else if kind.is_dir() {
            // The folder is checked as if it held a file, so that a name that does not belong here is found when it is empty.
            check_path(&format!("{path}/file"), limits)?;
            collect(&file, &path, limits, found)?;
        } else if kind.is_file() {
            check_path(&path, limits)?;
            found.insert(path, file);
            if found.len() > limits.files {
                return Err(ArchiveError::TooMany(limits.files));
            }
        } else {
            return Err(ArchiveError::Device(path));
        }
    }
    Ok(())
}

fn header(path: &str, size: u64, executable: bool) -> Result<Header, ArchiveError> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    // A path that has no place to split it cannot be written in the plain format.
    header.set_path(path).map_err(|_| ArchiveError::path(path, PathProblem::TooLong))?;
    header.set_size(size);
    header.set_mode(if executable { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_cksum();
    Ok(header)
}

#[cfg(unix)]
fn is_executable(file: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(file)?.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_file: &Path) -> std::io::Result<bool> {
    Ok(false)
}
