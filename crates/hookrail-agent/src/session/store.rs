//! Where the sessions of a project are.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Damage, Session};
use crate::error::AgentError;

/// The folder with the sessions of one project.
#[derive(Clone, Debug)]
pub struct SessionStore {
    folder: PathBuf,
    cwd: PathBuf,
}

/// A session that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stored {
    /// Its identity.
    pub id: String,
    /// Its file.
    pub file: PathBuf,
}

impl SessionStore {
    /// The sessions of a project in a folder for all projects.
    #[must_use]
    pub fn new(folder: &Path, project: &Path) -> Self {
        let digest = hookrail::Digest::of(project.as_os_str().as_encoded_bytes()).hex();
        let short: String = digest.chars().take(16).collect();
        let name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { folder: folder.join(format!("{name}-{short}")), cwd: project.to_owned() }
    }

    /// The folder for all projects: `hookrail/sessions` in the user's state directory.
    #[must_use]
    pub fn default_folder(home: Option<&Path>, state: Option<&Path>) -> Option<PathBuf> {
        let state = state.filter(|path| path.is_absolute()).map(Path::to_owned);
        let state = state.or_else(|| home.map(|home| home.join(".local/state")))?;
        Some(state.join("hookrail/sessions"))
    }

    /// The folder of this project's sessions.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Begins a session.
    pub(crate) fn create(&self, parent: Option<&str>) -> Result<Session, AgentError> {
        let id = new_id();
        Session::create(&self.folder.join(format!("{id}.jsonl")), &id, &self.cwd, parent)
    }

    /// Takes a session up again: by its identity or the beginning of it; without one, the last one.
    pub(crate) fn open(&self, id: Option<&str>) -> Result<(Session, Vec<Damage>), AgentError> {
        Session::open(&self.find(id)?.file)
    }

    /// Finds a session.
    pub(crate) fn find(&self, id: Option<&str>) -> Result<Stored, AgentError> {
        let all = self.all();
        let found = match id {
            None => all.into_iter().next_back(),
            Some(id) => {
                let exact = all.iter().find(|stored| stored.id == id).cloned();
                exact.or_else(|| {
                    let mut fitting = all.into_iter().filter(|stored| stored.id.starts_with(id));
                    fitting.next().filter(|_| fitting.next().is_none())
                })
            }
        };
        found.ok_or_else(|| AgentError::NoSession(id.unwrap_or("last").to_owned()))
    }

    /// All sessions, the oldest first. Identities begin with the time, so their order is the order of time.
    #[must_use]
    pub fn all(&self) -> Vec<Stored> {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|file| file.path());
        let mut all: Vec<Stored> = files
            .filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"))
            .filter_map(|file| Some(Stored { id: file.file_stem()?.to_str()?.to_owned(), file }))
            .collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    }
}

fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let random = RandomState::new().build_hasher().finish();
    format!("{:013}-{:08x}", now.as_millis(), random >> 32)
}
