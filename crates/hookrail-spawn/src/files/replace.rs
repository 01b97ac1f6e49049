//! The one way in which files are replaced: a new file is written beside its place, and gets the name with one rename. A reader
//! sees the old content or the new one, and never a part.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// How the names of files that have no place yet begin and end.
const UNPLACED_NAME: [&str; 2] = [".hookrail-", ".tmp"];

/// How often a name is looked for that no file has. Only a file of a process with the same number can have one.
const MOST_NAMES: u64 = 16;

/// How long a lock is not looked at while it is waited for.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// How a file is replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replace {
    /// Who may read and write the new file.
    pub mode: ReplacedMode,
    /// What happens to a link at the place of the file.
    pub links: ReplacedLinks,
    /// What survives a loss of power.
    pub durable: Durability,
}

impl Replace {
    /// A file that only its owner can read, in the place of a link too, on the disk before it gets its name.
    pub const PRIVATE: Self =
        Self { mode: ReplacedMode::Private, links: ReplacedLinks::Replace, durable: Durability::File };

    /// A file of the user, who may keep it elsewhere: a link stays a link, and the file keeps its permissions.
    pub const KEPT: Self = Self { mode: ReplacedMode::Keep, links: ReplacedLinks::Follow, durable: Durability::None };
}

/// Who may read and write a file that replaces another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplacedMode {
    /// Those who could use the old file; if there was none, those whom the umask of the process admits.
    Keep,
    /// Those who could use the old file; if there was none, those whom the mode admits.
    KeepOr(u32),
    /// Its owner.
    Private,
    /// Those whom the mode admits.
    Exactly(u32),
    /// Those whom these permissions admit.
    Permissions(Permissions),
}

/// What happens to a link at the place of a file that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacedLinks {
    /// The file that it leads to is replaced.
    Follow,
    /// The link is replaced.
    Replace,
}

/// What of a replacement survives a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing is waited for. The file can be empty afterwards.
    None,
    /// The old or the new file.
    File,
    /// The new file.
    FileAndFolder,
}

/// Replaces a file, or makes one.
///
/// # Errors
/// If the new file cannot be written or put into its place. The old one is as it was then.
pub fn replace_file(path: &Path, bytes: &[u8], how: &Replace) -> io::Result<()> {
    let followed = match how.links {
        ReplacedLinks::Follow => path.canonicalize().ok(),
        ReplacedLinks::Replace => None,
    };
    let path = followed.as_deref().unwrap_or(path);
    replace_file_through(folder_of(path), path, bytes, how)
}

/// Replaces a file that is no link, or makes one. The new one stands in another folder of the same file system until it is
/// complete.
///
/// # Errors
/// If the new file cannot be written or put into its place. The old one is as it was then.
pub fn replace_file_through(staging: &Path, path: &Path, bytes: &[u8], how: &Replace) -> io::Result<()> {
    let permissions = how.mode.permissions(path);
    let mode = match (&how.mode, &permissions) {
        (ReplacedMode::Keep, None) => 0o666,
        _ => 0o600,
    };
    let mut new = UnplacedFile::create(staging, mode)?;
    new.file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        new.file.set_permissions(permissions)?;
    }
    new.place(path, how.durable)
}

impl ReplacedMode {
    fn permissions(&self, path: &Path) -> Option<Permissions> {
        let old = || fs::metadata(path).ok().map(|about| about.permissions());
        match self {
            Self::Keep => old(),
            Self::KeepOr(mode) => old().or_else(|| of_mode(*mode)),
            Self::Private => None,
            Self::Exactly(mode) => of_mode(*mode),
            Self::Permissions(permissions) => Some(permissions.clone()),
        }
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no modes")]
fn of_mode(mode: u32) -> Option<Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Returns options that create a file with what the umask leaves of a mode.
fn new_file_options(
    #[cfg_attr(not(unix), expect(unused_variables, reason = "there are no modes"))] mode: u32,
) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    options
}

#[cfg(not(unix))]
fn of_mode(_mode: u32) -> Option<Permissions> {
    None
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// A file that has no place yet. It is removed when it is dropped without one.
#[derive(Debug)]
pub struct UnplacedFile {
    file: File,
    /// Where it is now, for as long as it has no place.
    path: Option<PathBuf>,
}

impl UnplacedFile {
    /// Creates a file in a folder, with what the umask of the process leaves of a mode. The folder must be on the file system
    /// of its place.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(folder: &Path, mode: u32) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let options = new_file_options(mode);
        // A process of another container may have the same number.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let [prefix, suffix] = UNPLACED_NAME;
        let mut tries = 0;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{prefix}{:x}-{now:x}-{count:x}{suffix}", std::process::id()));
            match options.open(&path) {
                Ok(file) => {
                    // The lock ends with the process and tells others that the file is in use. Without locks in the file
                    // system no file is ever taken for abandoned.
                    let _ = file.try_lock();
                    return Ok(Self { file, path: Some(path) });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < MOST_NAMES => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the file, to write to it and to set its permissions.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its place, whatever is there.
    ///
    /// # Errors
    /// If it cannot be written to the disk or renamed. Nothing was changed then, unless only the folder cannot be written to
    /// the disk.
    pub fn place(mut self, path: &Path, durable: Durability) -> io::Result<()> {
        if durable != Durability::None {
            self.file.sync_all()?;
        }
        if let Some(unplaced) = &self.path {
            fs::rename(unplaced, path)?;
            self.path = None;
        }
        match durable {
            Durability::FileAndFolder => sync_folder(folder_of(path)),
            Durability::None | Durability::File => Ok(()),
        }
    }
}

impl Drop for UnplacedFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // A file that cannot be removed does no harm.
            let _ = fs::remove_file(path);
        }
    }
}

/// Makes the names in a folder durable, if its file system can.
///
/// # Errors
/// If the folder cannot be opened or written to the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Folders cannot be opened on other systems.
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        done => done,
    }
}

