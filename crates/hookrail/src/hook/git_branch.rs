//! What is checked out in a project, read from git's own files. No program is started.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::config::read_within;
use crate::text::invisible_chars::is_hidden;

/// What is checked out. As a text it names a branch or a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitPosition {
    /// A branch.
    Branch(String),
    /// A commit without a branch.
    Commit(String),
}

/// The largest file of git that is read.
const LARGEST: u64 = 4096;

/// The longest name of a branch that is shown.
const LONGEST_NAME: usize = 100;

/// The digits of a commit that are shown.
const SHOWN_DIGITS: usize = 12;

impl GitPosition {
    /// What is checked out in the repository that a folder is in.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(|folder| git_folder(&folder.join(".git"))).and_then(|git| Self::read(&git))
    }

    fn read(git: &Path) -> Option<Self> {
        let head = read_text(&git.join("HEAD"))?;
        let head = head.trim();
        if let Some(name) = head.strip_prefix("ref: refs/heads/") {
            // A file of a stranger's repository is shown as a name only.
            let is_name = !name.is_empty() && !name.chars().any(|character| is_hidden(character) || character == '`');
            return is_name.then(|| Self::Branch(name.chars().take(LONGEST_NAME).collect()));
        }
        let is_commit = head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_commit.then(|| Self::Commit(head.chars().take(SHOWN_DIGITS).collect()))
    }
}

impl fmt::Display for GitPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branch(name) => write!(f, "on branch `{name}`"),
            Self::Commit(digits) => write!(f, "at commit {digits}"),
        }
    }
}

/// The folder of a repository: `.git` itself, or what the file of that name says in a further working tree.
fn git_folder(git: &Path) -> Option<PathBuf> {
    let about = git.symlink_metadata().ok()?;
    if about.is_dir() {
        return Some(git.to_owned());
    }
    let text = if about.is_file() { read_text(git)? } else { return None };
    let named = Path::new(text.trim().strip_prefix("gitdir:")?.trim()).to_owned();
    Some(git.parent()?.join(named))
}

fn read_text(file: &Path) -> Option<String> {
    let bytes = read_within(file, &mut { LARGEST }).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_and_commits_are_read_and_nothing_else_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("project/inner");
        std::fs::create_dir_all(&folder).unwrap();
        let git = dir.path().join("project/.git");
        std::fs::create_dir(&git).unwrap();
        let commit = "0123456789abcdef0123456789abcdef01234567";
        for (head, expected) in [
            ("ref: refs/heads/topic/one\n", Some("on branch `topic/one`")),
            (commit, Some("at commit 0123456789ab")),
            ("ref: refs/heads/a\u{202e}b\n", None),
            ("ref: refs/heads/a`; rm\n", None),
            ("secret text\n", None),
            ("", None),
        ] {
            std::fs::write(git.join("HEAD"), head).unwrap();
            let found = GitPosition::of(&folder).map(|position| position.to_string());
            assert_eq!(found.as_deref(), expected, "{head:?}");
        }
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(folder.join(".git"), "gitdir: ../.git\n").unwrap();
        assert_eq!(GitPosition::of(&folder), Some(GitPosition::Branch("main".to_owned())));
    }
}
