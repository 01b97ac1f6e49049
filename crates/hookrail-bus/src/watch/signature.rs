//! The metadata of paths, to notice changes without reading files.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// The metadata of paths. Two signatures differ if a path has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signature(Vec<(PathBuf, PathState)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathState {
    Nothing(io::ErrorKind),
    There(FileFacts),
    /// A link, and what it leads to.
    Link(FileFacts, Result<FileFacts, io::ErrorKind>),
}

impl Signature {
    /// Reads the metadata of these paths: of each path itself, and of its target if it is a link.
    pub(crate) fn read(paths: &[PathBuf]) -> Self {
        Self(paths.iter().map(|path| (path.clone(), PathState::read(path))).collect())
    }

    /// Reads the metadata of those of these paths that it does not know yet, and keeps what it knows of the others.
    pub(crate) fn extended_to(&self, paths: &[PathBuf]) -> Self {
        let known = |path: &PathBuf| self.0.iter().find(|(known, _)| known == path).map(|(_, state)| state.clone());
        let state = |path: &PathBuf| known(path).unwrap_or_else(|| PathState::read(path));
        Self(paths.iter().map(|path| (path.clone(), state(path))).collect())
    }

    /// Reads the metadata of the same paths again.
    pub(crate) fn read_again(&self) -> Self {
        Self(self.0.iter().map(|(path, _)| (path.clone(), PathState::read(path))).collect())
    }
}

impl PathState {
    /// Most of the paths have no file, and few are links, so that one system call is enough for most.
    fn read(path: &Path) -> Self {
        match path.symlink_metadata() {
            Ok(about) if about.is_symlink() => {
                let target = path.metadata().map(|about| FileFacts::from_metadata(&about));
                Self::Link(FileFacts::from_metadata(&about), target.map_err(|error| error.kind()))
            }
            Ok(about) => Self::There(FileFacts::from_metadata(&about)),
            Err(error) => Self::Nothing(error.kind()),
        }
    }
}

/// Everything that changes when a file is written, replaced, moved or made unreadable. A program cannot set the ctime back.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileFacts([i128; 6]);

#[cfg(unix)]
impl FileFacts {
    fn from_metadata(about: &Metadata) -> Self {
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
struct FileFacts(u64, Option<std::time::SystemTime>, bool);

#[cfg(not(unix))]
impl FileFacts {
    fn from_metadata(about: &Metadata) -> Self {
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
        let mut last = Signature::read(&paths);
        let mut changed = |what: &str| {
            let now = last.read_again();
            assert!(now != last, "{what}");
            assert!(now == last.read_again(), "{what}: looking is no change");
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
