//! The names of tools and arguments: the agents', the neutral ones of the bridge, and the dialects'.
//!
//! The neutral names are LLxprt's. A tool that is not in the table keeps its name and its arguments in both directions, so an
//! agent's new tools and the tools of MCP servers reach hooks unchanged.

use hookrail::{DialectId, Json, JsonObject, ToolNames};

use crate::Agent;

/// One tool in every vocabulary.
struct Tool {
    /// The neutral name, which is LLxprt's.
    name: &'static str,
    /// The agents' names. An agent that is not listed uses the neutral name or has no such tool.
    agents: &'static [(Agent, &'static str)],
    xcode: &'static str,
    xcsh: &'static str,
    arguments: &'static [Argument],
}

/// One argument in every vocabulary.
struct Argument {
    name: &'static str,
    agents: &'static [(Agent, &'static str)],
    /// The names under which LLxprt scripts look for it, beside the neutral one.
    aliases: &'static [&'static str],
    xcode: &'static str,
    xcsh: &'static str,
}

use Agent::{Claude, Codex, Copilot, Gemini, OpenCode, Pi, Qwen};

const FILE_PATH: Argument = Argument {
    name: "file_path",
    agents: &[(Copilot, "path"), (OpenCode, "filePath"), (Pi, "path")],
    aliases: &["absolute_path", "path"],
    xcode: "filePath",
    xcsh: "path",
};

const fn same(name: &'static str) -> Argument {
    Argument { name, agents: &[], aliases: &[], xcode: name, xcsh: name }
}

static TOOLS: &[Tool] = &[
    Tool {
        name: "write_file",
        agents: &[(Claude, "Write"), (Copilot, "create"), (OpenCode, "write"), (Pi, "write")],
        xcode: "writeFile",
        xcsh: "write",
        arguments: &[
            FILE_PATH,
            Argument {
                name: "content",
                agents: &[(Copilot, "file_text")],
                aliases: &[],
                xcode: "content",
                xcsh: "content",
            },
        ],
    },
    Tool {
        name: "replace",
        agents: &[(Claude, "Edit"), (Qwen, "edit"), (Copilot, "edit"), (OpenCode, "edit"), (Pi, "edit")],
        xcode: "edit",
        xcsh: "edit",
        arguments: &[
            FILE_PATH,
            Argument {
                name: "old_string",
                agents: &[(Copilot, "old_str"), (OpenCode, "oldString"), (Pi, "oldText")],
                aliases: &[],
                xcode: "oldString",
                xcsh: "oldText",
            },
            Argument {
                name: "new_string",
                agents: &[(Copilot, "new_str"), (OpenCode, "newString"), (Pi, "newText")],
                aliases: &[],
                xcode: "newString",
                xcsh: "newText",
            },
        ],
    },
    Tool {
        name: "read_file",
        agents: &[(Claude, "Read"), (Copilot, "view"), (OpenCode, "read"), (Pi, "read")],
        xcode: "readFile",
        xcsh: "read",
        arguments: &[FILE_PATH],
    },
    Tool {
        name: "run_shell_command",
        agents: &[(Claude, "Bash"), (Codex, "Bash"), (Copilot, "bash"), (OpenCode, "bash"), (Pi, "bash")],
        xcode: "shell",
        xcsh: "bash",
        arguments: &[same("command")],
    },
    Tool {
        name: "list_directory",
        agents: &[(Claude, "LS"), (OpenCode, "list"), (Pi, "ls")],
        xcode: "listDir",
        xcsh: "ls",
        arguments: &[Argument {
            name: "path",
            agents: &[(Gemini, "dir_path")],
            aliases: &["dir_path"],
            xcode: "dirPath",
            xcsh: "path",
        }],
    },
    Tool {
        name: "glob",
        agents: &[(Claude, "Glob"), (Pi, "find")],
        xcode: "glob",
        xcsh: "find",
        arguments: &[same("pattern")],
    },
    Tool {
        name: "search_file_content",
        agents: &[(Claude, "Grep"), (Qwen, "grep_search"), (Copilot, "grep"), (OpenCode, "grep"), (Pi, "grep")],
        xcode: "grep",
        xcsh: "grep",
        arguments: &[same("pattern")],
    },
    Tool {
        name: "web_fetch",
        agents: &[(Claude, "WebFetch"), (OpenCode, "webfetch")],
        xcode: "webFetch",
        xcsh: "fetch",
        arguments: &[],
    },
];

/// The names of one tool in every vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct ToolVocabulary {
    /// The neutral name, which is LLxprt's.
    pub name: &'static str,
    /// The names of agents that call it otherwise.
    pub agents: &'static [(Agent, &'static str)],
    xcode: &'static str,
    xcsh: &'static str,
}

