//! The agent's tools. They read and write real files and run real commands.
//!
//! A tool runs only with a [`Permit`], so no call can bypass the hooks. Tools know files and processes; they do not know
//! hooks, models or the screen.

mod content;
mod files;
mod names;
mod schema;
mod search;
mod shell;
mod workspace;

pub(crate) use names::call_for_modules;
pub use names::{declare, tool_names};
pub use shell::TOOL_VARIABLE;
pub use workspace::Workspace;

use hookrail::guard::{Permit, ToolFailure, ToolOutput};
use hookrail::{Json, JsonObject};
use hookrail_spawn::CancelToken;

use crate::message::{list, object};
use schema::{Arguments, Parameter, flag, number, text, todos};

/// What a tool returns, or why it failed.
type ToolResult = Result<ToolOutput, ToolFailure>;

/// A tool as it is declared to models and hooks.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    description: &'static str,
    parameters: &'static [Parameter],
}

/// The tool that starts a sub-agent. [`run`] does not run it, because it needs the agent.
pub(crate) const TASK: &str = "task";
/// The tool that replaces the list of tasks. [`run`] does not run it, because it needs the agent.
pub(crate) const TODO: &str = "todo_write";

/// Every tool.
pub(crate) static TOOLS: &[Tool] = &[
    Tool {
        name: "read_file",
        description: "Reads a text file of the project.",
        parameters: &[
            text("path", "The file"),
            number("offset", "The first line, from 1").optional(),
            number("limit", "How many lines").optional(),
        ],
    },
    Tool {
        name: "write_file",
        description: "Writes a file of the project; folders are made as needed.",
        parameters: &[text("path", "The file"), text("content", "The whole new content")],
    },
    Tool {
        name: "replace",
        description: "Replaces text in a file. The old text must stand there exactly once, unless all is set.",
        parameters: &[
            text("path", "The file"),
            text("old_string", "The text to replace"),
            text("new_string", "The text in its place"),
            flag("all", "Whether to replace every occurrence").optional(),
        ],
    },
    Tool {
        name: "list_directory",
        description: "Lists a folder of the project.",
        parameters: &[text("path", "The folder").optional()],
    },
    Tool {
        name: "glob",
        description: "Finds files by a pattern such as src/**/*.rs.",
        parameters: &[text("pattern", "The pattern"), text("path", "The folder to look in").optional()],
    },
    Tool {
        name: "search_file_content",
        description: "Searches the project's files for a regular expression.",
        parameters: &[
            text("pattern", "The regular expression"),
            text("path", "The file or folder to look in").optional(),
            text("include", "Only files that match this pattern").optional(),
        ],
    },
    Tool {
        name: "run_shell_command",
        description: "Runs a command line in the project's folder.",
        parameters: &[
            text("command", "The command line"),
            number("timeout_ms", "The time it has, in milliseconds").optional(),
        ],
    },
    Tool {
        name: TASK,
        description: "Lets a sub-agent do a piece of work and gives its answer.",
        parameters: &[
            text("agent", "The sub-agent"),
            text("description", "The work in a few words").optional(),
            text("prompt", "What the sub-agent is told"),
        ],
    },
    Tool {
        name: TODO,
        description: "Replaces the list of tasks.",
        parameters: &[todos(
            "todos",
            "The tasks: a list of {content, status}; status is pending, in_progress or completed",
        )],
    },
];

/// Finds a tool by the agent's own name for it.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Returns the declarations of the tools that a model request offers.
pub(crate) fn declarations(is_offered: impl Fn(&Tool) -> bool) -> Json {
    let all: Vec<Json> = TOOLS.iter().filter(|tool| is_offered(tool)).map(Tool::declaration).collect();
    list(&[object([("functionDeclarations", list(&all))])])
}

/// Returns the names of the tools that a request offers, sorted.
pub(crate) fn offered_names(request: &Json) -> Vec<String> {
    let tools = request.as_object().and_then(|request| request.get("tools")?.as_array()).unwrap_or_default();
    let declared = tools.iter().filter_map(|tool| tool.as_object()?.get("functionDeclarations")?.as_array()).flatten();
    let mut names: Vec<String> = declared.filter_map(|one| one.as_object()?.get("name")?.as_str()).collect();
    names.sort();
    names
}

impl Tool {
    fn declaration(&self) -> Json {
        object([
            ("name", Json::string(self.name)),
            ("description", Json::string(self.description)),
            ("parameters", schema::declaration(self.parameters)),
        ])
    }

    /// Checks arguments against the tool's schema.
    pub(crate) fn check(&self, input: &Json) -> Result<JsonObject, ToolFailure> {
        schema::check(self.parameters, input)
            .map_err(|problem| ToolFailure(format!("the arguments do not fit the tool `{}`: {problem}", self.name)))
    }
}

/// Runs a tool that works on files or processes. Hooks may have changed the permit's input, so it is checked again. Input
/// that does not fit is an error. The call never falls back to its original input, which hooks meant to replace.
pub(crate) async fn run(permit: Permit, workspace: &Workspace, cancel: &CancelToken) -> ToolResult {
    let Some(tool) = find(permit.tool()) else {
        return Err(ToolFailure(format!("there is no tool `{}`", permit.tool())));
    };
    let arguments = Arguments::new(tool.check(permit.input())?);
    match tool.name {
        "read_file" => files::read(workspace, &arguments),
        "write_file" => files::write(workspace, &arguments),
        "replace" => files::replace(workspace, &arguments),
        "list_directory" => files::list(workspace, &arguments),
        "glob" => search::glob(workspace, &arguments),
        "search_file_content" => search::search_content(workspace, &arguments),
        "run_shell_command" => shell::run(workspace, &arguments, cancel).await,
        other => Err(ToolFailure(format!("the tool `{other}` cannot be run here"))),
    }
}

#[cfg(test)]
mod tests;
