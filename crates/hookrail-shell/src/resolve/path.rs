//! Paths as texts: absolute and without `.` and `..`.

use super::value::HOLE;

/// Returns an absolute path. A path that begins with an unknown part stays as it is.
pub(crate) fn join(folder: &str, path: &str) -> String {
    let is_whole = path.starts_with('/') || path.starts_with(HOLE);
    let mut joined = String::with_capacity(folder.len() + path.len() + 1);
    if !is_whole {
        joined.push_str(folder);
        joined.push('/');
    }
    joined.push_str(path);
    if is_normal(&joined) { joined } else { normal(&joined) }
}

/// Whether a path surely has nothing to remove. Most have not.
fn is_normal(path: &str) -> bool {
    let has_part = |pair: &[u8]| matches!(pair, [b'/', b'/' | b'.']);
    path.starts_with(['/', HOLE]) && !path.ends_with('/') && !path.as_bytes().windows(2).any(has_part)
}

/// Removes `.`, `..` and empty parts.
pub(crate) fn normal(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(last) if *last != ".." && !last.contains(HOLE) => {
                    parts.pop();
                }
                Some(_) => parts.push(".."),
                None if is_absolute => {}
                None => parts.push(".."),
            },
            other => parts.push(other),
        }
    }
    let mut normal = String::with_capacity(path.len());
    for part in &parts {
        if is_absolute || !normal.is_empty() {
            normal.push('/');
        }
        normal.push_str(part);
    }
    if normal.is_empty() {
        normal.push('/');
    }
    normal
}

/// Returns the last part of a path.
pub(crate) fn base_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the folder of a path.
pub(crate) fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}
