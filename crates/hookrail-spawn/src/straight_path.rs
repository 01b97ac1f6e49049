//! Asking the kernel about the links on the way to a file, in one system call.

use std::path::Path;

/// Whether an absolute path surely leads through no link, so that it is where it says. A path that does not exist may be
/// straight too. Where the kernel cannot say, the answer is no.
#[must_use]
pub fn has_no_links(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::Errno;
        // `PATH` opens nothing, so that neither a pipe nor a device notices it.
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        path.is_absolute() && matches!(opened.map(drop), Ok(()) | Err(Errno::NOENT))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        false
    }
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
}
