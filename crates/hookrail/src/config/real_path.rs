//! Resolving paths as the kernel does, also of files that do not exist yet.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The kernel follows at most this many links.
const MOST_LINKS: usize = 40;

/// The path without links. What does not exist yet is named below the part that does. A link without a target leads to the
/// file that writing to it would create.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    hookrail_spawn::real_path(path).unwrap_or_else(|_| RealPaths::default().resolve(path))
}

/// Resolves many paths at one moment, as [`real_path`] does, and asks the kernel about each folder on the way to them once.
///
/// Most of a hundred places that are protected do not exist, and share the few folders above them.
#[derive(Debug, Default)]
pub(crate) struct RealPaths {
    /// By their text, because to compare paths part by part takes longer than to ask the kernel.
    folders: HashMap<OsString, RealPlace>,
}

#[derive(Clone, Debug)]
struct RealPlace {
    path: PathBuf,
    existence: Existence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Existence {
    /// It exists, or the kernel does not say.
    Possible,
    Absent,
}

impl RealPaths {
    /// The path without links.
    pub(crate) fn resolve(&mut self, path: &Path) -> PathBuf {
        self.follow(path, MOST_LINKS).path
    }

    fn follow(&mut self, path: &Path, links: usize) -> RealPlace {
        let mut parts = path.components();
        match parts.next_back() {
            Some(Component::Normal(name)) => {
                let folder = self.folder(parts.as_path(), links);
                self.follow_in(&folder, Path::new(name), links)
            }
            Some(Component::ParentDir) => {
                let folder = self.folder(parts.as_path(), links).path;
                let path = folder.parent().map_or(folder.clone(), Path::to_owned);
                RealPlace { path, existence: Existence::Possible }
            }
            Some(Component::CurDir | Component::RootDir | Component::Prefix(_)) | None => {
                RealPlace { path: path.to_owned(), existence: Existence::Possible }
            }
        }
    }

    fn folder(&mut self, path: &Path, links: usize) -> RealPlace {
        if let Some(known) = self.folders.get(path.as_os_str()) {
            return known.clone();
        }
        let place = self.follow(path, links);
        self.folders.insert(path.as_os_str().to_owned(), place.clone());
        place
    }

    /// Where a name in a folder leads.
    fn follow_in(&mut self, folder: &RealPlace, name: &Path, links: usize) -> RealPlace {
        let path = folder.path.join(name);
        if folder.existence == Existence::Absent {
            return RealPlace { path, existence: Existence::Absent };
        }
        match (path.read_link(), links.checked_sub(1)) {
            (Ok(target), Some(left)) => self.follow(&folder.path.join(target), left),
            (Err(error), _) if error.kind() == ErrorKind::NotFound => RealPlace { path, existence: Existence::Absent },
            _ => RealPlace { path, existence: Existence::Possible },
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn many_paths_are_resolved_as_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("folder/deep")).unwrap();
        std::fs::write(root.join("folder/file"), "").unwrap();
        for (target, link) in [
            ("folder", "link"),
            ("nowhere", "dangling"),
            ("folder/new/deep", "far"),
            ("loop", "loop"),
            ("..", "folder/up"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let written = [
            "folder/file",
            "folder/file/below",
            "folder/../folder/deep",
            "folder/new/../deep",
            "link",
            "link/deep/..",
            "link/up/link/file",
            "link/new/one",
            "link/new/two",
            "dangling",
            "dangling/below",
            "far/file",
            "loop/below",
            "missing/..",
            "missing/below/this",
        ];
        let mut resolver = RealPaths::default();
        for path in written {
            let path = root.join(path);
            let alone = RealPaths::default().resolve(&path);
            // Once more, from what is known by then.
            assert_eq!([resolver.resolve(&path), resolver.resolve(&path)], [alone.clone(), alone.clone()]);
            if let Ok(real) = path.canonicalize() {
                assert_eq!(alone, real, "{}", path.display());
            }
        }
        let leads_to = |path: &str| real_path(&root.join(path));
        assert_eq!(leads_to("link/new/one"), root.join("folder/new/one"));
        assert_eq!(leads_to("dangling/below"), root.join("nowhere/below"));
        assert_eq!(leads_to("far/file"), root.join("folder/new/deep/file"));
    }
}
