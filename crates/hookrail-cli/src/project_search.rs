//! Finds the project that a directory belongs to.

use std::path::{Path, PathBuf};

/// What makes a folder a project: the places in which hooks of a project are configured.
const PROJECT_MARKS: [&str; 6] =
    [".llxprt/settings.json", ".x-code/plugins", ".xcsh/hooks", ".claude/hooks", ".hookrail/config.toml", ".hookrail"];

/// Returns the nearest folder upwards that has hooks, else the nearest with a `.git`, else the directory itself.
///
/// The home directory is never a project: its hooks are the user's, not a project's. The search does not leave the file
/// system and does not pass a folder of another user, because that user could put hooks there.
pub(crate) fn find_project(start: &Path, home: Option<&Path>) -> PathBuf {
    let start = start.canonicalize().unwrap_or_else(|_| start.to_owned());
    let home = home.and_then(|home| home.canonicalize().ok());
    let candidates: Vec<&Path> = start
        .ancestors()
        .take_while(|folder| is_within_reach(&start, folder))
        .filter(|folder| Some(*folder) != home.as_deref())
        .collect();
    let has = |mark: &str| candidates.iter().find(|folder| folder.join(mark).exists());
    let configured = candidates.iter().find(|folder| PROJECT_MARKS.iter().any(|mark| folder.join(mark).exists()));
    configured.or_else(|| has(".git")).map_or_else(|| start.clone(), |folder| folder.to_path_buf())
}

#[cfg(unix)]
fn is_within_reach(start: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = rustix::process::geteuid().as_raw();
    let is_own = |about: &std::fs::Metadata| about.uid() == owner;
    match (start.metadata(), folder.metadata()) {
        _ if folder == start => true,
        (Ok(start), Ok(folder)) => folder.dev() == start.dev() && is_own(&start) && is_own(&folder),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_within_reach(_start: &Path, folder: &Path) -> bool {
    folder.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(marks: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for mark in marks {
            std::fs::create_dir_all(root.join(mark)).unwrap();
        }
        (folder, root)
    }

    #[test]
    fn the_nearest_folder_with_hooks_wins_over_a_nearer_repository() {
        let (_folder, root) = project(&["a/.xcsh/hooks", "a/b/.git", "a/b/c"]);
        assert_eq!(find_project(&root.join("a/b/c"), None), root.join("a"));
    }

    #[test]
    fn without_hooks_the_nearest_repository_is_the_project() {
        let (_folder, root) = project(&["a/.git", "a/b/c"]);
        assert_eq!(find_project(&root.join("a/b/c"), None), root.join("a"));
        let (_folder, root) = project(&["a/b"]);
        assert_eq!(find_project(&root.join("a/b"), None), root.join("a/b"));
    }

    #[cfg(unix)]
    #[test]
    fn the_search_does_not_pass_a_folder_of_another_user() {
        let (_folder, root) = project(&["a/.xcsh/hooks", "a/b/c"]);
        if std::os::unix::fs::chown(root.join("a/b"), Some(12345), None).is_err() {
            return; // only root can give a folder away
        }
        assert_eq!(find_project(&root.join("a/b/c"), None), root.join("a/b/c"));
        assert_eq!(find_project(&root.join("a/b"), None), root.join("a/b"));
        assert_eq!(find_project(&root.join("a"), None), root.join("a"));
    }

    #[test]
    fn the_home_directory_is_never_a_project() {
        let (_folder, root) = project(&["home/.llxprt/settings.json", "home/.git", "home/work/x"]);
        assert_eq!(find_project(&root.join("home/work/x"), Some(&root.join("home"))), root.join("home/work/x"));
    }
}
