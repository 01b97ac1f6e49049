//! Bytes in a file without a name, which nobody can change any more.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use super::pipe::{above_streams, check, read_only};

/// A sealed file in memory.
#[derive(Debug)]
pub(crate) struct Sealed(OwnedFd);

impl Sealed {
    #[cfg(target_os = "linux")]
    pub(crate) fn new<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> io::Result<Self> {
        use std::io::Write as _;
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a C string that outlives the call.
        let fd = unsafe { libc::memfd_create(c"hookrail-input".as_ptr(), flags) };
        check(fd)?;
        // SAFETY: the descriptor is open and nobody else knows it.
        let fd = above_streams(unsafe { OwnedFd::from_raw_fd(fd) })?;
        let mut file = std::fs::File::from(fd);
        for piece in pieces {
            file.write_all(piece)?;
        }
        let seals = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
        // Without the seals one reader could change what another one reads.
        // SAFETY: the descriptor is open, and the command takes an integer.
        check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
        let sealed = Self(file.into());
        // Children open it anew. Where that cannot be, nobody must count on it.
        sealed.reader()?;
        Ok(sealed)
    }

    /// Only Linux has files that can be sealed.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new<'b>(_pieces: impl IntoIterator<Item = &'b [u8]>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The file from its beginning, with a position of its own.
    pub(super) fn reader(&self) -> io::Result<OwnedFd> {
        above_streams(read_only(self.0.as_fd())?)
    }
}
