//! The numbered rules as data: `conformance/rules/PAGE.toml` for each page of the specification. The pages, the differences
//! from the originals and the coverage are made from them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::load::{LoadError, files_that_end_in, json_files, read_json, read_toml, stem};

/// The folder below `conformance/` that has the rules.
pub(super) const RULES: &str = "rules";

/// The rules of one page: those of a dialect, of the engine, or of the command line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulePage {
    /// The name of the page in citations, which is that of its file.
    #[serde(skip)]
    pub name: String,
    /// The heading of the page, and of its differences.
    pub title: String,
    /// Who needs the page.
    pub about: String,
    /// What the original is called, in the heading of a table.
    pub original: String,
    /// The sections in their order.
    #[serde(rename = "section")]
    pub sections: Vec<RuleSection>,
}

/// The rules of one subject.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSection {
    /// The heading. It begins with the number if the section can be cited.
    pub title: String,
    /// What holds for all rules of the section.
    #[serde(default)]
    pub text: String,
    /// The rules in their order.
    #[serde(rename = "rule")]
    pub rules: Vec<NumberedRule>,
}

/// One numbered rule. It is a deliberate difference if it says what the original does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberedRule {
    /// The number, such as `E2.3`, `R67` or `36`.
    pub id: String,
    /// A second number, under which a defect of the original is cited.
    pub defect: Option<String>,
    /// What hookrail does.
    pub text: String,
    /// What the document or the program of the original does instead.
    pub original: Option<String>,
    /// Why hookrail differs.
    pub reason: Option<String>,
    /// The names of cases, and the paths of tests, that show the rule beside the cases that cite it.
    #[serde(default, rename = "case")]
    pub cases: Vec<String>,
    /// Why nothing shows the rule.
    pub no_case: Option<String>,
    /// The lines of an original document, such as `llxprt-api-reference:37-38`.
    #[serde(default, rename = "seed")]
    pub seeds: Vec<String>,
}

impl RulePage {
    /// The rules of all sections.
    pub fn rules(&self) -> impl Iterator<Item = &NumberedRule> {
        self.sections.iter().flat_map(|section| &section.rules)
    }

    /// Every number that a citation may have: those of rules, of defects and of sections.
    #[must_use]
    pub fn numbers(&self) -> Vec<&str> {
        let sections = self.sections.iter().filter_map(RuleSection::number);
        let rules = self.rules().flat_map(|rule| rule.defect.as_deref().into_iter().chain([rule.id.as_str()]));
        sections.chain(rules).collect()
    }
}

impl RuleSection {
    /// The number at the beginning of the heading.
    #[must_use]
    pub fn number(&self) -> Option<&str> {
        let first = self.title.split(' ').next()?;
        first.ends_with(|last: char| last.is_ascii_digit()).then_some(first)
    }

    /// The heading without the number.
    #[must_use]
    pub fn heading(&self) -> &str {
        self.number().and_then(|number| self.title.strip_prefix(number)).unwrap_or(&self.title).trim()
    }
}

impl NumberedRule {
    /// The numbers of the rule, that of a defect last.
    #[must_use]
    pub fn numbers(&self) -> String {
        self.defect.iter().fold(self.id.clone(), |id, defect| format!("{id}, {defect}"))
    }
}

/// Reads the pages below the folder `conformance`, in the order of their file names.
///
/// # Errors
///
/// If a file cannot be read or has another shape.
pub fn load_rules(root: &Path) -> Result<Vec<RulePage>, LoadError> {
    let read = |file: &PathBuf| read_toml(file).map(|page| RulePage { name: stem(file), ..page });
    files_that_end_in("toml", &root.join(RULES))?.iter().map(read).collect()
}

/// What the data below `conformance/` shows.
#[derive(Clone, Debug, Default)]
pub struct ConformanceIndex {
    /// The names of all cases and attacks.
    pub names: BTreeSet<String>,
    /// The names of the cases and attacks that cite a rule, by the citation.
    pub citing: BTreeMap<String, Vec<String>>,
}

/// Reads the name and the citations of every case and every attack below the folder `conformance`.
///
/// # Errors
///
/// If a file cannot be read or is not JSON.
pub fn conformance_index(root: &Path) -> Result<ConformanceIndex, LoadError> {
    let mut index = ConformanceIndex::default();
    let unreadable = |error| LoadError::Unreadable(root.to_owned(), error);
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root).map_err(unreadable)? {
        folders.push(entry.map_err(unreadable)?.path());
    }
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    for folder in folders {
        for file in json_files(&folder)? {
            let Value::Array(cases) = read_json(&file)? else { continue };
            for case in &cases {
                index.add(case);
            }
        }
    }
    Ok(index)
}

impl ConformanceIndex {
    fn add(&mut self, case: &Value) {
        let Some(name) = case.get("name").and_then(Value::as_str) else { return };
        self.names.insert(name.to_owned());
        for citation in case.get("cites").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            self.citing.entry(citation.to_owned()).or_default().push(name.to_owned());
        }
    }

    /// What shows a rule: the cases and tests that it names, then the cases that cite it or its defect.
    #[must_use]
    pub fn shown_by<'a>(&'a self, page: &str, rule: &'a NumberedRule) -> Vec<&'a str> {
        let numbers = [&rule.id].into_iter().chain(&rule.defect);
        let citing = numbers.filter_map(|number| self.citing.get(&format!("{page}:{number}"))).flatten();
        let mut shown_by: Vec<&str> = Vec::new();
        for name in rule.cases.iter().chain(citing) {
            if !shown_by.contains(&name.as_str()) {
                shown_by.push(name);
            }
        }
        shown_by
    }
}
