//! Every setting of hookrail's own configuration file: one table for the reader, the reference and the schema.

use hookrail::DialectId;
use hookrail::module::CAPABILITY_NAMES;
use hookrail::sources::one_of;

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    Processes,
    Stdout,
    Stderr,
    Capabilities,
    Memory,
    Stack,
    Cpu,
    Wall,
    Load,
    Requests,
    InFlight,
    Projects,
    Connections,
    Line,
    Buffered,
    Patience,
    Watch,
    Metrics,
    OnLoadFailure,
    RunShell,
    Protect,
    DisabledRules,
    EnabledDialects,
    SandboxFloor,
    JournalRecord,
    JournalEvents,
    JournalInput,
    JournalSync,
    JournalOnFailure,
    JournalDirectory,
    JournalSegment,
    JournalDays,
    JournalSize,
    TelemetryEndpoint,
    TelemetryHeaders,
    TelemetryInputs,
    TelemetrySample,
    TelemetryTraces,
    TelemetryLogs,
    TelemetryMetrics,
    TelemetryShutdown,
}

/// Everything about one setting.
#[derive(Debug)]
pub struct SettingRow {
    pub setting: Setting,
    pub section: &'static str,
    pub key: &'static str,
    pub kind: SettingKind,
    pub scope: SettingScope,
    pub meaning: &'static str,
}

impl SettingRow {
    /// Whether a key of a file is this setting's. Some settings are spelt with `_` and some with `-`, and a guard must not be
    /// lost to that.
    pub fn is_spelt(&self, key: &str) -> bool {
        let plain = |letter: u8| if letter == b'_' { b'-' } else { letter };
        key.bytes().map(plain).eq(self.key.bytes().map(plain))
    }
}

/// The kind of value that a setting takes.
#[derive(Clone, Copy, Debug)]
pub enum SettingKind {
    /// A whole number in these bounds. Without a default the setting limits nothing unless a file sets it.
    Number { least: u64, most: u64, default: Option<u64> },
    /// Names of capabilities.
    Capabilities,
    /// True or false.
    Flag { default: bool },
    /// An address, or a port of the loopback interface.
    Address,
    /// A failure policy.
    Policy,
    /// A sandbox profile.
    Sandbox,
    /// One of these words. A malformed value is read as the strictest one.
    Word { words: &'static [&'static str], default: &'static str, strictest: &'static str },
    /// Names.
    Names,
    /// Names of dialects that can be switched on.
    Dialects,
    /// An absolute path.
    Path,
    /// The base address of a web service.
    Url,
}

/// The files that can set a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "the user's file always counts, and the names say which others do")]
pub enum SettingScope {
    /// Only the user's file, because the setting affects more than one project.
    UserOnly,
    /// The user's file and the system's; a project has no say.
    UserAndSystem,
    /// The user's file, and a trusted project's file for the project's own hooks.
    UserAndProject,
}

const fn number(least: u64, most: u64, default: u64) -> SettingKind {
    SettingKind::Number { least, most, default: Some(default) }
}

const fn word(words: &'static [&'static str], default: &'static str, strictest: &'static str) -> SettingKind {
    SettingKind::Word { words, default, strictest }
}

const fn row(
    setting: Setting,
    section: &'static str,
    key: &'static str,
    kind: SettingKind,
    scope: SettingScope,
    meaning: &'static str,
) -> SettingRow {
    SettingRow { setting, section, key, kind, scope, meaning }
}

const DAY: u64 = 86_400_000;
const GIB: u64 = 1 << 20;

