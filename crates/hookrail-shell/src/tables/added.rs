//! Rows that are added to the tables.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::row::RawRow;
use super::{Tables, tables};

/// The tables of programs: those of this crate, and rows that were added to them.
///
/// ```
/// use hookrail_shell::ProgramTables;
///
/// let mut tables = ProgramTables::default();
/// let row = "[[program]]\nnames = \"mydeploy\"\noptions = { \"out\" = \"write\" }\noperands = \"read*\"\n";
/// assert_eq!(tables.add(row), Ok(Vec::new()));
/// assert_eq!(tables.add("[[program]]\nnames = \"rm\"\n").unwrap().len(), 1);
/// assert!(tables.add("[[program]]\nname = \"x\"\n").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct ProgramTables(Tables);

/// What is wrong with a text of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowProblem {
    /// Where in the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddedFile {
    #[serde(default)]
    program: Vec<Spanned<RawRow>>,
}

impl Default for ProgramTables {
    fn default() -> Self {
        Self(tables().clone())
    }
}

impl ProgramTables {
    /// Adds rows. A program that the tables have keeps its rows, so that nothing that is known becomes unknown: such rows
    /// are returned, and left out.
    ///
    /// # Errors
    ///
    /// The text is no TOML, or a row cannot be read. Nothing is added then.
    pub fn add(&mut self, text: &str) -> Result<Vec<RowProblem>, RowProblem> {
        let file: AddedFile = toml::from_str(text).map_err(|error| RowProblem {
            span: error.span().unwrap_or(text.len()..text.len()),
            message: error.message().lines().next().unwrap_or_default().to_owned(),
        })?;
        let mut tables = self.0.clone();
        let mut left_out = Vec::new();
        for row in file.program {
            let span = row.span();
            let mut raw = row.into_inner();
            let (known, new): (Vec<&str>, Vec<&str>) =
                raw.names.split_whitespace().partition(|name| self.0.row(name).is_some());
            left_out.extend(known.iter().map(|name| {
                let message = format!("`{name}` is in the tables already, so this row is left out");
                RowProblem { span: span.clone(), message }
            }));
            if new.is_empty() && known.is_empty() {
                return Err(RowProblem { span, message: "the row names no program".to_owned() });
            }
            raw.names = new.join(" ");
            tables.insert(raw).map_err(|message| RowProblem { span, message })?;
        }
        if let Some(name) = tables.subcommands.keys().find(|name| !tables.rows.contains_key(*name)) {
            let message = format!("`{name}` has rows of subcommands only: add one without `sub`");
            return Err(RowProblem { span: 0..text.len(), message });
        }
        self.0 = tables;
        Ok(left_out)
    }

    pub(crate) fn tables(&self) -> &Tables {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str) -> Result<Vec<RowProblem>, RowProblem> {
        ProgramTables::default().add(text)
    }

    #[test]
    fn what_is_known_stays_known() {
        let mut tables = ProgramTables::default();
        let before = format!("{:?}", tables.tables().row("rm"));
        let left_out = tables.add("[[program]]\nnames = \"rm frob\"\noperands = \"-*\"\n").unwrap();
        assert_eq!(left_out.len(), 1);
        assert_eq!(format!("{:?}", tables.tables().row("rm")), before);
        assert!(tables.tables().row("frob").is_some());
        // The rows that were added first count.
        assert_eq!(tables.add("[[program]]\nnames = \"frob\"\noperands = \"delete*\"\n").unwrap().len(), 1);
        assert!(super::tables().row("frob").is_none());
    }

    #[test]
    fn a_row_that_cannot_be_read_is_named() {
        let at = |text: &str| added(text).map_err(|problem| text.get(problem.span).unwrap_or_default().to_owned());
        assert_eq!(at("[[program]]\nname = \"x\"\n"), Err("name".to_owned()));
        assert_eq!(at("[[program]]\nnames = \"x\"\noperands = \"erase*\"\n"), Err("[[program]]".to_owned()));
        assert!(added("[[program").is_err() && added("[[program]]\nnames = \" \"\n").is_err());
        assert!(added("[[program]]\nnames = \"x\"\nsub = \"y\"\n").is_err());
        assert!(added("[[program]]\nnames = \"x\"\n[[program]]\nnames = \"x\"\nsub = \"y\"\n").is_ok());
    }
}
