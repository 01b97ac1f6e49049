//! Reads and writes the content of files for tools: regular files only, and with a limit.
//!
//! Reading a pipe without a writer blocks without end, a device has no end, and both can be named like any file. The type
//! of a file is checked twice: before it is opened, because opening a device can have effects, and afterwards, because the
//! path may lead to another file by then.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use hookrail_spawn::{Replace, ReplacedLinks};

/// The number of bytes of a file that are returned, measured as JSON text. More would fill a model's context with one call.
const RETURNED_LIMIT: usize = 256 << 10;
/// The number of bytes that are skipped to reach the first requested line.
const SKIP_LIMIT: u64 = 64 << 20;
/// The size of the largest file that is changed or searched.
pub(super) const FILE_SIZE_LIMIT: u64 = 16 << 20;

/// A part of a text file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FilePart {
    pub(super) text: String,
    /// A note about what was left out, if anything.
    pub(super) cut_note: Option<String>,
}

/// Opens a regular file for reading.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    require_regular(&std::fs::metadata(path)?)?;
    let file = without_waiting(OpenOptions::new().read(true)).open(path)?;
    let metadata = file.metadata()?;
    require_regular(&metadata)?;
    Ok((file, metadata))
}

/// Reads lines from `first`, which is counted from one.
pub(super) fn read_lines(path: &Path, first: u64, most_lines: u64) -> io::Result<FilePart> {
    let (file, metadata) = open(path)?;
    let mut lines = BufReader::new(file);
    let skipped = skip_lines(&mut lines, first.saturating_sub(1))?;
    // One byte more than is returned shows whether the file has more.
    let mut bytes = Vec::new();
    let mut count = 0;
    let mut room = RETURNED_LIMIT as u64 + 1;
    while count < most_lines && room > 0 {
        let read = lines.by_ref().take(room).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        room = room.saturating_sub(read as u64);
        count += 1;
    }
    let (kept, text) = cut_to_limit(&bytes);
    let cut_note = (kept < bytes.len()).then(|| {
        let size = metadata.len();
        let left = size.saturating_sub(skipped).saturating_sub(kept as u64);
        let whole = bytes.get(..kept).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count() as u64;
        let line = first.max(1).saturating_add(whole);
        format!("[cut in line {line}: {left} of the file's {size} bytes follow; `offset` reads from a later line]")
    });
    Ok(FilePart { text, cut_note })
}

/// Skips lines. Returns the number of their bytes.
fn skip_lines(file: &mut impl BufRead, lines: u64) -> io::Result<u64> {
    let mut passed = 0;
    for _ in 0..lines {
        let read = file.take(SKIP_LIMIT.saturating_sub(passed)).skip_until(b'\n')? as u64;
        passed += read;
        if passed >= SKIP_LIMIT {
            let text = format!("the line is not within the first {SKIP_LIMIT} bytes; use a command to read it");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        if read == 0 {
            break;
        }
    }
    Ok(passed)
}

/// Returns the beginning of the bytes that fits into [`RETURNED_LIMIT`], as text, and how many bytes it has.
fn cut_to_limit(bytes: &[u8]) -> (usize, String) {
    let (mut room, mut kept) = (RETURNED_LIMIT, 0);
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            let size = match character {
                '\n' | '\r' | '\t' | '"' | '\\' => 2,
                control if control.is_control() => 6,
                other => other.len_utf8(),
            };
            if size > room {
                return (kept, text);
            }
            room -= size;
            kept += character.len_utf8();
            text.push(character);
        }
        let broken = chunk.invalid().len();
        if broken > 0 {
            if room < 3 {
                return (kept, text);
            }
            room -= 3;
            kept += broken;
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    (kept, text)
}

/// Reads a whole text file, unless it is too large.
pub(super) fn read_all(path: &Path) -> io::Result<String> {
    let (file, metadata) = open(path)?;
    let mut text = String::new();
    // The size is not taken from the metadata: the file may have grown since, and some files report no size.
    file.take(FILE_SIZE_LIMIT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_SIZE_LIMIT {
        let text = format!(
            "the file has {} bytes, and {FILE_SIZE_LIMIT} is the limit",
            metadata.len().max(FILE_SIZE_LIMIT + 1)
        );
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(text)
}

/// Writes a regular file, and creates it if it does not exist.
pub(super) fn write_all(path: &Path, content: &str) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(metadata) => require_regular(&metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = without_waiting(OpenOptions::new().write(true).create(true).truncate(false)).open(path)?;
    let metadata = file.metadata()?;
    require_regular(&metadata)?;
    if has_other_names(&metadata) {
        // One name of the file becomes a new file, so that the other names keep their content.
        let how = Replace { links: ReplacedLinks::Replace, ..Replace::KEPT };
        return hookrail_spawn::replace_file(path, content.as_bytes(), &how);
    }
    overwrite(&file, metadata.len(), content.as_bytes())
}

/// Returns whether the file has other hard links. One of them may be the script of a hook, which tools must not change.
#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
fn has_other_names(_metadata: &Metadata) -> bool {
    false
}

/// Replaces the bytes of a file. The part that needs more space is written first, so that a full disk leaves the file
/// unchanged instead of empty. The file keeps its owner, its mode and its other names.
#[cfg(unix)]
fn overwrite(file: &File, old: u64, new: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    let (same, more) = new.split_at(usize::try_from(old).unwrap_or(usize::MAX).min(new.len()));
    if !more.is_empty()
        && let Err(error) = file.write_all_at(more, old)
    {
        file.set_len(old)?;
        return Err(error);
    }
    file.write_all_at(same, 0)?;
    file.set_len(new.len() as u64)
}

#[cfg(not(unix))]
fn overwrite(mut file: &File, _old: u64, new: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    file.set_len(0)?;
    file.write_all(new)
}

/// Fails with the type of the file if it is not a regular file.
fn require_regular(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() { "it is a directory, not a file" } else { special_file_failure(kind) };
    Err(io::Error::other(what))
}

#[cfg(unix)]
fn special_file_failure(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        "it is a named pipe, which tools neither read nor write"
    } else if kind.is_socket() {
        "it is a socket, which tools neither read nor write"
    } else {
        "it is a device, which tools neither read nor write"
    }
}

#[cfg(not(unix))]
fn special_file_failure(_kind: std::fs::FileType) -> &'static str {
    "it is not a regular file"
}

/// Makes opening a pipe return at once. For regular files this changes nothing.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
}

#[cfg(not(unix))]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
