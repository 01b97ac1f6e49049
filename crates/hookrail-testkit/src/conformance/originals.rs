//! The documents of the original hook systems, statement by statement, with what shows that each statement holds.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::load::{LoadError, json_files, read_json, stem};

/// The folder below `conformance/` that has the documents.
pub(super) const ORIGINALS: &str = "originals";

/// One document of an original system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalDocument {
    /// The name of its file.
    #[serde(skip)]
    pub name: String,
    /// What the document is called.
    pub document: String,
    /// The dialect that reproduces the system, and the folder of its cases.
    pub dialect: String,
    /// The statements in the order of the document.
    pub rows: Vec<OriginalStatement>,
}

/// One statement of a document.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OriginalStatement {
    /// The lines of the document, such as `12`, `12-15` or `12,20-22`.
    pub lines: String,
    /// The statement in one sentence.
    pub says: String,
    /// The names of cases of the dialect, and the paths of tests such as `hookrail-agent::tools::a_name`.
    pub shown_by: Vec<String>,
}

impl OriginalStatement {
    /// The first line of the document that the statement is about.
    #[must_use]
    pub fn first_line(&self) -> Option<usize> {
        self.lines.split(['-', ',']).next()?.parse().ok()
    }
}

/// Returns whether the name of what shows a statement is the path of a test. Names of cases are sentences.
#[must_use]
pub fn is_test_path(name: &str) -> bool {
    name.contains("::") && !name.contains(' ')
}

/// Reads the documents below the folder `conformance`, in the order of their file names.
///
/// # Errors
///
/// If a file cannot be read or has another shape.
pub fn load_originals(root: &Path) -> Result<Vec<OriginalDocument>, LoadError> {
    let read = |file: &PathBuf| read_json(file).map(|document| OriginalDocument { name: stem(file), ..document });
    json_files(&root.join(ORIGINALS))?.iter().map(read).collect()
}
