//! The folders that tools may read and write.
//!
//! Paths are compared after every link is resolved, so a link that leads out of the project leads nowhere. A command line
//! can do everything that the user can do: hooks, not this module, limit `run_shell_command`.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use hookrail::HookSystem;
use hookrail::guard::ToolFailure;
use hookrail::trust::protected_folders;

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
        let named = self.root.join(path);
        let real = named.canonicalize().map_err(|error| failed(path, &error))?;
        self.inside(path, real)
    }

    /// Resolves a path that may be written. It need not exist.
    pub(super) fn writable(&self, path: &str) -> Result<PathBuf, ToolFailure> {
        let real = resolved(&self.root.join(path)).map_err(|error| failed(path, &error))?;
        let real = self.inside(path, real)?;
        // Projects inside of this one have such folders too.
        let below = real.strip_prefix(&self.root).unwrap_or(&real);
        if below.components().any(|part| is_protected_folder(part.as_os_str())) {
            return Err(self.protected(&real));
        }
        // The list is read each time: a hook's file may have been named since.
        for protected in self.hooks.protected_paths() {
            let protected = resolved(&protected).unwrap_or(protected);
            if real.starts_with(&protected) {
                return Err(self.protected(&real));
            }
        }
        Ok(real)
    }

    fn protected(&self, path: &Path) -> ToolFailure {
        ToolFailure(format!("`{}` decides which hooks run and is not written by tools", self.shown(path)))
    }

    /// Returns the path as the user would write it.
    pub(super) fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        if shown.is_empty() { ".".to_owned() } else { shown }
    }

    fn inside(&self, named: &str, real: PathBuf) -> Result<PathBuf, ToolFailure> {
        if real.starts_with(&self.root) || self.allowed.iter().any(|allowed| real.starts_with(allowed)) {
            return Ok(real);
        }
        Err(ToolFailure(format!("`{named}` is outside the project")))
    }
}

/// Returns whether agents keep hooks, or git its configuration, in folders with this name. Case is ignored, because some
/// file systems ignore it.
fn is_protected_folder(name: &OsStr) -> bool {
    protected_folders().any(|known| name.eq_ignore_ascii_case(known))
}

/// Resolves every link of a path. The end of the path need not exist yet.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Ok(real) => return Ok(real),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        // A link that leads to nothing would be followed when it is written to.
        Err(error) if path.is_symlink() => return Err(error),
        Err(_) => {}
    }
    let (Some(folder), Some(name)) = (path.parent(), path.components().next_back()) else {
        return Ok(path.to_owned());
    };
    match name {
        Component::Normal(name) => Ok(resolved(folder)?.join(name)),
        // What is above a folder that does not exist cannot be known.
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "a folder on the way does not exist")),
    }
}

pub(super) fn failed(path: &str, error: &io::Error) -> ToolFailure {
    ToolFailure(format!("`{path}`: {error}"))
}
