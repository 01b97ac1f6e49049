//! Links lead somewhere, and every page can be reached.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path};

use super::markdown::{all_pages, anchors_of, links_of, root};

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The path of a link's target from the root of the repository, for a link on the page at `from`.
fn resolve(from: &str, target: &str) -> String {
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
    for name in all_pages() {
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

#[test]
fn every_page_is_in_the_summary_of_the_site_and_has_a_title() {
    let listed: BTreeSet<String> =
        links_of(&page("docs/SUMMARY.md")).iter().map(|link| resolve("docs/SUMMARY.md", link)).collect();
    for name in all_pages().into_iter().filter(|name| name.starts_with("docs/") && name != "docs/SUMMARY.md") {
        assert!(listed.contains(&name), "docs/SUMMARY.md does not list {name}");
        assert!(page(&name).lines().any(|line| line.starts_with("# ")), "{name} has no title");
    }
}

#[test]
fn every_page_is_in_the_index() {
    let index = page("docs/README.md");
    let listed: BTreeSet<String> = links_of(&index).iter().map(|link| resolve("docs/README.md", link)).collect();
    let own = ["docs/README.md", "docs/SUMMARY.md"];
    for name in all_pages().into_iter().filter(|name| name.starts_with("docs/") && !own.contains(&name.as_str())) {
        // The index leads to the first page of a folder with rules.
        let reached = listed.contains(&name) || name.starts_with("docs/specification/");
        assert!(reached, "docs/README.md does not list {name}");
    }
}
