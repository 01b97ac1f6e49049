//! What hookrail knows about one agent: everything that the bridge, `install`, `doctor`, the documents and the tests need.
//! The agents themselves are in `agents`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail::tools::ToolColumn;
use hookrail::{EventKind, Json, JsonObject};
use serde_json::{Value, json};

use crate::doctor::{DoctorCheck, DoctorScene, ManagedSettings};
use crate::effect::{EffectKind, Handling};
use crate::forms::AnswerForm;
use crate::settings::{
    AgentFile, AgentFolders, EditError, FilePlace, Insertion, MissingProgram, Scope, SettingsLayout, SettingsSyntax,
};
use crate::tool_call::AgentToolCall;

/// A coding agent whose own hooks can call hookrail.
pub struct AgentSpec {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in sentences.
    pub title: &'static str,
    /// The agent's program.
    pub program: &'static str,
    /// The version whose behaviour is described here.
    pub tested_version: &'static str,
    /// The environment variables that show that a process was started by a tool of the agent.
    pub tool_variables: &'static [&'static str],
    /// The environment variables in which the agent declares its project directory, the most reliable first.
    ///
    /// A `cwd` in the payload follows the model's own `cd` and must not choose the project when one of these is set.
    pub project_variables: &'static [&'static str],
    /// The events of the agent that hooks can take part in.
    pub events: &'static [AgentEvent],
    /// Events that the agent also fires under the names of another agent.
    pub other_events: &'static [AgentEvent],
    /// Whether a payload is the agent's.
    pub evidence: fn(&PayloadView<'_>) -> Evidence,
    /// Who names the event of a payload that has a name for it.
    pub event_namer: fn(&PayloadView<'_>) -> EventNamer,
    /// The names of what all agents tell.
    pub members: PayloadMembers,
    /// The beginnings of prompts that the agent makes itself, and no user types.
    pub machine_made_prompts: &'static [&'static str],
    /// The names that the agent has for the tools.
    pub tools: &'static ToolColumn,
    /// The tools of other agents whose names it takes too.
    pub other_tools: &'static [&'static ToolColumn],
    /// The text between the names of an MCP server and of its tool, where the agent names such a tool by both and says nothing
    /// else about it.
    pub mcp_separator: Option<&'static str>,
    /// The answer table: how an effect of an event is expressed, and what takes its place.
    pub handling: fn(EventKind, EffectKind) -> Handling,
    /// When the user can be asked beyond what the answer table says.
    pub questions: Questions,
    /// Whether the agent can run a call with another input.
    pub rewrite_fit: fn(&AgentToolCall, &Json) -> RewriteFit,
    /// How it is made to call the bridge.
    pub install: InstallSpec,
    /// What keeps it from calling the bridge.
    pub doctor: DoctorSpec,
    /// A call that reads a file which does not exist, as the agent would tell its hook.
    pub sample: fn(&str) -> SamplePayload,
}

/// One event of an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentEvent {
    /// The agent's name for it.
    pub name: &'static str,
    /// The neutral event.
    pub kind: EventKind,
    /// The form of the answer.
    pub form: &'static dyn AnswerForm,
    /// How long the agent waits for hooks, if that is less than its settings can say.
    pub longest_wait: Option<Duration>,
    /// Whether the agent fires it more often than it happens.
    pub repeats: Repeats,
}

impl AgentEvent {
    pub(crate) const fn new(name: &'static str, kind: EventKind, form: &'static dyn AnswerForm) -> Self {
        Self { name, kind, form, longest_wait: None, repeats: Repeats::No }
    }

    pub(crate) const fn waits_at_most(self, wait: Duration) -> Self {
        Self { longest_wait: Some(wait), ..self }
    }

    pub(crate) const fn repeats(self, repeats: Repeats) -> Self {
        Self { repeats, ..self }
    }

