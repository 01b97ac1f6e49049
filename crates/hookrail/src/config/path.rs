//! Paths as they are written.

use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..`, as it is written: links are not looked at, and nothing has to exist.
#[must_use]
pub fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::with_capacity(path.as_os_str().len());
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_followed_as_they_are_written() {
        let of = |path: &str| without_dots(Path::new(path)).display().to_string();
        assert_eq!(of("/a/./b/../c"), "/a/c");
        assert_eq!(of("/../a"), "/a");
        assert_eq!(of("a//b/."), "a/b");
        assert_eq!(of("/a/../.."), "/");
    }
}
