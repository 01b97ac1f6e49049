//! Input that many children read from one place in memory.

use std::io;

use crate::sys;

/// Bytes that were written once and can be read by any number of children, each from the beginning.
///
/// It is a file in memory, sealed: no child can change what another one reads. There is no pipe to fill, so a large input
/// costs one copy however many read it, and one who does not read it costs nothing.
#[derive(Debug)]
pub struct SealedInput(pub(crate) sys::Sealed);

impl SealedInput {
    /// Makes such a file of these pieces, one after the other.
    ///
    /// # Errors
    ///
    /// What the system says; always where files cannot be sealed, which is everywhere but on Linux.
    pub fn new<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> io::Result<Self> {
        sys::Sealed::new(pieces).map(Self)
    }
}