    /// Whether the event comes before an operation that a guard can keep from happening. The end of an answer and a compaction
    /// do not count: to deny one when hookrail fails protects nothing and keeps the agent from finishing.
    #[must_use]
    pub fn guards_an_operation(&self) -> bool {
        self.kind.spec().is_gating() && !matches!(self.kind, EventKind::AgentEnd | EventKind::BeforeCompact)
    }
}

/// An agent has one event of a name.
impl PartialEq for AgentEvent {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.kind) == (other.name, other.kind)
    }
}

impl Eq for AgentEvent {}

/// Whether an agent fires an event more often than it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// It does not.
    No,
    /// Before every model call, although nothing happens. The bridge leaves the event out unless it is told to fire noisy
    /// events.
    Filtered,
    /// For every piece of a response that it streams. Unless the bridge is told to fire noisy events, it gathers the pieces
    /// and fires the event once, with the last one.
    InPieces,
}

/// How much speaks for a payload being an agent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It is not.
    No,
    /// It may be: the agent that the command line names keeps it.
    Possible,
    /// It is, whatever agent the command line names: agents read each other's settings.
    Certain,
}

impl Evidence {
    pub(crate) const fn possible_if(condition: bool) -> Self {
        if condition { Self::Possible } else { Self::No }
    }
}

/// What shows which agent sent a payload.
pub struct PayloadView<'a> {
    /// The agent that the command line names.
    pub named: &'a str,
    /// The name of the event.
    pub event: &'a str,
    pub(crate) members: &'a JsonObject,
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl PayloadView<'_> {
    /// Whether the payload has a member.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.get(name).is_some()
    }

    /// A variable of the environment that is not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// Whether the event has a name of these.
    pub(crate) fn is_one_of(&self, events: &[AgentEvent]) -> bool {
        events.iter().any(|event| event.name == self.event)
    }
}

/// Who names the event of a payload that has a name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventNamer {
    /// The payload: one command may be configured for several events.
    Payload,
    /// The command line, if it has one of the agent's own names: the payload has another agent's.
    CommandLine,
}

/// Every payload is the payload's to name.
pub(crate) fn payload_names_event(_: &PayloadView<'_>) -> EventNamer {
    EventNamer::Payload
}

/// The names that agents have for what all of them tell, each with all of its spellings.
#[derive(Clone, Copy, Debug)]
pub struct PayloadMembers {
    /// The session.
    pub session: &'static [&'static str],
    /// The transcript of the session.
    pub transcript: &'static [&'static str],
    /// The tool.
    pub tool: &'static [&'static str],
    /// The input of the tool.
    pub input: &'static [&'static str],
    /// The result of the tool.
    pub result: &'static [&'static str],
    /// The id of a call.
    pub call_id: &'static [&'static str],
    /// What only this agent sends, beside the members that several agents have.
    pub others: &'static [&'static str],
}

impl PayloadMembers {
    /// The spellings of the agents: versions of one agent differ in them too.
    pub(crate) const USUAL: Self = Self {
        session: &["session_id", "sessionId"],
        transcript: &["transcript_path", "transcriptPath"],
        tool: &["tool_name", "toolName", "tool"],
        input: &["tool_input", "toolArgs", "toolInput", "args", "input"],
        result: &["tool_response", "toolResult", "tool_result", "output", "result"],
        call_id: &["tool_use_id", "tool_call_id", "toolCallId", "callID"],
        others: &[],
    };
}

/// When the user can be asked beyond what the answer table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Questions {
    /// Never.
    AsHandled,
    /// Before a tool, if a user is at the agent's terminal. What is denied because no user can be asked is also shown as a
    /// message: the agent does not show the reason.
    AtTerminal,
}

/// Whether an agent can run a call with another input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewriteFit {
    /// As the answer table says.
    AsHandled,
    /// It cannot change all of what differs.
    Impossible,
}

/// Any rewrite is as good as another.
pub(crate) fn any_rewrite_fits(_: &AgentToolCall, _: &Json) -> RewriteFit {
    RewriteFit::AsHandled
}

