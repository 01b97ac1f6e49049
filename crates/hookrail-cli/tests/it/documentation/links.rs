//! Links lead somewhere.

use std::fs;
use std::path::{Component, Path};

use super::markdown::{anchors_of, links_of, root};
use super::words::pages;

pub(super) fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The path of a link's target from the root of the repository, for a link on the page at `from`.
pub(super) fn resolve(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let folder = Path::new(from).parent().unwrap();
    for part in folder.components().chain(Path::new(target).components()) {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.to_str().unwrap()),
            _ => {}
        }
    }
    parts.join("/")
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let mut wrong = Vec::new();
    for name in pages() {
        for link in links_of(&page(&name)) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { name.clone() } else { resolve(&name, file) };
            if !root().join(&target).exists() {
                wrong.push(format!("{name}: {link}: there is no such file"));
            } else if !anchor.is_empty() && !anchors_of(&page(&target)).contains(&anchor.to_owned()) {
                wrong.push(format!("{name}: {link}: there is no such heading"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
