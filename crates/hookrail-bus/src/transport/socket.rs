//! A Unix socket that only its own user can use.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

use super::own_program::{ForeignSender, OwnProgramReader};
use super::peer::{OwnRestrictions, PeerRestrictions};
use super::socket_path::{self, FolderLock, Occupant, UnsafeSocketPath};
use super::{Lines, Listener, Pending};
use crate::wire::LINE_LIMIT;

/// The reason why a socket could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// Another server answers there.
    #[error("another server already listens on `{}`", .0.display())]
    InUse(PathBuf),
    /// A file that is not a socket exists there.
    #[error("`{}` exists and is not a socket", .0.display())]
    NotASocket(PathBuf),
    /// Other users could replace the socket.
    #[error(transparent)]
    Unsafe(#[from] UnsafeSocketPath),
    /// The operating system refused.
    #[error("cannot create the socket `{}`", path.display())]
    Io {
        /// The path of the socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The reason why there is no connection to a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is no socket.
    #[error("`{path}` does not exist; start a server with `hookrail serve --socket {path}`", path = .0.display())]
    Missing(PathBuf),
    /// There is a socket, and no process listens on it.
    #[error("no server listens on `{path}`; start one with `hookrail serve --socket {path}`", path = .0.display())]
    NotServed(PathBuf),
    /// Other users could have created the socket, or serve it.
    #[error(transparent)]
    Unsafe(#[from] UnsafeSocketPath),
    /// The process that serves the socket does not run the program of this process.
    #[error("`{}` is not served by this program, but by process {}", path.display(), pid.map_or("?".to_owned(), |pid| pid.to_string()))]
    OtherProgram {
        /// The path of the socket.
        path: PathBuf,
        /// The process that the kernel names.
        pid: Option<i32>,
    },
    /// The operating system refused.
    #[error("cannot connect to `{}`: {message}", path.display())]
    Io {
        /// The path of the socket.
        path: PathBuf,
        /// What kind of error it is.
        kind: io::ErrorKind,
        /// What the system said.
        message: String,
    },
}

/// The number of clients that may wait to be accepted, as the standard library has it.
const BACKLOG: i32 = 4096;

/// A socket that waits for clients. It is removed when this is dropped.
#[derive(Debug)]
pub struct SocketListener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode number of the socket, so that only this one is removed. The kernel does not reuse the number while
    /// the socket is open. `None` for a socket that belongs to the service manager.
    identity: Option<(u64, u64)>,
    user: u32,
    restrictions: OwnRestrictions,
    /// Whether the socket was removed and could not be created again so far.
    is_missing: bool,
}

impl SocketListener {
    /// Creates a socket that only this user can use. A socket without a server is replaced; if several servers try this at
    /// the same time, one succeeds.
    ///
    /// # Errors
    /// If another server listens there, another file exists there, other users can write to the folder, or the operating
    /// system refuses.
    pub fn bind(path: impl Into<PathBuf>) -> Result<Self, BindError> {
        let path = path.into();
        let failed = |source| BindError::Io { path: path.clone(), source };
        let folder = socket_path::folder_of(&path);
        // Without the lock, two servers could both find a stale socket, and the second would replace that of the first.
        let lock = FolderLock::take(folder).map_err(failed)?;
        socket_path::check_folder(folder, &lock.metadata().map_err(failed)?)?;
        match socket_path::occupant(&path).map_err(failed)? {
            Occupant::None => {}
            Occupant::Server => return Err(BindError::InUse(path)),
            Occupant::Other => return Err(BindError::NotASocket(path)),
        }
        // The socket is created in a folder that only this user can enter, and then moved. Between `bind` and the change of
        // its mode another user could otherwise connect.
        let private = tempfile::Builder::new().prefix(".hr-").rand_bytes(6).tempdir_in(folder).map_err(failed)?;
        let made = private.path().join("s");
        let listener = UnixListener::bind(&made).map_err(failed)?;
        fs::set_permissions(&made, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let identity = Some(socket_path::identity(&made).map_err(failed)?);
        fs::rename(&made, &path).map_err(failed)?;
        Ok(Self::new(listener, path, identity))
    }

    /// Takes over a socket on which the service manager listens. It is neither removed nor created again.
    ///
    /// # Errors
    /// If the runtime cannot use the socket.
    pub fn inherit(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        // The kernel names the process that listened last to clients, which would be the service manager.
        rustix::net::listen(&listener, BACKLOG)?;
        let path = listener.local_addr()?.as_pathname().map(Path::to_owned).unwrap_or_default();
        let listener = UnixListener::from_std(listener)?;
        Ok(Self::new(listener, path, None))
    }

    fn new(listener: UnixListener, path: PathBuf, identity: Option<(u64, u64)>) -> Self {
        let user = rustix::process::geteuid().as_raw();
        Self { listener, path, identity, user, restrictions: OwnRestrictions::read(), is_missing: false }
    }

    /// Returns the path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Listener for SocketListener {
    type Connection = Lines<OwnedReadHalf, OwnedWriteHalf>;
    type Error = BindError;

    /// Returns the next client, or `None` if a client was disconnected because it is of another user or in a sandbox.
    fn accept(&mut self) -> Pending<'_, io::Result<Option<Self::Connection>>> {
        Box::pin(async {
            let (stream, _) = self.listener.accept().await?;
            // The mode of the socket already excludes other users. This check holds even if a program changes the mode.
            let peer = stream.peer_cred()?;
            if peer.uid() != self.user {
                return Ok(None);
            }
            match self.restrictions.compare(peer.pid()) {
                PeerRestrictions::AsOurs => Ok(Some(lines(stream))),
                PeerRestrictions::Sandboxed => {
                    let pid = peer.pid();
                    tracing::warn!(target: "hookrail::bus", pid, "a client in a sandbox was refused: hooks run outside of it");
                    Ok(None)
                }
                PeerRestrictions::Unknown => {
                    let pid = peer.pid();
                    tracing::debug!(target: "hookrail::bus", pid, "a client was refused: its process cannot be looked at");
                    Ok(None)
                }
            }
        })
    }

    /// Checks whether the socket still exists at its path, and creates it again if it was removed.
    ///
    /// # Errors
    /// If another server or another file has its path.
    fn check(&mut self) -> Result<(), BindError> {
        let Some(identity) = self.identity else { return Ok(()) };
        if socket_path::identity(&self.path).is_ok_and(|found| found == identity) {
            self.is_missing = false;
            return Ok(());
        }
        let path = self.path.display().to_string();
        match Self::bind(self.path.clone()) {
            Ok(made) => {
                // The old listener is dropped here. It removes nothing, because the file at its path has another identity.
                *self = made;
                tracing::warn!(target: "hookrail::bus", path, "the socket file was removed and was created again");
            }
            // This may be temporary: the folder may come back, or the disk may have room again.
            Err(BindError::Io { source, .. }) => {
                if !std::mem::replace(&mut self.is_missing, true) {
                    let error = source.to_string();
                    tracing::error!(target: "hookrail::bus", path, error, "the socket file was removed and cannot be created again yet");
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl Drop for SocketListener {
    fn drop(&mut self) {
        let Some(identity) = self.identity else { return };
        let is_own = || socket_path::identity(&self.path).is_ok_and(|found| found == identity);
        if is_own() {
            // Checked again under the lock, because another server may be replacing the socket.
            let _lock = FolderLock::take(socket_path::folder_of(&self.path));
            if is_own() {
                let _ = fs::remove_file(&self.path);
            }
        }
    }
}

/// Connects to a server of this user. A socket that other users could have created is refused, and so is a server that runs
/// as another user.
///
/// # Errors
/// If no server listens there, or it cannot be trusted.
pub async fn connect(path: impl AsRef<Path>) -> Result<Lines<OwnedReadHalf, OwnedWriteHalf>, ConnectError> {
    // A server cuts its answers to the limit. The client accepts longer ones from a server that does not.
    connected(path.as_ref()).await.map(|(stream, _)| lines(stream).limit(4 * LINE_LIMIT))
}

/// Connects as [`connect`] does, to a server that runs the program of this process, and that alone answers: see
/// [`OwnProgramReader`]. Other systems than Linux do not tell which program it is.
///
/// # Errors
/// If no server listens there, it cannot be trusted, or it is another program.
pub async fn connect_to_own_program(
    path: impl AsRef<Path>,
) -> Result<(Lines<OwnProgramReader, OwnedWriteHalf>, ForeignSender), ConnectError> {
    let path = path.as_ref();
    let (stream, pid) = connected(path).await?;
    let other = |pid| ConnectError::OtherProgram { path: path.to_owned(), pid };
    let (reader, writer) = stream.into_split();
    let (reader, foreign) = OwnProgramReader::of_process(reader, pid).ok_or_else(|| other(pid))?;
    Ok((Lines::new(reader, writer).limit(4 * LINE_LIMIT), foreign))
}

/// Connects to a socket of this user, and returns the process that serves it.
async fn connected(path: &Path) -> Result<(UnixStream, Option<i32>), ConnectError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => ConnectError::Missing(path.to_owned()),
        io::ErrorKind::ConnectionRefused => ConnectError::NotServed(path.to_owned()),
        kind => ConnectError::Io { path: path.to_owned(), kind, message: error.to_string() },
    };
    let folder = socket_path::folder_of(path);
    socket_path::check_folder(folder, &fs::metadata(folder).map_err(failed)?)?;
    socket_path::check_socket(path, &fs::metadata(path).map_err(failed)?)?;
    let stream = UnixStream::connect(path).await.map_err(failed)?;
    // The socket may have been replaced since it was checked, so the user of the process on the other side is checked too.
    let peer = stream.peer_cred().map_err(failed)?;
    let uid = peer.uid();
    if !socket_path::is_trusted_user(uid) {
        return Err(UnsafeSocketPath::ServedByAnotherUser { path: path.to_owned(), uid }.into());
    }
    Ok((stream, peer.pid()))
}

fn lines(stream: UnixStream) -> Lines<OwnedReadHalf, OwnedWriteHalf> {
    let watched = stream.as_fd().try_clone_to_owned();
    let (reader, writer) = stream.into_split();
    let lines = Lines::new(reader, writer);
    match watched {
        Ok(watched) => lines.probe(Box::new(move || is_hung_up(&watched))),
        // Without a free descriptor, a lost client is noticed at the next write.
        Err(_) => lines,
    }
}

/// Whether the other end of a pipe or socket is closed for good. Asks for no event, so that only a hang-up or an error
/// is reported.
pub(super) fn is_hung_up(descriptor: &impl AsFd) -> bool {
    let mut polled = [PollFd::new(descriptor, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok_and(|count| count > 0)
}
