//! Input that several children read from the same memory.

use std::io;
#[cfg(unix)]
use std::os::fd::{AsRawFd as _, OwnedFd};

#[cfg(unix)]
use crate::inherited::above_streams;

/// Bytes that are written once and can be read by any number of children, each from the beginning.
///
/// It is a sealed file in memory, so no child can change what another one reads. A large input is copied once, however
/// many children read it, and a child that does not read it costs nothing.
#[derive(Debug)]
pub struct SealedInput(#[cfg(unix)] OwnedFd, #[cfg(not(unix))] std::convert::Infallible);

impl SealedInput {
    /// Creates the file from these pieces, one after the other.
    ///
    /// # Errors
    ///
    /// If the file cannot be created. On systems other than Linux this always fails, because files cannot be sealed.
    #[cfg(target_os = "linux")]
    pub fn new<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> io::Result<Self> {
        use std::io::Write as _;

        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

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
    ///
    /// # Errors
    ///
    /// Always.
    #[cfg(not(target_os = "linux"))]
    pub fn new<'b>(_pieces: impl IntoIterator<Item = &'b [u8]>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Opens the file for reading. Opened again and not duplicated, each reader has its own position.
    #[cfg(unix)]
    pub(crate) fn reader(&self) -> io::Result<OwnedFd> {
        above_streams(std::fs::File::open(format!("/proc/self/fd/{}", self.0.as_raw_fd()))?.into())
    }
}
