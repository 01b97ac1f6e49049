//! The store of grants: outside every repository, readable and writable by its owner only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use hookrail_spawn::{Replace, Writers, real_path};
use serde::{Deserialize, Serialize};

use super::grants::Grants;
use super::missing::NewGuardFacts;
use super::texts::GrantedTexts;
use crate::config::is_want_of_resources;
use crate::hook::grant::GrantedFile;
use crate::text::digest::hex;
use crate::text::log::log;

/// Returns what the user has trusted. The embedding host may bring its own store.
pub trait TrustStore: Send + Sync {
    /// Everything granted for a project, which is named by its canonical path.
    ///
    /// # Errors
    /// When the store exists and cannot be relied on.
    fn grants(&self, project: &Path) -> Result<Grants, TrustError>;

    /// Remembers what a load found out about granted guards of a project. A store that does not is served by what its
    /// grants say otherwise.
    fn remember(&self, _project: &Path, _found: &[NewGuardFacts]) {}

    /// The files behind the store, whose change would change what is trusted.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// An error of the operating system.
    #[error("the trust store `{}` cannot be used: {source}", path.display())]
    Io {
        /// The store's file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Its content is not what it should be.
    #[error("the trust store `{}` is damaged: {source}", path.display())]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// It was written by a later version.
    #[error("the trust store `{}` has version {version}, which this program does not know", path.display())]
    Version {
        /// The store's file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Others can write it.
    #[error("the trust store `{}` can be written by other users, so its grants are ignored", path.display())]
    Exposed {
        /// The store's file, or its folder.
        path: PathBuf,
    },
    /// It belongs to another user.
    #[error("the trust store `{}` belongs to another user, so its grants are ignored", path.display())]
    Foreign {
        /// The store's file, or its folder.
        path: PathBuf,
    },
    /// It is a link, so that the owner of its target would decide what is trusted.
    #[error("the trust store `{}` is a link, so its grants are ignored", path.display())]
    Link {
        /// The store's file.
        path: PathBuf,
    },
    /// It is inside the project, which could then grant itself anything.
    #[error("the trust store `{}` lies in the project itself, so its grants are ignored", path.display())]
    InProject {
        /// The store's file.
        path: PathBuf,
    },
}

impl TrustError {
    /// Whether the store could not be read for lack of descriptors or memory, which says nothing about the store.
    #[must_use]
    pub fn is_want_of_resources(&self) -> bool {
        matches!(self, Self::Io { source, .. } if is_want_of_resources(source))
    }

    /// What its user does so that the store can be used again, as a sentence without its end.
    #[must_use]
    pub fn repair(&self) -> String {
        match self {
            Self::Exposed { path } => format!("let only its owner write it: `chmod go-w {}`", path.display()),
            Self::Foreign { path } => format!("make it your own: `sudo chown $USER {}`", path.display()),
            Self::Version { .. } => "use the version of hookrail that wrote it, or a later one".to_owned(),
            Self::Link { path } => format!("replace the link `{}` with the file itself", path.display()),
            Self::InProject { .. } => "set `XDG_STATE_HOME` to a directory outside of the project".to_owned(),
            Self::Damaged { path, .. } => format!(
                "bring back a copy, or move it away with `mv {0} {0}.broken` and run `hookrail trust grant`",
                path.display()
            ),
            Self::Io { .. } if self.is_want_of_resources() => {
                "free file descriptors or memory; the next event tries again".to_owned()
            }
            Self::Io { path, source } => match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    format!("make it its owner's: `sudo chown $USER {0}` and `chmod u+rw {0}`", path.display())
                }
                _ => format!("make `{}` a file that can be read, or move it away and grant again", path.display()),
            },
        }
    }
}

/// The store in a file.
#[derive(Clone, Debug)]
pub struct FileTrustStore {
    path: PathBuf,
    /// The one project that may contain the store: the home directory, which belongs to the user.
    home: Option<PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    version: u32,
    #[serde(default)]
    projects: BTreeMap<String, Grants>,
}