/// What most agents do with an effect. An agent's own table says first what it does otherwise.
pub(crate) fn usual_handling(event: EventKind, effect: EffectKind) -> Handling {
    use Handling::{AddedAsContext, Denied, DeniedUntilPrompt, Dropped, Honoured, KeptForLater};
    match (effect, event) {
        (
            EffectKind::Deny,
            EventKind::BeforeTool | EventKind::Prompt | EventKind::AgentEnd | EventKind::BeforeModel,
        )
        // The agent asks its user here, unless a hook answers.
        | (EffectKind::Allow | EffectKind::Deny | EffectKind::Ask, EventKind::PermissionRequest) => Honoured,
        // A deny after the tool cannot undo it, and forwarded as it is it would replace the result in some agents.
        (EffectKind::Deny, EventKind::AfterTool) => AddedAsContext,
        // Where a denial has no form, nothing can take the place of the question.
        (EffectKind::Ask, EventKind::BeforeTool | EventKind::Prompt | EventKind::AgentEnd | EventKind::BeforeModel) => {
            Denied
        }
        // The agent ends here anyway; not denying the end is all that is asked for.
        (EffectKind::Stop, EventKind::AgentEnd | EventKind::SessionEnd) => Honoured,
        (EffectKind::Stop, _) => DeniedUntilPrompt,
        (EffectKind::ToolInput | EffectKind::ToolOutput, _) => Honoured,
        (EffectKind::Prompt, _) => AddedAsContext,
        (EffectKind::Context, EventKind::AfterTool | EventKind::Prompt | EventKind::SessionStart) => Honoured,
        (EffectKind::Context, EventKind::SessionEnd) => Dropped,
        // At the end of an answer some agents would go on because of a context, which only a deny may ask for.
        (EffectKind::Context, _) => KeptForLater,
        // Gating events are denied at the deadline; the end of an answer is not.
        (EffectKind::LateAnswer, EventKind::AgentEnd) => Dropped,
        (EffectKind::LateAnswer, event) if event.spec().is_gating() => Denied,
        // `Allow` is said only where it skips the agent's own question.
        (
            EffectKind::Allow
            | EffectKind::Deny
            | EffectKind::Ask
            | EffectKind::SystemMessage
            | EffectKind::SuppressOutput
            | EffectKind::ClearContext
            | EffectKind::ModelRequest
            | EffectKind::ModelResponse
            | EffectKind::ToolConfig
            | EffectKind::Messages
            | EffectKind::Entries
            | EffectKind::Result
            | EffectKind::LateAnswer,
            _,
        ) => Dropped,
    }
}

