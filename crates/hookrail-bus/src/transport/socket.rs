//! A Unix socket that only its own user can use.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

use super::Lines;

/// Why a socket could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// Another server answers there.
    #[error("`{}` is served already", .0.display())]
    InUse(PathBuf),
    /// Something else has that name.
    #[error("`{}` exists and is not a socket", .0.display())]
    NotASocket(PathBuf),
    /// The operating system refused.
    #[error("`{}` cannot be made a socket", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// A socket that waits for clients. It is removed when this is dropped.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and number of the socket, so that only this one is removed.
    /// None for a socket that the service manager made and keeps.
    identity: Option<(u64, u64)>,
    user: u32,
}

impl Listener {
    /// Makes a socket that only this user can use. One that was left behind is replaced.
    ///
    /// # Errors
    /// When somebody serves there already, something else has that name, or the operating system refuses.
    pub fn bind(path: impl Into<PathBuf>) -> Result<Self, BindError> {
        let path = path.into();
        let failed = |source| BindError::Io { path: path.clone(), source };
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.file_type().is_socket() => return Err(BindError::NotASocket(path)),
            Ok(_) if std::os::unix::net::UnixStream::connect(&path).is_ok() => return Err(BindError::InUse(path)),
            _ => {}
        }
        // It is made in a folder that only this user can enter and then moved: at no moment can another user connect.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let private = tempfile::Builder::new().prefix(".hr-").rand_bytes(6).tempdir_in(folder).map_err(failed)?;
        let made = private.path().join("s");
        let listener = UnixListener::bind(&made).map_err(failed)?;
        fs::set_permissions(&made, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let identity = Some(identity(&made).map_err(failed)?);
        fs::rename(&made, &path).map_err(failed)?;
        Ok(Self { listener, path, identity, user: rustix::process::geteuid().as_raw() })
    }

    /// Takes over a socket that the service manager made and listens on. It is neither removed nor made again.
    ///
    /// # Errors
    /// When the socket cannot be used by the runtime.
    pub fn inherit(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let path = listener.local_addr()?.as_pathname().map(Path::to_owned).unwrap_or_default();
        let listener = UnixListener::from_std(listener)?;
        Ok(Self { listener, path, identity: None, user: rustix::process::geteuid().as_raw() })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next client; none when a client of another user was turned away.
    ///
    /// # Errors
    /// What the operating system says, which may pass: it can be out of descriptors for a while.
    pub async fn accept(&self) -> io::Result<Option<Lines<OwnedReadHalf, OwnedWriteHalf>>> {
        let (stream, _) = self.listener.accept().await?;
        // The mode keeps others out already. This also holds when somebody has changed it.
        let peer = stream.peer_cred()?;
        Ok((peer.uid() == self.user).then(|| lines(stream)))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(own) = self.identity
            && identity(&self.path).is_ok_and(|found| found == own)
        {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Connects to a server.
///
/// # Errors
/// When nobody serves there.
pub async fn connect(path: impl AsRef<Path>) -> io::Result<Lines<OwnedReadHalf, OwnedWriteHalf>> {
    Ok(lines(UnixStream::connect(path).await?))
}

fn lines(stream: UnixStream) -> Lines<OwnedReadHalf, OwnedWriteHalf> {
    let watched = stream.as_fd().try_clone_to_owned();
    let (reader, writer) = stream.into_split();
    let lines = Lines::new(reader, writer);
    match watched {
        Ok(watched) => lines.probe(Box::new(move || is_hung_up(&watched))),
        // Without a descriptor to spare, a client that went away is noticed when it is written to.
        Err(_) => lines,
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

/// Whether the other end of a pipe or socket is closed for good. Asks for no event, so that only a hang-up or an error
/// is reported.
pub(super) fn is_hung_up(descriptor: &impl AsFd) -> bool {
    let mut polled = [PollFd::new(descriptor, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok_and(|count| count > 0)
}
