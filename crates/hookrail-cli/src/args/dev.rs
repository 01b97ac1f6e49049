//! The arguments of `dev` and `try`.

use std::path::PathBuf;

use clap::Args;
use hookrail::DialectId;
use hookrail_app::event_draft::EventFields;
use hookrail_app::failure::Result;

use super::event::{read_json, read_payload};
use super::{ProjectArgs, dialect_parser, names};

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
    /// Reads the fields that are given.
    pub(crate) fn fields(&self) -> Result<EventFields> {
        let Self { payload, tool, tool_input, tool_response, prompt } = self;
        Ok(EventFields {
            payload: payload.as_deref().map(read_payload).transpose()?,
            tool: tool.clone(),
            tool_input: read_json("--tool-input", tool_input.as_deref())?,
            tool_response: read_json("--tool-response", tool_response.as_deref())?,
            prompt: prompt.clone(),
            ..EventFields::default()
        })
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
    /// Behave as the bridge of this agent: events and tools have its names, and what it cannot honour is shown
    #[arg(long, value_name = "AGENT", value_parser = super::bridge::agent_parser())]
    pub(crate) agent: Option<hookrail_bridge::Agent>,
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
