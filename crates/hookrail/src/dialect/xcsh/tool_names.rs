//! What xcsh calls the tools.

use crate::tools::{ColumnTool, ToolColumn};

const PATH: (&str, &[&str]) = ("file_path", &["path"]);

pub(super) static TOOLS: ToolColumn = ToolColumn {
    whose: "xcsh",
    tools: &[
        ColumnTool::new("write_file", "write", &[PATH, ("content", &["content"])]),
        ColumnTool::new("replace", "edit", &[PATH, ("old_string", &["oldText"]), ("new_string", &["newText"])]),
        ColumnTool::new("read_file", "read", &[PATH]),
        ColumnTool::new("run_shell_command", "bash", &[("command", &["command"]), ("timeout", &["timeout"])]),
        ColumnTool::new("list_directory", "ls", &[("directory", &["path"])]),
        ColumnTool::new("glob", "find", &[("pattern", &["pattern"])]),
        ColumnTool::new("search_file_content", "grep", &[("pattern", &["pattern"]), ("include", &["glob"])]),
        ColumnTool::new("web_fetch", "fetch", &[("url", &["url"])]),
    ],
    others: &[],
};