/// The members that every version of the store has.
#[derive(Debug, Deserialize)]
struct Versioned {
    version: u32,
}

/// Projects for which guards were granted.
#[derive(Clone, Debug, Default)]
pub struct GuardedProjects(BTreeSet<String>);

impl GuardedProjects {
    /// Whether the folder with this canonical path is one of them.
    #[must_use]
    pub fn contains(&self, folder: &Path) -> bool {
        !self.0.is_empty() && self.0.contains(&key(folder))
    }
}

/// Whether a change of the store waits for another program that changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Yes,
    No,
}

/// The version that is written: 2, in which grants hold their definitions in words.
const VERSION: u32 = 2;

/// The oldest version that is read.
const OLDEST: u32 = 1;

/// The largest file that is read as a store.
const LARGEST: u64 = 64 * 1024 * 1024;

impl FileTrustStore {
    /// The store in that file, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), home: None }
    }

    /// The user's own store, at its default place.
    #[must_use]
    pub fn of_user(home: Option<&Path>, xdg_state_home: Option<&Path>) -> Option<Self> {
        let path = Self::default_path(home, xdg_state_home)?;
        Some(Self { path, home: home.map(Path::to_owned) })
    }

    /// The default path of the store. A relative path would mean another file in every directory, perhaps one of the
    /// project, and is ignored.
    #[must_use]
    pub fn default_path(home: Option<&Path>, xdg_state_home: Option<&Path>) -> Option<PathBuf> {
        let absolute = |path: Option<&Path>| path.filter(|path| path.is_absolute()).map(Path::to_owned);
        let state = absolute(xdg_state_home).or_else(|| absolute(home).map(|home| home.join(".local/state")));
        state.map(|state| state.join("hookrail/trust.json"))
    }

    /// The store's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes the grants of a project under a lock, so that two programs do not lose each other's grants.
    ///
    /// # Errors
    /// When the store cannot be read, or not be written.
    pub fn change(&self, project: &Path, change: impl FnOnce(&mut Grants)) -> Result<(), TrustError> {
        self.change_with(project, Waiting::Yes, change)
    }

    fn change_with(
        &self,
        project: &Path,
        waiting: Waiting,
        change: impl FnOnce(&mut Grants),
    ) -> Result<(), TrustError> {
        self.check_place(project)?;
        let folder = self.folder();
        hookrail_spawn::create_private_folder(folder).map_err(|source| self.io(source))?;
        // Other users could change grants in a folder that they can write, so nothing is granted there.
        self.check_exposure(folder, &fs::metadata(folder).map_err(|source| self.io(source))?)?;
        let lock = private_file(&self.path.with_extension("lock")).map_err(|source| self.io(source))?;
        match waiting {
            Waiting::Yes => lock.lock().map_err(|source| self.io(source))?,
            Waiting::No => lock.try_lock().map_err(|error| self.io(error.into()))?,
        }
        let mut contents = self.read()?;
        contents.version = VERSION;
        let key = key(project);
        let grants = contents.projects.entry(key.clone()).or_default();
        change(grants);
        if *grants == Grants::default() {
            contents.projects.remove(&key);
        }
        self.remove_leftovers();
        self.texts().keep(project, &contents.projects);
        self.write(&contents).map_err(|source| self.io(source))?;
        // A grant that cannot be read back would be refused later, far from its cause.
        let written = self.read()?;
        if written.projects == contents.projects {
            return Ok(());
        }
        Err(self.io(io::Error::other("it does not hold what was written to it")))
    }

    /// The projects for which guards were granted. A store that cannot be read names none.
    #[must_use]
    pub fn guarded_projects(&self) -> GuardedProjects {
        let projects = self.read().map(|contents| contents.projects).unwrap_or_default();
        let has_guard = |(_, grants): &(String, Grants)| grants.hooks.iter().any(|grant| grant.guard.is_some());
        GuardedProjects(projects.into_iter().filter(has_guard).map(|(project, _)| project).collect())
    }

    /// The text of a file as it was when a hook was granted with it; nothing if it was too large, is no text, or lay
    /// outside of its project.
    #[must_use]
    pub fn granted_text(&self, file: &GrantedFile) -> Option<String> {
        self.texts().read(&file.sha256)
    }

    fn texts(&self) -> GrantedTexts {
        GrantedTexts::new(self.folder().join("granted"))
    }

    /// Removes temporary files of writers that were killed. The lock must be held.
    fn remove_leftovers(&self) {
        let name = self.path.file_stem().map(|stem| format!("{}.tmp-", stem.to_string_lossy())).unwrap_or_default();
        for entry in fs::read_dir(self.folder()).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&name) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn check_exposure(&self, path: &Path, about: &fs::Metadata) -> Result<(), TrustError> {
        let path = path.to_owned();
        match hookrail_spawn::writers(about) {
            Writers::Ours => Ok(()),
            Writers::AnotherOwner => Err(TrustError::Foreign { path }),
            Writers::Others => Err(TrustError::Exposed { path }),
        }
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Rejects a store inside the project: the project could bring one and grant itself anything.
    fn check_place(&self, project: &Path) -> Result<(), TrustError> {
        let real = |folder: &Path| real_path(folder).ok();
        let inside = self.folder().ancestors().find_map(real).is_some_and(|folder| folder.starts_with(project));
        let is_home = || self.home.as_ref().is_some_and(|home| real_path(home).is_ok_and(|home| home == project));
        if inside && !is_home() {
            return Err(TrustError::InProject { path: self.path.clone() });
        }
        Ok(())
    }

    fn read(&self) -> Result<Contents, TrustError> {
        let empty = || Contents { version: VERSION, projects: BTreeMap::new() };
        let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let named = self.path.symlink_metadata();
        if named.as_ref().is_ok_and(fs::Metadata::is_symlink) {
            return Err(TrustError::Link { path: self.path.clone() });
        }
        let file = match hookrail_spawn::open_regular(&self.path) {
            Ok(file) => file,
            // Nothing is granted where there is no store, so one sign of its absence is not enough.
            Err(error) if is_missing(&error) && named.is_err_and(|error| is_missing(&error)) => return Ok(empty()),
            Err(source) => return Err(self.io(source)),
        };
        // The open file is checked, because another one may have its name by now.
        let about = file.metadata().map_err(|source| self.io(source))?;
        let folder = fs::metadata(self.folder()).map_err(|source| self.io(source))?;
        self.check_exposure(&self.path, &about)?;
        self.check_exposure(self.folder(), &folder)?;
        let mut text = String::with_capacity(usize::try_from(about.len().min(LARGEST)).unwrap_or(0) + 1);
        file.take(LARGEST).read_to_string(&mut text).map_err(|source| self.io(source))?;
        let damaged = |source| TrustError::Damaged { path: self.path.clone(), source };
        let contents: Result<Contents, _> = serde_json::from_str(&text);
        // A later version may have another shape, so its version is parsed alone.
        let version = match &contents {
            Ok(contents) => contents.version,
            Err(_) => serde_json::from_str::<Versioned>(&text).map_err(damaged)?.version,
        };
        if !(OLDEST..=VERSION).contains(&version) {
            return Err(TrustError::Version { path: self.path.clone(), version });
        }
        contents.map_err(damaged)
    }

    fn write(&self, contents: &Contents) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(contents).map_err(io::Error::other)?;
        text.push('\n');
        hookrail_spawn::replace_file(&self.path, text.as_bytes(), &Replace::PRIVATE)
    }

    fn io(&self, source: io::Error) -> TrustError {
        TrustError::Io { path: self.path.clone(), source }
    }
}

