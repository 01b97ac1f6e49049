//! Segments: their names, opening them safely, and finding the last record that holds.
//!
//! A record is one line, `{"seq":N,"prev":"HEX", … ,"hash":"HEX"}`. The hash is the SHA-256 of all bytes of the line before
//! `,"hash"`, and `prev` is the hash of the record before it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use memchr::{memchr, memrchr};
use sha2::{Digest as _, Sha256};

use crate::error::{JournalError, UnsafePlace};

/// A SHA-256 in lower-case hexadecimal.
pub(crate) type Hex = [u8; 64];

/// The `prev` of the first record.
pub(crate) const NO_HASH: Hex = [b'0'; 64];

/// What follows the hashed bytes of a line, without its line end: `,"hash":"`, the hash, `"}`.
const TAIL: usize = 9 + 64 + 2;

/// The name of a segment: its number and the day on which it was begun.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SegmentName {
    pub(crate) number: u64,
    /// `2026-11-16`
    pub(crate) day: String,
}

impl SegmentName {
    /// The name without an ending.
    pub(crate) fn stem(&self) -> String {
        format!("{:08}-{}", self.number, self.day)
    }

    pub(crate) fn open_file(&self) -> String {
        format!("{}.jsonl", self.stem())
    }

    pub(crate) fn sealed_file(&self) -> String {
        format!("{}.jsonl.gz", self.stem())
    }

    /// The file in which it is compressed.
    pub(crate) fn temporary_file(&self) -> String {
        format!("{}.tmp", self.sealed_file())
    }

    pub(crate) fn parse(stem: &str) -> Option<Self> {
        let (number, day) = stem.split_once('-')?;
        let is_day = day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let is_number = number.len() >= 8 && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_day && is_number).then(|| Some(Self { number: number.parse().ok()?, day: day.to_owned() }))?
    }
}

/// A segment that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub(crate) name: SegmentName,
    pub(crate) path: PathBuf,
    pub(crate) form: SegmentForm,
}

/// How a segment is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SegmentForm {
    Plain,
    Compressed,
}

/// All segments, in order. While one is being compressed both of its files may exist; then the plain one counts.
pub(crate) fn list(directory: &Path) -> Result<Vec<SegmentFile>, JournalError> {
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(JournalError::io(directory, error)),
    };
    for entry in entries.flatten() {
        let file = entry.file_name();
        let Some(file) = file.to_str() else { continue };
        let (stem, form) = match (file.strip_suffix(".jsonl"), file.strip_suffix(".jsonl.gz")) {
            (Some(stem), _) => (stem, SegmentForm::Plain),
            (None, Some(stem)) => (stem, SegmentForm::Compressed),
            (None, None) => continue,
        };
        if let Some(name) = SegmentName::parse(stem) {
            found.push(SegmentFile { name, path: entry.path(), form });
        }
    }
    found.sort_by(|one, other| (&one.name, one.form).cmp(&(&other.name, other.form)));
    found.dedup_by(|later, kept| later.name == kept.name);
    Ok(found)
}

/// Opens a file of the journal. It is never a link, belongs to this user or root, and has no other name.
pub(crate) fn open_file(path: &Path, options: &OpenOptions) -> Result<File, JournalError> {
    let file = open_without_links(path, options).map_err(|error| JournalError::io(path, error))?;
    let about = file.metadata().map_err(|error| JournalError::io(path, error))?;
    let unsafe_place = |problem| JournalError::Unsafe { path: path.to_owned(), problem };
    if !about.is_file() {
        return Err(unsafe_place(UnsafePlace::NoFile));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if about.nlink() > 1 {
            return Err(unsafe_place(UnsafePlace::ManyNames));
        }
        check_owner(&about).map_err(unsafe_place)?;
        if about.mode() & OTHERS != 0 {
            // Its folder keeps others out; if this fails, that is enough.
            let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
        }
    }
    Ok(file)
}

/// Whether a file still has a name. Another process may have removed it after it was opened.
#[cfg(unix)]
pub(crate) fn has_name(about: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(about) > 0
}

#[cfg(not(unix))]
pub(crate) fn has_name(_about: &std::fs::Metadata) -> bool {
    true
}

/// The permissions of others than the owner.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

fn open_without_links(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let mut options = options.clone();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // A pipe in the place of a segment must not be waited for.
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY);
    }
    options.open(path)
}

#[cfg(unix)]
fn check_owner(about: &std::fs::Metadata) -> Result<(), UnsafePlace> {
    use std::os::unix::fs::MetadataExt as _;
    let us = rustix::process::geteuid().as_raw();
    if about.uid() != us && about.uid() != 0 {
        return Err(UnsafePlace::ForeignOwner);
    }
    if hookrail_spawn::is_ours_alone(about) { Ok(()) } else { Err(UnsafePlace::OpenToOthers) }
}

