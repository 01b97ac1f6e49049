//! The names of the tools and their arguments in each dialect, so that unmodified hooks of each dialect run.

use std::sync::LazyLock;

use hookrail::tools::{ColumnTool, ToolColumn, ToolTable};
use hookrail::{DialectId, Json};

const PATH: (&str, &[&str]) = ("file_path", &["path"]);
const DIRECTORY: (&str, &[&str]) = ("directory", &["path"]);

const fn tool(name: &'static str, arguments: &'static [(&'static str, &'static [&'static str])]) -> ColumnTool {
    ColumnTool { tool: name, name, arguments }
}

/// What the agent calls the tools and their arguments.
static NAMES: ToolColumn = ToolColumn {
    whose: "hookrail agent",
    tools: &[
        tool("read_file", &[PATH]),
        tool("write_file", &[PATH]),
        tool("replace", &[PATH, ("replace_all", &["all"])]),
        tool("list_directory", &[DIRECTORY]),
        tool("glob", &[]),
        tool("search_file_content", &[]),
        tool("run_shell_command", &[("timeout", &["timeout_ms"])]),
        tool("task", &[]),
        tool("todo_write", &[]),
    ],
    others: &[],
};

static TABLE: LazyLock<ToolTable> = LazyLock::new(|| ToolTable::default().of_host(&NAMES));

/// The names that the agent has for the tools.
#[must_use]
pub fn tool_names() -> &'static ToolColumn {
    &NAMES
}

/// Declares that the host has the agent's tools, which refuse to write what decides which hooks run.
#[must_use = "the builder carries the declaration"]
pub fn declare(builder: hookrail::Builder) -> hookrail::Builder {
    builder.host_tools(&NAMES).tools_refuse_protected_places()
}

/// Returns a call with the names that modules know.
pub(crate) fn call_for_modules(tool: &str, arguments: &Json) -> (String, Json) {
    TABLE.call_in(DialectId::Xcsh, tool, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_has_every_tool_of_the_agent() {
        for tool in super::super::TOOLS {
            assert!(NAMES.names().any(|name| name == tool.name), "{}", tool.name);
        }
    }
}
