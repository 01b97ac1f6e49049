//! Keeps what the bridge remembers of a session in a private file that one process at a time may use.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hookrail::Code;
use hookrail_bridge::{Agent, AgentRequest, BridgeSession};

use crate::failure::Failure;
use crate::folders::state_folder;

/// Sessions that were not used for this long are forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The lock is held for microseconds; after this long something is wrong with its holder.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// How long the counts of past losses are waited for: they are worth less than an agent's time.
const COUNT_WAIT: Duration = Duration::from_millis(50);

/// A larger file was not written by this program.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// Why the state of a session cannot be used.
#[derive(Debug)]
pub enum SessionError {
    /// The environment names no folder of the user.
    NoFolder,
    /// The file cannot be locked, read or written.
    Unusable(io::Error),
}

impl From<io::Error> for SessionError {
    fn from(error: io::Error) -> Self {
        Self::Unusable(error)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::NoFolder => {
                let problem =
                    "the user's folders cannot be found, because neither `HOME` nor `XDG_STATE_HOME` names one";
                Self::new(format!("{problem} ({}); set `HOME` to your home directory", Code::UserUnusable.name()))
            }
            SessionError::Unusable(error) => Self::new(format!("the state of the session cannot be used: {error}")),
        }
    }
}

/// The states of the sessions of one agent, in a folder.
#[derive(Clone, Debug)]
pub struct SessionFiles {
    folder: PathBuf,
}

impl SessionFiles {
    /// The store of this user.
    pub fn of(agent: Agent) -> Result<Self, SessionError> {
        let state = state_folder().ok_or(SessionError::NoFolder)?;
        Ok(Self { folder: state.join("hookrail/bridge").join(agent.name()) })
    }

    #[cfg(test)]
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Locks the state of a request's session. Two hooks of one agent may run at the same time; the second one waits here, for that
    /// long at most.
    pub(super) fn lock(&self, request: &AgentRequest, patience: Duration) -> Result<LockedSession, SessionError> {
        match request.state_key() {
            Some(key) => self.lock_named(key, patience),
            None => {
                create_private_folder(&self.folder)?;
                let session = BridgeSession::without_memory(request);
                Ok(LockedSession { folder: self.folder.clone(), place: None, session })
            }
        }
    }

    /// Locks the state of the session that has this key.
    pub(super) fn lock_named(&self, key: &str, patience: Duration) -> Result<LockedSession, SessionError> {
        create_private_folder(&self.folder)?;
        let path = self.folder.join(file_name(key));
        let file = open_private(&path, patience)?;
        let text = read_limited(&file)?;
        // A damaged file forgets what waits; it must not keep hooks from being asked.
        let session = serde_json::from_str(&text).unwrap_or_default();
        Ok(LockedSession { folder: self.folder.clone(), place: Some((file, path)), session })
    }

    /// Removes the state of sessions that ended without saying so.
    pub(super) fn remove_old_sessions(&self, now: SystemTime) {
        for (path, modified) in session_files(&self.folder) {
            let age = modified.and_then(|at| now.duration_since(at).ok());
            if age.is_some_and(|age| age > FORGET_AFTER) {
                let session = read_session(&path);
                // If the file cannot be removed now, the next session tries again.
                if std::fs::remove_file(path).is_ok() {
                    let _ = add_losses(&self.folder, &session.losses);
                }
            }
        }
    }

    /// What hooks lost in the sessions that ended and in those that still run.
    pub fn recorded_losses(&self) -> BTreeMap<String, u64> {
        let past = read_file(&self.folder.join(PAST_LOSSES));
        let mut totals: BTreeMap<String, u64> = serde_json::from_str(&past).unwrap_or_default();
        for (path, _) in session_files(&self.folder) {
            for (name, count) in read_session(&path).losses {
                let total = totals.entry(name).or_default();
                *total = total.saturating_add(count);
            }
        }
        totals
    }

    /// Removes the state of a session and what it lost.
    pub fn forget_session(&self, session_id: &str) -> io::Result<()> {
        std::fs::remove_file(self.folder.join(file_name(session_id)))
    }
}

/// The state of one session, locked until it is dropped.
#[derive(Debug)]
pub(super) struct LockedSession {
    folder: PathBuf,
    /// The file and its path; none for an event that names no session, which shares its state with no other, and for a session
    /// that ended.
    place: Option<(File, PathBuf)>,
    /// What is remembered.
    session: BridgeSession,
}

impl LockedSession {
    pub(super) fn session(&self) -> &BridgeSession {
        &self.session
    }

    /// Remembers this and releases the lock. Most calls change nothing, and an agent waits for each of them.
    pub(super) fn save(self, mut session: BridgeSession) -> Result<(), SessionError> {
        session.cut_to_size();
        if session == self.session {
            return Ok(());
        }
        match self.place {
            Some((mut file, _)) => {
                let text = serde_json::to_string(&session).map_err(io::Error::from)?;
                file.rewind()?;
                file.set_len(0)?;
                file.write_all(text.as_bytes())?;
            }
            // What was lost is known without the session.
            None => add_losses(&self.folder, &session.losses)?,
        }
        Ok(())
    }

    /// Removes the file of a session that ends, but not what its hooks lost. What was remembered stays in memory until the end was
    /// answered; afterwards nothing could remove it, because an agent may kill this process.
    pub(super) fn end(self, mut session: BridgeSession) -> Self {
        if let Some((_, path)) = self.place {
            // If the file cannot be removed, it is forgotten after a week.
            let _ = std::fs::remove_file(path);
        }
        // The session ends in any case; a count that cannot be kept must not keep it from ending.
        let _ = add_losses(&self.folder, &std::mem::take(&mut session.losses));
        Self { folder: self.folder, place: None, session }
    }
}

