//! Rows that are added to the tables: programs, variables, and settings of git.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::row::RawRow;
use super::{SettingRow, Tables, VariableRow};

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
#[derive(Clone, Debug, Default)]
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
    #[serde(default)]
    variable: Vec<Spanned<VariableRow>>,
    #[serde(default)]
    setting: Vec<Spanned<SettingRow>>,
}

impl ProgramTables {
    /// Adds rows. A program or variable that the tables have keeps its rows, so that nothing that is known becomes unknown:
    /// such rows are returned, and left out.
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
            left_out.extend(known.iter().map(|name| known_already(name, &span)));
            if new.is_empty() && known.is_empty() {
                return Err(RowProblem { span, message: "the row names no program".to_owned() });
            }
            raw.names = new.join(" ");
            tables.insert(raw).map_err(|message| RowProblem { span, message })?;
        }
        for row in &file.variable {
            let (span, row) = (row.span(), row.get_ref());
            if row.names().next().is_none() {
                return Err(RowProblem { span, message: "the row names no variable".to_owned() });
            }
            for name in row.names() {
                match self.0.variable(name) {
                    Some(_) => left_out.push(known_already(name, &span)),
                    None => {
                        tables.variables.kinds.insert(name.to_owned(), row.kind);
                    }
                }
            }
        }
        for row in &file.setting {
            if row.get_ref().names().next().is_none() {
                return Err(RowProblem { span: row.span(), message: "the row names no setting".to_owned() });
            }
            // One more pattern only makes more settings known that run programs.
            tables.variables.settings.extend(row.get_ref().names());
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

fn known_already(name: &str, span: &Range<usize>) -> RowProblem {
    RowProblem { span: span.clone(), message: format!("`{name}` is in the tables already, so this row is left out") }
}

#[cfg(test)]
mod tests {
    use super::super::VariableKind;
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
        assert!(super::super::tables().row("frob").is_none());
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
    #[test]
    fn variables_and_settings_are_added_and_those_of_the_tables_stay() {
        let mut tables = ProgramTables::default();
        let text =
            "[[variable]]\nnames = \"MYTOOL_HOOK PATH\"\nkind = \"command\"\n[[setting]]\nnames = \"mytool.*.Run\"\n";
        let left_out = tables.add(text).unwrap();
        assert!(left_out.len() == 1 && left_out[0].message.contains("`PATH`"), "{left_out:?}");
        assert_eq!(tables.tables().variable("MYTOOL_HOOK"), Some(VariableKind::Command));
        assert_eq!(tables.tables().variable("PATH"), Some(VariableKind::Search));
        assert!(
            tables.tables().is_running_setting("myTool.x.run") && !tables.tables().is_running_setting("mytool.run")
        );
        assert!(!super::super::tables().is_running_setting("mytool.x.run"));
        for wrong in [
            "[[variable]]\nnames = \"X\"\n",
            "[[variable]]\nnames = \"X\"\nkind = \"magic\"\n",
            "[[variable]]\nnames = \"\"\nkind = \"command\"\n",
            "[[setting]]\nname = \"x.y\"\n",
            "[[setting]]\nnames = \" \"\n",
        ] {
            assert!(added(wrong).is_err(), "{wrong}");
        }
    }
}