/// How an agent is made to call the bridge.
pub struct InstallSpec {
    /// The file that gets the entries of a scope; none if the agent has no hooks there.
    pub place: fn(Scope, &AgentFolders<'_>) -> Option<PathBuf>,
    /// The settings files of the project and the user in which the agent finds hooks, also those that no installation writes.
    pub hook_files: fn(&AgentFolders<'_>) -> Vec<PathBuf>,
    /// Where else the agent has hooks, or settings that turn them off.
    pub other_files: fn(&AgentFolders<'_>) -> Vec<FilePlace>,
    /// Further files and folders whose hooks the agent runs: of its packages, and of other agents.
    pub borrowed_files: fn(&AgentFolders<'_>) -> Vec<PathBuf>,
    /// Files above the folder where the agent was started that it reads too, in the repository with this root.
    pub files_above: fn(&AgentFolders<'_>, &Path) -> Vec<PathBuf>,
    /// What the agent accepts in its JSON files.
    pub syntax: SettingsSyntax,
    /// How the file of a scope is written.
    pub layout: fn(Scope) -> SettingsLayout,
    /// The entry for an event, with the command and the seconds that the agent waits for it.
    pub entry: fn(&AgentEvent, &str, u32) -> Value,
    /// A file as if its hooks stood below `hooks`.
    pub document: fn(&Path, Value) -> Value,
    /// What the agent does if the program of a hook cannot be started, unless the command itself denies then.
    pub missing_program: fn(&Value) -> MissingProgram,
    /// How long the agent waits for a hook with this timeout, or with none; none if it waits until the hook ends.
    pub wait: fn(Option<f64>) -> Option<Duration>,
    /// What the user has to know about hooks of a project.
    pub project_advice: Option<&'static str>,
    /// The agent's own trust in hooks.
    pub trust: Option<&'static HookConsent>,
    /// What makes the agent trust a folder; in another one it does not run the borrowed files.
    pub folder_trust: Option<&'static FolderTrust>,
}

/// How an agent knows the folders that its user trusts.
pub struct FolderTrust {
    /// The file with a list of folders, each with all that is below it.
    pub file: fn(&AgentFolders<'_>) -> PathBuf,
    /// The name of the list.
    pub list: &'static str,
    /// The variable with which every folder is trusted, if it is `true`.
    pub variable: &'static str,
}

/// A file of the user without whose consent an agent skips a hook.
pub struct HookConsent {
    /// The file.
    pub file: fn(&AgentFolders<'_>) -> PathBuf,
    /// Its name.
    pub file_name: &'static str,
    /// Adds the trust that the entries in some files need. Returns the new text and all changes since before the first call.
    pub extend: fn(&TrustScene<'_>) -> ExtendedTrust,
    /// What to do if that is not possible.
    pub hint: &'static str,
    /// What an installation without trust leaves to the user.
    pub advice: &'static str,
    /// What happens if other hooks get another position.
    pub moved: &'static str,
    /// What a change of the file means: at an installation, and at an uninstallation.
    pub summary: [&'static str; 2],
}

/// The new text of a file that holds the trust, and all changes since before the first installation.
pub type ExtendedTrust = Result<(String, Vec<Insertion>), EditError>;

/// What the trust in hooks is computed from.
#[derive(Clone, Copy)]
pub struct TrustScene<'a> {
    /// The text of the file that holds the trust.
    pub text: &'a str,
    /// The files with hooks, as the agent will read them.
    pub hooks: &'a [(&'a Path, &'a str)],
    /// The changes of earlier installations.
    pub recorded: &'a [Insertion],
    /// Whether a command calls the bridge.
    pub calls_bridge: fn(&str) -> bool,
}

/// What keeps an agent from calling the bridge.
pub struct DoctorSpec {
    /// The settings of an administrator.
    pub managed: Option<ManagedSettings>,
    /// The setting of a file that turns hookrail's hooks off in a project.
    pub switched_off: fn(&AgentFile, &Path) -> Option<&'static str>,
    /// What else is looked at in this agent alone.
    pub checks: &'static [fn(&DoctorScene<'_>) -> Vec<DoctorCheck>],
}

impl DoctorSpec {
    /// Nothing is known to keep the agent from calling.
    pub(crate) const NOTHING: Self = Self { managed: None, switched_off: |_, _| None, checks: &[] };
}

/// A payload for a dry run.
pub struct SamplePayload {
    /// The agent's name of the event.
    pub event: &'static str,
    /// What the agent sends beside the members that every payload has.
    pub members: Value,
}

/// An entry with one hook in a group, as most agents want it.
pub(crate) fn grouped_entry(_: &AgentEvent, command: &str, seconds: u32) -> Value {
    json!({ "hooks": [{ "type": "command", "command": command, "timeout": seconds }] })
}

/// A file whose hooks stand below `hooks`.
pub(crate) fn as_written(_: &Path, document: Value) -> Value {
    document
}

/// A time of a settings file, in seconds. A negative one is none at all.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

/// Shows which agent it is: its functions have no text.
impl fmt::Debug for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentSpec").field("name", &self.name).finish_non_exhaustive()
    }
}