/// The file with the losses of sessions that ended.
const PAST_LOSSES: &str = "losses.json";

/// More kinds than this are not kept: there are far fewer effects.
const MOST_LOSSES: usize = 64;

/// Adds the losses of a session that ended.
fn add_losses(folder: &Path, losses: &BTreeMap<String, u64>) -> io::Result<()> {
    if losses.is_empty() {
        return Ok(());
    }
    let mut file = open_private(&folder.join(PAST_LOSSES), COUNT_WAIT)?;
    let mut past: BTreeMap<String, u64> = serde_json::from_str(&read_limited(&file)?).unwrap_or_default();
    for (name, count) in losses {
        if past.len() < MOST_LOSSES || past.contains_key(name) {
            let total = past.entry(name.clone()).or_default();
            *total = total.saturating_add(*count);
        }
    }
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(serde_json::to_string(&past)?.as_bytes())
}

/// The files of the sessions that did not end, and when each was written.
fn session_files(folder: &Path) -> impl Iterator<Item = (PathBuf, Option<SystemTime>)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("session-")).map(|entry| {
        let modified = entry.metadata().and_then(|data| data.modified()).ok();
        (entry.path(), modified)
    })
}

fn read_session(path: &Path) -> BridgeSession {
    serde_json::from_str(&read_file(path)).unwrap_or_default()
}

/// What a file holds; nothing if it cannot be read.
fn read_file(path: &Path) -> String {
    File::open(path).and_then(|file| read_limited(&file)).unwrap_or_default()
}

/// Opens a file that other users cannot read, and locks it.
fn open_private(path: &Path, patience: Duration) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // A process that was stopped while it held the lock must not make the agent give up on this one.
    hookrail_spawn::wait_for_lock(&file, patience.min(LONGEST_WAIT))?;
    Ok(file)
}

fn read_limited(file: &File) -> io::Result<String> {
    let mut text = String::new();
    file.take(LARGEST_FILE).read_to_string(&mut text)?;
    Ok(text)
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A file name for a session ID, which comes from outside and may hold anything.
fn file_name(session_id: &str) -> String {
    let plain = !session_id.is_empty()
        && session_id.len() <= 80
        && session_id.chars().all(|character| character.is_ascii_alphanumeric() || "-_".contains(character));
    let name = if plain { session_id.to_owned() } else { format!("x{:016x}", hash(session_id)) };
    format!("session-{name}.json")
}

/// FNV-1a, which is stable between versions of this program. It separates sessions and protects nothing.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(store: &SessionFiles, key: &str) -> LockedSession {
        store.lock_named(key, LONGEST_WAIT).unwrap()
    }

    #[test]
    fn a_session_is_kept_private_and_survives_damage() {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionFiles::in_folder(&folder.path().join("bridge"));
        let id = "../../etc/passwd";
        let locked = lock(&store, id);
        let path = locked.place.as_ref().unwrap().1.clone();
        assert_eq!(path.parent(), Some(store.folder.as_path()));
        locked.save(BridgeSession { prompt: "hello".to_owned(), ..BridgeSession::default() }).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(lock(&store, id).session().prompt, "hello");
        std::fs::write(&path, "{").unwrap();
        assert_eq!(*lock(&store, id).session(), BridgeSession::default());
    }

    #[test]
    fn a_lock_that_is_not_released_is_waited_for_no_longer_than_asked() {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionFiles::in_folder(folder.path());
        let held = store.lock_named("a", Duration::ZERO).unwrap();
        let refused = store.lock_named("a", Duration::ZERO).unwrap_err();
        assert!(
            matches!(&refused, SessionError::Unusable(error) if error.kind() == io::ErrorKind::TimedOut),
            "{refused:?}"
        );
        drop(held);
        store.lock_named("a", Duration::ZERO).unwrap();
    }

    #[test]
    fn old_sessions_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionFiles::in_folder(folder.path());
        drop(lock(&store, "a"));
        store.remove_old_sessions(SystemTime::now());
        assert!(folder.path().join("session-a.json").exists());
        store.remove_old_sessions(SystemTime::now() + FORGET_AFTER * 2);
        assert!(!folder.path().join("session-a.json").exists());
    }

    #[test]
    fn losses_outlive_their_session_and_stay_private() {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionFiles::in_folder(folder.path());
        let losing = BridgeSession { losses: BTreeMap::from([("loss.ask".to_owned(), 2)]), ..BridgeSession::default() };
        for id in ["ended", "forgotten", "running"] {
            lock(&store, id).save(losing.clone()).unwrap();
            if id == "ended" {
                let locked = lock(&store, id);
                let session = locked.session().clone();
                let ended = locked.end(session);
                // What the end itself loses is added to what was lost before.
                assert_eq!(ended.session().losses, BTreeMap::new());
                ended.save(losing.clone()).unwrap();
            }
            if id == "forgotten" {
                store.remove_old_sessions(SystemTime::now() + FORGET_AFTER * 2);
            }
        }
        assert_eq!(store.recorded_losses(), BTreeMap::from([("loss.ask".to_owned(), 8)]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(folder.path().join(PAST_LOSSES).metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        let many = (0..1000).map(|number| (format!("loss.{number}"), u64::MAX)).collect();
        add_losses(folder.path(), &many).unwrap();
        add_losses(folder.path(), &many).unwrap();
        assert!(store.recorded_losses().len() <= MOST_LOSSES);
    }
}
