//! The page that says what the cases cover: the rules of the specification, and the documents of the originals.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::case::ConformanceCase;
use super::load::{LoadError, load, read_json};
use super::originals::{OriginalDocument, is_test_path, load_originals};

/// The number of rules in `docs/specification/llxprt.md`.
pub const RULES: usize = 162;

/// The number of known defects of other implementations in `docs/specification/llxprt.md`.
const DEFECTS: usize = 41;

/// The command that writes `COVERAGE.md`.
pub const COVERAGE_COMMAND: &str = "cargo run -p hookrail-testkit --bin hookrail-conformance -- --coverage conformance";

/// The file with the reasons why rules have no case.
pub(super) const REASONS_FILE: &str = "not-covered.json";

/// The entry in the table for a rule without a case or a reason.
const NOT_COVERED: &str = "not yet covered";

/// How many names a cell of a table has; the others are counted.
const NAMES_SHOWN: usize = 3;

/// Returns the text of `COVERAGE.md` for the folder `conformance`.
///
/// # Errors
///
/// If the cases, the documents of the originals or the reasons cannot be read.
pub fn coverage(root: &Path) -> Result<String, LoadError> {
    let folder = root.join("llxprt");
    let rules = rules_section(&load(&folder)?, &folder)?;
    let documents = documents_section(&load_originals(root)?);
    Ok(format!("# What the cases cover\n\nWritten by `{COVERAGE_COMMAND}`; do not edit.\n\n{documents}\n{rules}"))
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

/// The rules of the dialect `llxprt`, each with its cases.
fn rules_section(cases: &[ConformanceCase], folder: &Path) -> Result<String, LoadError> {
    let reasons = read_reasons(&folder.join(REASONS_FILE))?;
    let mut cited: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in cases {
        for rule in case.cites.iter().filter_map(|citation| citation.strip_prefix("llxprt:")) {
            cited.entry(rule).or_default().push(cell(&case.name));
        }
    }
    let (mut rows, mut covered, mut explained) = (String::new(), 0, 0);
    for rule in (1..=RULES).map(|number| format!("R{number}")) {
        let text = match (cited.get(rule.as_str()), reasons.get(&rule)) {
            (Some(names), _) => {
                covered += 1;
                few(names)
            }
            (None, Some(reason)) => {
                explained += 1;
                format!("*no case: {reason}*")
            }
            (None, None) => format!("*{NOT_COVERED}*"),
        };
        let _ = writeln!(rows, "| {rule} | {text} |");
    }
    let open = RULES - covered - explained;
    let defects = (1..=DEFECTS).filter(|number| cited.contains_key(format!("B{number}").as_str())).count();
    Ok(format!(
        "## The rules of llxprt\n\n\
         The rules are those of [the specification](../docs/specification/llxprt.md). \
         {} cases. Of {RULES} rules {covered} have a case, {explained} a reason for having none, {open} neither. \
         {defects} known defects of other implementations are cited.\n\n\
         | rule | cases |\n|---|---|\n{rows}",
        cases.len()
    ))
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

/// Reads the reasons by rule. There are none if the file does not exist.
fn read_reasons(file: &Path) -> Result<BTreeMap<String, String>, LoadError> {
    match read_json(file) {
        Err(LoadError::Unreadable(_, error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        read => read,
    }
}
