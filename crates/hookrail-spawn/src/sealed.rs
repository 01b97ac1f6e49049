//! Input that several children read from the same memory.

use std::io;

use crate::sys;

/// Bytes that are written once and can be read by any number of children, each from the beginning.
///
/// It is a sealed file in memory, so no child can change what another one reads. A large input is copied once, however
/// many children read it, and a child that does not read it costs nothing.
#[derive(Debug)]
pub struct SealedInput(pub(crate) sys::SealedFile);

impl SealedInput {
    /// Creates the file from these pieces, one after the other.
    ///
    /// # Errors
    ///
    /// If the file cannot be created. On systems other than Linux this always fails, because files cannot be sealed.
    pub fn new<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> io::Result<Self> {
        sys::SealedFile::new(pieces).map(Self)
    }
}
