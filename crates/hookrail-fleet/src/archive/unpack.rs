//! Unpacking: every entry is checked before a byte of it is written, and everything is bounded.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use tar::{Archive, EntryType};

use super::{ArchiveError, ArchiveLimits, BLOCK, PackedFile, PathProblem, check_path};
use crate::digest::ArchiveDigest;
use crate::files::{create_shared_folder, set_mode};

/// Unpacks an archive into an empty folder, and makes everything durable. Returns the files.
///
/// # Errors
/// If the archive breaks a rule. The folder then holds a part of it, and is to be removed.
pub fn unpack(archive: &[u8], folder: &Path, limits: &ArchiveLimits) -> Result<Vec<PackedFile>, ArchiveError> {
    let mut folders = BTreeSet::from([folder.to_owned()]);
    let files = read(archive, limits, |file, content| {
        let target = folder.join(&file.path);
        let parent = target.parent().unwrap_or(folder);
        if !folders.contains(parent) {
            create_shared_folder(parent).map_err(|error| occupied(&file.path, parent, error))?;
            folders.extend(parent.ancestors().take_while(|above| above.starts_with(folder)).map(Path::to_owned));
        }
        write(&target, content, file.executable).map_err(|error| occupied(&file.path, &target, error))
    })?;
    for folder in folders.iter().rev() {
        hookrail_spawn::sync_folder(folder).map_err(ArchiveError::at(folder))?;
    }
    Ok(files)
}

/// Returns the files of an archive without writing anything.
///
/// # Errors
/// If the archive breaks a rule.
pub fn list(archive: &[u8], limits: &ArchiveLimits) -> Result<Vec<PackedFile>, ArchiveError> {
    read(archive, limits, |_, _| Ok(()))
}

/// A path that is a file and a folder shows when it is written.
fn occupied(path: &str, target: &Path, error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
            ArchiveError::Duplicate(path.to_owned())
        }
        _ => ArchiveError::Io { path: target.to_owned(), source: error },
    }
}

fn write(target: &PathBuf, content: &[u8], executable: bool) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(target)?;
    file.write_all(content)?;
    set_mode(target, if executable { 0o755 } else { 0o644 })?;
    file.sync_all()
}

/// Reads an archive entry by entry, and gives each file with its content.
fn read(
    archive: &[u8],
    limits: &ArchiveLimits,
    mut each: impl FnMut(&PackedFile, &[u8]) -> Result<(), ArchiveError>,
) -> Result<Vec<PackedFile>, ArchiveError> {
    if archive.len() as u64 > limits.archive {
        return Err(ArchiveError::TooLarge { what: "the archive".to_owned(), limit: limits.archive });
    }
    // Headers and padding are part of what the archive becomes.
    let overhead = (limits.files as u64).saturating_add(2).saturating_mul(2 * BLOCK);
    let most = limits.unpacked(archive.len());
    let bounded = Bounded { inner: GzDecoder::new(archive), left: most.saturating_add(overhead), exceeded: false };
    let mut reader = Archive::new(bounded);
    let mut files: Vec<PackedFile> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut total = 0_u64;
    let failed = |error: &io::Error| match error.kind() {
        io::ErrorKind::FileTooLarge => ArchiveError::Bomb(most),
        _ => ArchiveError::Damaged(error.to_string()),
    };
    // Raw: no extension that changes a path or a size is interpreted.
    for entry in reader.entries().map_err(|error| failed(&error))?.raw(true) {
        let mut entry = entry.map_err(|error| failed(&error))?;
        let bytes = entry.path_bytes().into_owned();
        let shown = || String::from_utf8_lossy(&bytes).escape_default().to_string();
        match entry.header().entry_type() {
            EntryType::Regular => {}
            EntryType::Link | EntryType::Symlink => return Err(ArchiveError::Link(shown())),
            EntryType::Char | EntryType::Block | EntryType::Fifo => return Err(ArchiveError::Device(shown())),
            _ => return Err(ArchiveError::Entry(shown())),
        }
        let path = std::str::from_utf8(&bytes)
            .map_err(|_| ArchiveError::Path { path: shown(), why: PathProblem::Characters })?
            .to_owned();
        check_path(&path, limits)?;
        if !seen.insert(path.clone()) {
            return Err(ArchiveError::Duplicate(path));
        }
        if files.len() == limits.files {
            return Err(ArchiveError::TooMany(limits.files));
        }
        let size = entry.header().entry_size().map_err(|error| failed(&error))?;
        if size > limits.file {
            return Err(ArchiveError::TooLarge { what: format!("`{path}`"), limit: limits.file });
        }
        total = total.saturating_add(size);
        if total > most {
            return Err(ArchiveError::Bomb(most));
        }
        let mode = entry.header().mode().map_err(|error| failed(&error))?;
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(|error| failed(&error))?;
        if content.len() as u64 != size {
            return Err(ArchiveError::Damaged(format!("`{path}` is cut off")));
        }
        let file = PackedFile { digest: ArchiveDigest::of(&content), path, size, executable: mode & 0o111 != 0 };
        each(&file, &content)?;
        files.push(file);
    }
    require_end(reader.into_inner(), &failed)?;
    if files.is_empty() {
        return Err(ArchiveError::Empty);
    }
    Ok(files)
}

/// Reads to the very end, because only there the checksum of the compressed data is compared.
fn require_end(
    mut bounded: Bounded<GzDecoder<&[u8]>>,
    failed: &impl Fn(&io::Error) -> ArchiveError,
) -> Result<(), ArchiveError> {
    let mut buffer = [0_u8; 4096];
    loop {
        let count = bounded.read(&mut buffer).map_err(|error| failed(&error))?;
        if count == 0 {
            break;
        }
        if buffer.iter().take(count).any(|byte| *byte != 0) {
            return Err(ArchiveError::Damaged("there is data behind its end".to_owned()));
        }
    }
    if bounded.inner.into_inner().is_empty() {
        Ok(())
    } else {
        Err(ArchiveError::Damaged("there is data behind its end".to_owned()))
    }
}

/// A reader that fails once it has given more bytes than it may.
struct Bounded<R> {
    inner: R,
    left: u64,
    exceeded: bool,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) if !self.exceeded => self.left = left,
            _ => {
                self.exceeded = true;
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the archive grows too much"));
            }
        }
        Ok(count)
    }
}
