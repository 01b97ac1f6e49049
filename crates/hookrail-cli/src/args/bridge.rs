//! The arguments of the commands that connect agents.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use hookrail_bridge::Agent;
use hookrail_bridge::install::Scope;

pub(super) fn agent_parser() -> impl TypedValueParser<Value = Agent> {
    let names = PossibleValuesParser::new(Agent::ALL.map(Agent::name));
    names.try_map(|name| Agent::from_name(&name).ok_or("this is not an agent"))
}

/// What an error of the bridge itself does to a gating event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnErrorArg {
    /// The operation is denied
    Block,
    /// The operation happens, with a warning
    Allow,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct BridgeArgs {
    /// The agent that calls
    #[arg(value_name = "AGENT", value_parser = agent_parser())]
    pub(crate) agent: Agent,
    /// The event, for agents whose payload does not name it
    #[arg(long, value_name = "NAME")]
    pub(crate) event: Option<String>,
    /// The time after which gating events are denied [default: 24000]
    #[arg(long, value_name = "MS")]
    pub(crate) deadline: Option<u64>,
    /// What happens to a gating event if the payload or the bridge itself has an error
    #[arg(long, value_name = "EFFECT", value_enum, default_value = "block")]
    pub(crate) on_error: OnErrorArg,
    #[command(flatten)]
    pub(crate) options: PassedOptions,
    /// Do not use a running server
    #[arg(long)]
    pub(crate) alone: bool,
    /// Run the shadow hooks of the event that another process of the bridge describes on standard input
    #[arg(long, hide = true)]
    pub(crate) shadow_hooks: bool,
}

/// Whose sessions an installation takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// All sessions of the user
    User,
    /// The sessions in this project
    Project,
    /// All sessions of all users of this machine
    System,
}

impl From<ScopeArg> for Scope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::User => Self::User,
            ScopeArg::Project => Self::Project,
            ScopeArg::System => Self::System,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = agent_parser())]
    pub(crate) agent: Agent,
    /// Whose sessions the hooks take part in
    #[arg(long, value_enum, default_value = "user")]
    pub(crate) scope: ScopeArg,
    /// How long the agent waits for hooks, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(2..=600))]
    pub(crate) timeout: u32,
    /// The events that hooks take part in, by hookrail's names or the agent's, and no others but the start of a session
    /// [default: those that any guard can need, and those that hooks at hand wait for]
    #[arg(long, value_name = "EVENT", value_delimiter = ',')]
    pub(crate) events: Vec<String>,
    #[command(flatten)]
    pub(crate) bridge: PassedOptions,
    /// Show the change and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Also record the hooks as trusted (Codex CLI runs no others)
    #[arg(long)]
    pub(crate) trust: bool,
    /// The project [default: found upwards from the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<std::path::PathBuf>,
}

/// The options of `bridge` that an installation writes into the agent's settings.
#[derive(Clone, Debug, Args)]
pub(crate) struct PassedOptions {
    /// Let an `allow` of a hook skip the agent's own permission prompt
    #[arg(long)]
    pub(crate) allow_skips_prompt: bool,
    /// Ask on the agent's terminal; only for agents that are used by a person (Gemini CLI)
    #[arg(long)]
    pub(crate) attended: bool,
    /// Deny gating events while hooks of the project wait for trust
    #[arg(long)]
    pub(crate) strict_trust: bool,
    /// Also fire events that the agent repeats without need: every streamed piece, every check for compression
    #[arg(long)]
    pub(crate) noisy: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = agent_parser())]
    pub(crate) agent: Agent,
    /// Whose sessions the hooks no longer take part in [default: all of these]
    #[arg(long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,
    /// Show the change and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The agent [default: every agent that is installed or bridged]
    #[arg(value_name = "AGENT", value_parser = agent_parser())]
    pub(crate) agent: Option<Agent>,
    /// The project [default: found upwards from the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<std::path::PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
