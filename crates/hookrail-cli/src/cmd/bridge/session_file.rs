//! Keeps what the bridge remembers of a session in a private file that one process at a time may use.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use hookrail_bridge::{Agent, AgentRequest, BridgeSession};

/// Sessions that were not used for this long are forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The lock is held for microseconds; after this long something is wrong with its holder.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// How long the counts of past losses are waited for: they are worth less than an agent's time.
const COUNT_WAIT: Duration = Duration::from_millis(50);

/// A larger file was not written by this program.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// The state of one session, locked until it is dropped.
#[derive(Debug)]
pub(super) struct SessionFile {
    folder: PathBuf,
    /// The file and its path; none for an event that names no session, which shares its state with no other.
    place: Option<(File, PathBuf)>,
    /// What the file holds.
    saved: BridgeSession,
    /// What is remembered.
    pub(super) session: BridgeSession,
}

/// The folder with everything that the bridge of an agent remembers.
pub(crate) fn agent_folder(state: &Path, agent: Agent) -> PathBuf {
    state.join("hookrail/bridge").join(agent.name())
}

impl SessionFile {
    /// Opens and locks the state of a request's session. Two hooks of one agent may run at the same time; the second one waits
    /// here, for that long at most.
    pub(super) fn open(folder: &Path, request: &AgentRequest, patience: Duration) -> io::Result<Self> {
        let Some(key) = request.state_key() else {
            create_private_folder(folder)?;
            let session = BridgeSession::without_memory(request);
            return Ok(Self { folder: folder.to_owned(), place: None, saved: session.clone(), session });
        };
        Self::open_named(folder, key, patience)
    }

    /// Opens and locks the state of the session that has this key.
    pub(super) fn open_named(folder: &Path, key: &str, patience: Duration) -> io::Result<Self> {
        create_private_folder(folder)?;
        let path = folder.join(file_name(key));
        let file = open_private(&path, patience)?;
        let text = read_limited(&file)?;
        // A damaged file forgets what waits; it must not keep hooks from being asked.
        let session: BridgeSession = serde_json::from_str(&text).unwrap_or_default();
        Ok(Self { folder: folder.to_owned(), place: Some((file, path)), saved: session.clone(), session })
    }

    /// Writes what is remembered now. Most calls change nothing, and an agent waits for each of them.
    pub(super) fn save(&mut self) -> io::Result<()> {
        self.session.cut_to_size();
        if self.session == self.saved {
            return Ok(());
        }
        match &mut self.place {
            Some((file, _)) => {
                let text = serde_json::to_string(&self.session)?;
                file.rewind()?;
                file.set_len(0)?;
                file.write_all(text.as_bytes())?;
            }
            // What was lost is known without the session.
            None => add_losses(&self.folder, &std::mem::take(&mut self.session.losses))?,
        }
        self.saved = self.session.clone();
        Ok(())
    }

    /// Removes the file of a session that ends, but not what its hooks lost. What was remembered stays in memory until the
    /// end was answered; afterwards nothing could remove it, because an agent may kill this process.
    pub(super) fn end_session(&mut self) {
        if let Some((_, path)) = self.place.take() {
            // If the file cannot be removed, it is forgotten after a week.
            let _ = std::fs::remove_file(path);
        }
        // The session ends in any case; a count that cannot be kept must not keep it from ending.
        let _ = add_losses(&self.folder, &std::mem::take(&mut self.session.losses));
        self.saved = self.session.clone();
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

/// What hooks lost in the sessions that ended and in those that still run.
pub(crate) fn recorded_losses(folder: &Path) -> BTreeMap<String, u64> {
    let read = |path: &Path| File::open(path).and_then(|file| read_limited(&file)).unwrap_or_default();
    let mut totals: BTreeMap<String, u64> = serde_json::from_str(&read(&folder.join(PAST_LOSSES))).unwrap_or_default();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with("session-") {
            continue;
        }
        let session: BridgeSession = serde_json::from_str(&read(&entry.path())).unwrap_or_default();
        for (name, count) in session.losses {
            let total = totals.entry(name).or_default();
            *total = total.saturating_add(count);
        }
    }
    totals
}

/// Removes the state of a session and what it lost.
pub(crate) fn forget_session(folder: &Path, session_id: &str) -> io::Result<()> {
    std::fs::remove_file(folder.join(file_name(session_id)))
}

/// Opens a file that other users cannot read, and locks it.
fn open_private(path: &Path, patience: Duration) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    wait_for_lock(&file, patience.min(LONGEST_WAIT))?;
    Ok(file)
}

