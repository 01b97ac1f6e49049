//! What went wrong or deserves attention, as data: a level, a stable code, a sentence, a place, a hint.
//!
//! Codes are part of the contract with other programs and never change their meaning. How a diagnostic looks on
//! a terminal is not known here.

use std::fmt;

use crate::config::source::Location;
use crate::text::names::named;

named! {
    /// How serious a diagnostic is.
    ///
    /// ```
    /// use hookrail::Level;
    ///
    /// assert_eq!(Level::Warning.name(), "warning");
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Level {
        /// Something worth knowing.
        Note = "note",
        /// Something does not work as it was probably meant.
        Warning = "warning",
        /// Something was lost: a file, an entry, an answer.
        Error = "error",
    }
}

/// Whether a guard with such a problem lets an operation pass without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardEffect {
    /// The guard may not run or not count, so a strict check fails.
    PassesSilently,
    /// The guard works, or says that it does not.
    Harmless,
}

macro_rules! codes {
    ($(#[doc = $doc:literal] $name:ident = $text:literal, $level:ident, $effect:ident;)*) => {
        /// The stable code of a diagnostic.
        ///
        /// ```
        /// use hookrail::Code;
        ///
        /// assert_eq!(Code::UnknownKey.name(), "unknown-key");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $(#[doc = $doc] $name,)* }

        impl Code {
            /// Every code there is.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The code as it is written in JSON and in the reference.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// How serious a diagnostic with this code is.
            #[must_use]
            pub fn level(self) -> Level {
                match self { $(Code::$name => Level::$level,)* }
            }

            /// What such a problem does to a guard, so that a strict check counts it or not.
            #[must_use]
            pub fn guard_effect(self) -> GuardEffect {
                match self { $(Code::$name => GuardEffect::$effect,)* }
            }

            /// What the code means, in one sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$name => $doc.trim_ascii_start(),)* }
            }
        }
    };
}

