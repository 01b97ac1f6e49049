//! What was installed, so that it can be taken out completely.

use std::io;
use std::path::{Path, PathBuf};

use hookrail_bridge::install::Insertion;
use serde::{Deserialize, Serialize};

/// One file that an installation wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct InstalledFile {
    pub(super) agent: String,
    pub(super) scope: String,
    pub(super) path: PathBuf,
    /// What was inserted; a file of hookrail's own has nothing here.
    pub(super) insertions: Vec<Insertion>,
    /// Whether the file was there before.
    pub(super) existed: bool,
    /// Whether the whole file belongs to hookrail.
    pub(super) own: bool,
    /// What a file of hookrail's own held before the first installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) original: Option<String>,
    /// The folders that were created for the file, from the outermost to the innermost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<PathBuf>,
}

/// Everything that was installed, as `installed.json` holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct InstallNote {
    pub(super) files: Vec<InstalledFile>,
}

impl InstallNote {
    fn path(state: &Path) -> PathBuf {
        state.join("hookrail/bridge/installed.json")
    }

    pub(super) fn load(state: &Path) -> io::Result<Self> {
        match std::fs::read_to_string(Self::path(state)) {
            Ok(text) => Ok(serde_json::from_str(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn save(&self, state: &Path) -> io::Result<()> {
        let path = Self::path(state);
        super::write::create_parents(&path)?;
        crate::temporary_file::write_atomically(&path, &serde_json::to_string_pretty(self)?, None)
    }

    /// What earlier installations for an agent changed in a file.
    pub(super) fn find(&self, agent: &str, path: &Path) -> Option<&InstalledFile> {
        self.files.iter().find(|file| file.path == path && file.agent == agent)
    }

    /// Replaces what is known about a file. How the file was before the first installation stays known.
    pub(super) fn put(&mut self, file: InstalledFile) {
        match self.files.iter_mut().find(|known| known.path == file.path && known.agent == file.agent) {
            Some(known) => {
                known.insertions = file.insertions;
                known.folders.extend(file.folders);
            }
            None => self.files.push(file),
        }
    }
}
