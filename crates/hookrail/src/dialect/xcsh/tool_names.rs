//! What xcsh calls the tools.

use crate::tools::{ColumnTool, ToolColumn};

const PATH: (&str, &[&str]) = ("file_path", &["path"]);

const fn tool(
    tool: &'static str,
    name: &'static str,
    arguments: &'static [(&'static str, &'static [&'static str])],
) -> ColumnTool {
    ColumnTool { tool, name, arguments }
}

pub(super) static TOOLS: ToolColumn = ToolColumn {
    whose: "xcsh",
    tools: &[
        tool("write_file", "write", &[PATH, ("content", &["content"])]),
        tool("replace", "edit", &[PATH, ("old_string", &["oldText"]), ("new_string", &["newText"])]),
        tool("read_file", "read", &[PATH]),
        tool("run_shell_command", "bash", &[("command", &["command"]), ("timeout", &["timeout"])]),
        tool("list_directory", "ls", &[("directory", &["path"])]),
        tool("glob", "find", &[("pattern", &["pattern"])]),
        tool("search_file_content", "grep", &[("pattern", &["pattern"]), ("include", &["glob"])]),
        tool("web_fetch", "fetch", &[("url", &["url"])]),
    ],
    others: &[],
};
