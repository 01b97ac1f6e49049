//! Reads a folder of cases. A malformed case is an error, so that it cannot count as passed.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::case::ConformanceCase;
use super::pattern;

/// The reason why a folder of cases could not be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// A file or folder could not be read.
    Unreadable(PathBuf, std::io::Error),
    /// A file is not a list of cases; the message has line and column.
    Malformed(PathBuf, serde_json::Error),
    /// A file of rules has another shape; the message has line and column.
    MalformedRules(PathBuf, Box<toml::de::Error>),
    /// A case breaks a rule of the format.
    Invalid {
        /// The file.
        file: PathBuf,
        /// The case's name.
        case: String,
        /// What is wrong.
        why: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(formatter, "{}: {error}", path.display()),
            Self::Malformed(path, error) => write!(formatter, "{}: {error}", path.display()),
            Self::MalformedRules(path, error) => write!(formatter, "{}: {error}", path.display()),
            Self::Invalid { file, case, why } => write!(formatter, "{}: case \"{case}\": {why}", file.display()),
        }
    }
}

impl std::error::Error for LoadError {}

/// Returns the cases of a folder, file by file in the order of their names.
///
/// # Errors
///
/// If a file cannot be read, is not a list of cases, or a case has a name that is taken, no citation, an unknown
/// key or a pattern that nothing can match.
pub fn load(folder: &Path) -> Result<Vec<ConformanceCase>, LoadError> {
    let mut cases = Vec::new();
    let mut names = BTreeSet::new();
    for file in json_files(folder)? {
        for case in read(&file)? {
            check(&case, &mut names).map_err(|why| LoadError::Invalid {
                file: file.clone(),
                case: case.name.clone(),
                why,
            })?;
            cases.push(case);
        }
    }
    Ok(cases)
}

/// Returns the JSON files of a folder, sorted by name.
pub(super) fn json_files(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    files_that_end_in("json", folder)
}

/// Returns the files of a folder with an extension, sorted by name.
pub(super) fn files_that_end_in(extension: &str, folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let unreadable = |error| LoadError::Unreadable(folder.to_owned(), error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The name of a file without its extension.
pub(super) fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a JSON file.
pub(super) fn read_json<T: DeserializeOwned>(file: &Path) -> Result<T, LoadError> {
    let text = std::fs::read_to_string(file).map_err(|error| LoadError::Unreadable(file.to_owned(), error))?;
    serde_json::from_str(&text).map_err(|error| LoadError::Malformed(file.to_owned(), error))
}

/// Reads a TOML file.
pub(super) fn read_toml<T: DeserializeOwned>(file: &Path) -> Result<T, LoadError> {
    let text = std::fs::read_to_string(file).map_err(|error| LoadError::Unreadable(file.to_owned(), error))?;
    toml::from_str(&text).map_err(|error| LoadError::MalformedRules(file.to_owned(), Box::new(error)))
}

fn read(file: &Path) -> Result<Vec<ConformanceCase>, LoadError> {
    let mut cases: Vec<ConformanceCase> = read_json(file)?;
    for case in &mut cases {
        file.clone_into(&mut case.file);
    }
    Ok(cases)
}

fn check(case: &ConformanceCase, names: &mut BTreeSet<String>) -> Result<(), String> {
    if case.name.trim().is_empty() {
        return Err("it has no name".to_owned());
    }
    if !names.insert(case.name.clone()) {
        return Err("another case has the same name".to_owned());
    }
    if case.cites.is_empty() {
        return Err("it cites nothing".to_owned());
    }
    if let Some(citation) = case.cites.iter().find(|citation| !is_citation(citation)) {
        return Err(format!("\"{citation}\" is not a citation"));
    }
    if case.command.is_empty() {
        return Err("it has no command".to_owned());
    }
    let outside = |path: &&String| Path::new(path.as_str()).components().any(|part| !is_plain(part));
    if let Some(path) = case.files.keys().chain(case.expect.files.keys()).find(outside) {
        return Err(format!("\"{path}\" is not a path inside the case's folder"));
    }
    case.patterns().try_for_each(pattern::check)
}

fn is_plain(part: std::path::Component<'_>) -> bool {
    matches!(part, std::path::Component::Normal(_))
}

/// Whether a text has the form of a citation: a page of the specification and the number of a rule, such as `llxprt:R67`,
/// `engine:E2.2` or `xcode:36`. That page and rule exist is checked by a test, because another set of cases may have
/// rules of its own.
fn is_citation(text: &str) -> bool {
    let Some((page, rule)) = text.split_once(':') else { return false };
    let number = rule.trim_start_matches(|c: char| c.is_ascii_uppercase());
    !page.is_empty()
        && page.chars().all(|c| c.is_ascii_lowercase())
        && rule.len() - number.len() <= 1
        && number.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
}
