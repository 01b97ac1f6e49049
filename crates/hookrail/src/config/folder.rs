//! The entries of a folder, and the links on the way to what is watched.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) kind: EntryKind,
}

/// The kind of an entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    File,
    Folder,
    LinkToFolder,
    DanglingLink,
    Other,
}

impl Entry {
    /// Whether it is a folder or a link to one.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self.kind, EntryKind::Folder | EntryKind::LinkToFolder)
    }
}

/// The entries of a folder, by name.
pub(crate) fn list_entries(folder: &Path) -> io::Result<BTreeSet<Entry>> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let about = entry.file_type()?;
        let kind = if about.is_file() {
            EntryKind::File
        } else if about.is_dir() {
            EntryKind::Folder
        } else if about.is_symlink() {
            match path.metadata() {
                Ok(about) if about.is_dir() => EntryKind::LinkToFolder,
                Ok(_) => EntryKind::Other,
                Err(_) => EntryKind::DanglingLink,
            }
        } else {
            EntryKind::Other
        };
        found.insert(Entry { path, kind });
    }
    Ok(found)
}

/// Every path to watch so that a change of one of these paths is noticed: the path, every link on the way to it inside
/// these roots, and the targets of the links. Links above the roots are not followed: watching their targets would
/// report changes of unrelated folders.
pub(crate) fn with_links(paths: &[PathBuf], roots: &[PathBuf]) -> Vec<PathBuf> {
    const MOST_LINKS: usize = 32;
    let paths: BTreeSet<&PathBuf> = paths.iter().collect();
    let mut watched: BTreeSet<PathBuf> = paths.iter().copied().cloned().collect();
    let mut links: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
    for path in paths {
        let mut waiting = vec![path.clone()];
        let mut followed = 0;
        while let Some(path) = waiting.pop() {
            let is_inside = |place: &&Path| **place == *path || roots.iter().any(|root| place.starts_with(root));
            for place in path.ancestors().take_while(is_inside) {
                let target = links.entry(place.to_owned()).or_insert_with(|| std::fs::read_link(place).ok());
                if let Some(target) = target
                    && followed < MOST_LINKS
                {
                    followed += 1;
                    let target = super::without_dots(&place.parent().unwrap_or(Path::new("/")).join(target));
                    let rest = path.strip_prefix(place).unwrap_or(Path::new(""));
                    let leads_to = if rest.as_os_str().is_empty() { target.clone() } else { target.join(rest) };
                    watched.extend([place.to_owned(), target, leads_to.clone()]);
                    waiting.push(leads_to);
                }
            }
        }
    }
    watched.into_iter().collect()
}
