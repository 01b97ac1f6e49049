//! Every rule that the repository cites exists: `llxprt:R67` is in `conformance/rules/llxprt.toml`, and so on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hookrail_testkit::conformance::{conformance_index, load_rules};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The numbers that a citation may have, by the name of the page.
fn all_rules() -> BTreeMap<String, BTreeSet<String>> {
    let pages = load_rules(&root().join("conformance")).unwrap_or_else(|error| panic!("{error}"));
    pages.into_iter().map(|page| (page.name.clone(), page.numbers().into_iter().map(str::to_owned).collect())).collect()
}

/// The number at the beginning of a text: at most one capital letter, digits, and further digits behind full stops.
fn leading_number(text: &str) -> Option<String> {
    let digits_from = text.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(text.len());
    if digits_from > 1 {
        return None;
    }
    let (letter, rest) = text.split_at(digits_from);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let number = rest.get(..end)?.trim_end_matches('.');
    number.starts_with(|c: char| c.is_ascii_digit()).then(|| format!("{letter}{number}"))
}

/// The citations of a page that stand in a text.
fn citations(text: &str, page: &str) -> Vec<String> {
    let mark = format!("{page}:");
    text.match_indices(&mark)
        .filter(|(at, _)| {
            !text.get(..*at).is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || c == '-'))
        })
        .filter_map(|(at, _)| leading_number(text.get(at + mark.len()..)?))
        .collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_symlink()
            || matches!(name.as_str(), "target" | "node_modules" | "corpus" | "book")
            || name.starts_with('.')
        {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| {
            extension == "rs" || extension == "md" || extension == "json" || extension == "toml"
        }) {
            found.push(path);
        }
    }
}

#[test]
fn every_citation_names_a_rule() {
    let rules = all_rules();
    let mut found = Vec::new();
    for folder in ["conformance", "crates", "docs"] {
        files(&root().join(folder), &mut found);
    }
    let (mut cited, mut missing) = (0, Vec::new());
    for file in found {
        // Some files of tests are not text on purpose.
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for (page, known) in &rules {
            for number in citations(&text, page) {
                cited += 1;
                if !known.contains(&number) {
                    missing.push(format!("{}: {page}:{number}", file.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "these rules do not exist:\n{}", missing.join("\n"));
    assert!(cited > 1000, "only {cited} citations were found");
}

#[test]
fn every_case_cites_rules_that_exist() {
    let rules = all_rules();
    let index = conformance_index(&root().join("conformance")).unwrap_or_else(|error| panic!("{error}"));
    let exists = |citation: &str| {
        // A page of the repository can be cited too.
        let Some((page, number)) = citation.split_once(':') else { return root().join(citation).exists() };
        rules.get(page).is_some_and(|numbers| numbers.contains(number))
    };
    let missing: Vec<&String> = index.citing.keys().filter(|citation| !exists(citation)).collect();
    assert!(missing.is_empty(), "these rules do not exist: {missing:?}");
    assert!(index.citing.len() > 300, "only {} rules are cited", index.citing.len());
}

#[test]
fn citations_are_found_in_text() {
    assert_eq!(citations("see `engine:E2.3`, engine:E4. and myengine:E9", "engine"), ["E2.3", "E4"]);
    assert_eq!(citations("llxprt:core:hooks llxprt:R12", "llxprt"), ["R12"]);
}
