//! Resolving paths as the kernel does, also of files that do not exist yet.

use std::path::{Component, Path, PathBuf};

/// The kernel follows at most this many links.
const MOST_LINKS: usize = 40;

/// The path without links. What does not exist yet is named below the part that does. A link without a target leads to the
/// file that writing to it would create.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    followed(path, MOST_LINKS)
}

fn followed(path: &Path, links: usize) -> PathBuf {
    if let Ok(real) = hookrail_spawn::real_path(path) {
        return real;
    }
    let (Some(folder), Some(last)) = (path.parent(), path.components().next_back()) else { return path.to_owned() };
    let folder = followed(folder, links);
    match last {
        Component::ParentDir => folder.parent().map_or(folder.clone(), Path::to_owned),
        Component::Normal(name) => {
            let place = folder.join(name);
            match (place.read_link(), links.checked_sub(1)) {
                (Ok(target), Some(left)) => followed(&folder.join(target), left),
                _ => place,
            }
        }
        Component::Prefix(_) | Component::RootDir | Component::CurDir => folder,
    }
}