#[rustfmt::skip]
pub(super) const TABLE: &[SettingRow] = &[
    row(Setting::Processes, "limits", "processes", number(1, 4096, 64), SettingScope::UserOnly,
        "How many hook processes run at once, and how many processes all modules together run at once. Further ones wait, \
         and the wait is not part of a hook's timeout."),
    row(Setting::Stdout, "limits", "stdout-kib", number(1, GIB, 8192), SettingScope::UserAndProject,
        "How much of a hook's standard output is read. A hook that writes more fails."),
    row(Setting::Stderr, "limits", "stderr-kib", number(1, GIB, 1024), SettingScope::UserAndProject,
        "How much of a hook's standard error is kept."),
    row(Setting::Capabilities, "modules", "capabilities", SettingKind::Capabilities, SettingScope::UserAndProject,
        "What module hooks may do. `run` is everything the user can do. A grant with `--allow` can limit a module further."),
    row(Setting::Memory, "modules", "memory-kib", number(1024, GIB, 65_536), SettingScope::UserAndProject,
        "The memory of one module."),
    row(Setting::Stack, "modules", "stack-kib", number(64, 2048, 768), SettingScope::UserAndProject,
        "The stack of one module."),
    row(Setting::Cpu, "modules", "cpu-ms", number(1, DAY, 1000), SettingScope::UserAndProject,
        "How long a module may compute without yielding."),
    row(Setting::Wall, "modules", "wall-ms", SettingKind::Number { least: 1, most: DAY, default: None }, SettingScope::UserAndProject,
        "How long a module's handlers of one event may take, if that is less than the event's timeout."),
    row(Setting::Load, "modules", "load-ms", number(1, DAY, 10_000), SettingScope::UserAndProject,
        "How long a module may take to load while it is only inspected."),
    row(Setting::Requests, "bus", "requests", number(1, 1_000_000, 64), SettingScope::UserOnly,
        "How many requests run at once, as `serve --limit`."),
    row(Setting::InFlight, "bus", "in-flight", number(1, 1_000_000, 1024), SettingScope::UserOnly,
        "How many messages of one client may wait for their answer, as `serve --in-flight`."),
    row(Setting::Projects, "bus", "projects", number(1, 100_000, 32), SettingScope::UserOnly,
        "How many projects are kept open, as `serve --most-projects`."),
    row(Setting::Connections, "bus", "connections", number(1, 100_000, 256), SettingScope::UserOnly,
        "How many clients may be connected to a socket at once."),
    row(Setting::Line, "bus", "line-kib", number(1, GIB, 16_384), SettingScope::UserOnly,
        "How long one message may be."),
    row(Setting::Buffered, "bus", "buffered-kib", number(1, GIB, 65_536), SettingScope::UserOnly,
        "How much may wait to be read by one client before it is disconnected."),
    row(Setting::Patience, "bus", "patience-ms", number(1, DAY, 30_000), SettingScope::UserOnly,
        "How long a client may leave messages unread before it is disconnected."),
    row(Setting::Watch, "bus", "watch", SettingKind::Flag { default: true }, SettingScope::UserOnly,
        "Whether configuration is reloaded when it changes; `serve --no-watch` turns it off."),
    row(Setting::Metrics, "bus", "metrics", SettingKind::Address, SettingScope::UserOnly,
        "Where Prometheus metrics are served, as `serve --metrics`."),
    row(Setting::OnLoadFailure, "guard", "on_load_failure", SettingKind::Policy, SettingScope::UserOnly,
        "What happens to gating events while a source of hooks exists and cannot be used. A source of the system layer \
         always denies them; a source of a project that is not trusted has no effect."),
    row(Setting::RunShell, "run", "shell", SettingKind::Path, SettingScope::UserOnly,
        "The shell for commands that are written for bash, which are those of LLxprt. Without it that is the first of `/bin/bash`, \
         `/usr/bin/bash`, `/usr/local/bin/bash`, `/run/current-system/sw/bin/bash` and `/bin/sh` that exists. `PATH` has no \
         effect on it."),
    row(Setting::Protect, "guard", "protect", word(&["ask", "deny", "off"], "ask", "deny"), SettingScope::UserOnly,
        "What happens, where there is a guard, to a tool call that would write what decides which hooks run, and to a command \
         line that would loosen guards. `ask`: a person has to approve it, and an approval counts for the file and the session; \
         an agent that cannot ask denies. `deny`: it is denied. `off`: nothing."),
    row(Setting::DisabledRules, "rules", "disabled", SettingKind::Names, SettingScope::UserOnly,
        "The names of rules of the user and of projects that are switched off. Rules of the machine stay on."),
    row(Setting::EnabledDialects, "dialects", "enabled", SettingKind::Dialects, SettingScope::UserAndSystem,
        "The dialects of other agents whose hooks take part, which are off otherwise; `hookrail enable` writes this. What the \
         system's file switches on stays on."),
    row(Setting::SandboxFloor, "sandbox", "floor", SettingKind::Sandbox, SettingScope::UserOnly,
        "The most that processes of a project's hooks may do, regardless of their entries. Paths are relative to the project."),
    row(Setting::JournalRecord, "journal", "record", word(&["auto", "always", "never"], "auto", "always"), SettingScope::UserOnly,
        "Which commands record what hooks decided. `auto`: `serve`, `bridge` and `agent`, and `fire` with `--journal`. \
         `always`: `fire` too. `never`: none."),
    row(Setting::JournalEvents, "journal", "events", word(&["asked", "gating", "all"], "gating", "all"), SettingScope::UserOnly,
        "Which events are recorded. `asked`: events in which a hook takes part. `gating`: also all events that can be denied, \
         so that a new guard can be tried on them. `all`: all events."),
    row(Setting::JournalInput, "journal", "input", word(&["redacted", "full", "none"], "redacted", "none"), SettingScope::UserOnly,
        "What is kept of inputs and outcomes. `redacted`: everything but recognised secrets and prompts. `full`: everything. \
         `none`: neither inputs nor texts."),
    row(Setting::JournalSync, "journal", "sync", word(&["write", "second", "each"], "write", "each"), SettingScope::UserOnly,
        "When a record is safe. `write`: it survives the end of any process. `second`: a second later it is on the disk. \
         `each`: the disk is waited for with every record."),
    row(Setting::JournalOnFailure, "journal", "on_failure", word(&["warn", "block"], "warn", "block"), SettingScope::UserOnly,
        "What happens if an event cannot be recorded. `warn`: the outcome has the diagnostic `record-failed`. `block`: gating \
         events are also denied."),
    row(Setting::JournalDirectory, "journal", "directory", SettingKind::Path, SettingScope::UserOnly,
        "The folder of the journal, if it is not `hookrail/journal` in the user's state directory."),
    row(Setting::JournalSegment, "journal", "segment-mib", number(1, 4096, 64), SettingScope::UserOnly,
        "The size at which a new segment is begun. Each day has a segment of its own in any case."),
    row(Setting::JournalDays, "journal", "retain-days", number(1, 36_500, 90), SettingScope::UserOnly,
        "How long segments are kept."),
    row(Setting::JournalSize, "journal", "retain-mib", number(1, 1 << 24, 1024), SettingScope::UserOnly,
        "How much is kept in all. The oldest segments are removed first, the newest one never."),
    row(Setting::TelemetryEndpoint, "telemetry", "endpoint", SettingKind::Url, SettingScope::UserOnly,
        "The collector to which `serve` and `agent` export what hooks decide, over OTLP, such as \"http://127.0.0.1:4318\". Without \
         it nothing is exported. It needs a program with the feature `otel`."),
    row(Setting::TelemetryHeaders, "telemetry", "headers-file", SettingKind::Path, SettingScope::UserOnly,
        "A file with one header per line, `name: value`, that is sent with every request. Only the user may be able to read it."),
    row(Setting::TelemetryInputs, "telemetry", "inputs", SettingKind::Flag { default: false }, SettingScope::UserOnly,
        "Whether inputs, prompts, reasons and the project's directory are exported. Nothing is removed from them."),
    row(Setting::TelemetrySample, "telemetry", "sample-percent", number(0, 100, 100), SettingScope::UserOnly,
        "How many of a hundred traces that begin here are exported. Under a trace of the host, the host decides."),
    row(Setting::TelemetryTraces, "telemetry", "traces", SettingKind::Flag { default: true }, SettingScope::UserOnly,
        "Whether spans of events and hooks are exported."),
    row(Setting::TelemetryLogs, "telemetry", "logs", SettingKind::Flag { default: true }, SettingScope::UserOnly,
        "Whether a log record for each decision is exported."),
    row(Setting::TelemetryMetrics, "telemetry", "metrics", SettingKind::Flag { default: true }, SettingScope::UserOnly,
        "Whether durations, decisions and losses are exported as metrics."),
    row(Setting::TelemetryShutdown, "telemetry", "shutdown-ms", number(1, 60_000, 2000), SettingScope::UserOnly,
        "How long the end of the program may be delayed to export what is left."),
];

