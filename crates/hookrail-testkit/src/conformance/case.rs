//! The format of a case.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// One case: the configuration, the command, and the expected result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConformanceCase {
    /// A sentence that says what must hold; unique in its folder.
    pub name: String,
    /// The rules that require it; at least one.
    pub cites: Vec<String>,
    /// The user's settings: an object, or a string that is the file's text.
    #[serde(default)]
    pub user: Option<Value>,
    /// The project's settings, likewise.
    #[serde(default)]
    pub project: Option<Value>,
    /// The system's settings, likewise.
    #[serde(default)]
    pub system: Option<Value>,
    /// Further files by their path in the case's folder; those that end in `.sh` are made executable.
    #[serde(default)]
    pub files: BTreeMap<String, Value>,
    /// Commands that are run first, each with `--project` added where it is missing; they must succeed.
    #[serde(default)]
    pub before: Vec<Vec<String>>,
    /// The command, without the program; `--project`, where it is missing, and `--json` are added.
    pub command: Vec<String>,
    /// What the command reads.
    #[serde(default)]
    pub stdin: Option<String>,
    /// The number of columns of the terminal that the command runs in, if it runs in one. It reads what is typed there (`stdin`), its
    /// output is `stdout`, and `--json` is not added.
    #[serde(default)]
    pub terminal: Option<u16>,
    /// Additions to the environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Programs without which the case is skipped.
    #[serde(default)]
    pub skip_without: Vec<String>,
    /// The expected result.
    pub expect: CaseExpectation,
    /// The file that contains the case.
    #[serde(skip)]
    pub file: PathBuf,
}

/// The expected result of a case. Only members that are given are compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseExpectation {
    /// The exit status.
    #[serde(default)]
    pub exit: Option<i32>,
    /// A pattern for the JSON document on standard output.
    #[serde(default)]
    pub json: Option<Value>,
    /// A pattern for the text of standard output.
    #[serde(default)]
    pub stdout: Option<Value>,
    /// A pattern for the text of standard error.
    #[serde(default)]
    pub stderr: Option<Value>,
    /// How long the command may take, in milliseconds.
    #[serde(default)]
    pub within_ms: Option<u64>,
    /// Files by their path in the case's folder.
    #[serde(default)]
    pub files: BTreeMap<String, FileExpectation>,
}

/// The expected content of a file after the command has ended.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum FileExpectation {
    /// It is JSON and matches the pattern.
    Json(Value),
    /// Its text matches the pattern; a plain string must be the whole text.
    Text(Value),
    /// It does not exist (`true`), or it exists with any content (`false`).
    Absent(bool),
}

impl ConformanceCase {
    /// Every pattern of the case.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Value> {
        let expect = &self.expect;
        let files = expect.files.values().filter_map(|file| match file {
            FileExpectation::Json(pattern) | FileExpectation::Text(pattern) => Some(pattern),
            FileExpectation::Absent(_) => None,
        });
        [&expect.json, &expect.stdout, &expect.stderr].into_iter().flatten().chain(files)
    }
}
