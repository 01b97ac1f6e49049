//! The numbered rules and the pages that are made from them: `conformance/rules/*.toml`, `docs/specification/*.md`,
//! `docs/differences.md` and `conformance/COVERAGE.md`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hookrail_testkit::conformance::{
    BLESS_COMMAND, ConformanceIndex, END_OF_TABLE, OriginalDocument, RulePage, conformance_index, coverage,
    differences_page, is_test_path, load_originals, load_rules, specification_page, specification_table,
};

use crate::originals::is_test;

/// How many words the rules of a page may have, and what it says about the original.
const RULE_WORDS: usize = 2_700;
const DIFFERENCE_WORDS: usize = 1_100;

/// The page that lists the pages of rules.
const INDEX: &str = "docs/specification/README.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<RulePage> {
    load_rules(&root().join("conformance")).unwrap_or_else(|error| panic!("{error}"))
}

fn index() -> ConformanceIndex {
    conformance_index(&root().join("conformance")).unwrap_or_else(|error| panic!("{error}"))
}

/// The lines of every statement of the originals' documents, such as `xcode-hooks:12-15`.
fn statements() -> BTreeSet<String> {
    let documents = load_originals(&root().join("conformance")).unwrap_or_else(|error| panic!("{error}"));
    let lines = |document: &OriginalDocument| {
        document.rows.iter().map(|row| format!("{}:{}", document.name, row.lines)).collect::<Vec<_>>()
    };
    documents.iter().flat_map(lines).collect()
}

/// What is wrong with the rules of a page.
fn problems(page: &RulePage, index: &ConformanceIndex, statements: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut numbers = BTreeSet::new();
    for number in page.numbers() {
        if !numbers.insert(number) {
            found.push(format!("{}:{number}: the number stands twice", page.name));
        }
    }
    for rule in page.rules() {
        let mut problem = |what: String| found.push(format!("{}:{}: {what}", page.name, rule.id));
        for name in &rule.cases {
            if is_test_path(name) && !is_test(name) {
                problem(format!("there is no test {name}"));
            } else if !is_test_path(name) && !index.names.contains(name) {
                problem(format!("there is no case \"{name}\""));
            }
        }
        for seed in rule.seeds.iter().filter(|seed| !statements.contains(*seed)) {
            problem(format!("no document has a statement at {seed}"));
        }
        if rule.text.trim().is_empty() {
            problem("it says nothing".to_owned());
        }
        if rule.original.is_some() != rule.reason.is_some() {
            problem("`original` and `reason` belong together".to_owned());
        }
        let is_shown = !index.shown_by(&page.name, rule).is_empty();
        match (is_shown, &rule.no_case) {
            (false, None) => problem("no case and no test shows it: name one in `case`".to_owned()),
            (false, Some(_)) if rule.original.is_some() => problem("nothing shows a difference".to_owned()),
            (true, Some(_)) => problem("it is shown: remove `no_case`".to_owned()),
            (true, None) | (false, Some(_)) => {}
        }
    }
    found
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[test]
fn every_rule_and_every_difference_is_shown_by_a_case_or_a_test() {
    let (pages, index, statements) = (pages(), index(), statements());
    let found: Vec<String> = pages.iter().flat_map(|page| problems(page, &index, &statements)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    let rules = || pages.iter().flat_map(RulePage::rules);
    let differences = rules().filter(|rule| rule.original.is_some()).count();
    assert!(rules().count() > 350 && differences > 150, "{} rules, {differences} differences", rules().count());
}

#[test]
fn the_rules_of_a_page_stay_short() {
    let said = |text: &Option<String>| text.as_deref().map_or(0, words);
    let mut too_long = Vec::new();
    for page in pages() {
        let rules: usize = page.rules().map(|rule| words(&rule.text)).sum();
        let differences: usize = page.rules().map(|rule| said(&rule.original) + said(&rule.reason)).sum();
        println!("{rules:>6} {differences:>6}  {}", page.name);
        if rules > RULE_WORDS || differences > DIFFERENCE_WORDS {
            too_long.push(page.name);
        }
    }
    assert!(
        too_long.is_empty(),
        "more than {RULE_WORDS} words of rules or {DIFFERENCE_WORDS} of differences: {too_long:?}"
    );
}

/// Compares a page with what it is made from, or writes it with `HOOKRAIL_BLESS=1`.
fn assert_current(path: &str, made: &str) {
    let file = root().join(path);
    if std::env::var("HOOKRAIL_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(&file, made).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == made, "{path} is not current: run `{BLESS_COMMAND}`");
}

#[test]
fn the_pages_that_are_made_from_rules_are_current() {
    let pages = pages();
    for page in &pages {
        assert_current(&format!("docs/specification/{}.md", page.name), &specification_page(page));
    }
    let table = specification_table(&pages);
    let mark = table.lines().next().unwrap();
    let index = std::fs::read_to_string(root().join(INDEX)).unwrap();
    let (head, rest) = index.split_once(mark).unwrap();
    let (_, tail) = rest.split_once(&format!("{END_OF_TABLE}\n")).unwrap();
    assert_current(INDEX, &format!("{head}{table}{tail}"));
    assert_current("docs/differences.md", &differences_page(&pages));
    assert_current(
        "conformance/COVERAGE.md",
        &coverage(&root().join("conformance")).unwrap_or_else(|error| panic!("{error}")),
    );
}

#[test]
fn what_is_wrong_with_a_rule_is_found() {
    let text = r#"
        title = "a page"
        about = "For tests."
        original = "the original"
        [[section]]
        title = "E1 A section"
        rule = [
            { id = "1", text = "Right.", case = ["a case"] },
            { id = "2", text = "A citing case." },
            { id = "3", defect = "B3", text = "A case that cites the defect.", original = "no", reason = "yes" },
            { id = "4", text = "A test.", case = ["hookrail-testkit::rules::the_rules_of_a_page_stay_short"] },
            { id = "5", text = "Nothing to show.", no_case = "a reason" },
            { id = "11", text = "Nothing shows it." },
            { id = "12", text = "No such case.", case = ["no case"] },
            { id = "13", text = "No such test.", case = ["hookrail-testkit::rules::no_test"] },
            { id = "14", text = "No reason.", original = "another", case = ["a case"] },
            { id = "15", text = "A difference.", original = "a", reason = "b", no_case = "c" },
            { id = "16", text = "It is shown.", case = ["a case"], no_case = "c" },
            { id = "17", text = " ", case = ["a case"] },
            { id = "18", text = "No such lines.", case = ["a case"], seed = ["a-document:1", "a-document:2"] },
            { id = "1", text = "Twice.", case = ["a case"] },
        ]"#;
    let page = RulePage { name: "page".to_owned(), ..toml::from_str(text).unwrap() };
    let mut index = ConformanceIndex::default();
    index.names.insert("a case".to_owned());
    for citation in ["page:2", "page:B3"] {
        index.citing.insert(citation.to_owned(), vec!["a case".to_owned()]);
    }
    let found = problems(&page, &index, &BTreeSet::from(["a-document:1".to_owned()]));
    let numbers: Vec<&str> = found.iter().map(|problem| problem.split(':').nth(1).unwrap()).collect();
    assert_eq!(numbers, ["1", "11", "12", "13", "14", "15", "16", "17", "18"], "{found:?}");
    assert!(page.numbers().contains(&"E1"));
}