codes! {
    /// A configuration file exists and cannot be read.
    FileUnreadable = "file-unreadable", Error, PassesSilently;
    /// A configuration file is not valid JSON with comments and trailing commas, or not the TOML it should be.
    FileSyntax = "file-syntax", Error, PassesSilently;
    /// A configuration file does not hold an object.
    FileShape = "file-shape", Error, PassesSilently;
    /// A configuration file is empty, which is what a save that was cut short leaves behind.
    FileEmpty = "file-empty", Error, PassesSilently;
    /// A source of configuration cannot be used any more, so its last good version stays in force.
    KeptLastGood = "kept-last-good", Warning, PassesSilently;
    /// A source of configuration is gone and its removal was not accepted, so its last good version stays in force.
    SourceRemoved = "source-removed", Warning, PassesSilently;
    /// A source of the system layer exists and cannot be used, so every event that can be denied is denied.
    SystemUnusable = "system-unusable", Error, PassesSilently;
    /// A source of configuration cannot be used, and `on_load_failure` says what that does to events that can be denied.
    LoadFailure = "load-failure", Error, PassesSilently;
    /// A rule or an exception cannot be used; a rule that denies or asks counts as a guard that could not be started.
    RuleInvalid = "rule-invalid", Error, PassesSilently;
    /// A rule can never match, or another one of its file answers as strictly wherever it does.
    RuleWithoutEffect = "rule-without-effect", Warning, Harmless;
    /// An exception of the user has lifted a rule for this call.
    ExceptionUsed = "exception-used", Note, Harmless;
    /// An exception of the user has ended, so it lifts nothing.
    ExceptionExpired = "exception-expired", Warning, Harmless;
    /// Code in another language stands on the line, and no rule can judge it.
    AccessesUnknown = "accesses-unknown", Note, Harmless;
    /// The environment names a file of system settings that does not exist, so no system settings count.
    SystemMissing = "system-missing", Warning, Harmless;
    /// The trust store exists and cannot be used, so every event that can be denied is denied in a project with hooks.
    StoreUnusable = "store-unusable", Error, PassesSilently;
    /// The folders of the user cannot be found, or lie in the project, so nothing is read from there; a bridge denies.
    UserUnusable = "user-unusable", Error, PassesSilently;
    /// The machine or the user is enrolled in a fleet and has no bundle, so every event that can be denied is denied.
    BundleMissing = "bundle-missing", Error, PassesSilently;
    /// The bundle in force has expired; its channel says what that does to events that can be denied.
    BundleExpired = "bundle-expired", Error, PassesSilently;
    /// The bundle in force gets no updates: its source was not reached for longer than `stale_after`.
    BundleStale = "bundle-stale", Warning, Harmless;
    /// The system settings or a bundle can be changed by other users than their owner, so they are not used.
    SystemFileUnsafe = "system-file-unsafe", Error, PassesSilently;
    /// The telemetry settings cannot be used, so nothing is exported.
    TelemetryUnusable = "telemetry-unusable", Error, PassesSilently;
    /// A case of `hookrail test` is not as it should be, so no case is run.
    CaseInvalid = "case-invalid", Error, PassesSilently;
    /// An object has a key more than once, and the last value is used.
    DuplicateKey = "duplicate-key", Warning, PassesSilently;
    /// A key is not known here and has no effect.
    UnknownKey = "unknown-key", Warning, PassesSilently;
    /// A setting has the wrong type and is ignored.
    SettingType = "setting-type", Error, PassesSilently;
    /// A setting has an unknown value and is ignored.
    SettingValue = "setting-value", Warning, PassesSilently;
    /// A setting is at its old place.
    LegacyKey = "legacy-key", Warning, Harmless;
    /// A project's own configuration is ignored because the project is not trusted.
    ConfigUntrusted = "config-untrusted", Warning, Harmless;
    /// A project's own configuration asks for more than the user allows, and the user's limit is kept.
    ConfigWider = "config-wider", Warning, Harmless;
    /// A project's own configuration has a setting that can only be set in the user configuration.
    ConfigUserOnly = "config-user-only", Warning, Harmless;
    /// An event's name is not known.
    UnknownEvent = "unknown-event", Warning, PassesSilently;
    /// The hooks of an event are not a list.
    EventShape = "event-shape", Error, PassesSilently;
    /// A group of hooks is not an object, or has no list of hooks.
    GroupShape = "group-shape", Error, PassesSilently;
    /// A hook is not an object.
    HookShape = "hook-shape", Error, PassesSilently;
    /// A hook's sandbox is not a profile and is read as `guard`.
    SandboxInvalid = "sandbox-invalid", Error, PassesSilently;
    /// This system cannot enforce all of a hook's sandbox, so the hook ran with the rest of it.
    SandboxNotEnforced = "sandbox-not-enforced", Warning, Harmless;
    /// A hook has no type or an unknown one.
    HookType = "hook-type", Error, PassesSilently;
    /// A hook has no command, or its command is not usable.
    HookCommand = "hook-command", Error, PassesSilently;
    /// A hook's timeout is not a positive number, so the default applies.
    TimeoutInvalid = "timeout-invalid", Warning, PassesSilently;
    /// A matcher is not a string.
    MatcherType = "matcher-type", Error, PassesSilently;
    /// A matcher is not a valid pattern.
    MatcherInvalid = "matcher-invalid", Warning, PassesSilently;
    /// A matcher is on an event that is not matched against anything.
    MatcherIgnored = "matcher-ignored", Warning, Harmless;
    /// A matcher took too many steps and is treated as matching.
    MatcherLimit = "matcher-limit", Warning, Harmless;
    /// A plugin's matcher is not a valid pattern, so it matches everything.
    HooksMatcherInvalid = "hooks.matcher-invalid", Warning, Harmless;
    /// A timeout is above the highest allowed value and was reduced to that.
    TimeoutClamped = "timeout-clamped", Warning, Harmless;
    /// A timeout is not a positive whole number, so its hook was skipped.
    TimeoutRejected = "timeout-rejected", Error, PassesSilently;
    /// A command uses a variable that is not known, so the variable stays in the command as it is written.
    VariableUnknown = "variable-unknown", Warning, PassesSilently;
    /// A plugin's command refers to a variable where its value could run as code, so the hook is not run.
    VariableUnsafe = "variable-unsafe", Error, PassesSilently;
    /// The list of installed plugins has an entry that cannot be used.
    PluginRegistry = "plugin-registry", Error, PassesSilently;
    /// The folder of a plugin is not there.
    PluginMissing = "plugin-missing", Error, PassesSilently;
    /// A plugin has no manifest that can be used.
    PluginManifest = "plugin-manifest", Error, PassesSilently;
    /// A plugin names a file outside of itself, which is not read.
    PluginPath = "plugin-path", Error, PassesSilently;
    /// Two plugins have the same identity.
    PluginDuplicate = "plugin-duplicate", Error, PassesSilently;
    /// Hooks are written in the format of another agent and do not run.
    PluginForeignFormat = "plugin-foreign-format", Error, PassesSilently;
    /// A plugin's events are below an outer key that does not belong there.
    PluginHooksWrapped = "plugin-hooks-wrapped", Warning, Harmless;
    /// An extension was not loaded.
    ExtensionInvalid = "extension-invalid", Error, PassesSilently;
    /// A hook of this type can be listed but not executed here.
    NotExecutable = "not-executable", Warning, PassesSilently;
    /// A guard that was asked to block on failure cannot be used.
    GuardUnusable = "guard-unusable", Error, PassesSilently;
    /// A guard that was granted is missing: removed, disabled or moved by its project, or its source is gone or cannot be used.
    GuardMissing = "guard-missing", Error, PassesSilently;
    /// A required field of an event is missing, so its empty value was used.
    FieldMissing = "field-missing", Warning, Harmless;
    /// A hook timed out.
    HookTimedOut = "hook-timed-out", Warning, Harmless;
    /// A hook was ended by a signal.
    HookSignalled = "hook-signalled", Warning, Harmless;
    /// A hook exited with a status that means failure.
    HookExited = "hook-exited", Warning, Harmless;
    /// A hook exited with a status that has a meaning in another dialect and none in its own.
    ExitStatusWithoutMeaning = "exit-status-without-meaning", Note, Harmless;
    /// A hook's command was not found by the shell.
    CommandNotFound = "command-not-found", Warning, Harmless;
    /// A hook's command was found and could not be executed.
    CommandNotRunnable = "command-not-runnable", Warning, Harmless;
    /// A hook's process could not be started.
    SpawnFailed = "spawn-failed", Error, PassesSilently;
    /// A remote hook cannot be asked here: this program has no client for remote hooks.
    RemoteNoClient = "remote-no-client", Warning, Harmless;
    /// A remote hook was not asked because no server could be reached.
    RemoteNotConnected = "remote-not-connected", Warning, Harmless;
    /// A remote hook was not asked because its group has no worker.
    RemoteNoResponders = "remote-no-responders", Warning, Harmless;
    /// A remote hook was not asked because the workers of its group take no more questions.
    RemoteOverloaded = "remote-overloaded", Warning, Harmless;
    /// A remote hook was asked, and the worker did not execute the question.
    RemoteRefused = "remote-refused", Warning, Harmless;
    /// The working directory of an event cannot be used, so a hook ran in another one.
    WorkingDirectoryReplaced = "working-directory-replaced", Warning, Harmless;
    /// A hook from outside of the project runs code that any project can supply.
    ReadsProject = "reads-project", Warning, PassesSilently;
    /// A hook wrote more to standard output than is read.
    OutputLimit = "output-limit", Warning, Harmless;
    /// A hook has exited, and another process held its output until the wait for its answer was over.
    OutputHeld = "output-held", Warning, Harmless;
    /// A hook's standard error was longer than what is kept.
    StderrTruncated = "stderr-truncated", Note, Harmless;
    /// A hook's answer is not valid.
    BadOutput = "bad-output", Warning, Harmless;
    /// A guard gave something that is no answer to its event. One with a failure policy has failed; a module's is a warning.
    UnreadableAnswer = "unreadable-answer", Error, PassesSilently;
    /// A mistake in an answer would make the hook's own agent ignore a denial; here the denial counts.
    StricterThanAgent = "stricter-than-agent", Warning, Harmless;
    /// A field of an answer has the wrong type or an unknown value and was left out.
    AnswerField = "answer-field", Warning, Harmless;
    /// An answer has a key more than once; of decisions the strictest is used, of other values the last.
    AnswerDuplicateKey = "answer-duplicate-key", Warning, Harmless;
    /// A tool's input has a key more than once, so that parsers disagree about it; denied if a guard matches.
    InputDuplicateKey = "input-duplicate-key", Error, PassesSilently;
    /// A patch cannot be read, or a hook's change cannot be put back into it; the call is denied.
    PatchUnusable = "patch-unusable", Error, PassesSilently;
    /// A field of an answer is not known.
    AnswerUnknownField = "answer-unknown-field", Note, PassesSilently;
    /// A field of an answer has no effect on this event.
    AnswerIgnored = "answer-ignored", Note, Harmless;
    /// The content of a module's result is dropped, because a later module returned a result without content.
    ContentDropped = "content-dropped", Warning, Harmless;
    /// Plain text contains a decision that is ignored because it is not the whole output.
    DecisionInText = "decision-in-text", Warning, Harmless;
    /// A decision was discarded because the hook failed.
    DecisionDiscarded = "decision-discarded", Warning, Harmless;
    /// An answer names another event than the one that was fired.
    EventNameMismatch = "event-name-mismatch", Warning, Harmless;
    /// A later hook replaced an earlier hook's deny.
    DecisionOverridden = "decision-overridden", Warning, Harmless;
    /// A deny has no effect because the event cannot be denied.
    DenyWithoutEffect = "deny-without-effect", Warning, Harmless;
    /// A rewritten tool input lacks arguments that the tool was called with.
    ArgumentsRemoved = "arguments-removed", Warning, Harmless;
    /// Hooks that ran side by side rewrote the same field differently.
    RewriteConflict = "rewrite-conflict", Warning, Harmless;
    /// A guard wanted to change an input that other hooks changed after the guard had judged it.
    RewriteAfterGuard = "rewrite-after-guard", Error, PassesSilently;
    /// A hook was cancelled.
    HookCancelled = "hook-cancelled", Note, Harmless;
    /// A module's handler threw.
    HookThrew = "hook-threw", Warning, Harmless;
    /// An operation of a module was refused, because the module does not have the capability here. The module went on.
    CapabilityRefused = "capability-refused", Warning, Harmless;
    /// A module went over a limit.
    HookLimit = "hook-limit", Warning, Harmless;
    /// Processes that a hook started in the background are still running.
    Survivors = "survivors", Note, Harmless;
    /// A hook was skipped because its project is not trusted.
    Untrusted = "untrusted", Warning, Harmless;
    /// A hook changed after it was trusted, so it did not run; a guard then fails under the policy it was granted with.
    TrustChanged = "trust-changed", Warning, Harmless;
    /// A tool call would change what decides which hooks run, so a person has to approve it.
    ProtectedPlace = "protected-place", Warning, Harmless;
    /// A command line would loosen guards, so a person has to approve it.
    LoosensGuard = "loosens-guard", Warning, Harmless;
    /// The store of trust grants cannot be read, so no grant in it is used.
    TrustStore = "trust-store", Error, PassesSilently;
    /// Hooks are switched off for this process by its environment.
    HooksDisabled = "hooks-disabled", Warning, PassesSilently;
    /// Hooks are configured, and no settings file switches hooks on or off, so they never run.
    HooksNeverOn = "hooks-never-on", Warning, PassesSilently;
    /// A hook that could deny an operation does not run because settings switch it off.
    GuardSwitchedOff = "guard-switched-off", Warning, PassesSilently;
    /// A hook does not run because settings switch it off; no operation depends on it.
    HookSwitchedOff = "hook-switched-off", Note, Harmless;
    /// A list of disabled hooks has a name that no hook has.
    DisabledUnknown = "disabled-unknown", Warning, Harmless;
    /// A file looks as if it had hooks, and nothing reads it.
    FileNotRead = "file-not-read", Warning, PassesSilently;
    /// A settings file of another agent has hooks of its own, which hookrail does not run.
    ForeignHooks = "foreign-hooks", Note, Harmless;
    /// A hook reads a field of its payload that no agent sends, so it sees nothing there.
    PayloadFieldUnknown = "payload-field-unknown", Warning, PassesSilently;
    /// A hook answers with a member that no agent knows, so the answer has no effect.
    AnswerKeyUnknown = "answer-key-unknown", Warning, PassesSilently;
    /// A file that a hook's command runs does not exist.
    ScriptMissing = "script-missing", Warning, PassesSilently;
    /// A file that a hook's command runs is not executable.
    ScriptNotExecutable = "script-not-executable", Warning, PassesSilently;
    /// The first line of a hook's script names no interpreter, the wrong one, or one that does not exist.
    ScriptInterpreter = "script-interpreter", Warning, PassesSilently;
    /// The lines of a hook's script end in a carriage return, which its interpreter reads as part of the line.
    ScriptLineEndings = "script-line-endings", Warning, PassesSilently;
    /// A hook's script, module or command has a syntax error, found without running it.
    ScriptSyntax = "script-syntax", Warning, PassesSilently;
    /// A hook's script uses a name or a file that is not there, found without running it.
    ScriptUndefined = "script-undefined", Warning, PassesSilently;
    /// A script that `sh` runs uses what only bash has.
    ScriptBashism = "script-bashism", Warning, PassesSilently;
    /// A command discards the exit status of the script that it runs, so the script cannot deny.
    StatusLost = "status-lost", Warning, PassesSilently;
    /// A program that a hook's command starts is not in the search path.
    ProgramMissing = "program-missing", Warning, PassesSilently;
    /// A timeout is so short that it was most likely meant in seconds.
    TimeoutShort = "timeout-short", Warning, PassesSilently;
    /// A timeout is longer than the host waits for the event.
    TimeoutLong = "timeout-long", Note, Harmless;
    /// A matcher matches no known tool, and most likely means one.
    MatcherNoTool = "matcher-no-tool", Warning, PassesSilently;
    /// A matcher matches no known tool and resembles none: the hook runs only if the host has such a tool.
    MatcherOwnTool = "matcher-own-tool", Note, PassesSilently;
    /// A matcher matches none of the values that its event is known to have.
    MatcherNoValue = "matcher-no-value", Warning, PassesSilently;
    /// A matcher is a part of the names of several tools and matches all of them.
    MatcherLoose = "matcher-loose", Note, Harmless;
    /// A matcher selects a tool by the name that another agent has for it.
    MatcherElsewhere = "matcher-elsewhere", Note, Harmless;
    /// A guard of file tools or of the shell tool is asked about a tool that is in no table, because its input has a path or a command.
    ToolUnknown = "tool-unknown", Note, Harmless;
    /// The name of a tool has another meaning in each of several agents.
    ToolAmbiguous = "tool-ambiguous", Note, Harmless;
    /// A command uses a variable without quotes, so a blank in its value splits it.
    VariableUnquoted = "variable-unquoted", Warning, PassesSilently;
    /// A command has a path with a variable in single quotes, where no shell replaces it.
    VariableSingleQuoted = "variable-single-quoted", Error, PassesSilently;
    /// A script denies with an exit status that does not deny.
    ExitStatusAsPolicy = "exit-status-as-policy", Warning, PassesSilently;
    /// A guard with a failure policy prints a text, which is no answer.
    PrintsText = "prints-text", Warning, Harmless;
    /// A hook is the same as an earlier one or has its name.
    HookDuplicate = "hook-duplicate", Warning, PassesSilently;
    /// A module is not loaded because another one has its place.
    HookShadowed = "hook-shadowed", Warning, PassesSilently;
    /// An exit status that blocks comes from an interpreter or a tool, not from the hook.
    ExitStatusOfInterpreter = "exit-status-of-interpreter", Warning, Harmless;
    /// A hook gave no answer, and its standard error reports a failure.
    SilentFailure = "silent-failure", Warning, Harmless;
    /// A module hook could not be loaded.
    ModuleLoad = "module-load", Error, PassesSilently;
    /// A module registers a handler for an event that does not exist.
    ModuleEvent = "module-event", Warning, PassesSilently;
    /// A module calls a function of another API while it is loaded; the rest of the module is in force.
    ModuleUnsupported = "module-unsupported", Warning, PassesSilently;
    /// A module registers something that is not a function; the rest of the module is in force.
    ModuleRegistration = "module-registration", Error, PassesSilently;
    /// A module uses something that modules do not have.
    ModuleApi = "module-api", Warning, PassesSilently;
    /// What a module registers cannot be known before it runs.
    ModuleOpaque = "module-opaque", Note, Harmless;
    /// Hooks started agents that started hooks, too many levels deep; no more hooks are run.
    TooDeep = "too-deep", Error, PassesSilently;
    /// The outcome of an event could not be recorded.
    RecordFailed = "record-failed", Warning, Harmless;
    /// No runner is registered for this kind of hook.
    NoRunner = "no-runner", Error, PassesSilently;
}

