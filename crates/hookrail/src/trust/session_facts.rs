//! What is remembered of a session between events, which may be fired by different processes.
//!
//! Each session has a small private file in hookrail's state folder. Nothing depends on it: a file that is lost, damaged, too
//! large or open to others holds no facts, and a fact that cannot be kept is asked for again.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hookrail_spawn::{Durability, Replace};
use serde::{Deserialize, Serialize};

use crate::config::is_absence;
use crate::trust::Digest;

/// A larger file was not written by this program.
const LARGEST_FILE: u64 = 1 << 20;
/// The oldest facts are dropped when there are more.
const MOST_FACTS: usize = 1000;
/// A longer subject is not kept, in bytes.
pub(crate) const LONGEST_SUBJECT: usize = 4096;
/// Sessions that were not used for this long are forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long another process is waited for. A fact is worth less than the time of an agent.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// What a fact says about its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactKind {
    /// The engine asked whether this file may be changed by this call.
    Asked,
    /// A person approved a change of this file.
    Approved,
    /// An exception that holds once was used.
    Excepted,
    /// This hook, which runs once for a session, has run.
    RanOnce,
    /// A hook said this for the model, which has not heard it yet.
    Said,
    /// This file was read.
    Read,
    /// This file was written or deleted.
    Wrote,
    /// This command was run.
    Ran,
}

impl FactKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Approved => "approved",
            Self::Excepted => "excepted",
            Self::RanOnce => "ran-once",
            Self::Said => "said",
            Self::Read => "read",
            Self::Wrote => "wrote",
            Self::Ran => "ran",
        }
    }
}

/// The facts of one session, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts(Vec<StoredFact>);

/// A fact as it is written. One that a later version has written is kept as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredFact {
    fact: String,
    of: String,
    /// Seconds since 1970, where the time matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
}

#[derive(Default, Serialize, Deserialize)]
struct StoredFacts {
    facts: Vec<StoredFact>,
}

impl Facts {
    pub(crate) fn has(&self, kind: FactKind, subject: &str) -> bool {
        self.0.iter().any(|known| known.fact == kind.name() && known.of == subject)
    }

    /// The subjects of facts of a kind, with their times.
    pub(crate) fn of_kind(&self, kind: FactKind) -> impl Iterator<Item = (&str, Option<u64>)> {
        self.0.iter().filter(move |known| known.fact == kind.name()).map(|known| (known.of.as_str(), known.at))
    }

    pub(crate) fn add(&mut self, kind: FactKind, subject: &str) {
        if !self.has(kind, subject) {
            self.push(StoredFact { fact: kind.name().to_owned(), of: subject.to_owned(), at: None });
        }
    }

    /// Takes the subjects of all facts of a kind out.
    pub(crate) fn take(&mut self, kind: FactKind) -> Vec<String> {
        let is_taken = |known: &StoredFact| known.fact == kind.name();
        let (taken, left): (Vec<StoredFact>, Vec<StoredFact>) =
            std::mem::take(&mut self.0).into_iter().partition(is_taken);
        self.0 = left;
        taken.into_iter().map(|known| known.of).collect()
    }

    /// Adds a fact with its time, in place of an earlier one about the same.
    pub(crate) fn add_at(&mut self, kind: FactKind, subject: &str, at: u64) {
        self.0.retain(|known| !(known.fact == kind.name() && known.of == subject));
        self.push(StoredFact { fact: kind.name().to_owned(), of: subject.to_owned(), at: Some(at) });
    }

    fn push(&mut self, fact: StoredFact) {
        if fact.of.len() > LONGEST_SUBJECT {
            return;
        }
        self.0.push(fact);
        let over = self.0.len().saturating_sub(MOST_FACTS);
        self.0.drain(..over);
    }
}

/// Where the facts of all sessions of a user in one project are kept.
#[derive(Clone, Debug)]
pub(crate) struct SessionFacts {
    folder: PathBuf,
    project: PathBuf,
}

impl SessionFacts {
    /// The facts in a state folder of hookrail.
    pub(crate) fn new(state: &Path, project: &Path) -> Self {
        Self { folder: state.join("facts"), project: project.to_owned() }
    }

    /// The facts of a session. A session without a name has none.
    pub(crate) fn read(&self, session: &str) -> Facts {
        let stored = self.file(session).and_then(|file| read_file(&file).ok()).unwrap_or_default();
        let mut facts = stored.facts;
        facts.truncate(MOST_FACTS);
        Facts(facts)
    }

    /// The facts of a session, as far as they can be read: none if they are lost.
    pub(crate) fn read_whole(&self, session: &str) -> Option<Facts> {
        let file = self.file(session)?;
        match read_file(&file) {
            Ok(_) => Some(self.read(session)),
            Err(error) if is_absence(&error) => Some(Facts::default()),
            Err(_) => None,
        }
    }

    /// Changes the facts of a session.
    pub(crate) fn change(&self, session: &str, change: impl FnOnce(&mut Facts)) -> io::Result<()> {
        let Some(file) = self.file(session) else { return Ok(()) };
        hookrail_spawn::create_private_folder(&self.folder)?;
        let _held = self.lock()?;
        let before = self.read(session);
        let mut facts = before.clone();
        change(&mut facts);
        if facts == before {
            return Ok(());
        }
        if !file.exists() {
            self.remove_old(SystemTime::now());
        }
        write_file(&file, &facts)
    }

    /// The file of a session. Its name is a digest, because the name of a session comes from outside and may be anything.
    fn file(&self, session: &str) -> Option<PathBuf> {
        let mut name = self.project.as_os_str().as_encoded_bytes().to_vec();
        name.push(0);
        name.extend_from_slice(session.as_bytes());
        (!session.is_empty()).then(|| self.folder.join(format!("{}.json", Digest::of(&name).hex())))
    }

