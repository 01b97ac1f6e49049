//! Every statement of the original documents is shown by cases and tests that exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hookrail_testkit::conformance::{OriginalDocument, is_test_path, load, load_originals};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns what is wrong with a document: rows without a line or a proof, and proofs that do not exist.
fn problems(document: &OriginalDocument, cases: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut line_before = 0;
    for row in &document.rows {
        let mut problem = |what: String| found.push(format!("{}, lines {}: {what}", document.document, row.lines));
        match row.first_line() {
            None => problem("these are no lines".to_owned()),
            Some(line) if line < line_before => problem(format!("it stands behind line {line_before}")),
            Some(line) => line_before = line,
        }
        if row.shown_by.is_empty() {
            problem("no case and no test shows it".to_owned());
        }
        for name in &row.shown_by {
            if is_test_path(name) && !is_test(name) {
                problem(format!("there is no test {name}"));
            } else if !is_test_path(name) && !cases.contains(name) {
                problem(format!("there is no case \"{name}\""));
            }
        }
    }
    found
}

/// Whether a test exists: the name of its crate, the path of its file, and its own name.
pub(crate) fn is_test(path: &str) -> bool {
    let Some((module, name)) = path.rsplit_once("::") else { return false };
    let (package, module) = module.split_once("::").unwrap_or((module, "lib"));
    let module = module.replace("::", "/");
    let package = root().join("crates").join(package);
    let files = ["src", "tests/it", "tests"]
        .iter()
        .flat_map(|folder| [format!("{folder}/{module}.rs"), format!("{folder}/{module}/mod.rs")]);
    files.filter_map(|file| std::fs::read_to_string(package.join(file)).ok()).any(|text| has_test(&text, name))
}

/// Whether a text has a function of that name with an attribute that makes it a test.
fn has_test(text: &str, name: &str) -> bool {
    text.match_indices(&format!("fn {name}(")).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let attributes = before.rsplit(['}', ';']).next().unwrap_or_default();
        attributes.contains("#[test") || attributes.contains("::test")
    })
}

#[test]
fn every_statement_of_an_original_is_shown_by_a_case_or_a_test() {
    let conformance = root().join("conformance");
    let documents = load_originals(&conformance).unwrap_or_else(|error| panic!("{error}"));
    let mut found = Vec::new();
    for document in &documents {
        let cases = load(&conformance.join(&document.dialect)).unwrap_or_else(|error| panic!("{error}"));
        found.extend(problems(document, &cases.into_iter().map(|case| case.name).collect()));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    let statements: usize = documents.iter().map(|document| document.rows.len()).sum();
    assert!(documents.len() == 5 && statements > 500, "{} documents, {statements} statements", documents.len());
}

#[test]
fn a_proof_that_does_not_exist_is_found() {
    let text = r#"{"document": "a document", "dialect": "llxprt", "rows": [
        {"lines": "3-4", "says": "right", "shownBy": ["a case", "hookrail-testkit::originals::a_proof_that_does_not_exist_is_found"]},
        {"lines": "5", "says": "no proof", "shownBy": []},
        {"lines": "6,9", "says": "another case", "shownBy": ["no case of this name"]},
        {"lines": "7", "says": "another test", "shownBy": ["hookrail-testkit::originals::no_test_of_this_name"]},
        {"lines": "8", "says": "a function that is no test", "shownBy": ["hookrail-testkit::originals::has_test"]},
        {"lines": "2", "says": "out of order", "shownBy": ["a case"]}]}"#;
    let document: OriginalDocument = serde_json::from_str(text).unwrap();
    let found = problems(&document, &BTreeSet::from(["a case".to_owned()]));
    let lines: Vec<&str> = found.iter().map(|problem| problem.split(['s', ':']).nth(1).unwrap().trim()).collect();
    assert_eq!(lines, ["5", "6,9", "7", "8", "2"], "{found:?}");
}
