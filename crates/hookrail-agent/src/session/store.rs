//! The store of a project's sessions.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::file::SessionFileError;
use super::order::SessionOrder;
use super::{DamagedLine, Session, SessionEntry};
use crate::error::AgentError;

/// The folder with the sessions of one project.
#[derive(Clone, Debug)]
pub struct SessionStore {
    folder: PathBuf,
    cwd: PathBuf,
    order: SessionOrder,
}

/// A session in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    /// The session's ID.
    pub id: String,
    /// The session's file.
    pub file: PathBuf,
}

impl SessionStore {
    /// Returns the store of a project in a folder for all projects.
    #[must_use]
    pub fn new(folder: &Path, project: &Path) -> Self {
        let digest = hookrail::trust::Digest::of(project.as_os_str().as_encoded_bytes()).hex();
        let short: String = digest.chars().take(16).collect();
        let name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let here = folder.join(format!("{name}-{short}"));
        let order = SessionOrder::new(folder.join(format!("{name}-{short}.used")), &here);
        Self { folder: here, cwd: project.to_owned(), order }
    }

    /// Returns the folder for all projects: `hookrail/sessions` in the user's state directory.
    #[must_use]
    pub fn default_folder(state: &Path) -> PathBuf {
        state.join("hookrail/sessions")
    }

    /// Returns the folder of this project's sessions.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates a session.
    pub(crate) fn create(&self, parent: Option<&str>) -> Result<Session, AgentError> {
        let id = new_id();
        let session = Session::create(&self.file(&id), &id, &self.cwd, parent)?;
        self.note_first_use(&id);
        Ok(session)
    }

    /// Opens a session by its ID or the beginning of it; without an ID, the one used last.
    pub(crate) fn open(&self, id: Option<&str>) -> Result<(Session, Vec<DamagedLine>), AgentError> {
        // Under this lock the process that uses the session has recorded itself, so that it can be named below. If the lock
        // fails, the session's own lock still protects it.
        let lock = self.order.lock();
        let StoredSession { id, file } = self.find(id)?;
        match Session::open(&file) {
            Ok(opened) => {
                // The first prompt records the use again, and reports a failure.
                let _ = lock.and_then(|_lock| self.order.note(&id));
                Ok(opened)
            }
            Err(SessionFileError::InUse) => {
                let process = self.order.read().into_iter().find(|used| used.id == id).map(|used| used.process);
                Err(AgentError::SessionInUse { id, process: process.filter(|process| *process != std::process::id()) })
            }
            Err(SessionFileError::Unusable(error)) => Err(error),
        }
    }

    /// Creates a session with a copy of another one, which may be in use.
    pub(crate) fn open_copy(&self, id: Option<&str>) -> Result<(Session, Vec<DamagedLine>), AgentError> {
        let stored = self.find(id)?;
        let (original, damage) = Session::read(&stored.file)?;
        let copy = self.create_copy(&stored.file.display().to_string(), original.entries())?;
        Ok((copy, damage))
    }

    /// Creates a session with entries of another one.
    pub(crate) fn create_copy(&self, parent: &str, entries: &[SessionEntry]) -> Result<Session, AgentError> {
        let mut copy = self.create(Some(parent))?;
        if let Err(error) = copy.copy(entries).and_then(|()| copy.sync()) {
            // An incomplete copy could be mistaken for the whole session, so it is removed.
            let _ = std::fs::remove_file(self.file(copy.id()));
            return Err(error);
        }
        Ok(copy)
    }

    /// Records that a session was used.
    pub(crate) fn note_use(&self, id: &str) -> Result<(), AgentError> {
        let noted = self.order.lock().and_then(|_lock| self.order.note(id));
        noted.map_err(|error| AgentError::System(format!("the use of the session cannot be recorded: {error}")))
    }

    fn note_first_use(&self, id: &str) {
        // The first prompt notes it again, and says so if it cannot.
        let _ = self.note_use(id);
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.jsonl"))
    }

    /// Finds a session.
    pub(crate) fn find(&self, id: Option<&str>) -> Result<StoredSession, AgentError> {
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

    /// Returns all sessions, the one used last at the end. Sessions whose use was not recorded come first, in the order of
    /// the last change of their files.
    #[must_use]
    pub fn all(&self) -> Vec<StoredSession> {
        let order = self.order.read();
        let rank = |id: &str| order.iter().position(|used| used.id == id);
        let changed = |file: &Path| file.metadata().and_then(|metadata| metadata.modified()).ok();
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|file| file.path());
        let all = files
            .filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"))
            .filter_map(|file| Some(StoredSession { id: file.file_stem()?.to_str()?.to_owned(), file }));
        let mut all: Vec<_> = all.map(|stored| (rank(&stored.id), changed(&stored.file), stored)).collect();
        all.sort_by(|a, b| (a.0, a.1, &a.2.id).cmp(&(b.0, b.1, &b.2.id)));
        all.into_iter().map(|(_, _, stored)| stored).collect()
    }
}

fn new_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let random = RandomState::new().build_hasher().finish();
    format!("{:013}-{:08x}", now.as_millis(), random >> 32)
}
