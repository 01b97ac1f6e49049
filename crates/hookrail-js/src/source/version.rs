//! The sources of a module as they were when it could last be loaded.
//!
//! A module's runtime is made when it is needed and may have to be made again at any time, also when a file is being
//! written, broken or gone by then. So what was looked into is kept, and that is what runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::trust::Digest;

/// The files of a module, with their bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Version(BTreeMap<PathBuf, Arc<[u8]>>);

impl Version {
    pub(crate) fn add(&mut self, path: &Path, bytes: Arc<[u8]>) {
        self.0.insert(path.to_owned(), bytes);
    }

    /// The bytes that a file had.
    pub(crate) fn bytes(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.0.get(path).map(Arc::clone)
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    /// Whether this is made of exactly these files.
    pub(crate) fn is_made_of(&self, files: &[(PathBuf, Digest)]) -> bool {
        let has =
            |(path, digest): &(PathBuf, Digest)| self.bytes(path).is_some_and(|bytes| Digest::of(&bytes) == *digest);
        files.len() == self.0.len() && files.iter().all(has)
    }
}
