//! What Claude Code calls the tools.

use crate::tools::{ColumnTool, ToolColumn};

type Names = (&'static str, &'static [&'static str]);

const FILE_PATH: Names = ("file_path", &["file_path"]);
const CONTENT: Names = ("content", &["content"]);
const OLD: Names = ("old_string", &["old_string"]);
const NEW: Names = ("new_string", &["new_string"]);
const ALL: Names = ("replace_all", &["replace_all"]);
const COMMAND: Names = ("command", &["command"]);
const PATTERN: Names = ("pattern", &["pattern"]);
const PROMPT: Names = ("prompt", &["prompt"]);
const TIMEOUT: Names = ("timeout", &["timeout"]);

const fn tool(name: &'static str, own: &'static str, arguments: &'static [Names]) -> ColumnTool {
    ColumnTool::new(name, own, arguments)
}

/// The names of tools, which other agents take too.
pub static TOOLS: ToolColumn = ToolColumn {
    whose: "Claude Code",
    tools: &[
        tool("write_file", "Write", &[FILE_PATH, CONTENT]),
        tool("replace", "Edit", &[FILE_PATH, OLD, NEW, ALL]),
        tool("replace", "MultiEdit", &[FILE_PATH]),
        tool("replace", "NotebookEdit", &[("file_path", &["notebook_path"]), ("new_string", &["new_source"])]),
        tool("read_file", "Read", &[FILE_PATH]),
        tool("run_shell_command", "Bash", &[COMMAND, TIMEOUT]),
        tool("run_shell_command", "Monitor", &[COMMAND]),
        tool("run_shell_command", "PowerShell", &[COMMAND]),
        tool("list_directory", "LS", &[("directory", &["path"])]),
        tool("glob", "Glob", &[PATTERN]),
        tool("search_file_content", "Grep", &[PATTERN, ("include", &["glob"])]),
        tool("web_fetch", "WebFetch", &[("url", &["url"])]),
        tool("google_web_search", "WebSearch", &[("query", &["query"])]),
        tool("task", "Agent", &[PROMPT]),
        tool("task", "Task", &[PROMPT]),
        tool("todo_write", "TodoWrite", &[("todos", &["todos"])]),
    ],
    others: &["BashOutput", "KillShell", "ExitPlanMode", "Skill", "ToolSearch"],
};