/// The values of a failure policy.
pub(super) const POLICIES: [&str; 3] = ["allow", "ask", "block"];

/// The names of the sections.
pub(super) const SECTIONS: [&str; 11] =
    ["limits", "modules", "bus", "guard", "rules", "dialects", "run", "sandbox", TOOLS_SECTION, "journal", "telemetry"];

/// Returns the dialects that are off until they are switched on.
pub fn switchable_dialects() -> Vec<&'static str> {
    let switchable = DialectId::CONFIGURED.into_iter().filter(|dialect| dialect.needs_enabling());
    switchable.map(DialectId::name).collect()
}

/// The section whose keys are names of tools.
pub(super) const TOOLS_SECTION: &str = "tools";

/// What a key of that section says.
pub(super) const TOOLS_MEANING: &str = "What a tool is that no table of tools has: guards of tools that do the same are asked about it. \
     Without an entry guards of file tools are asked if its input has a path, and guards of the shell tool if it has a command.";

/// Returns the settings of a section.
pub(super) fn settings_of_section(section: &str) -> impl Iterator<Item = &'static SettingRow> {
    TABLE.iter().filter(move |row| row.section == section)
}

impl Setting {
    /// Returns the setting's row in the table.
    pub fn row(self) -> Option<&'static SettingRow> {
        TABLE.iter().find(|row| row.setting == self)
    }
}

impl SettingKind {
    /// Returns the number that is in force if no file sets one.
    pub fn default_number(self) -> Option<u64> {
        if let Self::Number { default, .. } = self { default } else { None }
    }

    /// Describes the expected value, for a message.
    pub fn expected(self) -> String {
        match self {
            Self::Number { least, most, .. } => format!("a whole number from {least} to {most}"),
            Self::Capabilities => format!(
                "a list of {}, with or without a scope as in \"read:src/**\"",
                CAPABILITY_NAMES.map(|name| format!("\"{name}\"")).join(", ")
            ),
            Self::Flag { .. } => "true or false".to_owned(),
            Self::Policy => "\"allow\", \"ask\" or \"block\"".to_owned(),
            Self::Sandbox => "\"none\", \"guard\" or a table of `read`, `write` and `network`".to_owned(),
            Self::Word { words, .. } => one_of(words),
            Self::Names => "a list of names".to_owned(),
            Self::Dialects => format!("a list of {}", one_of(&switchable_dialects())),
            Self::Path => "an absolute path".to_owned(),
            Self::Url => "an address that begins with \"http://\" or \"https://\"".to_owned(),
            Self::Address => "an address such as \"127.0.0.1:9464\", or a port of the loopback interface".to_owned(),
        }
    }
}
