//! Tables of programs: what their options and operands are.
//!
//! A row is data (`programs.toml`, `wrappers.toml`, `services.toml`, `variables.toml`); the files describe their own form.
//! A row that cannot be read is left out, which makes its program one that is in no table; a test reads every row.

mod added;
mod own;
mod role;
mod row;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

pub use added::{ProgramTables, RowProblem};
pub(crate) use role::{Operands, Role};
pub(crate) use row::{FixedFacts, Printed, Recursive, Row};

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

/// Variables and settings that run code.
#[derive(Clone, Debug, Default)]
struct Variables {
    kinds: HashMap<String, VariableKind>,
    settings: Vec<String>,
}

static OWN_VARIABLES: LazyLock<Variables> = LazyLock::new(|| Variables::read(VARIABLES).unwrap_or_default());

impl Variables {
    fn read(text: &str) -> Result<Self, toml::de::Error> {
        let file: VariableFile = toml::from_str(text)?;
        let kinds = file.variable.iter().flat_map(|row| row.names().map(|name| (name.to_owned(), row.kind))).collect();
        Ok(Self { kinds, settings: file.setting.iter().flat_map(SettingRow::names).collect() })
    }
}

/// The tables: the rows of this crate, and those that were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    rows: HashMap<String, Row>,
    subcommands: HashMap<String, HashMap<String, Row>>,
    variables: Variables,
}

/// Returns the tables without added rows.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(Tables::default);
    &TABLES
}

impl Tables {
    /// Adds a row.
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
        let called = |name: &str| own::row(name).or_else(|| self.rows.get(name));
        called(name).or_else(|| called(version_less(name)?))
    }

    /// Whether a program has rows of subcommands.
    pub(crate) fn has_subcommands(&self, name: &str) -> bool {
        own::has_subcommands(name) || self.subcommands.contains_key(name)
    }

    /// The row of a subcommand.
    pub(crate) fn subcommand(&self, name: &str, subcommand: &str) -> Option<&Row> {
        own::subcommand(name, subcommand).or_else(|| self.subcommands.get(name)?.get(subcommand))
    }

    pub(crate) fn variable(&self, name: &str) -> Option<VariableKind> {
        OWN_VARIABLES.kinds.get(name).or_else(|| self.variables.kinds.get(name)).copied()
    }

    /// The variables of a kind, in the order of their names.
    pub(crate) fn variables_of(&self, kind: VariableKind) -> Vec<&str> {
        let all = OWN_VARIABLES.kinds.iter().chain(&self.variables.kinds);
        let mut names: Vec<&str> = all.filter(|(_, other)| **other == kind).map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// Whether a setting of git runs a program. A `*` of a row stands for one part of the name.
    pub(crate) fn is_running_setting(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        OWN_VARIABLES.settings.iter().chain(&self.variables.settings).any(|pattern| match pattern.split_once('*') {
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
    fn variables_settings_and_versions_are_found() {
        assert!(Variables::read(VARIABLES).is_ok_and(|own| own.kinds.len() > 30 && own.settings.len() > 30));
        let tables = tables();
        assert!(tables.row("python3.12").is_some() && tables.row("no-such-program").is_none());
        assert!(tables.is_running_setting("core.fsmonitor") && tables.is_running_setting("diff.x.textconv"));
        assert!(!tables.is_running_setting("user.name"));
    }
}
