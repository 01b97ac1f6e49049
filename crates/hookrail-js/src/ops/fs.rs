//! Operations on files. Reading and writing are separate capabilities.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::permission::{ChangeExtent, FinalLink, require_read, require_write};
use super::text::bytes;
use super::{OpAnswer, OpError, watch};
use crate::op_answer::Bytes;
use crate::shared::Shared;

/// The size in bytes of the largest file that is read. A larger one does not fit into a module's memory.
const READ_LIMIT: u64 = 32 << 20;

/// Operations on files. Relative paths start at the working directory; bytes are text with one character for each byte;
/// a flag is Node's name for how a file is opened; times are in milliseconds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(super) enum FsOp {
    Read { path: String },
    Write { path: String, bytes: String, flag: String, make_folder: Option<bool> },
    Exists { path: String },
    Access { path: String, mode: u32 },
    Stat { path: String, follow: bool },
    Readdir { path: String, recursive: bool },
    Mkdir { path: String, recursive: bool },
    Mkdtemp { prefix: String },
    Rm { path: String, recursive: Option<bool>, force: Option<bool> },
    Rmdir { path: String, recursive: bool },
    Rename { from: String, to: String },
    Copy { from: String, to: String },
    Realpath { path: String },
    Readlink { path: String },
    Symlink { path: String, to: String },
    Utimes { path: String, modified: f64 },
    Chmod { path: String, mode: u32 },
    Watch { watcher: u32, path: String, recursive: bool },
    Unwatch { watcher: u32 },
}

impl FsOp {
    pub(super) fn run(self, shared: &Shared) -> Result<OpAnswer, OpError> {
        let readable = |path: &str, last| PermittedPath::new(shared, path, |path| require_read(shared, path, last));
        let writable = |path: &str, last, change| {
            PermittedPath::new(shared, path, |path| require_write(shared, path, last, change))
        };
        match self {
            Self::Read { path } => {
                let content = read(&readable(&path, FinalLink::Followed)?.real)?;
                OpAnswer::serialize_within(shared.account.most, &Bytes(&content))
            }
            Self::Write { path, bytes: content, flag, make_folder } => {
                let target = writable(&path, FinalLink::Followed, ChangeExtent::One)?;
                write(&target.real, &bytes(&content)?, &flag, make_folder.unwrap_or_default())
            }
            Self::Exists { path } => OpAnswer::serialize(&readable(&path, FinalLink::Followed)?.real.exists()),
            Self::Access { path, mode } => access(&readable(&path, FinalLink::Followed)?.real, mode),
            Self::Stat { path, follow } => {
                let target = readable(&path, if follow { FinalLink::Followed } else { FinalLink::Name })?;
                let metadata = if follow { fs::metadata(&target.real) } else { fs::symlink_metadata(&target.real) };
                OpAnswer::serialize(&describe(&target.check("stat", metadata)?))
            }
            Self::Readdir { path, recursive } => {
                let target = readable(&path, FinalLink::Followed)?;
                OpAnswer::serialize(&target.check("scandir", list(&target.real, recursive))?)
            }
            Self::Mkdir { path, recursive } => {
                let target = writable(&path, FinalLink::Name, ChangeExtent::One)?;
                let made = if recursive { fs::create_dir_all(&target.real) } else { fs::create_dir(&target.real) };
                target.check_change("mkdir", made)
            }
            Self::Mkdtemp { prefix } => {
                make_temporary_directory(&prefix, |path| writable(path, FinalLink::Name, ChangeExtent::One))
            }
            Self::Rm { path, recursive, force } => {
                let target = writable(&path, FinalLink::Name, ChangeExtent::Tree)?;
                remove(&target.real, recursive.unwrap_or_default(), force.unwrap_or_default())
            }
            Self::Rmdir { path, recursive } => {
                let target = writable(&path, FinalLink::Name, ChangeExtent::Tree)?;
                let removed = if recursive { fs::remove_dir_all(&target.real) } else { fs::remove_dir(&target.real) };
                target.check_change("rmdir", removed)
            }
            Self::Rename { from, to } => {
                let target = writable(&from, FinalLink::Name, ChangeExtent::Tree)?;
                let to = writable(&to, FinalLink::Name, ChangeExtent::Tree)?;
                target.check_change("rename", fs::rename(&target.real, to.real))
            }
            Self::Copy { from, to } => {
                let target = readable(&from, FinalLink::Followed)?;
                let to = writable(&to, FinalLink::Followed, ChangeExtent::One)?;
                target.check_change("copyfile", fs::copy(&target.real, to.real).map(drop))
            }
            Self::Realpath { path } => {
                let target = readable(&path, FinalLink::Followed)?;
                OpAnswer::serialize(&target.check("realpath", target.real.canonicalize())?.to_string_lossy())
            }
            Self::Readlink { path } => {
                let target = readable(&path, FinalLink::Name)?;
                OpAnswer::serialize(&target.check("readlink", fs::read_link(&target.real))?.to_string_lossy())
            }
            Self::Symlink { path, to } => {
                let target = writable(&path, FinalLink::Name, ChangeExtent::Tree)?;
                target.check_change("symlink", create_symlink(&target.real, Path::new(&to)))
            }
            Self::Utimes { path, modified } => {
                let target = writable(&path, FinalLink::Followed, ChangeExtent::One)?;
                target.check_change("utime", set_time(&target.real, modified))
            }
            Self::Chmod { path, mode } => {
                let target = writable(&path, FinalLink::Followed, ChangeExtent::Tree)?;
                target.check_change("chmod", set_mode(&target.real, mode))
            }
            Self::Watch { watcher, path, recursive } => {
                watch::begin(shared, watcher, readable(&path, FinalLink::Followed)?.real, recursive)
            }
            Self::Unwatch { watcher } => {
                shared.state().watchers.remove(&watcher);
                Ok(OpAnswer::nothing())
            }
        }
    }
}

