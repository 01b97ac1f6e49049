//! The source files of a module as they were when it last loaded.
//!
//! An instance is made when it is needed and may have to be made again at any time, also while a file is being written,
//! is broken or is gone. The files that were inspected are therefore kept in memory, and those run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::trust::Digest;

/// The files of a module with their bytes, in the order in which they were loaded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Version(Vec<SourceFile>);

#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    pub(crate) digest: Digest,
    bytes: Arc<[u8]>,
}

impl Version {
    /// Adds a file, and returns its digest.
    pub(crate) fn add(&mut self, path: &Path, bytes: &Arc<[u8]>) -> Digest {
        let digest = Digest::of(bytes);
        self.0.retain(|file| file.path != path);
        self.0.push(SourceFile { path: path.to_owned(), digest, bytes: Arc::clone(bytes) });
        digest
    }

    pub(crate) fn files(&self) -> &[SourceFile] {
        &self.0
    }

    /// The bytes of a file in this version.
    pub(crate) fn bytes(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.0.iter().find(|file| file.path == path).map(|file| Arc::clone(&file.bytes))
    }

    /// Whether this is made of the same files as another one.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_in = |file: &SourceFile| other.0.iter().any(|it| (&it.path, it.digest) == (&file.path, file.digest));
        self.0.len() == other.0.len() && self.0.iter().all(is_in)
    }
}
