//! Where plugins, their settings and their log are.

use std::path::{Path, PathBuf};

use crate::config::same_place;
use crate::dialect::path_in;
use crate::run::Environment;

/// The places that concern plugins, for one project and one environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginPlaces {
    /// The folder of everything installed; none where the environment names no home.
    pub root: Option<PathBuf>,
    /// The user's settings.
    pub user_settings: Option<PathBuf>,
    /// The project's directory.
    pub project: PathBuf,
    /// The agent's log.
    pub log: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
}

impl PluginPlaces {
    /// The places as the environment names them.
    #[must_use]
    pub fn new(project: &Path, environment: &Environment) -> Self {
        // A relative one would mean another place in every directory, perhaps the project itself.
        let absolute = |name: &str| path_in(environment, name).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let own = absolute("X_CODE_HOME").or_else(|| home.as_ref().map(|home| home.join(".x-code")));
        let root = absolute("XC_PLUGINS_DIR").or_else(|| own.as_ref().map(|own| own.join("plugins")));
        Self {
            root,
            user_settings: own.as_ref().map(|own| own.join("settings.json")),
            project: project.to_owned(),
            log: own.map(|own| own.join("logs/debug.log")),
            home,
        }
    }

    /// The list of what is installed.
    #[must_use]
    pub fn registry(&self) -> Option<PathBuf> {
        self.in_root("installed_plugins.json")
    }

    /// Where the files of an installed plugin are.
    #[must_use]
    pub fn cache(&self, marketplace: &str, name: &str, version: &str) -> Option<PathBuf> {
        let folder = self.in_root("cache")?;
        Some(folder.join(marketplace).join(name).join(version))
    }

    /// Where a plugin keeps what survives its updates.
    #[must_use]
    pub fn data(&self, id: &str) -> Option<PathBuf> {
        Some(self.in_root("data")?.join(id.replace(['/', '\\', ':'], "_")))
    }

    /// The plugins the project brings; none where that folder is the folder of installed ones itself.
    #[must_use]
    pub fn project_plugins(&self) -> Option<PathBuf> {
        let folder = self.project.join(".x-code/plugins");
        let installed = self.root.as_ref().is_some_and(|root| same_place(root, &folder));
        (!installed).then_some(folder)
    }

    /// The project's settings about plugins.
    #[must_use]
    pub fn project_settings(&self) -> PathBuf {
        self.project.join(".x-code/settings.local.json")
    }

    pub(super) fn in_root(&self, name: &str) -> Option<PathBuf> {
        self.root.as_ref().map(|root| root.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &str)]) -> PluginPlaces {
        let environment: Environment = variables.iter().copied().collect();
        PluginPlaces::new(Path::new("/p"), &environment)
    }

    #[test]
    fn the_root_is_named_by_the_most_special_variable() {
        let root = |variables| places(variables).root;
        assert_eq!(root(&[("HOME", "/h")]), Some("/h/.x-code/plugins".into()));
        assert_eq!(root(&[("HOME", "/h"), ("X_CODE_HOME", "/x")]), Some("/x/plugins".into()));
        assert_eq!(
            root(&[("HOME", "/h"), ("X_CODE_HOME", "/x"), ("XC_PLUGINS_DIR", "/plugins")]),
            Some("/plugins".into())
        );
        assert_eq!(root(&[]), None);
    }

    #[test]
    fn a_relative_place_is_no_place() {
        let root = |variables| places(variables).root;
        assert_eq!(root(&[("HOME", "h")]), None);
        assert_eq!(root(&[("HOME", "/h"), ("X_CODE_HOME", "x")]), Some("/h/.x-code/plugins".into()));
        assert_eq!(root(&[("HOME", "/h"), ("XC_PLUGINS_DIR", "./plugins")]), Some("/h/.x-code/plugins".into()));
    }

    #[test]
    fn a_data_folder_is_one_folder_whatever_the_id() {
        let data = places(&[("HOME", "/h")]).data("a/b:c@m\\n");
        assert_eq!(data, Some("/h/.x-code/plugins/data/a_b_c@m_n".into()));
    }
}
