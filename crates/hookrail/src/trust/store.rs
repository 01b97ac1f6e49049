//! Where grants are kept: outside every repository, readable and writable by their owner only.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fingerprint::{Fingerprint, NamedFile};
use crate::hook::{Hook, Trust};
use crate::run::Capabilities;

/// Answers what a user has trusted. The embedding host may bring its own.
pub trait TrustStore: Send + Sync {
    /// Everything granted for a project, which is named by its canonical path.
    ///
    /// # Errors
    /// When the store exists and cannot be relied on.
    fn grants(&self, project: &Path) -> Result<Grants, TrustError>;

    /// The files behind the store, whose change would change what is trusted.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The operating system says no.
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
    #[error("the trust store `{}` can be written by others, so nothing in it counts", path.display())]
    Exposed {
        /// The store's file.
        path: PathBuf,
    },
}

/// What was granted for one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grants {
    /// Whether the project itself is trusted, which covers its switches.
    #[serde(default)]
    pub project: bool,
    /// The hooks.
    #[serde(default)]
    pub hooks: Vec<Grant>,
}

/// One granted hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// What people call it.
    pub hook: String,
    /// Its event.
    pub event: String,
    /// The digest of its definition.
    pub definition: String,
    /// The digest of its definition and files.
    pub content: String,
    /// The files that were looked at, with what was in them.
    #[serde(default)]
    pub files: Vec<GrantedFile>,
    /// The only capabilities it has, when the grant narrows them: `read`, `write`, `run`, `network`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
}

impl Grant {
    /// What the grant leaves to a module. A name that nobody here knows leaves it nothing.
    fn narrowed_to(&self) -> Option<Capabilities> {
        let names = self.capabilities.as_ref()?;
        Some(Capabilities::of_names(names.iter().map(String::as_str)).unwrap_or(Capabilities::NONE))
    }
}

/// A file as it was when its hook was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GrantedFile {
    /// Where it is.
    pub path: PathBuf,
    /// The digest of its bytes.
    pub sha256: String,
}

impl Grants {
    /// What these grants say about a hook.
    #[must_use]
    pub fn judge(&self, fingerprint: Fingerprint) -> Trust {
        let definition = fingerprint.definition().hex();
        let content = fingerprint.content().map(|digest| digest.hex());
        match self.hooks.iter().find(|grant| grant.definition == definition) {
            Some(grant) if Some(&grant.content) == content.as_ref() => {
                Trust::Granted(fingerprint.narrowed_to(grant.narrowed_to()))
            }
            Some(_) => Trust::Changed(fingerprint),
            None => Trust::Never(fingerprint),
        }
    }

    /// Adds a hook. Returns whether it could be granted: what cannot be fingerprinted cannot be trusted.
    pub fn grant(&mut self, hook: &Hook, fingerprint: &Fingerprint) -> bool {
        let Some(content) = fingerprint.content() else { return false };
        let grant = Grant {
            hook: hook.label.to_string(),
            event: hook.event.name().to_owned(),
            definition: fingerprint.definition().hex(),
            content: content.hex(),
            files: fingerprint.files().iter().filter_map(granted_file).collect(),
            capabilities: None,
        };
        self.hooks.retain(|old| old.definition != grant.definition);
        self.hooks.push(grant);
        true
    }

    /// Leaves a granted module these capabilities and no others.
    pub fn narrow(&mut self, fingerprint: &Fingerprint, capabilities: &[String]) {
        let definition = fingerprint.definition().hex();
        for grant in self.hooks.iter_mut().filter(|grant| grant.definition == definition) {
            grant.capabilities = Some(capabilities.to_vec());
        }
    }
}

fn granted_file(file: &NamedFile) -> Option<GrantedFile> {
    Some(GrantedFile { path: file.path.clone(), sha256: file.digest?.hex() })
}

/// The store in a file.
#[derive(Clone, Debug)]
pub struct FileTrustStore {
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    version: u32,
    #[serde(default)]
    projects: BTreeMap<String, Grants>,
}

const VERSION: u32 = 1;

impl FileTrustStore {
    /// The store in that file, which need not exist yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the store is by default.
    #[must_use]
    pub fn default_path(home: Option<&Path>, xdg_state_home: Option<&Path>) -> Option<PathBuf> {
        let state = xdg_state_home.filter(|path| path.is_absolute()).map(Path::to_owned);
        state.or_else(|| home.map(|home| home.join(".local/state"))).map(|state| state.join("hookrail/trust.json"))
    }

    /// The store's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes the grants of a project. Two programs that do so at once do not lose each other's grants.
    ///
    /// # Errors
    /// When the store cannot be read, or not be written.
    pub fn change(&self, project: &Path, change: impl FnOnce(&mut Grants)) -> Result<(), TrustError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        create_private_folder(folder).map_err(|source| self.io(source))?;
        let lock = private_file(&self.path.with_extension("lock")).map_err(|source| self.io(source))?;
        lock.lock().map_err(|source| self.io(source))?;
        let mut contents = self.read()?;
        let key = project.to_string_lossy().into_owned();
        let grants = contents.projects.entry(key.clone()).or_default();
        change(grants);
        if *grants == Grants::default() {
            contents.projects.remove(&key);
        }
        self.write(&contents).map_err(|source| self.io(source))
    }

    fn read(&self) -> Result<Contents, TrustError> {
        let text = match hookrail_spawn::open_regular(&self.path).and_then(io::read_to_string) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Contents { version: VERSION, projects: BTreeMap::new() });
            }
            Err(source) => return Err(self.io(source)),
        };
        if is_exposed(&self.path).map_err(|source| self.io(source))? {
            return Err(TrustError::Exposed { path: self.path.clone() });
        }
        let contents: Contents =
            serde_json::from_str(&text).map_err(|source| TrustError::Damaged { path: self.path.clone(), source })?;
        if contents.version != VERSION {
            return Err(TrustError::Version { path: self.path.clone(), version: contents.version });
        }
        Ok(contents)
    }

    /// Writes a new file beside the old one and puts it in its place, so that a reader sees one or the other whole.
    fn write(&self, contents: &Contents) -> io::Result<()> {
        let beside = self.path.with_extension(format!("tmp-{}", std::process::id()));
        let mut file = private_file(&beside)?;
        file.set_len(0)?;
        let text = serde_json::to_string_pretty(contents).map_err(io::Error::other)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }

    fn io(&self, source: io::Error) -> TrustError {
        TrustError::Io { path: self.path.clone(), source }
    }
}

impl TrustStore for FileTrustStore {
    fn grants(&self, project: &Path) -> Result<Grants, TrustError> {
        let mut contents = self.read()?;
        Ok(contents.projects.remove(project.to_string_lossy().as_ref()).unwrap_or_default())
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }
}

#[cfg(unix)]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn private_file(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().create(true).truncate(false).write(true).open(path)
}

/// Whether somebody else could have written the file.
#[cfg(unix)]
fn is_exposed(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(path)?.mode() & 0o022 != 0)
}

#[cfg(not(unix))]
fn is_exposed(_path: &Path) -> io::Result<bool> {
    Ok(false)
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
        }
    }

    #[cfg(unix)]
    fn restrict(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[cfg(not(unix))]
    fn restrict(_path: &Path, _mode: u32) {}
}
