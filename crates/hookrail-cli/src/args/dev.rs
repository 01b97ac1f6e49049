//! The arguments of `dev` and `try`.

use std::path::PathBuf;

use clap::Args;
use hookrail::DialectId;

use super::{EventArgs, ProjectArgs, dialect_parser, names};

/// The options that describe an event of which a sample has all other fields.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Event")]
pub(crate) struct SampleArgs {
    /// The event's own fields as a JSON object, instead of a sample; `-` reads standard input, `@FILE` a file
    #[arg(long, value_name = "JSON|-|@FILE")]
    pub(crate) payload: Option<String>,
    /// The tool's name
    #[arg(long, value_name = "NAME", add = names::tools())]
    pub(crate) tool: Option<String>,
    /// The tool's arguments
    #[arg(long, visible_alias = "input", value_name = "JSON")]
    pub(crate) tool_input: Option<String>,
    /// The tool's result, an object with `llmContent`, `returnDisplay` and `error`
    #[arg(long, value_name = "JSON")]
    pub(crate) tool_response: Option<String>,
    /// The user's prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
}

impl SampleArgs {
    /// Returns whether any field is given.
    pub(crate) fn is_given(&self) -> bool {
        let Self { payload, tool, tool_input, tool_response, prompt } = self;
        [payload, tool, tool_input, tool_response, prompt].into_iter().any(Option::is_some)
    }

    /// Returns the arguments of `fire` for an event, with a sample in place of a payload that is not given.
    pub(crate) fn to_event(&self, name: &str, sample: &str) -> EventArgs {
        let Self { payload, tool, tool_input, tool_response, prompt } = self.clone();
        EventArgs {
            name: name.to_owned(),
            payload: payload.or_else(|| Some(sample.to_owned())),
            tool,
            tool_input,
            tool_response,
            prompt,
            session_id: None,
            transcript: None,
            agent: None,
            dialects: Vec::new(),
            no_hooks: false,
            plugin_debug: false,
            json: false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DevArgs {
    /// The hook, by its name or a unique part of it [default: every hook of the event]
    #[arg(value_name = "HOOK", add = names::hooks())]
    pub(crate) name: Option<String>,
    /// The event's name [default: the last recorded event, else one that the hook is for]
    #[arg(long, value_name = "EVENT", add = names::events())]
    pub(crate) event: Option<String>,
    #[command(flatten)]
    pub(crate) sample: SampleArgs,
    /// Fire once and end
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TryArgs {
    /// The script or the module
    #[arg(value_name = "SCRIPT", value_hint = clap::ValueHint::FilePath)]
    pub(crate) script: PathBuf,
    /// The event's name
    #[arg(long, value_name = "EVENT", default_value = "BeforeTool", add = names::events())]
    pub(crate) event: String,
    #[command(flatten)]
    pub(crate) sample: SampleArgs,
    /// The form of the input and of the answer [default: that of a settings file's hook, for a module xcsh]
    #[arg(long, value_name = "NAME", value_parser = dialect_parser())]
    pub(crate) dialect: Option<DialectId>,
    /// Behave as the bridge of this agent: events and tools have its names, and what it cannot honour is shown
    #[arg(long, value_name = "AGENT", value_parser = super::bridge::agent_parser())]
    pub(crate) agent: Option<hookrail_bridge::Agent>,
    /// The project's directory [default: found upwards from the current directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
}
