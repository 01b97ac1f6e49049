//! What `doctor` may execute: programs that do not come from the project. A repository can bring settings that name a program of
//! its own, and tools such as `npm exec` put a folder of it into `PATH`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::settings::is_executable;
use crate::folders::home;

/// The directories and programs that do not belong to a project.
pub(super) struct OutsideProject {
    /// The real path of the repository that the project is in, else of the project; none if that is the home directory, where
    /// everything is the user's own.
    project: Option<PathBuf>,
}

impl OutsideProject {
    pub(super) fn of(project: &Path) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let project = real(project);
        let home = home().map(|home| real(&home));
        let is_users = |folder: &Path| home.as_deref() == Some(folder) || folder.parent().is_none();
        let repository =
            project.ancestors().take_while(|folder| !is_users(folder)).find(|folder| folder.join(".git").exists());
        let outermost = repository.unwrap_or(&project);
        Self { project: (!is_users(outermost)).then(|| outermost.to_owned()) }
    }

    /// Returns the real path of what exists outside.
    pub(super) fn real_path(&self, path: &Path) -> Option<PathBuf> {
        let real = path.is_absolute().then(|| path.canonicalize().ok()).flatten()?;
        // A link in the project may lead out of it, and where it leads is the project's choice.
        let is_inside = |path: &Path| self.project.as_ref().is_some_and(|project| path.starts_with(project));
        (!is_inside(&real) && !is_inside(path)).then_some(real)
    }

    /// Returns the folders in which programs are looked for.
    fn folders(&self) -> Vec<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).filter(|folder| self.real_path(folder).is_some()).collect()
    }

    /// Returns `PATH` for a program: its own first line may look for an interpreter there.
    pub(super) fn search_path(&self) -> OsString {
        std::env::join_paths(self.folders()).unwrap_or_default()
    }

    /// Finds a program by its name.
    pub(super) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let files = self.folders().into_iter().map(|folder| folder.join(name));
        files.filter(|file| is_executable(file)).find(|file| self.real_path(file).is_some())
    }

    /// Finds the program of a command: a path, or a name. A variable in it would have to be filled in, perhaps with the project.
    pub(super) fn program_of_command(&self, word: &str) -> Option<PathBuf> {
        if word.contains('/') { self.real_path(Path::new(word)) } else { self.find_program(word) }
    }
}
