//! The folders that tools may read and write.
//!
//! Paths are compared after every link is resolved, so a link to a file outside the project is refused. A command line
//! can do everything that the user can do: hooks, not this module, limit `run_shell_command`.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use hookrail::HookSystem;
use hookrail::guard::ToolFailure;

/// The project's folder, and other folders that tools may use.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
    allowed: Vec<PathBuf>,
    hooks: HookSystem,
}

impl Workspace {
    /// Makes the workspace of a hook system: the project's folder alone.
    ///
    /// # Errors
    /// If the project's folder cannot be found.
    pub fn new(hooks: &HookSystem) -> io::Result<Self> {
        let root = hooks.project().canonicalize()?;
        Ok(Self { root, allowed: Vec::new(), hooks: hooks.clone() })
    }

    /// Adds a folder that tools may use.
    ///
    /// # Errors
    /// If the folder cannot be found.
    pub fn allow(mut self, folder: &Path) -> io::Result<Self> {
        self.allowed.push(folder.canonicalize()?);
        Ok(self)
    }

    /// Returns the project's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Resolves a path that exists and may be read.
    pub(super) fn existing(&self, path: &str) -> Result<PathBuf, ToolFailure> {
        let real = self.root.join(path).canonicalize().map_err(|error| path_failure(path, &error))?;
        self.require_allowed(path, real)
    }

    /// Resolves a path that may be written. It need not exist.
    pub(super) fn writable(&self, path: &str) -> Result<PathBuf, ToolFailure> {
        let real = resolve_links(&self.root.join(path)).map_err(|error| path_failure(path, &error))?;
        let real = self.require_allowed(path, real)?;
        // All parts of the path are checked, because a project inside this one has such folders too.
        let below = real.strip_prefix(&self.root).unwrap_or(&real);
        // The places are read each time, because the configuration may have named another file of a hook since.
        let places = self.hooks.protected_places();
        places.look_again();
        if below.iter().any(is_git_folder) || places.protects(&real) {
            return Err(self.protected_failure(&real));
        }
        Ok(real)
    }

    fn protected_failure(&self, path: &Path) -> ToolFailure {
        ToolFailure(format!("`{}` decides which hooks run and is not written by tools", self.display_path(path)))
    }

    /// Returns the path for messages: relative to the project if it is in the project.
    pub(super) fn display_path(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        if shown.is_empty() { ".".to_owned() } else { shown }
    }

    /// Refuses a resolved path that is in none of the allowed folders.
    fn require_allowed(&self, named: &str, real: PathBuf) -> Result<PathBuf, ToolFailure> {
        if real.starts_with(&self.root) || self.allowed.iter().any(|allowed| real.starts_with(allowed)) {
            return Ok(real);
        }
        Err(ToolFailure(format!("`{named}` is outside the project")))
    }
}

/// Returns whether git keeps its configuration and its hooks, which run programs, in a folder with this name. Case is ignored,
/// because some file systems ignore it.
fn is_git_folder(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

/// Resolves every link of a path. The end of the path need not exist yet.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Ok(real) => return Ok(real),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        // Writing to a link without a target would create the target, which was not checked.
        Err(error) if path.is_symlink() => return Err(error),
        Err(_) => {}
    }
    let (Some(folder), Some(name)) = (path.parent(), path.components().next_back()) else {
        return Ok(path.to_owned());
    };
    match name {
        Component::Normal(name) => Ok(resolve_links(folder)?.join(name)),
        // `..` after a folder that does not exist cannot be resolved.
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "a folder on the way does not exist")),
    }
}

/// Makes the failure of an operation on a path.
pub(super) fn path_failure(path: &str, error: &io::Error) -> ToolFailure {
    ToolFailure(format!("`{path}`: {error}"))
}
