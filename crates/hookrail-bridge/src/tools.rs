//! The table of tools with the columns of all agents. A tool that is in no column keeps its name and its arguments, so an
//! agent's new tools and the tools of MCP servers reach hooks unchanged.

use hookrail::tools::{ToolColumn, ToolTable};

use crate::agents::Agent;
pub use crate::tool_call::AgentToolCall;

/// The table of tools with the columns of all agents.
#[must_use]
pub fn table() -> ToolTable {
    Agent::ALL.into_iter().fold(ToolTable::default(), |table, agent| table.with_agent(agent.tools()))
}

/// Whether an agent has a tool of the table under a name, so that its input must be one that can be read.
pub(crate) fn is_known(agent: Agent, name: &str) -> bool {
    let has_name = |column: &ToolColumn| column.tools.iter().any(|tool| tool.name == name);
    has_name(agent.tools()) || agent.spec().other_tools.iter().any(|column| has_name(column))
}

/// Whether an agent has a patch under a name, whose input may be the text alone.
pub(crate) fn is_patch(agent: Agent, name: &str) -> bool {
    agent.tools().tools.iter().any(|tool| tool.tool == "apply_patch" && tool.name == name)
}

#[cfg(test)]
mod tests {
    use hookrail::tools::NeutralTool;
    use hookrail::{DialectId, Json};

    use super::*;

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
                Agent::claude(),
                "Write",
                r#"{"file_path":"/p/a","content":"x"}"#,
                DialectId::Xcode,
                ("writeFile", r#"{"filePath":"/p/a","content":"x"}"#),
            ),
            (
                Agent::copilot(),
                "create",
                r#"{"path":"/p/a","file_text":"x"}"#,
                DialectId::Llxprt,
                ("write_file", r#"{"path":"/p/a","content":"x"}"#),
            ),
            (
                Agent::opencode(),
                "edit",
                r#"{"filePath":"a","oldString":"1"}"#,
                DialectId::Xcsh,
                ("edit", r#"{"path":"a","oldText":"1"}"#),
            ),
            (Agent::pi(), "bash", r#"{"command":"ls"}"#, DialectId::Xcode, ("shell", r#"{"command":"ls"}"#)),
            (Agent::codex(), "mcp__a__b", r#"{"path":1}"#, DialectId::Xcode, ("mcp__a__b", r#"{"path":1}"#)),
            // What the tool reads counts, whatever else is there.
            (
                Agent::copilot(),
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
}
