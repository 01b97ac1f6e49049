//! The arguments of every command, as data. The commands decide what they mean.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValuesParser, Resettable, TypedValueParser};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use hookrail::DialectId;
use hookrail_app::project::ProjectChoice;

use crate::logging::LogOptions;
use crate::render::verbosity::Verbosity;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Hooks for Claude Code, Codex CLI, Gemini CLI and other coding agents: write a rule once, and each asks it before it acts.
///
/// Runs the hooks that the project, the user and the system have configured for an agent's events. Reports what they
/// decided, what they changed, and why each other hook did not run.
///
/// Exit status: 0 done, 1 failed; every command's own help names others.
#[derive(Debug, Parser)]
#[command(name = "hookrail", version, styles = STYLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses the arguments of this process.
    pub(crate) fn parse_arguments(given: &[OsString]) -> Result<Self, clap::Error> {
        match (quick::version(given), quick::parse(given)) {
            (Some(version), _) => Err(version),
            (None, Some(read)) => Ok(read),
            (None, None) => Self::parse_whole(given),
        }
    }

    /// Returns the description of the whole command line.
    pub(crate) fn whole_command() -> clap::Command {
        examples::with_examples(Self::command())
    }

    fn parse_whole(given: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = groups::arranged(Self::whole_command());
        let mut matches = command.try_get_matches_from_mut(given)?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }

    /// Returns what is logged to standard error, and how. A server also logs warnings.
    pub(crate) fn log_options(&self) -> LogOptions {
        let breadcrumbs = self.wants_breadcrumbs();
        let engine = self.global.verbosity() == Verbosity::Logged;
        match &self.command {
            Command::Serve(args) => {
                let warnings = self.global.verbosity() > Verbosity::Quiet;
                LogOptions { breadcrumbs, warnings, engine, format: args.log_format }
            }
            _ => LogOptions { breadcrumbs, engine, ..LogOptions::default() },
        }
    }

    /// Returns whether the breadcrumbs of plugins and hooks go to standard error.
    fn wants_breadcrumbs(&self) -> bool {
        if std::env::var_os("XC_PLUGIN_DEBUG").is_some_and(|value| value == "1") {
            return true;
        }
        match &self.command {
            Command::Fire(args) => args.command.event.plugin_debug,
            Command::Explain(args) => args.event.plugin_debug,
            Command::Agent(args) => args.plugin_debug,
            _ => false,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what hooks can do, with real hooks in a temporary project
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Demo(DemoArgs),
    /// Fire one event and print its outcome
    ///
    /// Exit status: 0 allowed, 2 blocked, 3 the agent must stop, 4 approval required, 1 the command itself failed.
    Fire(FireCommand),
    /// Fire an event again whenever a hook is saved
    ///
    /// Fires the last recorded event, else a sample that the hook is for. Shows what each hook received and wrote, how long it
    /// took, what was decided, and how that differs from the run before. A hook that is not trusted, or has changed since, does
    /// not run: review it with `t` and Enter, or with `hookrail trust grant`.
    ///
    /// Exit status: 0 ended with Ctrl-C, 1 the command itself failed.
    Dev(DevArgs),
    /// Run one script or module with a sample event, without settings
    ///
    /// Shows what `fire -v` shows. Naming the file is the user's own word, so it needs no grant; no other hook runs.
    ///
    /// Exit status: 0 allowed, 2 blocked, 3 the agent must stop, 4 approval required, 1 the command itself failed.
    Try(TryArgs),
    /// Run the reference agent, which applies every effect of its hooks
    ///
    /// On a terminal the agent is interactive. With `--prompt`, or with a pipe on standard input, it works on one
    /// prompt. With `--headless` it prints JSON. Its model follows a script.
    ///
    /// What hooks decide is exported to an OpenTelemetry collector if `[telemetry]` in the user's configuration names one; see
    /// `hookrail docs how-to/telemetry`.
    ///
    /// Exit status: 0 answered, 1 failed, 2 hooks denied the prompt, 3 a hook stopped the agent, 128 plus the number
    /// of the signal that ended it.
    Agent(AgentArgs),
    /// List every configured hook
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    List(ListArgs),
    /// Check configuration and scripts without running anything
    ///
    /// Exit status: 0 no errors, 1 at least one error. With `--strict` or `--deny-warnings` warnings count too.
    Check(CheckArgs),
    /// Show which hooks would run for an event, and why others would not
    ///
    /// Runs nothing.
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Explain(EventCommand),
    /// Show what a shell line would read, write, run and connect to
    ///
    /// Runs nothing. What the line does not say is listed with the reason.
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Accesses(AccessesArgs),
    /// Show, grant and revoke trust in the hooks of a project
    ///
    /// Exit status: 0 done, 1 the command itself failed; `trust diff` also has 1 if a hook has changed.
    Trust(TrustArgs),
    /// Show, install, enable and disable plugins
    ///
    /// Exit status: 0 done, 1 the command itself failed; `plugin doctor` also has 1 if a plugin has an error.
    Plugin(PluginArgs),
    /// Serve the message bus on standard input and output or a socket
    ///
    /// A message is one line of JSON.
    ///
    /// After the first SIGTERM, SIGINT or SIGQUIT the server finishes the requests that run and accepts no new ones; the
    /// second signal ends them. SIGHUP does the same with `--stdio`; with `--socket` it reloads the configuration. A
    /// signal that was ignored when the server was started stays ignored.
    ///
    /// What hooks decide is recorded in the journal, and exported to an OpenTelemetry collector if `[telemetry]` in the
    /// user's configuration names one; see `hookrail docs how-to/telemetry`.
    ///
    /// Exit status: 0 ended in order, 1 the command itself failed, 128 plus the number of the second signal.
    Serve(ServeArgs),
    /// Reload the configuration of a running server
    ///
    /// The server forgets sources that were removed. A source that cannot be used keeps its last good version.
    ///
    /// Exit status: 0 the whole configuration is in force as written, 1 a part of it cannot be used, or no server answers.
    Reload(ReloadArgs),
    /// Answer an agent that calls hookrail as its hook
    ///
    /// Reads the agent's payload from standard input, fires the event, and answers in the form that this agent honours.
    /// `hookrail install AGENT` configures it.
    ///
    /// Exit status: 0 the answer is on standard output, 2 denied with the reason on standard error.
    Bridge(BridgeArgs),
    /// Make a coding agent call hookrail as its hook
    ///
    /// Shows the change of the agent's settings first and asks. Every other byte of a settings file stays as it is.
    ///
    /// Exit status: 0 installed or nothing to change, 1 nothing was changed.
    Install(InstallArgs),
    /// Take back what `install` wrote
    ///
    /// Exit status: 0 the agent does not call hookrail, 1 nothing was changed, or something that was not installed still
    /// calls it.
    Uninstall(UninstallArgs),
    /// Let the hooks of Claude Code, Gemini CLI or Codex CLI take part
    ///
    /// Until then none of their files is read. Hooks of a project need a grant all the same.
    ///
    /// Exit status: 0 the dialect is on, 1 nothing was changed.
    Enable(EnableArgs),
    /// Stop reading the hooks of a dialect that was enabled
    ///
    /// What the configuration of the machine enables stays on.
    ///
    /// Exit status: 0 the dialect is off, 1 nothing was changed.
    Disable(DisableArgs),
    /// Convert hooks of another agent, and say what each means otherwise
    ///
    /// For those who want to leave a format behind: `hookrail enable` runs the hooks as they are. A hook that would do something
    /// else afterwards is refused.
    ///
    /// Exit status: 0 every hook means the same, or a loss is allowed; 2 a hook would mean something else; 1 the command failed.
    Import(ImportArgs),
    /// Find out whether agents really call hookrail, and how to fix it
    ///
    /// Exit status: 0 no errors, 1 at least one error.
    Doctor(DoctorArgs),
    /// Show what hooks decided, from the journal
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Log(LogArgs),
    /// Show how often each hook ran, what it decided, how long it took
    ///
    /// Reads the journal.
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Stats(StatsArgs),
    /// Show what hooks decided, in the browser
    ///
    /// Serves a page to this machine and this user alone until it is ended. Nothing can be changed there, and events are
    /// fired only with `--allow-run`.
    ///
    /// Exit status: 0 ended with Ctrl-C or the file is written, 1 the command itself failed.
    #[cfg(feature = "inspect")]
    Inspect(InspectArgs),
    /// Verify the journal, print its head, or export events from it
    ///
    /// Exit status: 0 done, 1 the command itself failed; `journal verify` also has 1 if the chain does not hold.
    Journal(JournalArgs),
    /// Fire recorded events again and show what would be decided now
    ///
    /// Hooks can change nothing: commands run in a sandbox that only reads and has no network, modules may only read. What
    /// is fired here is not recorded.
    ///
    /// Exit status: 0 nothing differs, 2 something differs, 1 nothing differs as far as hooks could be asked, or the command
    /// itself failed.
    Replay(ReplayArgs),
    /// Make, sign, verify and install bundles: policy for many machines
    ///
    /// Exit status: 0 done, 1 refused or failed; see each command.
    #[cfg(feature = "fleet")]
    Bundle(BundleArgs),
    /// Connect machines: servers, keys, one audit, new bundles at once
    ///
    /// Exit status: 0 done, 1 failed, 2 the audit is not what it must be; see each command.
    #[cfg(feature = "fleet")]
    Fleet(FleetArgs),
    /// Create a hook from a template, with settings and test cases
    ///
    /// Existing settings keep every other byte. No file is replaced without `--force`, and all files are written or none.
    ///
    /// Exit status: 0 created, 1 nothing was written.
    New(NewArgs),
    /// Run the test cases of hooks, each in a directory of its own
    ///
    /// Finds files `NAME.hooktest.toml` and `NAME.hooktest.json`. The hooks of a case see a copy of the project's hooks, an empty
    /// home directory, and nothing of the user's settings. Cases run code of the project: without `--trust-project` only
    /// cases run that send data to hooks that were granted, and a terminal is asked about all others.
    ///
    /// Exit status: 0 every case passed or was skipped, 1 a case failed, a case file cannot be used, there are no cases, or
    /// nothing was run because the project is not trusted.
    Test(TestArgs),
    /// Write test cases from recorded events
    ///
    /// Reads the journal. With `--follow` it waits for the next events of the project, for example of an agent that is used
    /// meanwhile. An event from whose record something was removed is counted and left out.
    ///
    /// Exit status: 0 at least one case was written, 1 there was nothing to write, or the command failed.
    Record(RecordArgs),
    /// Create a first hook in a project
    ///
    /// Exit status: 0 created, 1 nothing was written.
    Init(InitArgs),
    /// Add ready rules or hooks of the cookbook, or list them
    ///
    /// Exit status: 0 added or listed, 1 nothing was written.
    Add(AddArgs),
    /// Check, try and compare rules: guards without a program
    ///
    /// Rules stand in `rules.toml`: in `.hookrail/` of the project, in hookrail's folder of the user, in `/etc/hookrail/`.
    ///
    /// Exit status: 0 done, 1 a rule cannot be used or the command itself failed; `rules diff` also has 2 if an answer differs.
    Rules(RulesArgs),
    /// Write types for hooks, for editors and type checkers
    ///
    /// Exit status: 0 written, 1 nothing was written.
    Types(TypesArgs),
    /// Print a JSON Schema, or the names of all of them
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Schema(SchemaArgs),
    /// Print a page of the reference as Markdown
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Reference(ReferenceArgs),
    /// Print a page of the documentation, or the list of topics
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Docs(DocsArgs),
    /// Print a completion script for a shell
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Completions(CompletionsArgs),
    /// Write a manual page for every command
    ///
    /// Exit status: 0 done, 1 the command itself failed.
    Man(ManArgs),
}

/// The options that select a project and its hooks.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Project")]
pub(crate) struct ProjectArgs {
    /// The project's directory [default: found upwards from the current directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    /// Trust this project and the hooks it has now, for this one invocation
    #[arg(long)]
    pub(crate) trust_project: bool,
    /// Load one more module hook (repeatable)
    #[arg(long = "hook", visible_alias = "extension", value_name = "PATH")]
    pub(crate) modules: Vec<PathBuf>,
    /// Load no plugins
    #[arg(long)]
    pub(crate) no_plugins: bool,
}

impl<'a> From<&'a ProjectArgs> for ProjectChoice<'a> {
    fn from(args: &'a ProjectArgs) -> Self {
        let ProjectArgs { project, trust_project, modules, no_plugins } = args;
        Self { project: project.as_deref(), trust_project: *trust_project, modules, no_plugins: *no_plugins }
    }
}