fn read_limited(file: &File) -> io::Result<String> {
    let mut text = String::new();
    file.take(LARGEST_FILE).read_to_string(&mut text)?;
    Ok(text)
}

/// Waits for the lock, but not longer than an agent waits: a process that was stopped while it held the lock must not make
/// the agent give up on this one.
fn wait_for_lock(file: &File, patience: Duration) -> io::Result<()> {
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begin.elapsed() > patience => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds it"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// Removes the state of sessions that ended without saying so.
pub(super) fn remove_old_sessions(folder: &Path, now: SystemTime) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|at| now.duration_since(at).ok());
        let is_session = entry.file_name().to_string_lossy().starts_with("session-");
        if is_session && age.is_some_and(|age| age > FORGET_AFTER) {
            let text = File::open(entry.path()).and_then(|file| read_limited(&file)).unwrap_or_default();
            let session: BridgeSession = serde_json::from_str(&text).unwrap_or_default();
            // If the file cannot be removed now, the next session tries again.
            if std::fs::remove_file(entry.path()).is_ok() {
                let _ = add_losses(folder, &session.losses);
            }
        }
    }
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

    #[test]
    fn a_session_is_kept_private_and_survives_damage() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("bridge");
        create_private_folder(&own).unwrap();
        let mut file = SessionFile::open_named(&own, "../../etc/passwd", LONGEST_WAIT).unwrap();
        let path = file.place.as_ref().unwrap().1.clone();
        assert_eq!(path.parent(), Some(own.as_path()));
        file.session.prompt = "hello".to_owned();
        file.save().unwrap();
        drop(file);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(SessionFile::open_named(&own, "../../etc/passwd", LONGEST_WAIT).unwrap().session.prompt, "hello");
        std::fs::write(&path, "{").unwrap();
        assert_eq!(
            SessionFile::open_named(&own, "../../etc/passwd", LONGEST_WAIT).unwrap().session,
            BridgeSession::default()
        );
    }

    #[test]
    fn a_lock_that_is_not_released_is_waited_for_no_longer_than_asked() {
        let folder = tempfile::tempdir().unwrap();
        let held = SessionFile::open_named(folder.path(), "a", Duration::ZERO).unwrap();
        let refused = SessionFile::open_named(folder.path(), "a", Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        drop(held);
        SessionFile::open_named(folder.path(), "a", Duration::ZERO).unwrap();
    }

    #[test]
    fn old_sessions_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        SessionFile::open_named(folder.path(), "a", LONGEST_WAIT).unwrap().save().unwrap();
        remove_old_sessions(folder.path(), SystemTime::now());
        assert!(folder.path().join("session-a.json").exists());
        remove_old_sessions(folder.path(), SystemTime::now() + FORGET_AFTER * 2);
        assert!(!folder.path().join("session-a.json").exists());
    }

    #[test]
    fn losses_outlive_their_session_and_stay_private() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for id in ["ended", "forgotten", "running"] {
            let mut file = SessionFile::open_named(folder, id, LONGEST_WAIT).unwrap();
            file.session.losses.insert("loss.ask".to_owned(), 2);
            file.save().unwrap();
            if id == "ended" {
                file.end_session();
            }
            if id == "forgotten" {
                remove_old_sessions(folder, SystemTime::now() + FORGET_AFTER * 2);
            }
        }
        assert_eq!(recorded_losses(folder), BTreeMap::from([("loss.ask".to_owned(), 6)]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(folder.join(PAST_LOSSES).metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        let many = (0..1000).map(|number| (format!("loss.{number}"), u64::MAX)).collect();
        add_losses(folder, &many).unwrap();
        add_losses(folder, &many).unwrap();
        assert!(recorded_losses(folder).len() <= MOST_LOSSES);
    }
}
