//! The arguments of `hookrail plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{ProjectArgs, names};

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
    List(PluginListArgs),
    /// Report problems of plugins, and why one of their hooks does not run
    ///
    /// Exit status: 0 no errors, 1 at least one error.
    Doctor(PluginListArgs),
    /// Enable a plugin
    ///
    /// Exit status: 0 written, 1 nothing was changed.
    Enable(PluginSwitchArgs),
    /// Disable a plugin
    ///
    /// Exit status: 0 written, 1 nothing was changed.
    Disable(PluginSwitchArgs),
    /// Install a plugin from a directory
    ///
    /// Exit status: 0 done, 1 nothing was changed.
    Install(PluginInstallArgs),
    /// Remove an installed plugin; its data stays
    ///
    /// Exit status: 0 done, 1 nothing was changed.
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
    #[arg(value_name = "ID", add = names::plugin_names())]
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
    #[arg(value_name = "ID", add = names::plugin_names())]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}
