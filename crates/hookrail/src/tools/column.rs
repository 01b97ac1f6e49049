//! What one dialect or one agent calls the neutral tools and their arguments.

use super::table::NeutralTool;

/// The names of one dialect or agent, as data of that dialect or agent.
///
/// ```
/// use hookrail::tools::{ColumnTool, ToolColumn};
///
/// static OURS: ToolColumn = ToolColumn {
///     whose: "Our Agent",
///     tools: &[ColumnTool { tool: "write_file", name: "save", arguments: &[("file_path", &["target"])] }],
///     others: &[],
/// };
/// ```
#[derive(Debug)]
pub struct ToolColumn {
    /// Whose names these are, for messages.
    pub whose: &'static str,
    /// The tools that are in the table.
    pub tools: &'static [ColumnTool],
    /// The names of further tools, which the table does not have.
    pub others: &'static [&'static str],
}

/// One tool in a column. A tool may stand there several times, under each of its names.
#[derive(Debug)]
pub struct ColumnTool {
    /// The name in the table.
    pub tool: &'static str,
    /// The name here.
    pub name: &'static str,
    /// The name of an argument in the table, and its names here. The first is the one that the tool itself has; the others
    /// are aliases, which hooks of a dialect find beside it. An argument that is left out keeps the host's name.
    pub arguments: &'static [(&'static str, &'static [&'static str])],
}

impl ToolColumn {
    /// Every name that it has for a tool, of the table or not.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.iter().map(|tool| tool.name).chain(self.others.iter().copied())
    }

    /// The entry with a name.
    pub(super) fn called(&self, name: &str) -> Option<&'static ColumnTool> {
        self.tools.iter().find(|entry| entry.name == name)
    }

    /// The first entry of a neutral tool.
    pub(super) fn entry_of(&self, tool: &NeutralTool) -> Option<&'static ColumnTool> {
        self.tools.iter().find(|entry| entry.tool == tool.name)
    }
}

impl ColumnTool {
    /// A tool of the table, its name here, and the names of its arguments.
    #[must_use]
    pub const fn new(
        tool: &'static str,
        name: &'static str,
        arguments: &'static [(&'static str, &'static [&'static str])],
    ) -> Self {
        Self { tool, name, arguments }
    }

    /// The names of an argument, the tool's own first.
    pub(super) fn names_of(&self, argument: &str) -> &'static [&'static str] {
        self.arguments.iter().find(|(known, _)| *known == argument).map_or(&[], |(_, names)| names)
    }
}
