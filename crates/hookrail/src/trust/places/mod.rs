//! The places that decide which hooks run: one list for the engine, for modules and for hosts.
//!
//! A place is protected whether it exists or not. Paths are judged as the kernel resolves them, and as they are written,
//! because some tools take `..` out of a path before they open it.

mod agents;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hookrail_spawn::{Environment, lock_mutex};

use crate::config::{RealPaths, real_path, without_dots};
use crate::hook::{Action, Hook};
use crate::trust::Fingerprint;

pub use agents::hook_folders;
use agents::{agents_places, is_work_folder};

/// What a load knows about the places of its project and its user.
#[derive(Debug, Default)]
pub(crate) struct KnownPlaces {
    pub(crate) project: PathBuf,
    pub(crate) home: Option<PathBuf>,
    /// Everything that the load read or looked for, and what the host named.
    pub(crate) named: Vec<PathBuf>,
}

/// The files and folders that decide which hooks run, of one configuration. What is below such a folder belongs to it.
///
/// ```
/// use hookrail::{Environment, HookSystem};
///
/// let project = std::env::temp_dir();
/// let hooks = HookSystem::builder(&project).environment(Environment::new()).build();
/// let places = hooks.protected_places();
/// assert!(places.protects(&project.join(".claude/settings.json")));
/// assert!(!places.protects(&project.join("src/main.rs")));
/// ```
#[derive(Debug, Default)]
pub struct ProtectedPlaces {
    known: KnownPlaces,
    hooks: Vec<Arc<Hook>>,
    /// Made when it is first needed, because most events concern no file, and made again when it is old.
    table: Mutex<Option<(Instant, Arc<Table>)>>,
}

/// Links may come and go while a configuration is in force. To follow them all takes a fraction of a millisecond.
const TABLE_AGE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Table {
    /// The project and the home directory, as they were named and as they are resolved.
    roots: Vec<PathBuf>,
    /// The project alone, in the same way.
    project: Vec<PathBuf>,
    /// Everything that is protected by its path, as it was named and as it is resolved, in the order of the text: to compare
    /// or to hash paths part by part takes many times longer.
    listed: Vec<PathBuf>,
}

impl Table {
    fn lists(&self, place: &[u8]) -> bool {
        self.listed.binary_search_by(|listed| listed.as_os_str().as_encoded_bytes().cmp(place)).is_ok()
    }

    fn protects(&self, real: &Path) -> bool {
        match is_plain(real) {
            true => self.protects_plain(real.as_os_str().as_encoded_bytes()),
            false => self.protects_plain(without_dots(real).as_os_str().as_encoded_bytes()),
        }
    }

    /// The same for the text of a plain path, which is compared as bytes: to take a path apart takes many times longer.
    fn protects_plain(&self, real: &[u8]) -> bool {
        // A project may itself lie in such a folder, as a worktree of an agent does. No place holds the whole project, so nothing
        // above the project has to be looked up.
        let inside = self.project.iter().find_map(|root| below(real, root.as_os_str().as_encoded_bytes()));
        let parts = parts_of(inside.unwrap_or(real));
        let before = real.len() - inside.map_or(real.len(), <[u8]>::len);
        let mut places = parts.clone().filter_map(|(_, end)| real.get(..before + end));
        is_in_hook_folder(parts.map(|(part, _)| part)) || places.any(|place| self.lists(place))
    }
}

impl ProtectedPlaces {
    /// The places of a configuration with these hooks. `environment` may name folders of agents.
    pub(crate) fn new(mut known: KnownPlaces, environment: &Environment, hooks: &[Arc<Hook>]) -> Self {
        known.named.extend(agents_places(environment, &known.project, known.home.as_deref()));
        Self { known, hooks: hooks.to_vec(), table: Mutex::default() }
    }

    /// Follows the links of all places again before the next question, for a host that asks seldom.
    pub fn look_again(&self) {
        *lock_mutex(&self.table) = None;
    }

    /// Whether what is at this path decides which hooks run. The path is absolute, and its links are resolved.
    #[must_use]
    pub fn protects(&self, real: &Path) -> bool {
        self.table().protects(real)
    }

    /// Whether that holds for something below this path, whether it exists yet or not.
    #[must_use]
    pub fn protects_below(&self, real: &Path) -> bool {
        let table = self.table();
        table.roots.iter().chain(&table.listed).any(|place| place.starts_with(real))
    }

    /// Where a path leads, if what is there decides which hooks run. A relative path is relative to `cwd`.
    #[must_use]
    pub fn protected_target(&self, cwd: &Path, path: &Path) -> Option<PathBuf> {
        let written = cwd.join(path);
        let is_plain = is_plain(&written);
        let lexical = if is_plain { Cow::Borrowed(written.as_path()) } else { Cow::Owned(without_dots(&written)) };
        let table = self.table();
        if table.protects(&lexical) {
            return Some(real_path(&lexical));
        }
        let has_dots = !is_plain && written.components().any(|part| part == Component::ParentDir);
        if !has_dots && hookrail_spawn::has_no_links(&self.below_real_project(&table, &lexical)) {
            return None;
        }
        let real = real_path(&lexical);
        if table.protects(&real) {
            return Some(real);
        }
        // The kernel goes up from where a link leads.
        let real = has_dots.then(|| real_path(&written))?;
        table.protects(&real).then_some(real)
    }