impl ToolVocabulary {
    /// The name in a dialect.
    #[must_use]
    pub fn name_in(&self, dialect: DialectId) -> &'static str {
        match dialect {
            DialectId::Xcode => self.xcode,
            DialectId::Xcsh => self.xcsh,
            _ => self.name,
        }
    }
}

/// Every tool of the table, for suggestions.
pub fn vocabularies() -> impl Iterator<Item = ToolVocabulary> {
    TOOLS.iter().map(|tool| {
        let Tool { name, agents, xcode, xcsh, .. } = *tool;
        ToolVocabulary { name, agents, xcode, xcsh }
    })
}

/// The tools that Copilot fires under Claude Code's event names have Claude Code's names and Copilot's arguments.
const CLAUDE_NAMES_IN_COPILOT: Agent = Claude;

impl Tool {
    fn in_agent(&self, agent: Agent) -> &'static str {
        self.agents.iter().find(|(known, _)| *known == agent).map_or(self.name, |(_, name)| name)
    }
}

impl Argument {
    fn in_agent(&self, agent: Agent) -> &'static str {
        self.agents.iter().find(|(known, _)| *known == agent).map_or(self.name, |(_, name)| name)
    }
}

fn by_agent_name(agent: Agent, name: &str) -> Option<&'static Tool> {
    let own = TOOLS.iter().find(|tool| tool.in_agent(agent) == name);
    own.or_else(|| {
        let shared = TOOLS.iter().find(|tool| tool.in_agent(CLAUDE_NAMES_IN_COPILOT) == name);
        shared.filter(|_| agent == Copilot)
    })
}

/// Whether the table has a tool of an agent, so that hooks get it under their own names.
pub(crate) fn is_known(agent: Agent, name: &str) -> bool {
    by_agent_name(agent, name).is_some()
}

/// The member that carries an input that is not an object: hooks get objects.
const WRAPPED: &str = "input";

/// A tool call in the neutral vocabulary, with the way back.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentToolCall {
    agent: Agent,
    /// The agent's name for the tool.
    pub agent_name: String,
    /// The neutral name.
    pub name: String,
    /// The input in the agent's words.
    pub agent_input: Json,
    /// The input in neutral words.
    pub input: Json,
}

impl AgentToolCall {
    /// Reads a call in an agent's words.
    #[must_use]
    pub fn read(agent: Agent, agent_name: &str, agent_input: Json) -> Self {
        let tool = by_agent_name(agent, agent_name);
        let name = tool.map_or(agent_name, |tool| tool.name).to_owned();
        let input = match (tool, agent_input.as_object()) {
            (Some(tool), Some(members)) => {
                let pairs = tool.arguments.iter().map(|argument| (argument.in_agent(agent), argument.name));
                renamed(&members, &pairs.collect::<Vec<_>>())
            }
            (None, None) => [(WRAPPED.to_owned(), agent_input.clone())].into_iter().collect::<JsonObject>().to_json(),
            _ => agent_input.clone(),
        };
        Self { agent, agent_name: agent_name.to_owned(), name, agent_input, input }
    }

    /// The input in the agent's words again. An input that no hook changed comes back as it was.
    #[must_use]
    pub fn to_agent(&self, input: &Json) -> Json {
        if self.input.same_as(input) {
            return self.agent_input.clone();
        }
        match (by_agent_name(self.agent, &self.agent_name), input.as_object()) {
            (Some(tool), Some(members)) => {
                let pairs = tool.arguments.iter().map(|argument| (argument.name, argument.in_agent(self.agent)));
                renamed(&members, &pairs.collect::<Vec<_>>())
            }
            (None, Some(members)) if self.agent_input.as_object().is_none() => {
                members.get(WRAPPED).filter(|_| members.iter().count() == 1).unwrap_or(input).clone()
            }
            _ => input.clone(),
        }
    }
}

/// The members under their new names. An undeclared member that is in the way takes the name that became free: a model
/// could otherwise name the path once for the guard and once for the tool.
fn renamed(members: &JsonObject, pairs: &[(&'static str, &'static str)]) -> Json {
    let new_name = |member: &str| pairs.iter().find(|(old, _)| *old == member).map(|(_, new)| *new);
    let freed = |member: &str| {
        let taken = pairs.iter().find(|(old, new)| *new == member && *old != member && members.get(old).is_some());
        taken.map(|(old, _)| *old)
    };
    let renamed = members.iter().map(|(name, value)| {
        let name = new_name(name).or_else(|| freed(name)).unwrap_or(name);
        (name.to_owned(), value.clone())
    });
    renamed.collect::<JsonObject>().to_json()
}