/// The arguments of `fire`.
#[derive(Debug, Args)]
pub(crate) struct FireCommand {
    #[command(flatten)]
    pub(crate) command: EventCommand,
    /// Record the event in the user's journal
    #[arg(long)]
    pub(crate) journal: bool,
}

/// The arguments of `fire` and `explain`.
#[derive(Debug, Args)]
pub(crate) struct EventCommand {
    #[command(flatten)]
    pub(crate) event: EventArgs,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Event")]
pub(crate) struct EventArgs {
    /// The event's name in any dialect (BeforeTool, PreToolUse, tool_call) or the neutral one (before-tool)
    #[arg(value_name = "EVENT", help_heading = Resettable::Reset, add = names::events())]
    pub(crate) name: String,
    /// The event's own fields as a JSON object; `-` reads standard input, `@FILE` a file
    #[arg(long, value_name = "JSON|-|@FILE")]
    pub(crate) payload: Option<String>,
    /// The tool's name
    #[arg(long, value_name = "NAME", add = names::tools())]
    pub(crate) tool: Option<String>,
    /// The tool's arguments, or `@FILE` for a file with them
    #[arg(long, value_name = "JSON")]
    pub(crate) tool_input: Option<String>,
    /// The tool's result, an object with `llmContent`, `returnDisplay` and `error`, or `@FILE` for a file with it
    #[arg(long, value_name = "JSON")]
    pub(crate) tool_response: Option<String>,
    /// The user's prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// The session's ID; what is remembered of a session, such as which hooks ran once, is kept under it
    #[arg(long, value_name = "ID")]
    pub(crate) session_id: Option<String>,
    /// The path of the session's transcript
    #[arg(long, value_name = "PATH")]
    pub(crate) transcript: Option<String>,
    /// Behave as the bridge of this agent: events and tools have its names, and what it cannot honour is shown
    #[arg(long, value_name = "AGENT", value_parser = bridge::agent_parser())]
    pub(crate) agent: Option<hookrail_bridge::Agent>,
    /// Let only hooks of this dialect take part (repeatable)
    #[arg(long = "dialect", value_name = "NAME", value_parser = dialect_parser())]
    pub(crate) dialects: Vec<DialectId>,
    /// Run no hooks
    #[arg(long)]
    pub(crate) no_hooks: bool,
    /// Mirror the breadcrumbs of plugins and hooks to standard error
    #[arg(long)]
    pub(crate) plugin_debug: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Fail on warnings too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Fail on everything with which a guard could let an operation pass silently
    #[arg(long)]
    pub(crate) strict: bool,
    /// Repair what can be repaired mechanically in files of the project, then check again
    #[arg(long)]
    pub(crate) fix: bool,
    /// The form of the findings
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: CheckFormat,
    /// Print one JSON document; the same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

/// The forms in which `check` prints its findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people, with the source line and a caret
    #[default]
    Text,
    /// One JSON document
    Json,
    /// Workflow commands, which GitHub shows beside the lines of a pull request
    Github,
    /// A log in the format SARIF 2.1.0
    Sarif,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the sample project and print its path
    #[arg(long)]
    pub(crate) keep: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number, one or more".to_owned()),
        Ok(number) => Ok(number),
    }
}