/// Removes the files without a place that killed programs left in a folder.
pub fn remove_abandoned_files(folder: &Path) {
    let [prefix, suffix] = UNPLACED_NAME;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.starts_with(prefix) && name.ends_with(suffix);
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            // A file that cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Waits for the lock of a file, but no longer than that: a process that was stopped while it held the lock must not stop all
/// others. The lock ends when the file is closed.
///
/// # Errors
/// With [`io::ErrorKind::TimedOut`] if another process holds it, or if the file cannot be locked.
pub fn wait_for_lock(file: &File, longest: Duration) -> io::Result<()> {
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(fs::TryLockError::Error(error)) => return Err(error),
            Err(fs::TryLockError::WouldBlock) if begin.elapsed() > longest => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds the lock"));
            }
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let place = hookrail_testkit::TestProject::new();
        let folder = place.project.join("replaced");
        fs::create_dir(&folder).unwrap();
        let path = folder.join("file");
        for durable in [Durability::None, Durability::File, Durability::FileAndFolder] {
            for text in ["one", "two"] {
                replace_file(&path, text.as_bytes(), &Replace { durable, ..Replace::KEPT }).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
        }
        assert_eq!(names(&folder), ["file"]);
        fs::create_dir(folder.join("full")).unwrap();
        fs::write(folder.join("full/file"), "").unwrap();
        assert!(replace_file(&folder.join("full"), b"x", &Replace::PRIVATE).is_err(), "a folder is no file");
        assert!(replace_file(&folder.join("missing/file"), b"x", &Replace::PRIVATE).is_err());
        assert_eq!(names(&folder), ["file", "full"]);
    }

    #[cfg(unix)]
    #[test]
    fn modes_and_links_are_those_that_were_asked_for() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let place = hookrail_testkit::TestProject::new();
        let folder = place.project.join("replaced");
        fs::create_dir(&folder).unwrap();
        let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
        let replaced = |name: &str, mode: ReplacedMode, links| {
            let how = Replace { mode, links, durable: Durability::None };
            replace_file(&folder.join(name), b"new", &how).unwrap();
        };
        replaced("private", ReplacedMode::Private, ReplacedLinks::Replace);
        replaced("exact", ReplacedMode::Exactly(0o640), ReplacedLinks::Replace);
        replaced("default", ReplacedMode::KeepOr(0o604), ReplacedLinks::Replace);
        assert_eq!((mode("private"), mode("exact"), mode("default")), (0o600, 0o640, 0o604));
        for kept in [ReplacedMode::Keep, ReplacedMode::KeepOr(0o600)] {
            replaced("exact", kept, ReplacedLinks::Follow);
            assert_eq!(mode("exact"), 0o640);
        }
        symlink("exact", folder.join("link")).unwrap();
        replaced("link", ReplacedMode::Keep, ReplacedLinks::Follow);
        assert!(folder.join("link").is_symlink());
        assert_eq!(mode("exact"), 0o640);
        replaced("link", ReplacedMode::Private, ReplacedLinks::Replace);
        assert!(!folder.join("link").is_symlink());
        assert_eq!((mode("link"), mode("exact")), (0o600, 0o640));
    }

    #[test]
    fn what_a_killed_program_left_is_removed_and_what_is_in_use_stays() {
        let place = hookrail_testkit::TestProject::new();
        let left = place.write(".hookrail-abcdef.tmp", "half of a fi");
        let other = place.write(".hookrail-notes", "");
        let used = UnplacedFile::create(&place.project, 0o600).unwrap();
        remove_abandoned_files(&place.project);
        assert!(!left.exists() && other.exists());
        let unplaced = used.path.clone().unwrap();
        assert!(unplaced.exists());
        drop(used);
        assert!(!unplaced.exists());
    }

    #[test]
    fn a_lock_is_waited_for_no_longer_than_asked() {
        let place = hookrail_testkit::TestProject::new();
        let path = place.write("lock", "");
        let held = File::open(&path).unwrap();
        wait_for_lock(&held, Duration::ZERO).unwrap();
        let other = File::open(&path).unwrap();
        assert_eq!(wait_for_lock(&other, Duration::ZERO).unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(held);
        wait_for_lock(&other, Duration::ZERO).unwrap();
    }
}
