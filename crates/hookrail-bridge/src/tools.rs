//! The names that each agent has for the tools: its column of the table of tools. A tool that is in no column keeps its name
//! and its arguments, so an agent's new tools and the tools of MCP servers reach hooks unchanged.

use hookrail::tools::{ColumnTool, ToolColumn, ToolTable};
use hookrail::{Json, JsonObject};

use crate::Agent;

type Arguments = &'static [(&'static str, &'static [&'static str])];

const fn tool(tool: &'static str, name: &'static str, arguments: Arguments) -> ColumnTool {
    ColumnTool { tool, name, arguments }
}

/// The same names as in the table.
const fn same(name: &'static str, arguments: Arguments) -> ColumnTool {
    tool(name, name, arguments)
}

const FILE_PATH: (&str, &[&str]) = ("file_path", &["file_path"]);
const PATH: (&str, &[&str]) = ("file_path", &["path"]);
const CAMEL_PATH: (&str, &[&str]) = ("file_path", &["filePath"]);
const COMMAND: (&str, &[&str]) = ("command", &["command"]);
const PATTERN: (&str, &[&str]) = ("pattern", &["pattern"]);
const PROMPT: (&str, &[&str]) = ("prompt", &["prompt"]);
const URL: (&str, &[&str]) = ("url", &["url"]);

static CLAUDE: ToolColumn = ToolColumn {
    whose: "Claude Code",
    tools: &[
        tool("write_file", "Write", &[FILE_PATH]),
        tool("replace", "Edit", &[FILE_PATH]),
        tool("replace", "MultiEdit", &[FILE_PATH]),
        tool("replace", "NotebookEdit", &[("file_path", &["notebook_path"]), ("new_string", &["new_source"])]),
        tool("read_file", "Read", &[FILE_PATH]),
        tool("run_shell_command", "Bash", &[COMMAND]),
        tool("run_shell_command", "Monitor", &[COMMAND]),
        tool("run_shell_command", "PowerShell", &[COMMAND]),
        tool("list_directory", "LS", &[("directory", &["path"])]),
        tool("glob", "Glob", &[PATTERN]),
        tool("search_file_content", "Grep", &[PATTERN, ("include", &["glob"])]),
        tool("web_fetch", "WebFetch", &[URL]),
        tool("google_web_search", "WebSearch", &[]),
        tool("task", "Agent", &[PROMPT]),
        tool("task", "Task", &[PROMPT]),
        tool("todo_write", "TodoWrite", &[]),
    ],
    others: &["BashOutput", "KillShell", "ExitPlanMode", "Skill", "ToolSearch"],
};

static CODEX: ToolColumn = ToolColumn {
    whose: "Codex CLI",
    tools: &[
        tool("run_shell_command", "Bash", &[COMMAND]),
        // What it calls them itself; hooks are told `Bash`.
        tool("run_shell_command", "shell", &[COMMAND]),
        tool("run_shell_command", "local_shell", &[COMMAND]),
        tool("run_shell_command", "exec_command", &[("command", &["cmd"])]),
        tool("run_shell_command", "write_stdin", &[("command", &["chars"])]),
        same("apply_patch", &[("patch", &["command"])]),
    ],
    others: &[],
};

static GEMINI: ToolColumn = ToolColumn {
    whose: "Gemini CLI",
    tools: &[
        same("write_file", &[FILE_PATH]),
        same("replace", &[FILE_PATH]),
        same("read_file", &[FILE_PATH]),
        same("run_shell_command", &[COMMAND]),
        same("list_directory", &[("directory", &["dir_path"])]),
        same("glob", &[PATTERN]),
        same("search_file_content", &[PATTERN]),
        tool("search_file_content", "grep_search", &[PATTERN]),
        same("web_fetch", &[]),
        same("google_web_search", &[]),
        tool("task", "invoke_agent", &[PROMPT]),
    ],
    others: &["read_many_files", "save_memory"],
};

static QWEN: ToolColumn = ToolColumn {
    whose: "Qwen Code",
    tools: &[
        same("write_file", &[FILE_PATH]),
        tool("replace", "edit", &[FILE_PATH]),
        same("read_file", &[FILE_PATH]),
        same("run_shell_command", &[COMMAND]),
        same("list_directory", &[("directory", &["path"])]),
        same("glob", &[PATTERN]),
        tool("search_file_content", "grep_search", &[PATTERN]),
        same("search_file_content", &[PATTERN]),
        same("web_fetch", &[URL]),
        tool("task", "agent", &[PROMPT]),
        same("todo_write", &[]),
    ],
    others: &["tool_search"],
};

