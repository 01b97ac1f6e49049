//! The metadata of paths, to notice changes without reading files.

use std::io;
use std::path::{Path, PathBuf};

use hookrail_spawn::FileStamp;

/// The metadata of paths. Two signatures differ if a path has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signature(Vec<(PathBuf, PathState)>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathState {
    Nothing(io::ErrorKind),
    There(FileStamp),
    /// A link, and what it leads to.
    Link(FileStamp, Result<FileStamp, io::ErrorKind>),
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
                let target = path.metadata().map(|about| FileStamp::of(&about));
                Self::Link(FileStamp::of(&about), target.map_err(|error| error.kind()))
            }
            Ok(about) => Self::There(FileStamp::of(&about)),
            Err(error) => Self::Nothing(error.kind()),
        }
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