/// One finding.
///
/// ```
/// use hookrail::{Code, Diagnostic, Level};
///
/// let diagnostic = Diagnostic::new(Code::UnknownKey, "`matchr` is not a key of a group").hint("did you mean `matcher`?");
/// assert_eq!(diagnostic.code.level(), Level::Warning);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How serious it is.
    pub level: Level,
    /// What it is.
    pub code: Code,
    /// The finding as a sentence without its final stop.
    pub message: String,
    /// Where it is, when there is a file.
    pub location: Option<Location>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A finding at the code's own level.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { level: code.level(), code, message: message.into(), location: None, hint: None }
    }

    /// The finding with its place.
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// The finding with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Diagnostic {
    /// What the problem does to a guard. With an error a guard may always let an operation pass.
    #[must_use]
    pub fn guard_effect(&self) -> GuardEffect {
        if self.level == Level::Error { GuardEffect::PassesSilently } else { self.code.guard_effect() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.level.name(), self.code.name(), self.message)?;
        if let Some(place) = &self.location {
            write!(f, " ({}:{}:{})", place.file.display(), place.line, place.column)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn codes_are_unique_and_kebab_case() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        for name in names {
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'.')), "{name}");
        }
    }

    #[test]
    fn every_code_says_what_it_means() {
        for code in Code::ALL {
            assert!(code.meaning().ends_with('.'), "{}", code.name());
        }
    }
}
