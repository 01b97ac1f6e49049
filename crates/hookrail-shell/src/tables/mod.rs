//! Tables of programs: what their options and operands are.
//!
//! A row is data (`programs.toml`, `wrappers.toml`, `services.toml`, `variables.toml`); the files describe their own form.
//! A row that cannot be read is left out, which makes its program one that is in no table; a test reads every row.

mod added;
mod role;
mod row;

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

pub use added::{ProgramTables, RowProblem};
pub(crate) use role::{Operands, Role};
pub(crate) use row::{FixedFacts, Recursive, Row};

const PROGRAMS: &str = include_str!("programs.toml");
const WRAPPERS: &str = include_str!("wrappers.toml");
const SERVICES: &str = include_str!("services.toml");
const VARIABLES: &str = include_str!("variables.toml");

/// How a variable runs code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum VariableKind {
    /// Its value is a file that every program loads.
    Library,
    /// Its value is a script that a shell runs first.
    ShellScript,
    /// Its value is a command.
    Command,
    /// Its value says where programs are found.
    Search,
    /// Its value is a text that a shell expands before each command that it shows.
    TraceText,
    /// Its value is a command that an interactive shell runs before it asks.
    Prompt,
    /// Its value is a text that an interactive shell expands when it asks.
    PromptText,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramFile {
    program: Vec<row::RawRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableRow {
    names: String,
    kind: VariableKind,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableFile {
    variable: Vec<VariableRow>,
    setting: Vec<SettingRow>,
}

impl VariableRow {
    fn names(&self) -> impl Iterator<Item = &str> {
        self.names.split_whitespace()
    }
}

impl SettingRow {
    /// The names as they are compared: in lower case.
    fn names(&self) -> impl Iterator<Item = String> {
        self.names.split_whitespace().map(str::to_lowercase)
    }
}

/// A setting of git that runs code.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingRow {
    names: String,
}

/// The tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    rows: HashMap<String, Row>,
    subcommands: HashMap<String, HashMap<String, Row>>,
    variables: HashMap<String, VariableKind>,
    settings: Vec<String>,
    /// What could not be read.
    pub(crate) errors: Vec<String>,
}

/// Returns the tables.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(Tables::read)
}

impl Tables {
    fn read() -> Self {
        let mut tables = Self::default();
        for text in [PROGRAMS, WRAPPERS, SERVICES] {
            match toml::from_str::<ProgramFile>(text) {
                Ok(file) => file.program.into_iter().for_each(|raw| tables.add(raw)),
                Err(error) => tables.errors.push(error.to_string()),
            }
        }
        match toml::from_str::<VariableFile>(VARIABLES) {
            Ok(file) => {
                for row in &file.variable {
                    tables.variables.extend(row.names().map(|name| (name.to_owned(), row.kind)));
                }
                tables.settings.extend(file.setting.iter().flat_map(SettingRow::names));
            }
            Err(error) => tables.errors.push(error.to_string()),
        }
        tables
    }

    fn add(&mut self, raw: row::RawRow) {
        let names = raw.names.clone();
        if let Err(error) = self.insert(raw) {
            self.errors.push(format!("{names}: {error}"));
        }
    }

    fn insert(&mut self, raw: row::RawRow) -> Result<(), String> {
        let (names, subcommands) = (raw.names.clone(), raw.sub.clone());
        let row = Row::read(raw)?;
        for name in names.split_whitespace() {
            match &subcommands {
                None => {
                    self.rows.insert(name.to_owned(), row.clone());
                }
                Some(list) => {
                    let of_program = self.subcommands.entry(name.to_owned()).or_default();
                    for subcommand in list.split_whitespace() {
                        of_program.insert(subcommand.to_owned(), row.clone());
                    }
                }
            }
        }
        Ok(())
    }

    pub(crate) fn row(&self, name: &str) -> Option<&Row> {
        self.rows.get(name).or_else(|| self.rows.get(version_less(name)?))
    }

    pub(crate) fn subcommands(&self, name: &str) -> Option<&HashMap<String, Row>> {
        self.subcommands.get(name)
    }

    pub(crate) fn variable(&self, name: &str) -> Option<VariableKind> {
        self.variables.get(name).copied()
    }

    /// The variables of a kind, in the order of their names.
    pub(crate) fn variables_of(&self, kind: VariableKind) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.variables.iter().filter(|(_, other)| **other == kind).map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// Whether a setting of git runs a program. A `*` of a row stands for one part of the name.
    pub(crate) fn is_running_setting(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.settings.iter().any(|pattern| match pattern.split_once('*') {
            None => *pattern == name,
            Some((head, tail)) => {
                name.starts_with(head) && name.ends_with(tail) && name.len() > head.len() + tail.len()
            }
        })
    }
}

/// Returns `python` for `python3.12`.
fn version_less(name: &str) -> Option<&str> {
    let base = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-');
    (base.len() < name.len() && !base.is_empty()).then_some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let tables = tables();
        assert!(tables.errors.is_empty(), "{:#?}", tables.errors);
        assert!(tables.rows.len() > 200, "{}", tables.rows.len());
        assert!(tables.row("python3.12").is_some());
        assert!(tables.is_running_setting("core.fsmonitor") && tables.is_running_setting("diff.x.textconv"));
        assert!(!tables.is_running_setting("user.name"));
    }
}
