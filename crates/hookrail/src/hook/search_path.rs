//! The parts of a search path for programs into which a project can put programs.
//!
//! `npm exec` and activated virtual environments put folders of the project first, with absolute paths. A program there with
//! the name of a shell or an interpreter would run in the place of the real one, as part of every guard.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use hookrail_spawn::Environment;

/// The variable with the search path for programs.
pub(crate) const SEARCH_PATH: &str = "PATH";

/// The search path if there is none. A shell without one uses its own default, which for bash contains the working
/// directory, and an empty one means the working directory.
pub(crate) const DEFAULT_SEARCH_PATH: &str = "/usr/bin:/bin";

/// The folders whose content a project can supply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectFolders {
    /// The project's root as it is named, and where that leads. Empty if the project is the home directory, whose programs
    /// are the user's own, or the root of the file system, which holds every program there is.
    roots: Vec<PathBuf>,
}

impl ProjectFolders {
    /// The folders of a project, for the user with this home directory.
    pub(crate) fn new(project: &Path, home: Option<&Path>) -> Self {
        let real = real_path(project);
        // A home directory below the project is one that the project can fill.
        let is_home = home.is_some_and(|home| home.is_absolute() && real_path(home) == real);
        let roots = if is_home || real.parent().is_none() {
            Vec::new()
        } else if real == project {
            vec![real]
        } else {
            vec![project.to_owned(), real]
        };
        Self { roots }
    }

    /// Whether a folder is inside the project, by its path or where that leads. It need not exist yet.
    pub(crate) fn contain(&self, folder: &Path) -> bool {
        let lie_in = |path: &Path| self.roots.iter().any(|root| path.starts_with(root));
        lie_in(folder) || !self.roots.is_empty() && lie_in(&real_path(folder))
    }

    /// Whether nothing counts as the project's.
    pub(crate) fn are_none(&self) -> bool {
        self.roots.is_empty()
    }

    /// The absolute parts of a search path: those outside of the project, and those inside.
    pub(crate) fn divide(&self, path: &OsStr) -> (Vec<PathBuf>, Vec<PathBuf>) {
        std::env::split_paths(path).filter(|part| part.is_absolute()).partition(|part| !self.contain(part))
    }
}

/// Where a path leads; what does not exist is taken as it is written.
fn real_path(path: &Path) -> PathBuf {
    let above = |path: &Path| Some(real_path(path.parent()?).join(path.file_name()?));
    hookrail_spawn::real_path(path).ok().or_else(|| above(path)).unwrap_or_else(|| path.to_owned())
}

/// The parts as one text; the default if there are none.
pub(crate) fn joined(parts: &[PathBuf]) -> OsString {
    let joined = std::env::join_paths(parts).ok().filter(|joined| !joined.is_empty());
    joined.unwrap_or_else(|| DEFAULT_SEARCH_PATH.into())
}

/// The environment of a hook of the project: these folders, which are the project's, are searched after all others.
pub(crate) fn with_last(environment: &Environment, folders: &[PathBuf]) -> Environment {
    let environment = environment.clone();
    let Some(path) = environment.get(SEARCH_PATH).filter(|_| !folders.is_empty()) else { return environment };
    let parts: Vec<PathBuf> = std::env::split_paths(path).chain(folders.iter().cloned()).collect();
    environment.with(SEARCH_PATH, joined(&parts))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn parts_inside_the_project_are_found_by_their_path_and_behind_links() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let project = base.join("project");
        std::fs::create_dir_all(project.join("bin")).unwrap();
        std::fs::create_dir_all(base.join("other/bin")).unwrap();
        symlink(&project, base.join("link")).unwrap();
        symlink(base.join("other/bin"), project.join("leads-out")).unwrap();
        symlink(project.join("bin"), base.join("other/leads-in")).unwrap();
        for root in [&project, &base.join("link")] {
            let folders = ProjectFolders::new(root, Some(&base.join("home")));
            for inside in [
                project.join("bin"),
                project.join("not/yet"),
                base.join("link/bin"),
                project.join("leads-out"),
                base.join("other/leads-in"),
                base.join("other/../project/bin"),
            ] {
                assert!(folders.contain(&inside), "{}", inside.display());
            }
            for outside in ["/usr/bin".into(), base.join("other/bin"), base.join("project-too/bin")] {
                assert!(!folders.contain(&outside), "{}", outside.display());
            }
        }
        let path = format!("bin:{0}/bin::/usr/bin:.:{0}/x:/bin:", project.display());
        let folders = ProjectFolders::new(&project, Some(&base.join("home")));
        let (outside, inside) = folders.divide(OsStr::new(&path));
        assert_eq!(outside, [Path::new("/usr/bin"), Path::new("/bin")]);
        assert_eq!(inside, [project.join("bin"), project.join("x")]);
        let whole = with_last(&Environment::new().with("PATH", joined(&outside)), &inside);
        assert_eq!(whole.get("PATH"), Some(OsStr::new(&format!("/usr/bin:/bin:{0}/bin:{0}/x", project.display()))));
        assert_eq!(joined(&[]), DEFAULT_SEARCH_PATH);
    }

    #[test]
    fn programs_in_a_home_directory_that_is_the_project_are_the_users_own() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for project in [home.as_path(), Path::new("/")] {
            assert!(!ProjectFolders::new(project, Some(&home)).contain(&home.join(".local/bin")));
        }
        assert!(ProjectFolders::new(&home, Some(&home.join("../elsewhere"))).contain(&home.join(".local/bin")));
    }

    #[test]
    fn a_home_directory_below_the_project_makes_no_program_the_users_own() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap();
        for home in ["home", "not/yet"] {
            let folders = ProjectFolders::new(&project, Some(&project.join(home)));
            assert!(
                folders.contain(&project.join("bin")) && folders.contain(&project.join(home).join("bin")),
                "{home}"
            );
        }
    }
}