/// The names of all neutral tools in the dialects, for the engine. Every other tool has the same name everywhere.
#[must_use]
pub fn all_dialect_names() -> Vec<ToolNames> {
    TOOLS.iter().map(names_of_tool).collect()
}

/// The names of one neutral tool in the dialects. A tool that is not in the table has none of its own.
#[must_use]
pub fn dialect_names(name: &str) -> ToolNames {
    TOOLS.iter().find(|tool| tool.name == name).map_or_else(|| ToolNames::new(name), names_of_tool)
}

fn names_of_tool(tool: &Tool) -> ToolNames {
    let names = ToolNames::new(tool.name);
    let pairs = |of: fn(&Argument) -> &'static str| -> Vec<(&'static str, &'static str)> {
        tool.arguments
            .iter()
            .map(|argument| (argument.name, of(argument)))
            .filter(|(own, other)| own != other)
            .collect()
    };
    let aliased = tool.arguments.iter().filter(|argument| !argument.aliases.is_empty());
    aliased
        .fold(names, |names, argument| {
            names.aliases_in_dialect(DialectId::Llxprt, argument.name, argument.aliases.iter().copied())
        })
        .in_dialect(DialectId::Xcode, tool.xcode, pairs(|argument| argument.xcode))
        .in_dialect(DialectId::Xcsh, tool.xcsh, pairs(|argument| argument.xcsh))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_and_written_back_in_every_agents_words() {
        for (agent, name, input, neutral) in [
            (
                Claude,
                "Write",
                r#"{"file_path":"/p/a","content":"x"}"#,
                ("write_file", r#"{"file_path":"/p/a","content":"x"}"#),
            ),
            (
                Copilot,
                "create",
                r#"{"path":"/p/a","file_text":"x"}"#,
                ("write_file", r#"{"file_path":"/p/a","content":"x"}"#),
            ),
            (
                Copilot,
                "Write",
                r#"{"path":"/p/a","file_text":"x"}"#,
                ("write_file", r#"{"file_path":"/p/a","content":"x"}"#),
            ),
            (
                Gemini,
                "replace",
                r#"{"file_path":"a","old_string":"1"}"#,
                ("replace", r#"{"file_path":"a","old_string":"1"}"#),
            ),
            (
                OpenCode,
                "edit",
                r#"{"filePath":"a","oldString":"1"}"#,
                ("replace", r#"{"file_path":"a","old_string":"1"}"#),
            ),
            (Pi, "bash", r#"{"command":"ls"}"#, ("run_shell_command", r#"{"command":"ls"}"#)),
            (Codex, "mcp__a__b", r#"{"path":1}"#, ("mcp__a__b", r#"{"path":1}"#)),
        ] {
            let call = AgentToolCall::read(agent, name, Json::parse(input).unwrap());
            assert_eq!((call.name.as_str(), call.input.text()), neutral, "{agent}");
            assert_eq!(call.to_agent(&call.input).text(), input, "{agent}");
            let changed = Json::parse(&call.input.text().replace("\"x\"", "\"y\"")).unwrap();
            assert_eq!(call.to_agent(&changed).text(), input.replace("\"x\"", "\"y\""), "{agent}");
        }
    }

    #[test]
    fn an_input_that_is_not_an_object_is_wrapped_for_hooks_and_unwrapped_again() {
        let call = AgentToolCall::read(Claude, "BrandNewTool", Json::string("go"));
        assert_eq!(call.input.text(), r#"{"input":"go"}"#);
        assert_eq!(call.to_agent(&call.input).text(), r#""go""#);
        assert_eq!(call.to_agent(&Json::parse(r#"{"input":"stay"}"#).unwrap()).text(), r#""stay""#);
    }

    #[test]
    fn a_second_path_under_the_neutral_name_does_not_cover_the_one_that_the_tool_reads() {
        for (agent, name, input, neutral) in [
            (Copilot, "create", r#"{"path":"/etc/x","file_path":"/ok"}"#, r#"{"file_path":"/etc/x","path":"/ok"}"#),
            (Pi, "write", r#"{"file_path":"/ok","path":"/etc/x"}"#, r#"{"path":"/ok","file_path":"/etc/x"}"#),
            (
                OpenCode,
                "read",
                r#"{"filePath":"/etc/x","file_path":"/ok"}"#,
                r#"{"file_path":"/etc/x","filePath":"/ok"}"#,
            ),
        ] {
            let call = AgentToolCall::read(agent, name, Json::parse(input).unwrap());
            assert_eq!(call.input.text(), neutral, "{agent}");
            let changed = Json::parse(&neutral.replace("/etc/x", "/new")).unwrap();
            assert_eq!(call.to_agent(&changed).text(), input.replace("/etc/x", "/new"), "{agent}");
        }
    }
}