impl TrustStore for FileTrustStore {
    fn grants(&self, project: &Path) -> Result<Grants, TrustError> {
        self.check_place(project)?;
        let mut contents = self.read()?;
        Ok(contents.projects.remove(&key(project)).unwrap_or_default())
    }

    fn remember(&self, project: &Path, found: &[NewGuardFacts]) {
        // The next load tries again, so neither another writer nor a full disk is waited for.
        let remembered = self.change_with(project, Waiting::No, |grants| grants.remember(found));
        if let Err(error) = remembered {
            log!(debug, target: "hookrail::trust", error = error.to_string(), "facts about guards are not stored");
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }
}

/// The key of a project in the store. Two projects never share one, even if their paths are not UTF-8.
fn key(project: &Path) -> String {
    match project.to_str() {
        Some(text) => text.to_owned(),
        None => format!("bytes:{}", hex(project.as_os_str().as_encoded_bytes())),
    }
}

fn private_file(path: &Path) -> io::Result<fs::File> {
    hookrail_spawn::private_file_options().create(true).truncate(false).write(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_survive_and_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let store = FileTrustStore::new(dir.path().join("deep/trust.json"));
        let project = Path::new("/p");
        assert_eq!(store.grants(project).unwrap(), Grants::default());
        store.change(project, |grants| grants.project = true).unwrap();
        assert!(store.grants(project).unwrap().project);
        assert!(!store.grants(Path::new("/q")).unwrap().project);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(fs::metadata(store.path()).unwrap().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(store.path().parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_damaged_a_newer_and_an_exposed_store_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trust.json");
        let store = FileTrustStore::new(&path);
        fs::write(&path, "{").unwrap();
        restrict(&path, 0o600);
        assert!(matches!(store.grants(Path::new("/p")), Err(TrustError::Damaged { .. })));
        fs::write(&path, r#"{"version":9}"#).unwrap();
        assert!(matches!(store.grants(Path::new("/p")), Err(TrustError::Version { version: 9, .. })));
        fs::write(&path, r#"{"version":1,"projects":{"/p":{"project":true}}}"#).unwrap();
        assert!(store.grants(Path::new("/p")).unwrap().project);
        #[cfg(unix)]
        {
            restrict(&path, 0o666);
            assert!(matches!(store.grants(Path::new("/p")), Err(TrustError::Exposed { .. })));
            assert!(matches!(store.change(Path::new("/p"), |_| {}), Err(TrustError::Exposed { .. })));
            restrict(&path, 0o600);
            restrict(dir.path(), 0o777);
            assert!(matches!(store.grants(Path::new("/p")), Err(TrustError::Exposed { .. })));
            restrict(dir.path(), 0o700);
            assert!(store.grants(Path::new("/p")).unwrap().project);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_write_to_takes_no_grant() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("state");
        fs::create_dir(&folder).unwrap();
        restrict(&folder, 0o775);
        let store = FileTrustStore::new(folder.join("trust.json"));
        assert!(matches!(
            store.change(Path::new("/p"), |grants| grants.project = true),
            Err(TrustError::Exposed { .. })
        ));
        assert!(!store.path().exists(), "nothing was written");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_left_of_a_writer_that_failed_or_was_ended() {
        let dir = tempfile::tempdir().unwrap();
        let store = FileTrustStore::new(dir.path().join("trust.json"));
        fs::write(dir.path().join("trust.tmp-1"), "half").unwrap();
        store.change(Path::new("/p"), |grants| grants.project = true).unwrap();
        let names = || fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name()).collect::<Vec<_>>();
        assert!(!names().iter().any(|name| name.to_string_lossy().contains("tmp")), "{:?}", names());
        // A folder cannot be replaced by a file, so the rename fails.
        fs::remove_file(store.path()).unwrap();
        fs::create_dir(store.path()).unwrap();
        let contents = Contents { version: VERSION, projects: BTreeMap::new() };
        assert!(store.write(&contents).is_err());
        assert!(!names().iter().any(|name| name.to_string_lossy().contains("tmp")), "{:?}", names());
    }

    #[test]
    fn the_granted_text_is_kept_while_its_grant_is() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap().join("p");
        fs::create_dir(&project).unwrap();
        let store = FileTrustStore::new(dir.path().join("state/trust.json"));
        let granted = |name: &str, bytes: &[u8]| {
            fs::write(project.join(name), bytes).unwrap();
            GrantedFile { path: project.join(name), sha256: super::super::Digest::of(bytes).hex() }
        };
        let files =
            [granted("a.sh", b"one\n"), granted("large", &vec![b'x'; 300 * 1024]), granted("binary", b"\xff\0")];
        let text = serde_json::json!({"hook": "h", "event": "e", "definition": "d", "content": "c", "files": files});
        let grant: super::super::Grant = serde_json::from_value(text).unwrap();
        store.change(&project, |grants| grants.hooks.push(grant)).unwrap();
        fs::write(project.join("a.sh"), "two\n").unwrap();
        assert_eq!(store.granted_text(&files[0]).as_deref(), Some("one\n"));
        assert_eq!((store.granted_text(&files[1]), store.granted_text(&files[2])), (None, None));
        fs::write(dir.path().join("state/granted").join(&files[0].sha256), "forged\n").unwrap();
        assert_eq!(store.granted_text(&files[0]), None, "only what has the granted digest is shown");
        store.change(&project, |grants| grants.hooks.clear()).unwrap();
        assert_eq!(fs::read_dir(dir.path().join("state/granted")).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_count_and_a_pipe_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trust.json");
        fs::write(dir.path().join("other.json"), r#"{"version":1,"projects":{"/p":{"project":true}}}"#).unwrap();
        std::os::unix::fs::symlink("other.json", &path).unwrap();
        let store = FileTrustStore::new(&path);
        assert!(matches!(store.grants(Path::new("/p")), Err(TrustError::Link { .. })));
        assert!(matches!(store.change(Path::new("/p"), |_| {}), Err(TrustError::Link { .. })));
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(matches!(store.grants(Path::new("/p")), Err(TrustError::Io { .. })));
    }

    #[test]
    fn a_store_inside_the_project_does_not_count_unless_that_is_the_users_home() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let store = FileTrustStore::of_user(Some(&home), None).unwrap();
        store.change(&home, |grants| grants.project = true).unwrap();
        assert!(store.grants(&home).unwrap().project);
        let around = home.parent().unwrap();
        assert!(matches!(store.grants(around), Err(TrustError::InProject { .. })));
        let elsewhere = FileTrustStore::new(home.join("state/hookrail/trust.json"));
        assert!(matches!(elsewhere.change(&home, |_| {}), Err(TrustError::InProject { .. })));
        assert!(!home.join("state").exists(), "nothing was written");
        let relative = Path::new("h");
        assert_eq!(FileTrustStore::default_path(Some(relative), Some(relative)), None);
    }

    #[test]
    fn a_store_of_the_first_version_is_read_and_written_as_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trust.json");
        let old = r#"{"version":1,"projects":{"/p":{"project":true,"hooks":[
            {"hook":"h","event":"before-tool","definition":"d","content":"c","files":[{"path":"/p/a","sha256":"x"}]}]}}}"#;
        fs::write(&path, old).unwrap();
        restrict(&path, 0o600);
        let store = FileTrustStore::new(&path);
        assert_eq!(store.grants(Path::new("/p")).unwrap().hooks[0].files[0].sha256, "x");
        store.change(Path::new("/q"), |grants| grants.project = true).unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("\"version\": 2"));
        assert_eq!(store.grants(Path::new("/p")).unwrap().hooks.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn projects_whose_paths_are_no_text_do_not_share_a_name() {
        use std::os::unix::ffi::OsStrExt as _;
        let of = |bytes: &[u8]| key(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        assert_ne!(of(b"/p/\xff"), of(b"/p/\xfe"));
        assert_eq!(of("/p/é".as_bytes()), "/p/é");
    }

    #[cfg(unix)]
    fn restrict(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[cfg(not(unix))]
    fn restrict(_path: &Path, _mode: u32) {}
}
