//! Short forms for an agent's column of the table of tools.

use hookrail::tools::ColumnTool;

type Arguments = &'static [(&'static str, &'static [&'static str])];

pub(super) const fn tool(tool: &'static str, name: &'static str, arguments: Arguments) -> ColumnTool {
    ColumnTool { tool, name, arguments }
}

/// The same name as in the table.
pub(super) const fn same(name: &'static str, arguments: Arguments) -> ColumnTool {
    tool(name, name, arguments)
}

pub(super) const FILE_PATH: (&str, &[&str]) = ("file_path", &["file_path"]);
pub(super) const PATH: (&str, &[&str]) = ("file_path", &["path"]);
pub(super) const CAMEL_PATH: (&str, &[&str]) = ("file_path", &["filePath"]);
pub(super) const COMMAND: (&str, &[&str]) = ("command", &["command"]);
pub(super) const PATTERN: (&str, &[&str]) = ("pattern", &["pattern"]);
pub(super) const PROMPT: (&str, &[&str]) = ("prompt", &["prompt"]);
pub(super) const URL: (&str, &[&str]) = ("url", &["url"]);
