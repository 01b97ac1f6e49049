//! A folder, on this machine or mounted.

use std::io;
use std::path::{Path, PathBuf};

use super::BundleSource;
use crate::error::SourceError;
use crate::files::read_limited;

pub(super) struct FolderSource {
    folder: PathBuf,
}

impl FolderSource {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }
}

impl BundleSource for FolderSource {
    fn fetch(&mut self, name: &str, limit: u64) -> Result<Vec<u8>, SourceError> {
        let place = self.folder.display().to_string();
        read_limited(&self.folder.join(name), limit).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SourceError::NotFound { place, name: name.to_owned() },
            io::ErrorKind::FileTooLarge => SourceError::TooLarge { place, name: name.to_owned(), limit },
            _ => SourceError::Unreachable { place, problem: error.to_string() },
        })
    }
}
