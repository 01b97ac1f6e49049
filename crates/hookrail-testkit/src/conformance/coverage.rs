//! The rules of the specification that the cases cite, and the reasons why the others have no case.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::case::ConformanceCase;
use super::load::LoadError;

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

/// Returns the text of `COVERAGE.md` for the cases of the folder `llxprt`.
///
/// # Errors
///
/// If the reasons cannot be read.
pub fn coverage(cases: &[ConformanceCase], folder: &Path) -> Result<String, LoadError> {
    let reasons = read_reasons(&folder.join(REASONS_FILE))?;
    let mut cited: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in cases {
        for rule in case.cites.iter().filter_map(|citation| citation.strip_prefix("llxprt:")) {
            let names = cited.entry(rule).or_default();
            if !names.contains(&case.name.as_str()) {
                names.push(&case.name);
            }
        }
    }
    let (mut rows, mut covered, mut explained) = (String::new(), 0, 0);
    for rule in (1..=RULES).map(|number| format!("R{number}")) {
        let text = match (cited.get(rule.as_str()), reasons.get(&rule)) {
            (Some(names), _) => {
                covered += 1;
                names.iter().map(|name| name.replace('|', "\\|")).collect::<Vec<_>>().join("<br>")
            }
            (None, Some(reason)) => {
                explained += 1;
                format!("*no case: {reason}*")
            }
            (None, None) => format!("*{NOT_COVERED}*"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(rows, "| {rule} | {text} |");
    }
    let open = RULES - covered - explained;
    let defects = (1..=DEFECTS).filter(|number| cited.contains_key(format!("B{number}").as_str())).count();
    Ok(format!(
        "# What the cases cover\n\n\
         Written by `{COVERAGE_COMMAND}`; do not edit. The rules are those of [the specification](../docs/specification/llxprt.md).\n\n\
         {} cases. Of {RULES} rules {covered} have a case, {explained} a reason for having none, {open} neither. \
         {defects} known defects of other implementations are cited.\n\n\
         | rule | cases |\n|---|---|\n{rows}",
        cases.len()
    ))
}

/// Reads the reasons by rule. There are none if the file does not exist.
fn read_reasons(file: &Path) -> Result<BTreeMap<String, String>, LoadError> {
    match std::fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| LoadError::Malformed(file.to_owned(), error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(LoadError::Unreadable(file.to_owned(), error)),
    }
}
