//! The page that says what shows the documents of the originals, statement by statement, and the rules.

use std::fmt::Write as _;
use std::path::Path;

use super::load::LoadError;
use super::originals::{OriginalDocument, is_test_path, load_originals};
use super::pages::BLESS_COMMAND;
use super::rules::{ConformanceIndex, RulePage, conformance_index, load_rules};

/// How many names a cell of a table has; the others are counted.
const NAMES_SHOWN: usize = 3;

/// Returns the text of `COVERAGE.md` for the folder `conformance`.
///
/// # Errors
///
/// If the cases, the documents of the originals or the rules cannot be read.
pub fn coverage(root: &Path) -> Result<String, LoadError> {
    let documents = documents_section(&load_originals(root)?);
    let index = conformance_index(root)?;
    let rules: String = load_rules(root)?.iter().map(|page| rules_section(page, &index)).collect();
    Ok(format!(
        "# What the cases cover\n\nWritten by `{BLESS_COMMAND}`; do not edit.\n\n{documents}\n## The rules\n{rules}"
    ))
}

/// The statements of the documents of the originals, each with what shows it.
fn documents_section(documents: &[OriginalDocument]) -> String {
    let statements: usize = documents.iter().map(|document| document.rows.len()).sum();
    let mut text = format!(
        "## The documents of the originals\n\n\
         {} documents with {statements} statements. A statement names its lines in the document, and the cases or `tests` \
         that show it; where hookrail differs on purpose, it says what hookrail does and \
         [differences](../docs/differences.md) says why. The data is in `originals/`.\n",
        documents.len()
    );
    for document in documents {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n### {}\n\n{} statements; the cases are in `{}/`.\n\n| lines | statement | shown by |\n|---|---|---|\n",
            document.document,
            document.rows.len(),
            document.dialect
        );
        for row in &document.rows {
            let names: Vec<String> = row.shown_by.iter().map(|name| proof(name)).collect();
            let _ = writeln!(text, "| {} | {} | {} |", row.lines, cell(&row.says), few(&names));
        }
    }
    text
}

/// The rules of a page, each with what shows it.
fn rules_section(page: &RulePage, index: &ConformanceIndex) -> String {
    let mut text = format!("\n### {} rules\n\n| rule | lines | shown by |\n|---|---|---|\n", page.title);
    for rule in page.rules() {
        let names: Vec<String> = index.shown_by(&page.name, rule).into_iter().map(proof).collect();
        let shown_by = rule.no_case.as_ref().map_or_else(|| few(&names), |reason| format!("*nothing: {reason}*"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} | {shown_by} |", rule.numbers(), rule.seeds.join("<br>"));
    }
    text
}

/// The name of a test is set in code style.
fn proof(name: &str) -> String {
    if is_test_path(name) { format!("`{name}`") } else { cell(name) }
}

/// A text that does not end the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The first names, and how many more there are.
fn few(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_SHOWN).cloned().collect::<Vec<_>>().join("<br>");
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown,
        more => format!("{shown}<br>and {more} more"),
    }
}