/// A path that the module's capabilities cover.
struct PermittedPath {
    /// The path as the module wrote it, for messages.
    named: PathBuf,
    /// The resolved path, which was checked. Operations use it instead of the path as it was written.
    real: PathBuf,
}

impl PermittedPath {
    fn new(
        shared: &Shared,
        path: &str,
        permit: impl FnOnce(&Path) -> Result<PathBuf, OpError>,
    ) -> Result<Self, OpError> {
        if path.contains('\0') {
            return Err(OpError::type_error("a path must not contain a NUL character"));
        }
        let named = shared.world().cwd.join(path);
        let real = permit(&named)?;
        Ok(Self { named, real })
    }

    /// Returns the result of a system call; an error names the path as the module wrote it.
    fn check<T>(&self, syscall: &'static str, result: io::Result<T>) -> Result<T, OpError> {
        result.map_err(|error| OpError::io(&error, syscall, &self.named))
    }

    /// Like [`Self::check`], for an operation whose answer is `null`.
    fn check_change(&self, syscall: &'static str, result: io::Result<()>) -> Result<OpAnswer, OpError> {
        self.check(syscall, result).map(|()| OpAnswer::nothing())
    }
}

/// Reads a regular file. A pipe or a device is refused, because reading it could block the module's thread forever.
fn read(path: &Path) -> Result<Vec<u8>, OpError> {
    let failed = |error: io::Error| OpError::io(&error, "open", path);
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(OpError::io(&io::Error::from(io::ErrorKind::IsADirectory), "read", path));
    }
    if !metadata.is_file() {
        return Err(OpError::new(format!("`{}` is not a regular file, which is all that can be read", path.display())));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(READ_LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > READ_LIMIT) {
        let message =
            format!("`{}` is larger than {} MiB, which is all that can be read", path.display(), READ_LIMIT >> 20);
        return Err(OpError::new(message).code("ERR_FS_FILE_TOO_LARGE"));
    }
    Ok(bytes)
}

/// Writes a regular file. `flag` is Node's: `a` appends, `wx` refuses an existing file, and any other replaces the content.
fn write(path: &Path, bytes: &[u8], flag: &str, make_folder: bool) -> Result<OpAnswer, OpError> {
    let failed = |error: io::Error| OpError::io(&error, "open", path);
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return Err(OpError::new(format!(
            "`{}` is not a regular file, which is all that can be written",
            path.display()
        )));
    }
    if make_folder && let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = fs::OpenOptions::new();
    match flag {
        "a" | "a+" => options.append(true).create(true),
        "wx" | "xw" => options.write(true).create_new(true),
        _ => options.write(true).create(true).truncate(true),
    };
    options.open(path).and_then(|mut file| file.write_all(bytes)).map_err(failed)?;
    Ok(OpAnswer::nothing())
}

