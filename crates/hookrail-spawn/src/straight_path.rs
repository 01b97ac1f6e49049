//! Asking the kernel about the links on the way to a file, in one system call.

use std::io;
use std::path::{Component, Path, PathBuf};

/// What the kernel says about the way to a path.
enum Way {
    /// It leads through no link.
    Straight,
    /// It leads through no link to a part that does not exist.
    EndsBefore(io::Error),
    /// Through a link, or the kernel cannot say.
    Unknown,
}

/// Whether an absolute path surely leads through no link, so that it is where it says. A path that does not exist may be
/// straight too. Where the kernel cannot say, the answer is no.
#[must_use]
pub fn has_no_links(path: &Path) -> bool {
    matches!(way_to(path), Way::Straight | Way::EndsBefore(_))
}

/// Where a path leads, which is what [`Path::canonicalize`] says. That asks about each part of the path with a call of its
/// own; a path without links, which most are, needs two calls here.
///
/// # Errors
/// If there is nothing at the path, or it cannot be looked at.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    // After a link a `..` leads elsewhere than the text says.
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    match way_to(path) {
        Way::Straight if !goes_up => Ok(path.components().collect()),
        Way::EndsBefore(absence) if !goes_up => Err(absence),
        Way::Straight | Way::EndsBefore(_) | Way::Unknown => path.canonicalize(),
    }
}

#[cfg(target_os = "linux")]
fn way_to(path: &Path) -> Way {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;
    if !path.is_absolute() {
        return Way::Unknown;
    }
    // `PATH` opens nothing, so that neither a pipe nor a device notices it.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(_) => Way::Straight,
        Err(absence @ Errno::NOENT) => Way::EndsBefore(absence.into()),
        Err(_) => Way::Unknown,
    }
}

#[cfg(not(target_os = "linux"))]
fn way_to(_path: &Path) -> Way {
    Way::Unknown
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_link_anywhere_on_the_way_is_noticed() {
        let folder = std::env::temp_dir().canonicalize().unwrap().join(format!("straight-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("real")).unwrap();
        std::os::unix::fs::symlink("real", folder.join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("dangling")).unwrap();
        for straight in ["real", "real/new", "new/deep/file"] {
            assert!(has_no_links(&folder.join(straight)), "{straight}");
        }
        for bent in ["link", "link/new", "dangling", "link/new/deep"] {
            assert!(!has_no_links(&folder.join(bent)), "{bent}");
        }
        assert!(!has_no_links(Path::new("relative")));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_path_leads_where_the_standard_library_says() {
        let root = std::env::temp_dir().canonicalize().unwrap().join(format!("real-{}", std::process::id()));
        std::fs::create_dir_all(root.join("folder/deep")).unwrap();
        std::fs::write(root.join("folder/file"), "").unwrap();
        for (target, link) in
            [("folder", "link"), ("nowhere", "dangling"), ("loop", "loop"), ("../folder", "folder/up")]
        {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        for written in [
            "",
            "/",
            "folder",
            "folder/",
            "./folder/./deep//",
            "folder/file",
            "folder/file/",
            "folder/file/x",
            "folder/../folder",
            "link",
            "link/",
            "link/file",
            "link/../folder",
            "link/deep/..",
            "folder/up/up/file",
            "dangling",
            "dangling/x",
            "loop",
            "missing",
            "missing/x",
            "missing/..",
            "missing/../folder",
            "link/missing",
            "folder/deep/missing",
        ] {
            let path = PathBuf::from(format!("{}/{written}", root.display()));
            let (found, expected) = (real_path(&path), path.canonicalize());
            match (found, expected) {
                // As text, because paths that differ in their slashes are equal.
                (Ok(found), Ok(expected)) => assert_eq!(found.as_os_str(), expected.as_os_str(), "{written}"),
                (Err(found), Err(expected)) => assert_eq!(found.raw_os_error(), expected.raw_os_error(), "{written}"),
                (found, expected) => panic!("{written}: {found:?} and not {expected:?}"),
            }
        }
        for other in ["/", "//", ".", "..", "", "relative", "/proc/self", "/proc/self/exe", "/dev/null"] {
            let path = Path::new(other);
            assert_eq!(real_path(path).ok(), path.canonicalize().ok(), "{other}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }
}
