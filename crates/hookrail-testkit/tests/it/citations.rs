//! Every rule that the repository cites exists: `llxprt:R67` is a line of `docs/specification/llxprt.md`, and so on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hookrail_testkit::conformance::RULES;

/// The name of a page in citations, and its file.
const PAGES: [(&str, &str); 5] = [
    ("engine", "engine.md"),
    ("cli", "command-line.md"),
    ("llxprt", "llxprt.md"),
    ("xcode", "xcode.md"),
    ("xcsh", "xcsh.md"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rules of a page: the bold numbers at the beginning of list items, and the numbers of sections.
fn rules(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs/specification").join(page)).unwrap();
    text.lines()
        .filter_map(|line| {
            let item = line.strip_prefix("- **").and_then(|rest| rest.split_once("**")).map(|(number, _)| number);
            item.or_else(|| line.strip_prefix("## ")?.split_once(' ').map(|(number, _)| number))
        })
        .filter(|number| number.contains(|c: char| c.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

fn all_rules() -> BTreeMap<&'static str, BTreeSet<String>> {
    PAGES.iter().map(|(name, page)| (*name, rules(page).into_iter().collect())).collect()
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
        } else if path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "md" || extension == "json")
        {
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
fn a_rule_has_its_number_alone() {
    for (name, page) in PAGES {
        let all = rules(page);
        let different: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), different.len(), "a number of {name} stands twice");
        assert!(all.len() > 10, "{name} has {} rules", all.len());
    }
}

#[test]
fn every_rule_of_the_coverage_table_is_on_its_page() {
    let known = &all_rules()["llxprt"];
    let missing: Vec<String> =
        (1..=RULES).map(|number| format!("R{number}")).filter(|rule| !known.contains(rule)).collect();
    assert!(missing.is_empty(), "docs/specification/llxprt.md lacks {missing:?}");
}

/// The last cell of a row of a table, with the rules that it names and the tests that it names in code style.
fn proofs(row: &str) -> (Vec<&str>, Vec<&str>) {
    let last = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
    let parts = || last.split([',', '–']).map(str::trim).filter(|part| !part.is_empty());
    let rules = parts().filter(|part| !part.starts_with('`')).collect();
    let tests = parts().filter_map(|part| part.strip_prefix('`')?.strip_suffix('`')).collect();
    (rules, tests)
}

#[test]
fn every_difference_from_an_original_is_shown_by_a_case_or_a_test() {
    let rules = all_rules();
    let (mut cases, mut tests) = (Vec::new(), Vec::new());
    files(&root().join("conformance"), &mut cases);
    files(&root().join("crates"), &mut tests);
    let read = |files: Vec<PathBuf>| -> String {
        files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect::<Vec<_>>().join("\n")
    };
    let cases = read(cases.into_iter().filter(|file| file.extension().is_some_and(|end| end == "json")).collect());
    let tests = read(tests.into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs")).collect());
    let cited: BTreeMap<&str, BTreeSet<String>> =
        PAGES.iter().map(|(page, _)| (*page, citations(&cases, page).into_iter().collect())).collect();

    let text = std::fs::read_to_string(root().join("docs/differences.md")).unwrap();
    let (mut dialect, mut rows) = ("llxprt", 0);
    for line in text.lines() {
        match line {
            "## Plugins" => dialect = "xcode",
            "## Modules" => dialect = "xcsh",
            _ => {}
        }
        if !line.starts_with("| ") || line.starts_with("| topic") {
            continue;
        }
        rows += 1;
        let (named, shown_by) = proofs(line);
        let page_of = |rule: &str| match rule.chars().next() {
            Some('E') => "engine",
            Some('C') => "cli",
            _ => dialect,
        };
        for rule in &named {
            assert!(rules[page_of(rule)].contains(*rule), "docs/differences.md: no rule {rule} in {line}");
        }
        for test in &shown_by {
            assert!(tests.contains(*test), "docs/differences.md: no test {test} in {line}");
        }
        let has_case = named.iter().any(|rule| cited[page_of(rule)].contains(*rule));
        assert!(has_case || !shown_by.is_empty(), "docs/differences.md: no case and no test shows {line}");
    }
    assert!(rows > 80, "only {rows} rows were found");
}

#[test]
fn citations_are_found_in_text() {
    assert_eq!(citations("see `engine:E2.3`, engine:E4. and myengine:E9", "engine"), ["E2.3", "E4"]);
    assert_eq!(citations("llxprt:core:hooks llxprt:R12", "llxprt"), ["R12"]);
}
