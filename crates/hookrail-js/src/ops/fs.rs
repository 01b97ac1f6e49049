//! Files. Reading needs one capability, changing another.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::permission::{Change, Last, require_read, require_write};
use super::text::bytes;
use super::{Answer, Args, OpError, watch};
use crate::shared::Shared;

/// Larger files do not fit into a module's memory anyway.
const LARGEST: u64 = 32 << 20;

pub(super) fn at_once(shared: &Arc<Shared>, name: &str, args: &Args<'_>) -> Result<Answer, OpError> {
    match name {
        "watch" => {
            let target = require_read(shared, &path(shared, args, 1)?, Last::Followed)?;
            return watch::begin(shared, args.number(0), target, args.flag(2));
        }
        "unwatch" => {
            watch::end(shared, args.number(0));
            return Ok(Answer::nothing());
        }
        _ => {}
    }
    let target = path(shared, args, 0)?;
    // What was judged is what is worked on; messages name what the module named.
    let real = permitted(shared, name, &target, args)?;
    let failed = |syscall: &'static str| {
        let target = target.clone();
        move |error: io::Error| OpError::io(&error, syscall, &target)
    };
    let done = |result: io::Result<()>, syscall| result.map(|()| Answer::nothing()).map_err(failed(syscall));
    match name {
        "read" => Answer::bytes(&read(&real)?, shared.account.most()),
        "write" => write(&real, &bytes(&args.text(1)?)?, &args.text(2)?, args.flag(3)),
        "exists" => Answer::of(&real.exists()),
        "access" => access(&real, args.number(1)),
        "stat" => {
            let about = if args.flag(1) { fs::metadata(&real) } else { fs::symlink_metadata(&real) };
            Answer::of(&describe(&about.map_err(failed("stat"))?))
        }
        "readdir" => Answer::of(&list(&real, args.flag(1)).map_err(failed("scandir"))?),
        "mkdir" if args.flag(1) => done(fs::create_dir_all(&real), "mkdir"),
        "mkdir" => done(fs::create_dir(&real), "mkdir"),
        "mkdtemp" => make_temporary(&target),
        "rm" => remove(&real, args.decode(1)?),
        "rmdir" if args.flag(1) => done(fs::remove_dir_all(&real), "rmdir"),
        "rmdir" => done(fs::remove_dir(&real), "rmdir"),
        "rename" => {
            let to = require_write(shared, &path(shared, args, 1)?, Last::Name, Change::Tree)?;
            done(fs::rename(&real, to), "rename")
        }
        "copy" => {
            let to = require_write(shared, &path(shared, args, 1)?, Last::Followed, Change::One)?;
            done(fs::copy(&real, to).map(drop), "copyfile")
        }
        "realpath" => Answer::of(&real.canonicalize().map_err(failed("realpath"))?.to_string_lossy()),
        "readlink" => Answer::of(&fs::read_link(&real).map_err(failed("readlink"))?.to_string_lossy()),
        "symlink" => done(link(&real, Path::new(&args.text(1)?)), "symlink"),
        "utimes" => done(set_time(&real, args.float(1)), "utime"),
        "chmod" => done(set_mode(&real, args.number(1)), "chmod"),
        _ => Err(OpError::new(format!("the host knows no `fs.{name}`"))),
    }
}

/// Asks whether the module may do this. Gives the path to work on.
fn permitted(shared: &Shared, name: &str, target: &Path, args: &Args<'_>) -> Result<PathBuf, OpError> {
    match name {
        "read" | "exists" | "access" | "readdir" | "realpath" | "copy" => require_read(shared, target, Last::Followed),
        "stat" if args.flag(1) => require_read(shared, target, Last::Followed),
        "stat" | "readlink" => require_read(shared, target, Last::Name),
        "write" | "utimes" => require_write(shared, target, Last::Followed, Change::One),
        "mkdir" | "mkdtemp" => require_write(shared, target, Last::Name, Change::One),
        "chmod" => require_write(shared, target, Last::Followed, Change::Tree),
        // What nobody here knows is judged as the largest change.
        _ => require_write(shared, target, Last::Name, Change::Tree),
    }
}

/// A path counts from the working directory.
fn path(shared: &Shared, args: &Args<'_>, at: usize) -> Result<PathBuf, OpError> {
    let text = args.text(at)?;
    if text.contains('\0') {
        return Err(OpError::type_error("a path must not contain a NUL character"));
    }
    Ok(shared.world.lock().cwd.join(text))
}

/// Only regular files are read: anything else could keep the module's thread for ever.
fn read(path: &Path) -> Result<Vec<u8>, OpError> {
    let failed = |error: io::Error| OpError::io(&error, "open", path);
    let about = fs::metadata(path).map_err(failed)?;
    if about.is_dir() {
        return Err(OpError::io(&io::Error::from(io::ErrorKind::IsADirectory), "read", path));
    }
    if !about.is_file() {
        return Err(OpError::new(format!("`{}` is not a regular file, which is all that can be read", path.display())));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST) {
        let message =
            format!("`{}` is larger than {} MiB, which is all that can be read", path.display(), LARGEST >> 20);
        return Err(OpError::new(message).code("ERR_FS_FILE_TOO_LARGE"));
    }
    Ok(bytes)
}