static COPILOT: ToolColumn = ToolColumn {
    whose: "Copilot CLI",
    tools: &[
        tool("write_file", "create", &[PATH, ("content", &["file_text"])]),
        tool("replace", "edit", &[PATH, ("old_string", &["old_str"]), ("new_string", &["new_str"])]),
        tool("read_file", "view", &[PATH]),
        tool("run_shell_command", "bash", &[COMMAND]),
        // Keys for a shell that runs already, which may be a command line.
        tool("run_shell_command", "write_bash", &[("command", &["input"])]),
        tool("run_shell_command", "powershell", &[COMMAND]),
        tool("run_shell_command", "write_powershell", &[("command", &["input"])]),
        // The text itself is the input.
        same("apply_patch", &[("patch", &["input"])]),
        tool("search_file_content", "grep", &[PATTERN]),
        same("glob", &[PATTERN]),
        same("task", &[PROMPT]),
        // Under the names of Claude Code's events it also uses Claude Code's names of tools, with its own arguments.
        tool("write_file", "Write", &[PATH, ("content", &["file_text"])]),
        tool("replace", "Edit", &[PATH, ("old_string", &["old_str"]), ("new_string", &["new_str"])]),
        tool("read_file", "Read", &[PATH]),
        tool("run_shell_command", "Bash", &[COMMAND]),
    ],
    others: &["read_bash", "stop_bash"],
};

static OPENCODE: ToolColumn = ToolColumn {
    whose: "OpenCode",
    tools: &[
        tool("write_file", "write", &[CAMEL_PATH]),
        tool("replace", "edit", &[CAMEL_PATH, ("old_string", &["oldString"]), ("new_string", &["newString"])]),
        tool("replace", "multiedit", &[CAMEL_PATH]),
        tool("read_file", "read", &[CAMEL_PATH]),
        tool("run_shell_command", "bash", &[COMMAND]),
        tool("list_directory", "list", &[("directory", &["path"])]),
        same("glob", &[PATTERN]),
        tool("search_file_content", "grep", &[PATTERN]),
        tool("web_fetch", "webfetch", &[URL]),
        same("task", &[PROMPT]),
        tool("todo_write", "todowrite", &[]),
        same("apply_patch", &[("patch", &["patchText"])]),
        tool("apply_patch", "patch", &[("patch", &["patchText"])]),
        same("batch", &[("calls", &["tool_calls"]), ("call_name", &["tool"]), ("call_input", &["parameters"])]),
    ],
    others: &["todoread", "skill"],
};

static PI: ToolColumn = ToolColumn {
    whose: "pi",
    tools: &[
        tool("write_file", "write", &[PATH]),
        tool("replace", "edit", &[PATH, ("old_string", &["oldText"]), ("new_string", &["newText"])]),
        tool("read_file", "read", &[PATH]),
        tool("run_shell_command", "bash", &[COMMAND]),
        tool("list_directory", "ls", &[("directory", &["path"])]),
        tool("glob", "find", &[PATTERN]),
        tool("search_file_content", "grep", &[PATTERN]),
    ],
    others: &[],
};

impl Agent {
    /// The names that the agent has for the tools.
    #[must_use]
    pub const fn tools(self) -> &'static ToolColumn {
        match self {
            Self::Claude => &CLAUDE,
            Self::Codex => &CODEX,
            Self::Gemini => &GEMINI,
            Self::Qwen => &QWEN,
            Self::Copilot => &COPILOT,
            Self::OpenCode => &OPENCODE,
            Self::Pi => &PI,
        }
    }
}

/// The table of tools with the columns of all agents.
#[must_use]
pub fn table() -> ToolTable {
    Agent::ALL.into_iter().fold(ToolTable::default(), |table, agent| table.with_agent(agent.tools()))
}

/// Whether an agent has a tool of the table under a name, so that its input must be one that can be read.
pub(crate) fn is_known(agent: Agent, name: &str) -> bool {
    let has_name = |agent: Agent| agent.tools().tools.iter().any(|tool| tool.name == name);
    // Codex and Qwen take Claude Code's names in matchers, and a call that is recognised can be guarded.
    has_name(agent) || (matches!(agent, Agent::Codex | Agent::Qwen) && has_name(Agent::Claude))
}