    /// The same for a path as a tool is given it. Some tools take `~` for the home directory, or ignore a leading `@`.
    pub(crate) fn target_of_argument(&self, cwd: &Path, path: &str) -> Option<PathBuf> {
        let home = || Some(self.known.home.as_deref()?.join(path.strip_prefix("~/")?));
        let mentioned = || path.strip_prefix('@').map(PathBuf::from);
        self.protected_target(cwd, Path::new(path))
            .or_else(|| self.protected_target(cwd, &home()?))
            .or_else(|| self.protected_target(cwd, &mentioned()?))
    }

    /// The path inside of the project, if it lies there.
    pub(crate) fn in_project<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        self.table().project.iter().find_map(|root| path.strip_prefix(root).ok())
    }

    /// Every place, as it was named and as it is resolved. Folders of agents are listed for the project and the home directory.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        let table = self.table();
        let folders = table.roots.iter().flat_map(|root| hook_folders().map(|folder| root.join(folder)));
        let mut paths: Vec<PathBuf> = table.listed.iter().cloned().chain(folders).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// A path of the project below the project's resolved folder, so that links above the project do not count.
    fn below_real_project<'p>(&self, table: &Table, path: &'p Path) -> Cow<'p, Path> {
        let named = &self.known.project;
        // Most projects are where they are named.
        let real = table.project.last().filter(|real| real.as_os_str() != named.as_os_str());
        match real.and_then(|real| Some(real.join(path.strip_prefix(named).ok()?))) {
            Some(below) => Cow::Owned(below),
            None => Cow::Borrowed(path),
        }
    }

    fn table(&self) -> Arc<Table> {
        let mut kept = lock_mutex(&self.table);
        if let Some((made, table)) = &*kept
            && made.elapsed() < TABLE_AGE
        {
            return Arc::clone(table);
        }
        let table = Arc::new(self.make_table());
        *kept = Some((Instant::now(), Arc::clone(&table)));
        table
    }

    fn make_table(&self) -> Table {
        let KnownPlaces { project, home, named } = &self.known;
        let mut paths = RealPaths::default();
        let real_roots: Vec<PathBuf> = [project].into_iter().chain(home).map(|root| paths.resolve(root)).collect();
        let roots: Vec<PathBuf> = [project].into_iter().chain(home).chain(&real_roots).cloned().collect();
        let mut listed: Vec<PathBuf> = named.iter().cloned().chain(self.files_of_hooks()).collect();
        listed.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
        listed.dedup_by(|one, other| one.as_os_str() == other.as_os_str());
        let resolved: Vec<PathBuf> = listed.iter().map(|place| paths.resolve(place)).collect();
        listed.extend(resolved);
        // A folder of an agent that is a link is protected where it leads.
        let folders = real_roots.iter().flat_map(|root| hook_folders().map(|folder| root.join(folder)));
        listed.extend(folders.filter_map(|folder| Some(paths.resolve(&folder)).filter(|real| *real != folder)));
        // Otherwise nothing at all could be written.
        let above: Vec<&OsStr> = roots.iter().flat_map(|root| root.ancestors()).map(Path::as_os_str).collect();
        listed.retain(|place| !above.contains(&place.as_os_str()));
        listed.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
        Table { project: [project].into_iter().chain(real_roots.first()).cloned().collect(), roots, listed }
    }

    /// The files that hooks name. No file of a project that is not trusted is read for this.
    fn files_of_hooks(&self) -> Vec<PathBuf> {
        let files = |hook: &Arc<Hook>| match (&hook.action, hook.trust.fingerprint()) {
            // The imports of an untrusted module are not followed: reading it could be made slow on purpose.
            (Action::Module(module), Some(_)) if !hook.trust.allows() => vec![module.to_path_buf()],
            (_, Some(taken)) => taken.paths(),
            (_, None) => Fingerprint::take(&self.known.project, hook).paths(),
        };
        self.hooks.iter().flat_map(files).collect()
    }
}

fn is_separator(byte: u8) -> bool {
    byte == b'/' || cfg!(windows) && byte == b'\\'
}

/// Whether the text of a path is its parts with one separator between them, and none of them is `.` or `..`.
fn is_plain(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let text = text.strip_prefix(b"/").unwrap_or(text);
    text.is_empty() || !text.split(|byte| is_separator(*byte)).any(|part| matches!(part, b"" | b"." | b".."))
}

/// The rest of a plain path below a folder; none if it leads elsewhere.
fn below<'p>(path: &'p [u8], folder: &[u8]) -> Option<&'p [u8]> {
    let rest = path.strip_prefix(folder)?;
    match rest.split_first() {
        None => Some(rest),
        Some((first, inside)) if is_separator(*first) => Some(inside),
        Some(_) => None,
    }
}

/// The parts of a plain path, each with the place in the text where it ends.
fn parts_of(path: &[u8]) -> impl Iterator<Item = (&[u8], usize)> + Clone {
    let mut end = 0;
    path.split(|byte| is_separator(*byte)).filter_map(move |part| {
        let at = end + part.len();
        end = at + 1;
        (!part.is_empty()).then_some((part, at))
    })
}

/// Whether a part of a path is a folder in which an agent keeps hooks, without those in which it keeps its own work. A
/// project inside of this one has such folders too.
fn is_in_hook_folder<'p>(parts: impl Iterator<Item = &'p [u8]>) -> bool {
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if !part.starts_with(b".") {
            continue;
        }
        // Some file systems ignore case.
        let Some(folder) = hook_folders().find(|folder| part.eq_ignore_ascii_case(folder.as_bytes())) else { continue };
        if !parts.peek().is_some_and(|next| is_work_folder(folder, next)) {
            return true;
        }
    }
    false
}

#[cfg(all(test, unix))]
#[path = "places_tests.rs"]
mod tests;