fn write(path: &Path, bytes: &[u8], mode: &str, make_folder: bool) -> Result<Answer, OpError> {
    let failed = |error: io::Error| OpError::io(&error, "open", path);
    if fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Err(OpError::new(format!(
            "`{}` is not a regular file, which is all that can be written",
            path.display()
        )));
    }
    if make_folder && let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = fs::OpenOptions::new();
    match mode {
        "a" | "a+" => options.append(true).create(true),
        "wx" | "xw" => options.write(true).create_new(true),
        _ => options.write(true).create(true).truncate(true),
    };
    options.open(path).and_then(|mut file| file.write_all(bytes)).map_err(failed)?;
    Ok(Answer::nothing())
}

#[cfg(unix)]
fn access(path: &Path, mode: u32) -> Result<Answer, OpError> {
    use std::os::unix::fs::PermissionsExt as _;
    let about = fs::metadata(path).map_err(|error| OpError::io(&error, "access", path))?;
    // Bit by bit, as far as the file itself can say: whether the disk can be written is known only to a write.
    let allowed = |bits: u32| about.permissions().mode() & bits != 0;
    let denied = (mode & 2 != 0 && !allowed(0o222)) || (mode & 1 != 0 && !allowed(0o111));
    if denied {
        return Err(OpError::io(&io::Error::from(io::ErrorKind::PermissionDenied), "access", path));
    }
    Ok(Answer::nothing())
}

#[cfg(not(unix))]
fn access(path: &Path, _mode: u32) -> Result<Answer, OpError> {
    fs::metadata(path).map(|_| Answer::nothing()).map_err(|error| OpError::io(&error, "access", path))
}

fn kind_of(kind: fs::FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "fifo";
        }
        if kind.is_socket() {
            return "socket";
        }
    }
    match () {
        () if kind.is_dir() => "directory",
        () if kind.is_symlink() => "link",
        () if kind.is_file() => "file",
        () => "other",
    }
}

/// What a module is told about a file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct About {
    size: u64,
    mode: u32,
    mtime_ms: f64,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

fn describe(about: &fs::Metadata) -> About {
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions());
    #[cfg(not(unix))]
    let mode = 0o644;
    let changed = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let mtime_ms = changed.as_secs_f64() * 1_000.0;
    About { size: about.len(), mode, mtime_ms, kind: kind_of(about.file_type()), name: None }
}

/// The entries of a folder by name.
fn list(folder: &Path, recursive: bool) -> io::Result<Vec<About>> {
    const MOST: usize = 100_000;
    let mut found = Vec::new();
    let mut waiting = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = waiting.pop() {
        let mut entries = fs::read_dir(folder)?.take(MOST + 1).collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let about = fs::symlink_metadata(entry.path())?;
            if recursive && about.is_dir() {
                waiting.push((entry.path(), format!("{name}/")));
            }
            found.push(About { name: Some(name), ..describe(&about) });
            if found.len() > MOST {
                return Err(io::Error::other("too many entries"));
            }
        }
    }
    Ok(found)
}

/// How something is removed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Removal {
    recursive: bool,
    force: bool,
}

fn remove(path: &Path, options: Removal) -> Result<Answer, OpError> {
    let result = match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() && options.recursive => fs::remove_dir_all(path),
        Ok(about) if about.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound && options.force => Ok(()),
        Err(error) => Err(error),
    };
    result.map(|()| Answer::nothing()).map_err(|error| OpError::io(&error, "rm", path))
}

fn make_temporary(prefix: &Path) -> Result<Answer, OpError> {
    for _ in 0..16 {
        let tail: String = super::text::uuid()?.as_str().unwrap_or_default().chars().take(6).collect();
        let path = PathBuf::from(format!("{}{tail}", prefix.display()));
        match fs::create_dir(&path) {
            Ok(()) => return Answer::of(&path.to_string_lossy()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(OpError::io(&error, "mkdtemp", &path)),
        }
    }
    Err(OpError::io(&io::Error::from(io::ErrorKind::AlreadyExists), "mkdtemp", prefix))
}

/// Sets when a file was changed last, in milliseconds.
fn set_time(path: &Path, milliseconds: f64) -> io::Result<()> {
    let since = std::time::Duration::try_from_secs_f64(milliseconds / 1_000.0).map_err(io::Error::other)?;
    fs::File::options().write(true).open(path)?.set_modified(UNIX_EPOCH + since)
}

#[cfg(unix)]
fn link(path: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, path)
}

#[cfg(not(unix))]
fn link(_path: &Path, _to: &Path) -> io::Result<()> {
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
