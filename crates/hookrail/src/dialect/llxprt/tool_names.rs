//! What LLxprt Code calls the tools. Its versions and documents have three names for the path of a file.

use crate::tools::{ColumnTool, ToolColumn};

const FILE_PATH: (&str, &[&str]) = ("file_path", &["file_path", "absolute_path", "path"]);

const fn tool(name: &'static str, arguments: &'static [(&'static str, &'static [&'static str])]) -> ColumnTool {
    ColumnTool { tool: name, name, arguments }
}

pub(super) static TOOLS: ToolColumn = ToolColumn {
    whose: "LLxprt Code",
    tools: &[
        tool("write_file", &[FILE_PATH, ("content", &["content"])]),
        tool("replace", &[FILE_PATH, ("old_string", &["old_string"]), ("new_string", &["new_string"])]),
        tool("read_file", &[FILE_PATH]),
        tool("run_shell_command", &[("command", &["command"])]),
        tool("list_directory", &[("directory", &["path", "dir_path"])]),
        tool("glob", &[("pattern", &["pattern"])]),
        tool("search_file_content", &[("pattern", &["pattern"]), ("include", &["include"])]),
        tool("web_fetch", &[("url", &["url"])]),
        tool("google_web_search", &[("query", &["query"])]),
        tool("task", &[("prompt", &["prompt"])]),
        tool("todo_write", &[("todos", &["todos"])]),
        tool("apply_patch", &[("patch", &["patch_content"])]),
    ],
    others: &[
        "read_many_files",
        "save_memory",
        "todo_read",
        "insert_at_line",
        "delete_line_range",
        "read_line_range",
        "direct_web_fetch",
        "ast_edit",
        "ast_read_file",
        "codesearch",
    ],
};