    /// Keeps other processes from writing until the file is dropped.
    fn lock(&self) -> io::Result<fs::File> {
        let file = hookrail_spawn::private_file_options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.folder.join("lock"))?;
        hookrail_spawn::wait_for_lock(&file, LOCK_PATIENCE)?;
        Ok(file)
    }

    /// Removes the files of sessions that were not used for long.
    fn remove_old(&self, now: SystemTime) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let changed = entry.metadata().and_then(|about| about.modified()).ok();
            let is_old = changed.and_then(|at| now.duration_since(at).ok()).is_some_and(|age| age > FORGET_AFTER);
            if is_old && entry.file_name() != "lock" {
                // What cannot be removed now is tried again when the next session begins.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn read_file(path: &Path) -> io::Result<StoredFacts> {
    if path.is_symlink() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = hookrail_spawn::open_regular(path)?;
    let about = file.metadata()?;
    if !hookrail_spawn::is_ours_alone(&about) || about.len() > LARGEST_FILE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = Vec::new();
    file.take(LARGEST_FILE).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn write_file(path: &Path, facts: &Facts) -> io::Result<()> {
    let stored = StoredFacts { facts: facts.0.clone() };
    // After a loss of power no session goes on, so its facts need not survive one.
    let how = Replace { durable: Durability::None, ..Replace::PRIVATE };
    hookrail_spawn::replace_file(path, &serde_json::to_vec(&stored)?, &how)
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failure here is a failed test")]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn facts(folder: &tempfile::TempDir) -> SessionFacts {
        SessionFacts::new(folder.path(), Path::new("/p"))
    }

    fn approve(facts: &SessionFacts, session: &str, subject: &str) {
        facts.change(session, |facts| facts.add(FactKind::Approved, subject)).unwrap();
    }

    #[test]
    fn facts_belong_to_one_session_of_one_project_and_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let facts = facts(&folder);
        approve(&facts, "../../s", "/p/a");
        assert!(facts.read("../../s").has(FactKind::Approved, "/p/a"));
        assert!(!facts.read("../../s").has(FactKind::Asked, "/p/a"));
        assert!(!facts.read("../../s").has(FactKind::Approved, "/p/b"));
        assert_eq!(facts.read("other"), Facts::default());
        assert_eq!(SessionFacts::new(folder.path(), Path::new("/q")).read("../../s"), Facts::default());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&facts.file("../../s").unwrap()), 0o600);
        assert_eq!(mode(&facts.folder), 0o700);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies elsewhere");
    }

    #[test]
    fn an_event_without_a_session_remembers_nothing() {
        let folder = tempfile::tempdir().unwrap();
        approve(&facts(&folder), "", "/p/a");
        assert!(!facts(&folder).read("").has(FactKind::Approved, "/p/a"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn bad_content_holds_no_facts_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let facts = facts(&folder);
        approve(&facts, "s", "/p/a");
        let file = facts.file("s").unwrap();
        let huge = format!("{{\"facts\":[{{\"fact\":\"approved\",\"of\":\"{}\"}}]}}", "x".repeat(2 << 20));
        for text in ["", "{", "[]", "null", "{\"facts\":1}", "\u{0}", huge.as_str()] {
            fs::write(&file, text).unwrap();
            assert_eq!(facts.read("s"), Facts::default());
            approve(&facts, "s", "/p/b");
            assert!(facts.read("s").has(FactKind::Approved, "/p/b"));
        }
        let good = fs::read(&file).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(facts.read("s"), Facts::default(), "others could have written it");
        fs::remove_file(&file).unwrap();
        fs::write(folder.path().join("elsewhere"), good).unwrap();
        symlink(folder.path().join("elsewhere"), &file).unwrap();
        assert_eq!(facts.read("s"), Facts::default(), "a link is not followed");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        assert_eq!(facts.read("s"), Facts::default());
        assert!(facts.change("s", |facts| facts.add(FactKind::Asked, "/p/a")).is_err());
    }

    #[test]
    fn facts_of_later_versions_are_kept_and_the_number_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let facts = facts(&folder);
        approve(&facts, "s", "first");
        fs::write(facts.file("s").unwrap(), r#"{"facts":[{"fact":"ran","of":"x"}],"later":1}"#).unwrap();
        approve(&facts, "s", "/p/a");
        assert!(fs::read_to_string(facts.file("s").unwrap()).unwrap().contains("\"ran\""));
        facts.change("s", |facts| (0..5000).for_each(|n| facts.add(FactKind::Asked, &n.to_string()))).unwrap();
        let now = facts.read("s");
        assert!(now.0.len() == MOST_FACTS && now.has(FactKind::Asked, "4999") && !now.has(FactKind::Asked, "0"));
        facts.change("s", |facts| facts.add(FactKind::Asked, &"x".repeat(5000))).unwrap();
        assert_eq!(facts.read("s"), now);
    }

    #[test]
    fn writers_side_by_side_lose_nothing_and_old_sessions_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let facts = facts(&folder);
        std::thread::scope(|scope| {
            for n in 0..8 {
                let facts = &facts;
                scope.spawn(move || approve(facts, "s", &n.to_string()));
            }
        });
        let now = facts.read("s");
        assert!((0..8).all(|n| now.has(FactKind::Approved, &n.to_string())), "{now:?}");
        facts.remove_old(SystemTime::now());
        assert!(facts.file("s").unwrap().exists());
        facts.remove_old(SystemTime::now() + FORGET_AFTER * 2);
        assert!(!facts.file("s").unwrap().exists());
    }
}
