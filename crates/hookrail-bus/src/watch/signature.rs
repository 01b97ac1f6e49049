//! What can be told about paths without reading them.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// What can be told about paths without reading them. Two signatures that differ mean a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signature(Vec<(PathBuf, Found, Found)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Nothing(io::ErrorKind),
    There(Facts),
}

impl Signature {
    /// Looks at these paths: at each one itself, and at what it leads to if it is a link.
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        Self(paths.iter().map(|path| look(path)).collect())
    }

    /// Looks at the same paths again.
    pub(crate) fn again(&self) -> Self {
        Self(self.0.iter().map(|(path, _, _)| look(path)).collect())
    }
}

fn look(path: &Path) -> (PathBuf, Found, Found) {
    (path.to_owned(), found(path.symlink_metadata()), found(path.metadata()))
}

fn found(looked: io::Result<Metadata>) -> Found {
    match looked {
        Ok(about) => Found::There(Facts::of(&about)),
        Err(error) => Found::Nothing(error.kind()),
    }
}

/// Everything that changes when a file is written, replaced, moved or made unreadable. The time of the last change of
/// the inode cannot be set back by a program.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
struct Facts([i128; 6]);

#[cfg(unix)]
impl Facts {
    fn of(about: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self([
            about.dev().into(),
            about.ino().into(),
            about.size().into(),
            about.mode().into(),
            nanoseconds(about.mtime(), about.mtime_nsec()),
            nanoseconds(about.ctime(), about.ctime_nsec()),
        ])
    }
}

#[cfg(not(unix))]
#[derive(Clone, Debug, PartialEq, Eq)]
struct Facts(u64, Option<std::time::SystemTime>, bool);

#[cfg(not(unix))]
impl Facts {
    fn of(about: &Metadata) -> Self {
        Self(about.len(), about.modified().ok(), about.is_dir())
    }
}

#[cfg(test)]
mod tests {
    use super::Signature;

    #[cfg(unix)]
    #[test]
    fn every_kind_of_change_shows() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        let paths = [file.clone(), link.clone()];
        let mut last = Signature::of(&paths);
        let mut changed = |what: &str| {
            let now = last.again();
            assert!(now != last, "{what}");
            assert!(now == last.again(), "{what}: looking is no change");
            last = now;
        };
        std::fs::write(&file, "a")?;
        changed("it is there");
        std::fs::write(folder.path().join("new"), "a")?;
        std::fs::rename(folder.path().join("new"), &file)?;
        changed("it was replaced by one of the same size");
        std::os::unix::fs::symlink("elsewhere", &link)?;
        changed("a link that leads nowhere");
        std::fs::write(folder.path().join("elsewhere"), "b")?;
        changed("what the link leads to");
        std::fs::remove_file(&file)?;
        changed("it is gone");
        Ok(())
    }
}