/// Who could read a folder before a writer used it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FolderAccess {
    OwnersAlone,
    /// Others could, and cannot any more.
    WasReadable,
}

/// Makes sure that the folder of the journal exists and is this user's alone. One that others can read is closed to them:
/// records and the key are in it. One that others can write is not used.
pub(crate) fn prepare_directory(directory: &Path) -> Result<FolderAccess, JournalError> {
    hookrail_spawn::create_private_folder(directory).map_err(|error| match obstacle(directory) {
        Some((path, problem)) => JournalError::Unsafe { path, problem },
        None => JournalError::io(directory, error),
    })?;
    check_directory(directory)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let is_readable = || std::fs::symlink_metadata(directory).is_ok_and(|about| about.mode() & OTHERS != 0);
        if is_readable() {
            let closed = std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700));
            // Some file systems accept a change and ignore it.
            if closed.is_err() || is_readable() {
                let problem = UnsafePlace::ReadableByOthers;
                return Err(JournalError::Unsafe { path: directory.to_owned(), problem });
            }
            return Ok(FolderAccess::WasReadable);
        }
    }
    Ok(FolderAccess::OwnersAlone)
}

/// What keeps a folder from being made, if it is something that has the name of one of its parts.
fn obstacle(directory: &Path) -> Option<(PathBuf, UnsafePlace)> {
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|about| about.is_symlink());
    let problem = |path: &Path| match path.metadata() {
        Ok(about) if about.is_dir() => None,
        Ok(_) => Some(UnsafePlace::NoFolder),
        Err(_) if is_link(path) => Some(UnsafePlace::DanglingLink),
        Err(_) => None,
    };
    directory.ancestors().find_map(|path| Some((path.to_owned(), problem(path)?)))
}

/// Makes sure that the folder of the journal is no link and this user's alone.
pub(crate) fn check_directory(directory: &Path) -> Result<(), JournalError> {
    let about = std::fs::symlink_metadata(directory).map_err(|error| JournalError::io(directory, error))?;
    let unsafe_place = |problem| JournalError::Unsafe { path: directory.to_owned(), problem };
    if about.is_symlink() {
        return Err(unsafe_place(UnsafePlace::Link));
    }
    if !about.is_dir() {
        return Err(unsafe_place(UnsafePlace::NoFolder));
    }
    #[cfg(unix)]
    check_owner(&about).map_err(unsafe_place)?;
    Ok(())
}

/// A segment that is being read.
pub(crate) enum SegmentSource {
    Plain(BufReader<File>),
    Compressed(Box<BufReader<MultiGzDecoder<BufReader<File>>>>),
}

/// The size of a reader's buffer.
const BUFFER: usize = 256 * 1024;

/// Opens a segment for reading, whichever form it has.
pub(crate) fn open_for_reading(segment: &SegmentFile) -> Result<SegmentSource, JournalError> {
    let mut options = OpenOptions::new();
    options.read(true);
    let directory = segment.path.parent().unwrap_or(Path::new("."));
    let compressed = directory.join(segment.name.sealed_file());
    if segment.form == SegmentForm::Plain {
        match open_file(&segment.path, &options) {
            Ok(file) => return Ok(SegmentSource::Plain(BufReader::with_capacity(BUFFER, file))),
            // It was compressed since the folder was looked at.
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let file = open_file(&compressed, &options)?;
    let decoder = MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file));
    Ok(SegmentSource::Compressed(Box::new(BufReader::with_capacity(BUFFER, decoder))))
}

impl SegmentSource {
    /// Reads the next line with its end into an empty buffer; what is left without an end comes last.
    pub(crate) fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read_until(b'\n', line),
            Self::Compressed(reader) => reader.read_until(b'\n', line),
        }
    }

    /// Whether it is a plain file that has no name any more: it was compressed, removed or deleted.
    pub(crate) fn has_lost_name(&self) -> bool {
        match self {
            Self::Plain(reader) => reader.get_ref().metadata().is_ok_and(|about| !has_name(&about)),
            Self::Compressed(_) => false,
        }
    }

    /// Goes back to a place, where that is possible.
    pub(crate) fn go_back(&mut self, offset: u64) -> io::Result<()> {
        match self {
            Self::Plain(reader) => reader.seek(SeekFrom::Start(offset)).map(|_| ()),
            Self::Compressed(_) => Ok(()),
        }
    }
}

/// A line that has the form of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Framed<'l> {
    pub(crate) seq: u64,
    pub(crate) prev: &'l [u8],
    pub(crate) hash: &'l [u8],
    /// The bytes that the hash is about.
    pub(crate) hashed: &'l [u8],
}

