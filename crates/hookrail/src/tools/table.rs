//! The neutral tools: what each does, and which of its arguments says on what.

/// What a tool does with its main argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolAccess {
    /// It reads the file at a path.
    Read,
    /// It writes the file at a path.
    Write,
    /// It runs a command line.
    Run,
    /// It gets what is at a URL.
    Fetch,
    /// It changes the files that a patch names.
    Patch,
    /// It calls the tools that it carries calls of.
    Calls,
    /// Nothing that a guard of files or commands asks about.
    Other,
}

/// One tool that several agents have, under whatever name.
#[derive(Debug)]
pub struct NeutralTool {
    /// The name in the table. It is LLxprt Code's where that has the tool.
    pub name: &'static str,
    /// What it does.
    pub access: ToolAccess,
    /// The arguments that have other names elsewhere; the first is the main one.
    pub arguments: &'static [&'static str],
}

impl PartialEq for NeutralTool {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for NeutralTool {}

impl NeutralTool {
    /// Finds a tool by its name in the table.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        NEUTRAL_TOOLS.iter().find(|tool| tool.name == name)
    }

    /// Whether hooks are shown a call of it as a call of the other: a patch is also the files that it changes, and a file a patch.
    pub(super) fn is_shown_as(&self, other: &Self) -> bool {
        match self.access {
            ToolAccess::Patch => other == self || other.access == ToolAccess::Write,
            ToolAccess::Write => other == self || other.access == ToolAccess::Patch,
            ToolAccess::Read | ToolAccess::Run | ToolAccess::Fetch | ToolAccess::Calls | ToolAccess::Other => {
                other == self
            }
        }
    }

    pub(super) fn main_argument(&self) -> Option<&'static str> {
        self.arguments.first().copied()
    }
}

const fn tool(name: &'static str, access: ToolAccess, arguments: &'static [&'static str]) -> NeutralTool {
    NeutralTool { name, access, arguments }
}

/// The argument that says which file a tool works on.
pub(super) const PATH: &str = "file_path";
/// The argument with a command line.
pub(super) const COMMAND: &str = "command";
/// The argument with a URL.
pub(super) const URL: &str = "url";
/// The argument with a patch.
pub(super) const PATCH: &str = "patch";
/// The argument with the calls that a tool carries, and the members of each of them.
pub(super) const CALLS: &str = "calls";
pub(super) const CALL_NAME: &str = "call_name";
pub(super) const CALL_INPUT: &str = "call_input";

/// Every neutral tool. What an argument is called elsewhere stands in the column of each dialect and agent.
pub static NEUTRAL_TOOLS: &[NeutralTool] = &[
    tool("write_file", ToolAccess::Write, &[PATH, "content"]),
    tool("replace", ToolAccess::Write, &[PATH, "old_string", "new_string", "replace_all"]),
    tool("read_file", ToolAccess::Read, &[PATH]),
    tool("run_shell_command", ToolAccess::Run, &[COMMAND, "timeout"]),
    tool("list_directory", ToolAccess::Other, &["directory"]),
    tool("glob", ToolAccess::Other, &["pattern"]),
    tool("search_file_content", ToolAccess::Other, &["pattern", "include"]),
    tool("web_fetch", ToolAccess::Fetch, &[URL]),
    tool("google_web_search", ToolAccess::Other, &["query"]),
    tool("task", ToolAccess::Other, &["prompt"]),
    tool("todo_write", ToolAccess::Other, &["todos"]),
    tool("apply_patch", ToolAccess::Patch, &[PATCH]),
    tool("batch", ToolAccess::Calls, &[CALLS, CALL_NAME, CALL_INPUT]),
];
