//! The folders of a user, as the variables of an environment name them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Environment;

/// Where a user keeps files. A variable with a relative path counts as one that is not set: the path would mean another folder
/// in every directory, and the directory may be a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserFolders {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// Where programs are configured: `XDG_CONFIG_HOME`, or `.config` in the home directory.
    pub configuration: Option<PathBuf>,
    /// What programs remember: `XDG_STATE_HOME`, or `.local/state` in the home directory.
    pub state: Option<PathBuf>,
    /// What can be made again: `XDG_CACHE_HOME`, or `.cache` in the home directory.
    pub cache: Option<PathBuf>,
    /// Sockets of the user's session: `XDG_RUNTIME_DIR`.
    pub runtime: Option<PathBuf>,
}

/// The variables that name folders of the user, with the places in the home directory that they stand for.
pub const USER_FOLDER_VARIABLES: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_CACHE_HOME", ".cache"),
];

impl UserFolders {
    /// The folders that an environment names.
    #[must_use]
    pub fn of(environment: &Environment) -> Self {
        Self::read(|name| environment.get(name).map(OsString::from))
    }

    /// The folders that the environment of this process names.
    #[must_use]
    pub fn of_process() -> Self {
        Self::read(|name| std::env::var_os(name))
    }

    fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let home = folder("HOME");
        let [configuration, state, _, cache] = USER_FOLDER_VARIABLES
            .map(|(name, inside)| folder(name).or_else(|| home.as_deref().map(|home: &Path| home.join(inside))));
        Self { configuration, state, cache, runtime: folder("XDG_RUNTIME_DIR"), home }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_before_the_home_directory_and_relative_paths_do_not_count() {
        let of = |variables: &[(&str, &str)]| {
            let add = |environment: Environment, (name, value): &(&str, &str)| environment.with(*name, *value);
            UserFolders::of(&variables.iter().fold(Environment::new(), add))
        };
        assert_eq!(of(&[]), UserFolders::default());
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(
            of(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "c"), ("XDG_RUNTIME_DIR", "/r")]),
            UserFolders {
                home: path("/h"),
                configuration: path("/h/.config"),
                state: path("/s"),
                cache: path("/h/.cache"),
                runtime: path("/r"),
            }
        );
        let without_home = of(&[("HOME", "h"), ("XDG_CONFIG_HOME", "/c")]);
        assert_eq!((without_home.home, without_home.configuration, without_home.state), (None, path("/c"), None));
    }
}
