//! The ledger of running children, which does not exist on Windows.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use crate::end::OrphanCleanup;

/// The record of the running children of this program. It exists on Linux only.
#[derive(Clone, Debug)]
pub struct RunLedger(Infallible);

impl RunLedger {
    /// Fails, because children cannot be recorded on Windows.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn open(_directory: &Path) -> io::Result<(Self, OrphanCleanup)> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
