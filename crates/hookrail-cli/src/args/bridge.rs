//! The arguments of the commands that connect agents.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hookrail_bridge::Agent;

fn agent_parser() -> impl TypedValueParser<Value = Agent> {
    let names = PossibleValuesParser::new(Agent::ALL.map(Agent::name));
    names.try_map(|name| Agent::from_name(&name).ok_or("this is not an agent"))
}

#[derive(Debug, Args)]
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
    /// Do not use a running server
    #[arg(long)]
    pub(crate) alone: bool,
}