#[cfg(unix)]
fn access(path: &Path, mode: u32) -> Result<OpAnswer, OpError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = fs::metadata(path).map_err(|error| OpError::io(&error, "access", path))?;
    // Checks the permission bits only. Whether the file system is writable is known only when something is written.
    let allowed = |bits: u32| metadata.permissions().mode() & bits != 0;
    // The bits of `mode` are those of Node's `W_OK` and `X_OK`. A file that exists passes `R_OK`.
    let denied = (mode & 2 != 0 && !allowed(0o222)) || (mode & 1 != 0 && !allowed(0o111));
    if denied {
        return Err(OpError::io(&io::Error::from(io::ErrorKind::PermissionDenied), "access", path));
    }
    Ok(OpAnswer::nothing())
}

#[cfg(not(unix))]
fn access(path: &Path, _mode: u32) -> Result<OpAnswer, OpError> {
    fs::metadata(path).map(|_| OpAnswer::nothing()).map_err(|error| OpError::io(&error, "access", path))
}

fn kind_of(kind: fs::FileType) -> &'static str {
    #[cfg(unix)]
    use std::os::unix::fs::FileTypeExt as _;
    // Guards, because an arm can have a `cfg` attribute and an `else if` cannot.
    match () {
        () if kind.is_dir() => "directory",
        () if kind.is_symlink() => "link",
        () if kind.is_file() => "file",
        #[cfg(unix)]
        () if kind.is_fifo() => "fifo",
        #[cfg(unix)]
        () if kind.is_socket() => "socket",
        () => "other",
    }
}

/// What `stat` and `readdir` report about a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileDescription {
    size: u64,
    mode: u32,
    mtime_ms: f64,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The name, for an entry of a folder.
    name: Option<String>,
}

fn describe(metadata: &fs::Metadata) -> FileDescription {
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
    #[cfg(not(unix))]
    let mode = 0o644;
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let mtime_ms = changed.as_secs_f64() * 1_000.0;
    FileDescription { size: metadata.len(), mode, mtime_ms, kind: kind_of(metadata.file_type()), name: None }
}

/// The entries of a folder, each folder's sorted by name. With `recursive`, names are relative to the first folder.
fn list(folder: &Path, recursive: bool) -> io::Result<Vec<FileDescription>> {
    const MAX_ENTRIES: usize = 100_000;
    let mut found = Vec::new();
    let mut unvisited = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = unvisited.pop() {
        let mut entries = fs::read_dir(folder)?.take(MAX_ENTRIES + 1).collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let metadata = fs::symlink_metadata(entry.path())?;
            if recursive && metadata.is_dir() {
                unvisited.push((entry.path(), format!("{name}/")));
            }
            found.push(FileDescription { name: Some(name), ..describe(&metadata) });
            if found.len() > MAX_ENTRIES {
                return Err(io::Error::other("too many entries"));
            }
        }
    }
    Ok(found)
}

fn remove(path: &Path, recursive: bool, force: bool) -> Result<OpAnswer, OpError> {
    let result = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() && recursive => fs::remove_dir_all(path),
        Ok(metadata) if metadata.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound && force => Ok(()),
        Err(error) => Err(error),
    };
    result.map(|()| OpAnswer::nothing()).map_err(|error| OpError::io(&error, "rm", path))
}

/// Makes a directory whose name is the prefix and six random characters. `mkdtemp` in Node does the same.
///
/// The whole name is checked, and the directory is made where the check found it: a prefix that ends in a link and a slash
/// names another folder than the link itself.
fn make_temporary_directory(
    prefix: &str,
    permit: impl Fn(&str) -> Result<PermittedPath, OpError>,
) -> Result<OpAnswer, OpError> {
    for _ in 0..16 {
        let suffix: String = super::text::uuid()?.chars().take(6).collect();
        let target = permit(&format!("{prefix}{suffix}"))?;
        match fs::create_dir(&target.real) {
            Ok(()) => return OpAnswer::serialize(&target.named.to_string_lossy()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(OpError::io(&error, "mkdtemp", &target.named)),
        }
    }
    Err(OpError::io(&io::Error::from(io::ErrorKind::AlreadyExists), "mkdtemp", Path::new(prefix)))
}

/// Sets the time of the last change of a file, in milliseconds.
fn set_time(path: &Path, milliseconds: f64) -> io::Result<()> {
    let since = std::time::Duration::try_from_secs_f64(milliseconds / 1_000.0).map_err(io::Error::other)?;
    fs::File::options().write(true).open(path)?.set_modified(UNIX_EPOCH + since)
}

#[cfg(unix)]
fn create_symlink(path: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, path)
}

#[cfg(not(unix))]
fn create_symlink(_path: &Path, _to: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}
