//! A file in memory that cannot be changed any more.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use super::pipe::above_streams;

/// A sealed file in memory.
#[derive(Debug)]
pub(crate) struct SealedFile(OwnedFd);

impl SealedFile {
    #[cfg(target_os = "linux")]
    pub(crate) fn new<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> io::Result<Self> {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
        use std::io::Write as _;
        let fd = memfd_create(c"hookrail-input", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let mut file = std::fs::File::from(above_streams(fd)?);
        for piece in pieces {
            file.write_all(piece)?;
        }
        // Without the seals one reader could change what another one reads.
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        let sealed = Self(file.into());
        // Children open the file again through `/proc`. Without `/proc` that fails, and the caller must use a pipe instead.
        sealed.reader()?;
        Ok(sealed)
    }

    /// Fails, because only Linux can seal files.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new<'b>(_pieces: impl IntoIterator<Item = &'b [u8]>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Opens the file for reading. Opened again and not duplicated, each reader has its own position.
    pub(super) fn reader(&self) -> io::Result<OwnedFd> {
        above_streams(std::fs::File::open(format!("/proc/self/fd/{}", self.0.as_raw_fd()))?.into())
    }
}
