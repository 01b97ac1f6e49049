//! Noticing that a file has changed without reading it.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

/// Metadata that is another one after a file was written, replaced, moved or made unreadable. Two stamps that differ mean a
/// change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    length: u64,
    modified: Option<SystemTime>,
    is_folder: bool,
    /// Device, inode, mode, and the seconds and nanoseconds of the last change of the inode, if the system has them. A program
    /// can set the time of the content back, but not that of the inode.
    node: [i128; 5],
}

impl FileStamp {
    /// Reads the metadata of what a path leads to; nothing if there is none.
    #[must_use]
    pub fn read(path: &Path) -> Option<Self> {
        path.metadata().ok().map(|about| Self::of(&about))
    }

    /// The stamp of this metadata.
    #[must_use]
    pub fn of(about: &Metadata) -> Self {
        Self { length: about.len(), modified: about.modified().ok(), is_folder: about.is_dir(), node: node(about) }
    }
}

#[cfg(unix)]
fn node(about: &Metadata) -> [i128; 5] {
    use std::os::unix::fs::MetadataExt as _;
    [about.dev().into(), about.ino().into(), about.mode().into(), about.ctime().into(), about.ctime_nsec().into()]
}

#[cfg(not(unix))]
fn node(_about: &Metadata) -> [i128; 5] {
    [0; 5]
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::FileStamp;

    #[test]
    fn every_kind_of_change_shows_and_looking_is_none() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = hookrail_testkit::TestProject::new();
        let file = place.write("stamped", "a");
        let mut last = FileStamp::read(&file);
        assert!(last.is_some() && last == FileStamp::read(&file));
        let mut changed = |what: &str| {
            let now = FileStamp::read(&file);
            assert_ne!(now, last, "{what}");
            last = now;
        };
        fs::write(&file, "ab").unwrap();
        changed("another length");
        fs::write(place.project.join("new"), "cd").unwrap();
        fs::rename(place.project.join("new"), &file).unwrap();
        changed("another file of the same length");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
        changed("another mode");
        fs::remove_file(&file).unwrap();
        changed("nothing is there");
    }
}
