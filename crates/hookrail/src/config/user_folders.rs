//! Whether the folders of the user can be found. A home directory inside the project would make its files the user's own, so
//! that they run without a grant.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use hookrail_spawn::{Environment, USER_FOLDER_VARIABLES, real_path};

use crate::config::{is_absence, is_inside};

/// The variables that name folders of the user beside the home directory.
fn further_variables() -> impl Iterator<Item = &'static str> {
    USER_FOLDER_VARIABLES.iter().map(|(name, _)| *name).chain(["LLXPRT_CONFIG_HOME"])
}

const HOME: &str = "HOME";

/// The variables that [`user_folder_problems`] looks at.
pub fn user_folder_variables() -> impl Iterator<Item = &'static str> {
    [HOME].into_iter().chain(further_variables())
}

/// A variable that does not lead to a folder of the user. As a text it is a sentence without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFolderProblem {
    /// The variable.
    pub variable: &'static str,
    /// Its value; empty if it has none.
    pub value: PathBuf,
    /// What is wrong with it.
    pub fault: UserFolderFault,
}

/// What is wrong with a variable that should name a folder of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFolderFault {
    /// It is not set.
    Unset,
    /// It has no value.
    Empty,
    /// Its path is relative, so that it means another folder in every directory.
    Relative,
    /// There is no such folder.
    Missing,
    /// The folder lies in the project, which could bring hooks of the user.
    InProject,
}

impl UserFolderProblem {
    /// What the user can do, as a sentence without its end.
    #[must_use]
    pub fn repair(&self) -> String {
        match self.fault {
            UserFolderFault::InProject => format!("set `{}` to a folder outside of the project", self.variable),
            UserFolderFault::Unset | UserFolderFault::Empty | UserFolderFault::Relative | UserFolderFault::Missing => {
                format!("set `{}` to your home directory", self.variable)
            }
        }
    }
}

impl fmt::Display for UserFolderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, value, fault } = self;
        let value = value.display();
        f.write_str("the user's folders cannot be found, because ")?;
        match fault {
            UserFolderFault::Unset => write!(f, "`{variable}` is not set"),
            UserFolderFault::Empty => write!(f, "`{variable}` is empty"),
            UserFolderFault::Relative => write!(f, "`{variable}` is the relative path `{value}`"),
            UserFolderFault::Missing => write!(f, "`{variable}` names `{value}`, which does not exist"),
            UserFolderFault::InProject => write!(f, "`{variable}` names `{value}`, which lies in the project"),
        }
    }
}

/// Every variable that does not lead to a folder of the user. In a home directory that is itself the project everything is the
/// user's.
#[must_use]
pub fn user_folder_problems(environment: &Environment, project: &Path) -> Vec<UserFolderProblem> {
    user_folder_problems_with(std::iter::empty(), environment, project)
}

/// The same with the variables that name folders of the user for some dialects only.
pub(crate) fn user_folder_problems_with(
    of_dialects: impl Iterator<Item = &'static str>,
    environment: &Environment,
    project: &Path,
) -> Vec<UserFolderProblem> {
    let home = environment.get(HOME);
    let root = real_path(project).unwrap_or_else(|_| project.to_owned());
    let is_project = |home: &Path| home == project || real_path(home).is_ok_and(|real| real == root);
    let home_fault = match home.map(Path::new) {
        None => Some(UserFolderFault::Unset),
        Some(home) if home.as_os_str().is_empty() => Some(UserFolderFault::Empty),
        Some(home) if home.is_relative() => Some(UserFolderFault::Relative),
        Some(home) if is_project(home) => return Vec::new(),
        Some(home) if is_inside(home, &root) => Some(UserFolderFault::InProject),
        Some(home) if home.metadata().is_err_and(|error| is_absence(&error)) => Some(UserFolderFault::Missing),
        Some(_) => None,
    };
    let problem = |variable, value: Option<&OsStr>, fault| UserFolderProblem {
        variable,
        value: value.map(PathBuf::from).unwrap_or_default(),
        fault,
    };
    let mut found: Vec<UserFolderProblem> = home_fault.map(|fault| problem(HOME, home, fault)).into_iter().collect();
    for variable in further_variables().chain(of_dialects) {
        // A relative path is ignored where it is read.
        let value = environment.get(variable).filter(|value| Path::new(value).is_absolute());
        if value.is_some_and(|value| is_inside(Path::new(value), &root)) {
            found.push(problem(variable, value, UserFolderFault::InProject));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_user_lie_outside_of_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        std::fs::create_dir_all(project.join("inside")).unwrap();
        std::fs::create_dir(&home).unwrap();
        let faults = |environment: Environment, project: &Path| -> Vec<(&str, UserFolderFault)> {
            let found = user_folder_problems(&environment, project).into_iter();
            found.map(|problem| (problem.variable, problem.fault)).collect()
        };
        let with = |value: &Path| Environment::new().with(HOME, value);
        assert_eq!(faults(with(&home), &project), []);
        assert_eq!(faults(Environment::new(), &project), [(HOME, UserFolderFault::Unset)]);
        for (value, fault) in [
            (PathBuf::new(), UserFolderFault::Empty),
            ("home".into(), UserFolderFault::Relative),
            (dir.path().join("none"), UserFolderFault::Missing),
            (project.join("inside"), UserFolderFault::InProject),
            (project.join("later"), UserFolderFault::InProject),
        ] {
            assert_eq!(faults(with(&value), &project), [(HOME, fault)], "{}", value.display());
        }
        for variable in further_variables() {
            let inside = with(&home).with(variable, project.join("later"));
            assert_eq!(faults(inside, &project), [(variable, UserFolderFault::InProject)]);
            assert_eq!(faults(with(&home).with(variable, home.join("x")), &project), []);
            assert_eq!(faults(with(&home).with(variable, "relative"), &project), []);
            let own = with(&home).with(variable, home.join(".config"));
            assert_eq!(faults(own, &home), [], "the home directory is the project");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(project.join("inside"), dir.path().join("link")).unwrap();
            assert_eq!(faults(with(&dir.path().join("link")), &project), [(HOME, UserFolderFault::InProject)]);
        }
    }
}
