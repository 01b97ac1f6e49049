//! Paths in a case's own directory, and texts that name it.

use std::path::{Component, Path, PathBuf};

/// The name of the case's project in texts.
pub(super) const PROJECT: &str = "${project}";
/// The name of the case's home directory in texts.
pub(super) const HOME: &str = "${home}";
/// The name of the case file's folder in stored outcomes.
pub(super) const CASES: &str = "${cases}";

/// A path below the project or the home directory of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScratchPath {
    base: ScratchBase,
    rest: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScratchBase {
    Project,
    Home,
}

impl ScratchPath {
    /// Reads a path as it is written in a case; none if it could lead elsewhere.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let below = |prefix: &str| text.strip_prefix(prefix).map(|rest| rest.trim_start_matches('/'));
        let (base, rest) = match (below(PROJECT), below(HOME)) {
            (Some(rest), _) => (ScratchBase::Project, rest),
            (None, Some(rest)) => (ScratchBase::Home, rest),
            (None, None) => (ScratchBase::Project, text),
        };
        let rest = Path::new(rest);
        let stays = rest.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        (stays && !rest.as_os_str().is_empty()).then(|| Self { base, rest: rest.to_owned() })
    }

    /// Returns the path in the directories of a case.
    pub(super) fn in_place(&self, place: &ScratchFolders) -> PathBuf {
        match self.base {
            ScratchBase::Project => place.project.join(&self.rest),
            ScratchBase::Home => place.home.join(&self.rest),
        }
    }
}

/// The directories of a case that is being run.
#[derive(Clone, Debug)]
pub(super) struct ScratchFolders {
    pub(super) base: PathBuf,
    pub(super) project: PathBuf,
    pub(super) home: PathBuf,
}

impl ScratchFolders {
    /// Puts the real directories in the place of their names.
    pub(super) fn fill(&self, text: &str) -> String {
        if !text.contains("${") {
            return text.to_owned();
        }
        text.replace(PROJECT, &self.project.to_string_lossy()).replace(HOME, &self.home.to_string_lossy())
    }

    /// Puts the real directories in the place of their names in every text of a value.
    pub(super) fn fill_value(&self, value: &serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(elements) => elements.iter().map(|element| self.fill_value(element)).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (key.clone(), self.fill_value(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Puts the names of the directories in their place, so that two runs of a case print the same.
    pub(super) fn unfill(&self, text: &str) -> String {
        text.replace(&*self.project.to_string_lossy(), PROJECT)
            .replace(&*self.home.to_string_lossy(), HOME)
            .replace(&*self.base.to_string_lossy(), "${sandbox}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside() {
        let places = ScratchFolders { base: "/t".into(), project: "/t/project".into(), home: "/t/home".into() };
        let at = |text: &str| ScratchPath::parse(text).map(|path| path.in_place(&places));
        assert_eq!(at("a/b"), Some("/t/project/a/b".into()));
        assert_eq!(at("${project}/a"), Some("/t/project/a".into()));
        assert_eq!(at("${home}/a"), Some("/t/home/a".into()));
        for outside in ["/etc/passwd", "../a", "a/../../b", "", "${home}", "${home}/../x"] {
            assert_eq!(at(outside), None, "{outside}");
        }
        assert_eq!(places.fill("see ${project}/x and $HOME"), "see /t/project/x and $HOME");
        assert_eq!(places.unfill("/t/project/x /t/home /t/bin"), "${project}/x ${home} ${sandbox}/bin");
    }
}
