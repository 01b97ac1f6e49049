//! The path of a socket: whether other users could replace it, and which server it belongs to.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

/// The time to wait for the lock on the folder, which servers hold only briefly, and the time between two attempts.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// The reason why a socket or its folder is not safe to use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsafeSocketPath {
    /// The folder or the socket belongs to another user, who could put another socket in its place.
    #[error("`{}` belongs to user {uid}, who could replace the socket; choose a folder of your own", path.display())]
    OwnedByAnotherUser {
        /// The folder or the socket.
        path: PathBuf,
        /// Its owner.
        uid: u32,
    },
    /// Other users can write to the folder or the socket.
    #[error(
        "other users can write to `{}` (mode {:o}), so they could replace the socket; run `chmod go-w` on it or choose a folder of your own",
        path.display(),
        mode & 0o7777
    )]
    WritableByOthers {
        /// The folder or the socket.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The server on the other side runs as another user.
    #[error("`{}` is served by user {uid}, not by you; choose a socket of your own", path.display())]
    ServedByAnotherUser {
        /// The socket.
        path: PathBuf,
        /// The user that the kernel names.
        uid: u32,
    },
}

/// Returns the folder of a socket.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether this is the user of this process, or root.
pub(super) fn is_trusted_user(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

/// Checks that other users cannot replace a socket in this folder. In a folder with the sticky bit, such as `/tmp`, they
/// cannot replace files of others.
pub(super) fn check_folder(folder: &Path, found: &Metadata) -> Result<(), UnsafeSocketPath> {
    check_owner(folder, found)?;
    let is_sticky = found.mode() & 0o1000 != 0;
    if found.mode() & 0o022 != 0 && !is_sticky { Err(writable(folder, found)) } else { Ok(()) }
}

/// Checks that only this user can write to a socket.
pub(super) fn check_socket(path: &Path, found: &Metadata) -> Result<(), UnsafeSocketPath> {
    check_owner(path, found)?;
    if found.mode() & 0o022 != 0 { Err(writable(path, found)) } else { Ok(()) }
}

fn check_owner(path: &Path, found: &Metadata) -> Result<(), UnsafeSocketPath> {
    let uid = found.uid();
    if is_trusted_user(uid) { Ok(()) } else { Err(UnsafeSocketPath::OwnedByAnotherUser { path: path.to_owned(), uid }) }
}

fn writable(path: &Path, found: &Metadata) -> UnsafeSocketPath {
    UnsafeSocketPath::WritableByOthers { path: path.to_owned(), mode: found.mode() }
}

/// A lock on the folder of a socket, so that only one server at a time checks and replaces the socket. The folder itself is
/// locked, so that no lock file is left.
#[derive(Debug)]
pub(super) struct FolderLock(File);

impl FolderLock {
    pub(super) fn take(folder: &Path) -> io::Result<Self> {
        let file = File::open(folder)?;
        let began = Instant::now();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(Errno::WOULDBLOCK) if began.elapsed() < LOCK_TIMEOUT => std::thread::sleep(LOCK_RETRY_INTERVAL),
                Err(Errno::WOULDBLOCK) => {
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "another process holds the lock on the folder",
                    ));
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }
}

/// What exists at the path of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupant {
    /// Nothing, or a socket that no process listens on.
    None,
    /// A socket that is served.
    Server,
    /// A file that is not a socket.
    Other,
}

/// Returns what exists at a path. A server that is too busy to accept a connection still counts, and is not waited for.
pub(super) fn occupant(path: &Path) -> io::Result<Occupant> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Occupant::None),
        Err(error) => return Err(error),
        Ok(found) if !found.file_type().is_socket() => return Ok(Occupant::Other),
        Ok(_) => {}
    }
    let probe = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&probe, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&probe, true)?;
    match rustix::net::connect(&probe, &SocketAddrUnix::new(path)?) {
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS | Errno::ACCESS) => Ok(Occupant::Server),
        Err(Errno::CONNREFUSED | Errno::NOENT) => Ok(Occupant::None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the device and the inode number of a file.
pub(super) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}
