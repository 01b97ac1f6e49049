//! The arguments of `hookrail plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{ProjectArgs, examples, names};

#[derive(Debug, Args)]
pub(crate) struct PluginArgs {
    #[command(subcommand)]
    pub(crate) command: PluginCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// List every plugin, installed or of the project
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    #[command(after_help = examples::PLUGIN_LIST)]
    List(PluginListArgs),
    /// Report problems of plugins, and why one of their hooks does not run
    ///
    /// Exit status: 0 no errors, 1 at least one error.
    #[command(after_help = examples::PLUGIN_DOCTOR)]
    Doctor(PluginListArgs),
    /// Enable a plugin
    ///
    /// Exit status: 0 written, 1 nothing was changed.
    #[command(after_help = examples::PLUGIN_ENABLE)]
    Enable(PluginSwitchArgs),
    /// Disable a plugin
    ///
    /// Exit status: 0 written, 1 nothing was changed.
    #[command(after_help = examples::PLUGIN_ENABLE)]
    Disable(PluginSwitchArgs),
    /// Install a plugin from a directory
    ///
    /// Exit status: 0 done, 1 nothing was changed.
    #[command(after_help = examples::PLUGIN_INSTALL)]
    Install(PluginInstallArgs),
    /// Remove an installed plugin; its data stays
    ///
    /// Exit status: 0 done, 1 nothing was changed.
    #[command(after_help = examples::PLUGIN_INSTALL)]
    Uninstall(PluginUninstallArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PluginListArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PluginSwitchArgs {
    /// The plugin, as `name@marketplace` or a unique beginning of that
    #[arg(value_name = "ID", add = names::plugins())]
    pub(crate) id: String,
    /// The settings to write; project settings apply only to plugins of the project
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// The settings file that a change is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    User,
    Project,
}

#[derive(Debug, Args)]
pub(crate) struct PluginInstallArgs {
    /// The plugin's directory, or a unique beginning of the name of a plugin of this project
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PluginUninstallArgs {
    /// The plugin, as `name@marketplace` or a unique beginning of that
    #[arg(value_name = "ID", add = names::plugins())]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}
