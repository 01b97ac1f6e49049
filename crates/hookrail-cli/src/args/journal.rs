//! The arguments of the commands that read the journal.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use hookrail_app::records::RecordSelection;

use super::{ProjectArgs, names};

/// The options that select records.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Records")]
pub(crate) struct SelectArgs {
    /// Only records of this time on: `90s`, `30m`, `2h`, `1d`, `1w`, or a time such as `2026-11-16` or `2026-11-16T08:00`
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only events in which this hook ran, by its name or its id
    #[arg(long, value_name = "HOOK", add = names::hooks())]
    pub(crate) hook: Option<String>,
    /// Only events with this decision
    #[arg(long, value_name = "DECISION", value_parser = PossibleValuesParser::new(["allow", "ask", "deny"]))]
    pub(crate) decision: Option<String>,
    /// Only events that were denied: `--decision deny`
    #[arg(long, conflicts_with = "decision")]
    pub(crate) denied: bool,
    /// Only this event, by its name in any dialect
    #[arg(long, value_name = "EVENT", add = names::events())]
    pub(crate) event: Option<String>,
}

impl SelectArgs {
    pub(crate) fn selection(&self) -> RecordSelection<'_> {
        let Self { since, session, hook, decision, denied, event } = self;
        RecordSelection {
            since: since.as_deref(),
            session: session.as_deref(),
            hook: hook.as_deref(),
            decision: decision.as_deref().or(denied.then_some("deny")),
            event: event.as_deref(),
        }
    }
}

/// The forms in which records and numbers are printed for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordFormat {
    /// As `--json`
    Json,
    /// Comma-separated values, with the names of the columns in the first line
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Show at most the last N records; 0 for all [default: 200 on a terminal, else all]
    #[arg(long, short = 'n', visible_alias = "last", value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Go on with what is recorded from now on
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Show for each hook with `"enforce": false` how often it would have blocked, stopped, rewritten, asked, and failed
    #[arg(long, conflicts_with_all = ["limit", "follow", "format"])]
    pub(crate) shadow: bool,
    /// Print the records as JSON lines, as they are in the journal
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the records for other programs
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<RecordFormat>,
}

impl LogArgs {
    pub(crate) fn form(&self) -> Option<RecordFormat> {
        if self.json { Some(RecordFormat::Json) } else { self.format }
    }
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// Show at most the N hooks that ran most often; 0 for all [default: 200 on a terminal, else all]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the numbers for other programs
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<RecordFormat>,
}

impl StatsArgs {
    pub(crate) fn form(&self) -> Option<RecordFormat> {
        if self.json { Some(RecordFormat::Json) } else { self.format }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Only events of this time on: `90s`, `30m`, `2h`, `1d`, `1w`, or a time such as `2026-11-16` or `2026-11-16T08:00`
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only this event, by its name in any dialect
    #[arg(long, value_name = "EVENT", add = names::events())]
    pub(crate) event: Option<String>,
    /// Use the configuration of this directory instead of the project's own
    #[arg(long, value_name = "DIR")]
    pub(crate) against: Option<PathBuf>,
    /// Run commands and modules as they are, with everything they do
    #[arg(long)]
    pub(crate) run_commands: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct JournalArgs {
    #[command(subcommand)]
    pub(crate) command: JournalCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Print the number and the hash of the last record, to be kept elsewhere
    ///
    /// A chain of hashes shows what was changed, but not what was cut off at its end. The head that was kept elsewhere does.
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Head(HeadArgs),
    /// Verify every record of the journal
    ///
    /// Exit status: 0 the chain holds, 1 it does not, or a head that was kept elsewhere is missing from it.
    Verify(VerifyArgs),
    /// Print recorded events in a form for other programs
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct HeadArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A hash that `hookrail journal head` printed
    #[arg(long, value_name = "HASH")]
    pub(crate) head: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Print a case file in JSON with the project's events, as `hookrail record` writes it and `hookrail test` runs it
    #[arg(long, required = true)]
    pub(crate) fixture: bool,
    #[command(flatten)]
    pub(crate) select: SelectArgs,
    /// The project's directory [default: found upwards from the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}
