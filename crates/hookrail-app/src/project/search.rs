//! Finds the project that a directory belongs to.

use std::cell::{LazyCell, OnceCell};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hookrail::DialectId;
use hookrail::trust::{GuardedProjects, TrustError};
use hookrail_spawn::real_path;

use crate::config::{EnabledDialect, HookrailConfiguration, ProjectFileTrust};

/// What makes a folder a project: the places in which hooks of a project are configured.
const PROJECT_MARKS: [&str; 6] =
    [".llxprt/settings.json", ".x-code/plugins", ".xcsh/hooks", ".claude/hooks", ".hookrail/config.toml", ".hookrail"];

/// The same for dialects that are off unless a user or the machine enables them.
const DIALECT_MARKS: [(DialectId, &str); 5] = [
    (DialectId::Claude, ".claude/settings.json"),
    (DialectId::Claude, ".claude/settings.local.json"),
    (DialectId::Gemini, ".gemini/settings.json"),
    (DialectId::Codex, ".codex/hooks.json"),
    (DialectId::Codex, ".codex/config.toml"),
];

/// Returns the nearest folder upwards that has hooks, else the nearest with a `.git`, else the directory itself. An empty
/// folder has no hooks.
///
/// The home directory is never a project: its hooks are the user's, not a project's. The search does not leave the file
/// system and does not pass a folder of another user, because that user could put hooks there.
pub fn find_project(start: &Path, home: Option<&Path>) -> PathBuf {
    find_project_with_grants(start, home, GuardedProjects::default)
}

/// Returns the project like [`find_project`]. A folder for which guards were granted is one too, whatever was removed from it.
pub fn find_project_with_grants(
    start: &Path,
    home: Option<&Path>,
    guarded: impl FnOnce() -> GuardedProjects,
) -> PathBuf {
    let search = UpwardSearch::upwards_from(start, home);
    let guarded = LazyCell::new(guarded);
    search.configured(&guarded).next().or_else(|| search.repository()).unwrap_or(&search.start).to_owned()
}

/// The project that the hooks of an agent are taken from.
#[derive(Debug)]
pub struct GuardedProject {
    /// Its directory.
    pub root: PathBuf,
    /// A nearer folder with hooks of which none is granted.
    pub passed_over: Option<PathBuf>,
    /// Why it is not known which of several folders has the grants, so that `root` may not be the one that is guarded.
    pub unknown: Option<TrustError>,
}

/// Returns the project like [`find_project_with_grants`], but a folder without a grant does not hide a folder above it that has one: the
/// agent may have made the nearer one, and the guards of the other must stay.
pub fn find_guarded_project(
    start: &Path,
    home: Option<&Path>,
    guarded: impl FnOnce() -> GuardedProjects,
    has_grant: impl Fn(&Path) -> Result<bool, TrustError>,
) -> GuardedProject {
    let search = UpwardSearch::upwards_from(start, home);
    let guarded = LazyCell::new(guarded);
    let mut configured = search.configured(&guarded);
    let Some(nearest) = configured.next() else {
        let root = search.repository().unwrap_or(&search.start).to_owned();
        return GuardedProject { root, passed_over: None, unknown: None };
    };
    let first = |unknown| GuardedProject { root: nearest.to_owned(), passed_over: None, unknown };
    let mut above = configured.peekable();
    // Grants are read only if there is a choice.
    if above.peek().is_none() {
        return first(None);
    }
    for folder in std::iter::once(nearest).chain(above) {
        match has_grant(folder) {
            Ok(true) if folder == nearest => break,
            Ok(true) => {
                return GuardedProject {
                    root: folder.to_owned(),
                    passed_over: Some(nearest.to_owned()),
                    unknown: None,
                };
            }
            Ok(false) => {}
            Err(error) => return first(Some(error)),
        }
    }
    first(None)
}

/// The folders that a search may find.
struct UpwardSearch {
    start: PathBuf,
    home: Option<PathBuf>,
    /// The dialects that are enabled, once a folder has a file of one of them.
    enabled: OnceCell<Vec<EnabledDialect>>,
}

impl UpwardSearch {
    fn upwards_from(start: &Path, home: Option<&Path>) -> Self {
        let start = real_path(start).unwrap_or_else(|_| start.to_owned());
        Self { start, home: home.and_then(|home| real_path(home).ok()), enabled: OnceCell::new() }
    }

    fn folders(&self) -> impl Iterator<Item = &Path> {
        let reach = SearchReach::of(&self.start);
        let within = self.start.ancestors().take_while(move |folder| *folder == self.start || reach.includes(folder));
        within.filter(|folder| Some(*folder) != self.home.as_deref())
    }

    /// The folders with hooks, and those for which guards were granted. Grants are read only if the start has no hooks.
    fn configured<F: FnOnce() -> GuardedProjects>(
        &self,
        guarded: &LazyCell<GuardedProjects, F>,
    ) -> impl Iterator<Item = &Path> {
        self.folders().filter(move |folder| self.has_hooks(folder) || guarded.contains(folder))
    }

    fn has_hooks(&self, folder: &Path) -> bool {
        let is_enabled = |dialect: DialectId| {
            let load =
                || HookrailConfiguration::load(&self.start, ProjectFileTrust::Untrusted).enabled_dialects().to_vec();
            self.enabled.get_or_init(load).iter().any(|enabled| enabled.name == dialect.name())
        };
        PROJECT_MARKS.iter().any(|mark| is_used(&folder.join(mark)))
            || DIALECT_MARKS.iter().any(|(dialect, mark)| is_used(&folder.join(mark)) && is_enabled(*dialect))
    }

    fn repository(&self) -> Option<&Path> {
        self.folders().find(|folder| folder.join(".git").exists())
    }
}

