//! What X-Code calls the tools. Its documents also say `path` where its tools say `filePath`.

use crate::tools::{ColumnTool, ToolColumn};

const FILE_PATH: (&str, &[&str]) = ("file_path", &["filePath", "path"]);

const fn tool(
    tool: &'static str,
    name: &'static str,
    arguments: &'static [(&'static str, &'static [&'static str])],
) -> ColumnTool {
    ColumnTool { tool, name, arguments }
}

pub(super) static TOOLS: ToolColumn = ToolColumn {
    whose: "X-Code",
    tools: &[
        tool("write_file", "writeFile", &[FILE_PATH, ("content", &["content"])]),
        tool(
            "replace",
            "edit",
            &[
                FILE_PATH,
                ("old_string", &["oldString"]),
                ("new_string", &["newString"]),
                ("replace_all", &["replaceAll"]),
            ],
        ),
        tool("read_file", "readFile", &[FILE_PATH]),
        tool("run_shell_command", "shell", &[("command", &["command"]), ("timeout", &["timeout"])]),
        tool("list_directory", "listDir", &[("directory", &["dirPath", "path"])]),
        tool("glob", "glob", &[("pattern", &["pattern"])]),
        tool("search_file_content", "grep", &[("pattern", &["pattern"]), ("include", &["glob"])]),
        tool("web_fetch", "webFetch", &[("url", &["url"])]),
        tool("google_web_search", "webSearch", &[("query", &["query"])]),
        tool("task", "task", &[("prompt", &["prompt"])]),
        tool("todo_write", "todoWrite", &[("todos", &["todos"])]),
    ],
    others: &["askUser", "activateSkill"],
};
