//! What X-Code calls the tools. Its documents also say `path` where its tools say `filePath`.

use crate::tools::{ColumnTool, ToolColumn};

const FILE_PATH: (&str, &[&str]) = ("file_path", &["filePath", "path"]);

pub(super) static TOOLS: ToolColumn = ToolColumn {
    whose: "X-Code",
    tools: &[
        ColumnTool::new("write_file", "writeFile", &[FILE_PATH, ("content", &["content"])]),
        ColumnTool::new(
            "replace",
            "edit",
            &[
                FILE_PATH,
                ("old_string", &["oldString"]),
                ("new_string", &["newString"]),
                ("replace_all", &["replaceAll"]),
            ],
        ),
        ColumnTool::new("read_file", "readFile", &[FILE_PATH]),
        ColumnTool::new("run_shell_command", "shell", &[("command", &["command"]), ("timeout", &["timeout"])]),
        ColumnTool::new("list_directory", "listDir", &[("directory", &["dirPath", "path"])]),
        ColumnTool::new("glob", "glob", &[("pattern", &["pattern"])]),
        ColumnTool::new("search_file_content", "grep", &[("pattern", &["pattern"]), ("include", &["glob"])]),
        ColumnTool::new("web_fetch", "webFetch", &[("url", &["url"])]),
        ColumnTool::new("google_web_search", "webSearch", &[("query", &["query"])]),
        ColumnTool::new("task", "task", &[("prompt", &["prompt"])]),
        ColumnTool::new("todo_write", "todoWrite", &[("todos", &["todos"])]),
    ],
    others: &["askUser", "activateSkill"],
};
