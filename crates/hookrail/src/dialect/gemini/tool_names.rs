//! What Gemini CLI calls the tools.

use crate::tools::{ColumnTool, ToolColumn};

const FILE_PATH: (&str, &[&str]) = ("file_path", &["file_path"]);

const fn tool(name: &'static str, arguments: &'static [(&'static str, &'static [&'static str])]) -> ColumnTool {
    ColumnTool { tool: name, name, arguments }
}

pub(super) static TOOLS: ToolColumn = ToolColumn {
    whose: "Gemini CLI",
    tools: &[
        tool("write_file", &[FILE_PATH, ("content", &["content"])]),
        tool("replace", &[FILE_PATH, ("old_string", &["old_string"]), ("new_string", &["new_string"])]),
        tool("read_file", &[FILE_PATH]),
        tool("run_shell_command", &[("command", &["command"])]),
        tool("list_directory", &[("directory", &["dir_path"])]),
        tool("glob", &[("pattern", &["pattern"])]),
        ColumnTool::new("search_file_content", "grep_search", &[("pattern", &["pattern"])]),
        tool("search_file_content", &[("pattern", &["pattern"])]),
        tool("web_fetch", &[("url", &["url"])]),
        tool("google_web_search", &[("query", &["query"])]),
        ColumnTool::new("task", "invoke_agent", &[("prompt", &["prompt"])]),
        ColumnTool::new("todo_write", "write_todos", &[("todos", &["todos"])]),
    ],
    others: &["read_many_files", "save_memory"],
};
