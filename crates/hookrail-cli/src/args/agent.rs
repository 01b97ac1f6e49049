//! The arguments of the reference agent.

use std::path::PathBuf;

use clap::Args;

use super::ProjectArgs;

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// The script that the model follows
    #[arg(long, value_name = "FILE")]
    pub(crate) script: PathBuf,
    /// Work on this one prompt
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// Print one JSON object per line; without a prompt, read prompts and commands from standard input, one per line
    #[arg(long)]
    pub(crate) headless: bool,
    /// Resume a session [default: the one used last]
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,
    /// Continue in a copy of the session; works while another process uses the original
    #[arg(long)]
    pub(crate) fork: bool,
    /// Keep sessions here [default: the user's state directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) session_dir: Option<PathBuf>,
    /// Let tools use this folder too (repeatable)
    #[arg(long = "allow", value_name = "DIR")]
    pub(crate) allowed: Vec<PathBuf>,
    /// Interrupt model responses that match a rule of this file, and ask the model again
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// End the work on a prompt after this many turns
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) max_turns: u32,
    /// Wait this long before retrying a failed model call; the delay doubles each time
    #[arg(long, value_name = "MS", default_value_t = 500)]
    pub(crate) retry_delay_ms: u64,
    /// Run no hooks
    #[arg(long)]
    pub(crate) no_hooks: bool,
    /// Mirror the breadcrumbs of plugins and hooks to standard error
    #[arg(long)]
    pub(crate) plugin_debug: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}
