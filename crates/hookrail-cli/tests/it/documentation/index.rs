//! `docs/SUMMARY.md` is the one list of pages. The site's navigation and `hookrail docs` are made from it, and so is the index.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use super::links::{page, resolve};
use super::markdown::{all_pages, links_of, root};

const HEAD: &str = "\
# Documentation of hookrail

<!-- Made from SUMMARY.md: run `HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it documentation::index`. -->

Tests execute every command and every example of these pages; `…` stands for lines that are left out. `hookrail docs` prints
the pages without a network.
";

/// The index: each part of the list as a heading, and its pages.
fn index(summary: &str) -> String {
    let mut text = HEAD.to_owned();
    for line in summary.lines().skip_while(|line| *line != "# Get started") {
        match line.strip_prefix("# ") {
            Some(part) => {
                let _ = writeln!(text, "## {part}");
            }
            None => {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    text.replacen("## Get started", "\n## Get started", 1)
}

#[test]
fn the_index_is_made_from_the_list_of_pages() {
    let current = index(&page("docs/SUMMARY.md"));
    let file = root().join("docs/README.md");
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        fs::write(&file, &current).unwrap();
    }
    let command = "HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it documentation::index";
    assert!(fs::read_to_string(&file).unwrap() == current, "docs/README.md is not current: run `{command}`");
}

#[test]
fn every_page_is_in_the_list_and_has_a_title() {
    let listed: Vec<String> =
        links_of(&page("docs/SUMMARY.md")).iter().map(|link| resolve("docs/SUMMARY.md", link)).collect();
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "docs/SUMMARY.md lists a page twice");
    for name in all_pages().into_iter().filter(|name| name.starts_with("docs/") && name != "docs/SUMMARY.md") {
        assert!(once.contains(&name), "docs/SUMMARY.md does not list {name}");
        assert!(page(&name).lines().any(|line| line.starts_with("# ")), "{name} has no title");
    }
}
