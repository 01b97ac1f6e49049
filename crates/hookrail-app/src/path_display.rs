//! Short forms of paths: relative to the project, or with `~` for the home directory.

use std::path::{Path, PathBuf};

use hookrail::sources::Location;

use super::text::one_line;

/// The directories that paths are shown relative to.
#[derive(Clone, Debug)]
pub struct PathDisplay {
    project: PathBuf,
    home: Option<PathBuf>,
}

impl PathDisplay {
    pub fn new(project: &Path, home: Option<PathBuf>) -> Self {
        Self { project: project.to_owned(), home: home.filter(|home| home.is_absolute() && home.parent().is_some()) }
    }

    /// Returns the shortest form of a path.
    pub fn path(&self, path: &Path) -> String {
        let in_project = path.strip_prefix(&self.project).ok().filter(|rest| !rest.as_os_str().is_empty());
        let shown = match (in_project, self.home.as_ref().and_then(|home| path.strip_prefix(home).ok())) {
            (Some(rest), _) => rest.display().to_string(),
            (None, Some(rest)) if rest.as_os_str().is_empty() => "~".to_owned(),
            (None, Some(rest)) => Path::new("~").join(rest).display().to_string(),
            (None, None) => path.display().to_string(),
        };
        one_line(&shown)
    }

    /// Returns the file and line; empty if there is no file.
    pub fn location(&self, place: &Location) -> String {
        if place.file.as_os_str().is_empty() {
            return String::new();
        }
        format!("{}:{}", self.path(&place.file), place.line)
    }

    /// Returns whether a path of the project is a link that leads outside of the project.
    pub fn leads_outside(&self, path: &Path) -> bool {
        path.starts_with(&self.project) && path.canonicalize().is_ok_and(|real| !real.starts_with(&self.project))
    }

    /// Makes the paths of the project in a sentence relative.
    pub fn sentence(&self, text: &str) -> String {
        let prefix = format!("{}{}", self.project.display(), std::path::MAIN_SEPARATOR);
        text.replace(&prefix, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_to_say_it() {
        let places = PathDisplay::new(Path::new("/home/u/p"), Some("/home/u".into()));
        assert_eq!(places.path(Path::new("/home/u/p/a/b")), "a/b");
        assert_eq!(places.path(Path::new("/home/u/p")), "~/p");
        assert_eq!(places.path(Path::new("/home/u/q")), "~/q");
        assert_eq!(places.path(Path::new("/etc/x\u{1b}")), "/etc/x\\x1b");
        assert_eq!(places.sentence("see /home/u/p/a:1"), "see a:1");
        assert_eq!(PathDisplay::new(Path::new("/p"), Some("/".into())).path(Path::new("/q")), "/q");
    }
}
