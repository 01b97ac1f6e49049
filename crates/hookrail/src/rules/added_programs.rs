//! What the user and the machine say about programs, variables and settings that are in no table.

#[cfg(feature = "syntax")]
use std::sync::Arc;

#[cfg(feature = "syntax")]
use hookrail_shell::{ProgramTables, RowProblem};

use super::read_condition::Problem;
use crate::config::source::SourceKind;

/// Rows that were added to the tables of programs. Without the feature `syntax` no line is understood, so rows say nothing.
#[derive(Clone, Debug, Default)]
pub struct AddedPrograms {
    #[cfg(feature = "syntax")]
    tables: Option<Arc<ProgramTables>>,
}

impl AddedPrograms {
    /// Adds the rows of a file, and returns those that are left out because their programs are known.
    ///
    /// # Errors
    ///
    /// A row cannot be read; nothing was added.
    #[cfg(feature = "syntax")]
    pub(crate) fn add(&mut self, text: &str) -> Result<Vec<Problem>, Problem> {
        let problem = |RowProblem { span, message }| Problem { span, message, hint: None };
        let mut tables = self.tables.as_deref().cloned().unwrap_or_default();
        let left_out = tables.add(text).map_err(problem)?;
        self.tables = Some(Arc::new(tables));
        Ok(left_out.into_iter().map(problem).collect())
    }

    #[cfg(not(feature = "syntax"))]
    pub(crate) fn add(&mut self, _text: &str) -> Result<Vec<Problem>, Problem> {
        Ok(Vec::new())
    }

    /// Adds the rows of a file, if all of them can be read.
    #[must_use]
    pub fn with(mut self, text: &str) -> Self {
        // What is wrong is reported where the hooks are loaded.
        let _ = self.add(text);
        self
    }

    #[cfg(feature = "syntax")]
    pub(crate) fn tables(&self) -> Option<&ProgramTables> {
        self.tables.as_deref()
    }
}

/// The rows of the machine, and those of the machine and the user.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramLayers {
    pub(crate) machine: AddedPrograms,
    pub(crate) all: AddedPrograms,
}

impl ProgramLayers {
    /// What the examples of a layer's rules know. A rule that many share has the same examples on each machine.
    pub(crate) fn of_examples(&self, layer: SourceKind) -> AddedPrograms {
        match layer {
            SourceKind::System => self.machine.clone(),
            SourceKind::User => self.all.clone(),
            SourceKind::Project
            | SourceKind::Extension
            | SourceKind::Plugin
            | SourceKind::Option
            | SourceKind::Native => AddedPrograms::default(),
        }
    }
}