impl<'l> Framed<'l> {
    /// Takes a line apart, which is given without its line end.
    pub(crate) fn of(line: &'l [u8]) -> Option<Self> {
        let (hashed, tail) = line.split_at_checked(line.len().checked_sub(TAIL)?)?;
        let hash = tail.strip_prefix(br#","hash":""#)?.strip_suffix(br#""}"#)?;
        let rest = hashed.strip_prefix(br#"{"seq":"#)?;
        let (number, rest) = rest.split_at_checked(memchr(b',', rest)?)?;
        let prev = rest.strip_prefix(br#","prev":""#)?.get(..64)?;
        let closes = rest.get(9 + 64..)?.starts_with(b"\"");
        let is_number = number == b"0" || (number.first() != Some(&b'0') && number.iter().all(u8::is_ascii_digit));
        if !closes || !is_number || !is_hex(prev) || !is_hex(hash) {
            return None;
        }
        let seq = std::str::from_utf8(number).ok()?.parse().ok()?;
        Some(Self { seq, prev, hash, hashed })
    }

    /// Whether the hash is that of the line.
    pub(crate) fn holds(&self) -> bool {
        hash_of(self.hashed) == *self.hash
    }
}

fn is_hex(text: &[u8]) -> bool {
    text.len() == 64 && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The SHA-256 of some bytes.
pub(crate) fn hash_of(bytes: &[u8]) -> Hex {
    hex(&Sha256::digest(bytes).into())
}

/// A digest in hexadecimal.
pub(crate) fn hex(digest: &[u8; 32]) -> Hex {
    let digit = |half: u8| if half < 10 { b'0' + half } else { b'a' + half - 10 };
    let mut text = NO_HASH;
    for (pair, byte) in text.chunks_exact_mut(2).zip(digest) {
        if let [high, low] = pair {
            (*high, *low) = (digit(byte >> 4), digit(byte & 15));
        }
    }
    text
}

/// The last record of a segment that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastRecord {
    pub(crate) seq: u64,
    pub(crate) hash: Hex,
}

impl LastRecord {
    fn of(framed: Framed<'_>) -> Option<Self> {
        Some(Self { seq: framed.seq, hash: framed.hash.try_into().ok()? })
    }
}

/// How a segment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentEnd {
    /// The last record that holds; none if there is none.
    pub(crate) last: Option<LastRecord>,
    /// Where that record begins.
    pub(crate) last_begin: u64,
    /// The number of bytes up to the end of the last whole line. What follows is a record that was never acknowledged.
    pub(crate) whole: u64,
    /// The number of bytes in the file.
    pub(crate) length: u64,
    /// Whether the last whole line is a record that holds.
    pub(crate) is_sound: bool,
}

/// How much is read at once when the end of a segment is looked for.
const CHUNK: u64 = 8 * 1024;

/// Looks at the end of a segment.
pub(crate) fn end_of(file: &mut File) -> io::Result<SegmentEnd> {
    let length = file.seek(SeekFrom::End(0))?;
    // What was read so far, from the end backwards; most often the first chunk is all.
    let mut text = Vec::new();
    let mut begin = length;
    let mut whole = None;
    let mut is_sound = true;
    let mut end_of_line = None::<usize>;
    loop {
        let line_end = end_of_line.unwrap_or(text.len());
        match text.get(..line_end).and_then(|before| memrchr(b'\n', before)) {
            Some(at) if whole.is_none() => {
                whole = Some(begin + at as u64 + 1);
                end_of_line = Some(at);
            }
            Some(at) => {
                if let Some(last) = sound(text.get(at + 1..line_end)) {
                    let last_begin = begin + at as u64 + 1;
                    return Ok(SegmentEnd {
                        last: Some(last),
                        last_begin,
                        whole: whole.unwrap_or(0),
                        length,
                        is_sound,
                    });
                }
                is_sound = false;
                end_of_line = Some(at);
            }
            None if begin == 0 => {
                let first = whole.and_then(|_| sound(text.get(..line_end)));
                is_sound &= first.is_some() || whole.is_none();
                return Ok(SegmentEnd { last: first, last_begin: 0, whole: whole.unwrap_or(0), length, is_sound });
            }
            None => {
                // A long record is read with chunks that grow, so that it is not copied again and again.
                let size = CHUNK.max(text.len() as u64).min(begin);
                begin -= size;
                let mut more = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
                file.seek(SeekFrom::Start(begin))?;
                file.read_exact(&mut more)?;
                end_of_line = end_of_line.map(|at| at + more.len());
                more.append(&mut text);
                text = more;
            }
        }
    }
}

/// The last record of some whole lines; none if they do not end with one. Its hash is not checked: that takes as long as
/// writing a record, and other writers wait meanwhile.
pub(crate) fn last_record(lines: &[u8]) -> Option<LastRecord> {
    let lines = lines.strip_suffix(b"\n")?;
    let line = memrchr(b'\n', lines).map_or(Some(lines), |at| lines.get(at + 1..));
    LastRecord::of(Framed::of(line?)?)
}

fn sound(line: Option<&[u8]>) -> Option<LastRecord> {
    let framed = Framed::of(line?)?;
    if framed.holds() { LastRecord::of(framed) } else { None }
}