/// Whether there is a file, or a folder with something in it. What cannot be looked at may hold a guard, so it counts.
fn is_used(place: &Path) -> bool {
    match place.metadata() {
        Ok(about) if about.is_dir() => std::fs::read_dir(place).map_or(true, |mut entries| entries.next().is_some()),
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

/// How far upwards a search goes: to the end of the file system, and to the first folder of another user.
#[cfg(unix)]
struct SearchReach {
    /// The file system of a start that belongs to this user.
    device: Option<u64>,
    user: u32,
}

#[cfg(unix)]
impl SearchReach {
    fn of(start: &Path) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let user = rustix::process::geteuid().as_raw();
        let own = start.metadata().ok().filter(|about| about.uid() == user);
        Self { device: own.map(|about| about.dev()), user }
    }

    fn includes(&self, folder: &Path) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let Some(device) = self.device else { return false };
        folder.metadata().is_ok_and(|about| about.dev() == device && about.uid() == self.user)
    }
}

#[cfg(not(unix))]
struct SearchReach;

#[cfg(not(unix))]
impl SearchReach {
    fn of(_start: &Path) -> Self {
        Self
    }

    fn includes(&self, folder: &Path) -> bool {
        folder.exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(marks: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for mark in marks {
            std::fs::create_dir_all(root.join(mark)).unwrap();
            if mark.ends_with("hooks") || mark.ends_with(".json") {
                std::fs::write(root.join(mark).join("a-file"), "").unwrap();
            }
        }
        (folder, root)
    }

    #[test]
    fn the_nearest_folder_with_hooks_wins_over_a_nearer_repository() {
        let (_folder, root) = project(&["a/.xcsh/hooks", "a/b/.git", "a/b/c"]);
        assert_eq!(find_project(&root.join("a/b/c"), None), root.join("a"));
    }

    #[test]
    fn an_empty_folder_is_not_a_project() {
        let (_folder, root) = project(&["a/.xcsh/hooks", "a/b/.hookrail", "a/b/.x-code/plugins"]);
        assert_eq!(find_project(&root.join("a/b"), None), root.join("a"));
        std::fs::write(root.join("a/b/.hookrail/config.toml"), "").unwrap();
        assert_eq!(find_project(&root.join("a/b"), None), root.join("a/b"));
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_whose_settings_cannot_be_looked_at_is_a_project() {
        let (_folder, root) = project(&["a/.llxprt", "a/b/.git"]);
        let settings = root.join("a/.llxprt/settings.json");
        std::os::unix::fs::symlink("nowhere", &settings).unwrap();
        assert_eq!(find_project(&root.join("a/b"), None), root.join("a/b"), "what is not there is no project");
        std::fs::remove_file(&settings).unwrap();
        std::os::unix::fs::symlink("settings.json", &settings).unwrap();
        assert_eq!(find_project(&root.join("a/b"), None), root.join("a"), "a link that leads to itself is an error");
    }

    #[test]
    fn a_folder_without_a_grant_does_not_hide_one_above_it_that_has_one() {
        let (_folder, root) = project(&["a/.xcsh/hooks", "a/b/.xcsh/hooks", "a/b/c"]);
        let found = |granted: &[&str]| {
            let found = find_guarded_project(&root.join("a/b/c"), None, GuardedProjects::default, |folder| {
                Ok(granted.iter().any(|granted| root.join(granted) == folder))
            });
            let relative = |folder: &Path| folder.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            (relative(&found.root), found.passed_over.as_deref().map(relative))
        };
        assert_eq!(found(&["a"]), ("a".to_owned(), Some("a/b".to_owned())));
        for granted in [&[][..], &["a/b"], &["a", "a/b"]] {
            assert_eq!(found(granted), ("a/b".to_owned(), None), "{granted:?}");
        }
    }

    #[test]
    fn grants_that_cannot_be_read_leave_it_open_which_of_several_folders_is_guarded() {
        let (_folder, root) = project(&["a/.xcsh/hooks", "a/b/.xcsh/hooks", "a/b/c"]);
        let found = |start: &str| {
            find_guarded_project(&root.join(start), None, GuardedProjects::default, |folder| {
                Err(TrustError::Exposed { path: folder.to_owned() })
            })
        };
        assert!(found("a/b/c").unknown.is_some());
        assert!(found("a").unknown.is_none(), "there is one folder only, and it is loaded with the same store");
    }

    #[test]
    fn without_hooks_the_nearest_repository_is_the_project() {
        let (_folder, root) = project(&["a/.git", "a/b/c"]);
        assert_eq!(find_project(&root.join("a/b/c"), None), root.join("a"));
        let (_folder, root) = project(&["a/b"]);
        assert_eq!(find_project(&root.join("a/b"), None), root.join("a/b"));
    }

    #[cfg(unix)]
    #[test]
    fn the_search_does_not_pass_a_folder_of_another_user() {
        let (_folder, root) = project(&["a/.xcsh/hooks", "a/b/c"]);
        if std::os::unix::fs::chown(root.join("a/b"), Some(12345), None).is_err() {
            return; // only root can give a folder away
        }
        assert_eq!(find_project(&root.join("a/b/c"), None), root.join("a/b/c"));
        assert_eq!(find_project(&root.join("a/b"), None), root.join("a/b"));
        assert_eq!(find_project(&root.join("a"), None), root.join("a"));
    }

    #[test]
    fn the_home_directory_is_never_a_project() {
        let (_folder, root) = project(&["home/.llxprt/settings.json", "home/.git", "home/work/x"]);
        assert_eq!(find_project(&root.join("home/work/x"), Some(&root.join("home"))), root.join("home/work/x"));
    }
}
