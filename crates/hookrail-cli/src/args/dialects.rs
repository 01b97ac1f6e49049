//! The arguments of the commands about dialects of other agents.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use hookrail::DialectId;
use hookrail_app::dialects::switchable_dialects;
use hookrail_bridge::Agent;

use super::ProjectArgs;

fn dialect_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(switchable_dialects())
}

/// The agents whose hooks can be converted are those whose dialects can be switched on.
fn agent_parser() -> impl TypedValueParser<Value = Agent> {
    dialect_parser().try_map(|name| Agent::from_name(&name).ok_or("this is not an agent"))
}

/// Whose configuration switches a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectScopeArg {
    /// That of this user
    User,
    /// That of all users of this machine
    System,
}

#[derive(Debug, Args)]
pub(crate) struct EnableArgs {
    /// The dialect
    #[arg(value_name = "DIALECT", value_parser = dialect_parser())]
    pub(crate) dialect: String,
    /// Whose configuration is changed
    #[arg(long, value_enum, default_value = "user")]
    pub(crate) scope: DialectScopeArg,
    /// The project whose hooks are looked at [default: found upwards from the current directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) project: Option<std::path::PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DisableArgs {
    #[command(flatten)]
    pub(crate) dialect: EnableArgs,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The agent whose hooks are converted
    #[arg(long, value_name = "AGENT", value_parser = agent_parser())]
    pub(crate) from: Agent,
    /// What they become
    #[arg(long, value_name = "DIALECT", value_parser = super::dialect_parser(), default_value = "llxprt")]
    pub(crate) to: DialectId,
    /// Write the result into the settings of the layer that each hook comes from
    #[arg(long)]
    pub(crate) write: bool,
    /// Convert hooks that do something else afterwards, too
    #[arg(long)]
    pub(crate) allow_loss: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}