fn dialect_parser() -> impl TypedValueParser<Value = DialectId> {
    PossibleValuesParser::new(DialectId::CONFIGURED.map(DialectId::name))
        .try_map(|name| DialectId::from_name(&name).ok_or("this dialect is not known"))
}

mod accesses;
mod agent;
mod bridge;
#[cfg(feature = "fleet")]
mod bundle;
mod dev;
mod dialects;
mod event;
mod examples;
pub(crate) mod features;
#[cfg(feature = "fleet")]
mod fleet;
mod global;
mod groups;
#[cfg(feature = "inspect")]
mod inspect;
mod journal;
mod names;
mod new;
mod pages;
mod plugin;
mod quick;
mod rules;
mod serve;
mod test;
mod trust;

pub(crate) use accesses::AccessesArgs;
pub(crate) use agent::AgentArgs;
pub(crate) use bridge::{BridgeArgs, DoctorArgs, InstallArgs, OnErrorArg, PassedOptions, UninstallArgs};
#[cfg(feature = "fleet")]
pub(crate) use bundle::{
    BundleApplyArgs, BundleArgs, BundleBuildArgs, BundleCommand, BundleDiffArgs, BundleInspectArgs, BundleKeygenArgs,
    BundlePublishArgs, BundleScopeArgs, BundleSignArgs, BundleStatusArgs, BundleVerifyArgs, Expiry,
};
pub(crate) use dev::{DevArgs, TryArgs};
pub(crate) use dialects::{DialectScopeArg, DisableArgs, EnableArgs, ImportArgs};
#[cfg(feature = "fleet")]
pub(crate) use fleet::{
    FleetAdmitArgs, FleetArgs, FleetCommand, FleetEnrollArgs, FleetInitArgs, FleetMemberArgs, FleetRevokeArgs,
    FleetRoleArg, FleetSetupArgs, FleetShipArgs, FleetStatusArgs, FleetVerifyArgs, FleetWatchArgs,
};
pub(crate) use global::{ColorWhen, GlobalArgs};
#[cfg(feature = "inspect")]
pub(crate) use inspect::InspectArgs;
pub(crate) use journal::{
    ExportArgs, HeadArgs, JournalArgs, JournalCommand, LogArgs, RecordFormat, ReplayArgs, SelectArgs, StatsArgs,
    VerifyArgs,
};
pub(crate) use new::{AddArgs, HookLanguage, InitArgs, NewArgs, RuleScopeArg, TemplateArgs, TypesArgs};
pub(crate) use pages::{CompletionsArgs, DocsArgs, ManArgs, ReferenceArgs, ReferencePage, SchemaArgs};
pub(crate) use plugin::{
    PluginArgs, PluginCommand, PluginInstallArgs, PluginListArgs, PluginSwitchArgs, PluginUninstallArgs, Scope,
};
pub(crate) use rules::{RulesArgs, RulesCommand, RulesDiffArgs, RulesListArgs};
pub(crate) use serve::{ReloadArgs, ServeArgs};
pub(crate) use test::{RecordArgs, TestArgs, TestFormat};
pub(crate) use trust::{TrustArgs, TrustCommand, TrustDiffArgs, TrustGrantArgs, TrustRevokeArgs, TrustStatusArgs};