/// Whether an agent has a patch under a name, whose input may be the text alone.
pub(crate) fn is_patch(agent: Agent, name: &str) -> bool {
    agent.tools().tools.iter().any(|tool| tool.tool == "apply_patch" && tool.name == name)
}

/// The member that carries an input that is not an object: hooks get objects.
const WRAPPED: &str = "input";

/// A tool call in the agent's words.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentToolCall {
    /// The agent's name for the tool.
    pub name: String,
    /// The agent's input.
    pub agent_input: Json,
    /// The input that hooks get: an object.
    pub input: Json,
}

impl AgentToolCall {
    /// Reads a call.
    #[must_use]
    pub fn read(name: &str, agent_input: Json) -> Self {
        let input = match agent_input.as_object() {
            Some(_) => agent_input.clone(),
            None => [(WRAPPED.to_owned(), agent_input.clone())].into_iter().collect::<JsonObject>().to_json(),
        };
        Self { name: name.to_owned(), agent_input, input }
    }

    /// What hooks made of the input, as the agent has to get it.
    #[must_use]
    pub fn to_agent(&self, input: &Json) -> Json {
        if self.input.same_as(input) {
            return self.agent_input.clone();
        }
        match input.as_object() {
            Some(members) if self.agent_input.as_object().is_none() => {
                members.get(WRAPPED).filter(|_| members.iter().count() == 1).unwrap_or(input).clone()
            }
            _ => input.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hookrail::DialectId;
    use hookrail::tools::NeutralTool;

    #[test]
    fn every_column_names_tools_and_arguments_of_the_table() {
        for agent in Agent::ALL {
            for entry in agent.tools().tools {
                let tool = NeutralTool::find(entry.tool);
                assert!(tool.is_some(), "{agent}: {}", entry.tool);
                for (argument, names) in entry.arguments {
                    assert!(tool.unwrap().arguments.contains(argument), "{agent}: {}: {argument}", entry.tool);
                    assert_eq!(names.len(), 1, "{agent}: an agent's tool reads one name: {}: {argument}", entry.tool);
                }
            }
        }
    }

    #[test]
    fn a_call_of_every_agent_has_the_names_of_each_dialect() {
        for (agent, name, input, dialect, expected) in [
            (
                Agent::Claude,
                "Write",
                r#"{"file_path":"/p/a","content":"x"}"#,
                DialectId::Xcode,
                ("writeFile", r#"{"filePath":"/p/a","content":"x"}"#),
            ),
            (
                Agent::Copilot,
                "create",
                r#"{"path":"/p/a","file_text":"x"}"#,
                DialectId::Llxprt,
                ("write_file", r#"{"path":"/p/a","content":"x"}"#),
            ),
            (
                Agent::OpenCode,
                "edit",
                r#"{"filePath":"a","oldString":"1"}"#,
                DialectId::Xcsh,
                ("edit", r#"{"path":"a","oldText":"1"}"#),
            ),
            (Agent::Pi, "bash", r#"{"command":"ls"}"#, DialectId::Xcode, ("shell", r#"{"command":"ls"}"#)),
            (Agent::Codex, "mcp__a__b", r#"{"path":1}"#, DialectId::Xcode, ("mcp__a__b", r#"{"path":1}"#)),
            // What the tool reads counts, whatever else is there.
            (
                Agent::Copilot,
                "create",
                r#"{"file_path":"/ok","path":"/etc/x"}"#,
                DialectId::Xcode,
                ("writeFile", r#"{"file_path":"/ok","path":"/etc/x"}"#),
            ),
        ] {
            let table = table().of_host(agent.tools());
            let (in_dialect, arguments) = table.call_in(dialect, name, &Json::parse(input).unwrap());
            assert_eq!((in_dialect.as_str(), arguments.text()), expected, "{agent}");
        }
    }

    #[test]
    fn an_input_that_is_not_an_object_is_wrapped_for_hooks_and_unwrapped_again() {
        let call = AgentToolCall::read("BrandNewTool", Json::string("go"));
        assert_eq!(call.input.text(), r#"{"input":"go"}"#);
        assert_eq!(call.to_agent(&call.input).text(), r#""go""#);
        assert_eq!(call.to_agent(&Json::parse(r#"{"input":"stay"}"#).unwrap()).text(), r#""stay""#);
    }
}
