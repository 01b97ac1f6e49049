//! The name and the version of a hook in outcomes and records.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use hookrail_spawn::lock_mutex;

use super::fingerprint::{Fingerprint, files_named_by};
use crate::config::{FileStamp, read_within};
use crate::event::EventKind;
use crate::hook::Hook;
use crate::text::digest::Digest;

/// The name and the version of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookIdentity {
    /// Which hook it is, over edits of its file.
    pub(crate) id: String,
    /// The digest of its definition and of the files that it runs, as they are when it is asked for.
    pub(crate) fingerprint: String,
}

/// The folders that the words of a command are looked up in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilePlaces {
    /// The project's directory.
    pub(crate) project: Arc<Path>,
    /// The user's home directory, if there is one.
    pub(crate) home: Option<Arc<Path>>,
}

impl FilePlaces {
    /// The folders of a project and of the user. A relative home directory would be another one for every process.
    pub(crate) fn new(project: &Path, home: Option<&Path>) -> Self {
        Self { project: project.into(), home: home.filter(|home| home.is_absolute()).map(Arc::from) }
    }
}

/// The identity of a hook, found when it is first asked for, and again when its files have changed. A copy of a hook may be
/// changed, so it has to find its own.
#[derive(Debug, Default)]
pub(crate) struct IdentityCell {
    /// The number of hooks with the same names that stand before it.
    namesakes: usize,
    known: Mutex<Option<KnownIdentity>>,
}

#[derive(Debug)]
struct KnownIdentity {
    identity: HookIdentity,
    /// The files that the fingerprint covers, as they were before they were read.
    files: Vec<(PathBuf, Option<FileStamp>)>,
}

impl Clone for IdentityCell {
    fn clone(&self) -> Self {
        Self { namesakes: self.namesakes, known: Mutex::default() }
    }
}

/// The largest file outside of the project that is read for a fingerprint. Scripts are smaller, and reading a program of many
/// megabytes would be felt with every event of a process that fires one.
const LARGEST_OUTSIDE: u64 = 1024 * 1024;

/// Counts hooks that have the same names, such as two of one name for different tools, so that each gets an id of its own.
#[derive(Debug, Default)]
pub(crate) struct NamesakeCounter(HashMap<String, usize>);

impl NamesakeCounter {
    /// Tells a hook how many with its names stand before it. Hooks have to come in their order.
    pub(crate) fn count(&mut self, hook: &mut Hook) {
        let known = self.0.entry(names_of(hook)).or_default();
        hook.identity = IdentityCell { namesakes: *known, known: Mutex::default() };
        *known += 1;
    }
}

/// What the id of a hook is made from.
fn names_of(hook: &Hook) -> String {
    let (event, file) = (hook.known_event().map_or("", EventKind::name), hook.origin.location.file.to_string_lossy());
    [hook.dialect.name(), event, hook.origin.kind.name(), &file, &hook.label].join("\0")
}

impl KnownIdentity {
    fn of(places: &FilePlaces, hook: &Hook) -> Self {
        let mut names = names_of(hook);
        if hook.identity.namesakes > 0 {
            names.push_str(&format!("\0{}", hook.identity.namesakes));
        }
        let mut id = Digest::of(names.as_bytes()).hex();
        id.truncate(16);
        // What a grant covers is compared before each run. The files of all other hooks are looked at now.
        let covered = hook.trust.fingerprint().filter(|taken| !taken.is_open_ended());
        let taken = covered.cloned().unwrap_or_else(|| Fingerprint::take(&places.project, hook));
        let mut files = taken.paths();
        let environment = hook.environment.as_ref().and_then(|environment| environment.get("HOME")).map(Path::new);
        let named = match hook.action.command() {
            Some(_) => files_named_by(hook, &places.project, environment.or(places.home.as_deref())),
            None => Vec::new(),
        };
        let outside: Vec<PathBuf> = named.into_iter().filter(|file| !files.contains(file) && is_code(file)).collect();
        files.extend(outside.iter().cloned());
        // Their stamps are read first: what is changed meanwhile is noticed the next time.
        let files = files.into_iter().map(|file| (FileStamp::read(&file), file)).map(|(stamp, file)| (file, stamp));
        let files = files.collect();
        // What cannot be read in full is known by its definition.
        let mut fingerprint = taken.content().unwrap_or_else(|| taken.definition()).hex();
        if !outside.is_empty() {
            let versions = outside.iter().map(|file| format!("\0{}\0{}", file.display(), version_of(file)));
            fingerprint = Digest::of((fingerprint + &versions.collect::<String>()).as_bytes()).hex();
        }
        Self { identity: HookIdentity { id, fingerprint }, files }
    }

    fn is_current(&self) -> bool {
        self.files.iter().all(|(file, stamp)| FileStamp::read(file) == *stamp)
    }
}

/// Whether a file is a script or a program, and not for example a log that the hook writes: that would be another version of
/// the hook after each run.
fn is_code(file: &Path) -> bool {
    const ENDINGS: [&str; 14] =
        ["sh", "bash", "zsh", "fish", "ps1", "py", "js", "mjs", "cjs", "ts", "mts", "rb", "pl", "php"];
    let has_ending = file.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
    #[cfg(unix)]
    let is_executable = || {
        use std::os::unix::fs::MetadataExt as _;
        file.metadata().is_ok_and(|about| about.mode() & 0o111 != 0)
    };
    #[cfg(not(unix))]
    let is_executable = || file.extension().is_some_and(|ending| ending == "exe");
    has_ending || is_executable()
}

/// The digest of a file outside of the project; of a large one its size and the time of its last change.
fn version_of(file: &Path) -> String {
    if let Ok(Some(bytes)) = read_within(file, &mut { LARGEST_OUTSIDE }) {
        return Digest::of(&bytes).hex();
    }
    let about = file.metadata().ok();
    let modified = about.as_ref().and_then(|about| about.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    format!("{:?} {:?}", about.map(|about| about.len()), modified)
}

impl Hook {
    /// Its name and version. Hooks that need no trust have no fingerprint; theirs is taken here.
    pub(crate) fn identity(&self, places: &FilePlaces) -> HookIdentity {
        let mut known = lock_mutex(&self.identity.known);
        match &*known {
            Some(current) if current.is_current() => current.identity.clone(),
            Some(_) | None => known.insert(KnownIdentity::of(places, self)).identity.clone(),
        }
    }
}
