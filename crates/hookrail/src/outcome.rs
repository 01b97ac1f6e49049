//! What a fired event came to: one outcome for the host, with a typed reason for everything.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::{DialectId, Health};
use crate::event::EventKind;
use crate::hook::{Hook, OnFailure};
use crate::json::Json;
use crate::skips::Skips;
use crate::snapshot::Snapshot;

/// What hooks decided about an operation. The order is the order of strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It may go on. This never lifts a deny or a question of the host's own.
    Allow,
    /// The user must be asked, with the final input in front of them.
    Ask,
    /// It must not happen.
    Deny,
}

impl Decision {
    /// The name used in JSON and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A demand that the agent stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Why, for the user.
    pub reason: String,
}

impl Stop {
    /// A stop with its reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// What the host has to do. A dialect's part of an event gives one of these, and so does the whole event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The decision; none means that no hook had an opinion.
    pub decision: Option<Decision>,
    /// Why.
    pub reason: Option<String>,
    /// Whether the agent must stop.
    pub stop: Option<Stop>,
    /// A message for the conversation and the user.
    pub system_message: Option<String>,
    /// Whether the operation's output is hidden from the user.
    pub suppress_output: bool,
    /// Whether the model's context must be cleared.
    pub clear_context: bool,
    /// Text to add for the model.
    pub additional_context: Option<String>,
    /// The whole new input of the tool.
    pub tool_input: Option<Json>,
    /// The replacement for the tool's result.
    pub tool_output: Option<Json>,
    /// The whole new prompt.
    pub prompt: Option<String>,
    /// Messages to add to the conversation.
    pub messages: Vec<Json>,
    /// Entries to add to the session.
    pub entries: Vec<Json>,
    /// The whole new request to the model.
    pub llm_request: Option<Json>,
    /// The response to use in place of the model's.
    pub llm_response: Option<Json>,
    /// Which tools the model may call.
    pub tool_config: Option<Json>,
    /// The combined result of events that have one of their own shape.
    pub result: Option<Json>,
}

impl Effects {
    /// No opinion.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// It may go on.
    #[must_use]
    pub fn allow() -> Self {
        Self { decision: Some(Decision::Allow), ..Self::default() }
    }

    /// The user must be asked.
    #[must_use]
    pub fn ask(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Ask), reason: Some(reason.into()), ..Self::default() }
    }

    /// It must not happen.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { decision: Some(Decision::Deny), reason: Some(reason.into()), ..Self::default() }
    }

    /// The effects with a demand to stop the agent.
    #[must_use]
    pub fn and_stop(mut self, reason: impl Into<String>) -> Self {
        self.stop = Some(Stop::new(reason));
        self
    }

    /// The effects with text for the model.
    #[must_use]
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        self.additional_context = Some(text.into());
        self
    }

    /// The effects with a whole new tool input.
    #[must_use]
    pub fn with_tool_input(mut self, input: Json) -> Self {
        self.tool_input = Some(input);
        self
    }

    /// Adds the effects of the dialect that came next. Decisions combine by strength, texts are joined, and a later
    /// rewrite stands in place of an earlier one, because the later dialect was asked about the earlier rewrite.
    pub(crate) fn absorb(&mut self, next: Effects) {
        use std::cmp::Ordering;
        // Taken apart, so that a new effect cannot be forgotten here.
        let Effects {
            decision,
            reason,
            stop,
            system_message,
            suppress_output,
            clear_context,
            additional_context,
            tool_input,
            tool_output,
            prompt,
            messages,
            entries,
            llm_request,
            llm_response,
            tool_config,
            result,
        } = next;
        match decision.cmp(&self.decision) {
            Ordering::Greater => (self.decision, self.reason) = (decision, reason),
            Ordering::Equal => join(&mut self.reason, reason, "\n"),
            Ordering::Less => {}
        }
        if self.stop.is_none() {
            self.stop = stop;
        }
        join(&mut self.system_message, system_message, "\n");
        join(&mut self.additional_context, additional_context, "\n");
        self.suppress_output |= suppress_output;
        self.clear_context |= clear_context;
        self.messages.extend(messages);
        self.entries.extend(entries);
        replace(&mut self.tool_input, tool_input);
        replace(&mut self.tool_output, tool_output);
        replace(&mut self.prompt, prompt);
        replace(&mut self.llm_request, llm_request);
        replace(&mut self.llm_response, llm_response);
        replace(&mut self.tool_config, tool_config);
        replace(&mut self.result, result);
    }
}

fn replace<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

/// Adds text to text, skipping what is empty.
pub(crate) fn join(into: &mut Option<String>, next: Option<String>, separator: &str) {
    let Some(next) = next.filter(|text| !text.is_empty()) else { return };
    match into {
        Some(text) => {
            text.push_str(separator);
            text.push_str(&next);
        }
        None => *into = Some(next),
    }
}

/// How a planned hook ended. Exactly one of these holds for every hook that was planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EndKind {
    /// It answered.
    Answered,
    /// It ended well and said nothing.
    Silent,
    /// Its time was up.
    TimedOut,
    /// A signal ended it.
    Signalled,
    /// It exited with a status other than zero.
    Exited,
    /// It could not be started.
    SpawnFailed,
    /// What it said is not an answer.
    BadOutput,
    /// It wrote too much.
    OutputLimit,
    /// The host did not want it any more.
    Cancelled,
    /// Its handler threw.
    Threw,
    /// It went over its memory or stack limit.
    Limit,
    /// It was not asked: its entry is broken, or it has changed since it was granted.
    Unusable,
    /// The host did not wait for it.
    Detached,
}

impl EndKind {
    /// The name used in JSON and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Silent => "silent",
            Self::TimedOut => "timed-out",
            Self::Signalled => "signalled",
            Self::Exited => "exited",
            Self::SpawnFailed => "spawn-failed",
            Self::BadOutput => "bad-output",
            Self::OutputLimit => "output-limit",
            Self::Cancelled => "cancelled",
            Self::Threw => "threw",
            Self::Limit => "limit",
            Self::Unusable => "unusable",
            Self::Detached => "detached",
        }
    }
}

/// One hook that was run.
#[derive(Clone, Debug)]
pub struct HookRun {
    /// The hook.
    pub hook: Arc<Hook>,
    /// How it ended.
    pub end: EndKind,
    /// Whether it did its work. A hook that exits with 2 to deny is well; one that exits with 2 by accident cannot be told
    /// apart from it.
    pub health: Health,
    /// The exit status, when it exited.
    pub exit_code: Option<i32>,
    /// The signal, when one ended it.
    pub signal: Option<i32>,
    /// What it decided, or what its failure policy made of it.
    pub decision: Option<Decision>,
    /// How long it took.
    pub duration: Duration,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// What it was asked about, where others could have changed that afterwards.
    pub judged: Option<Json>,
}

/// The aggregate of command hooks in settings files, as their own documentation defines it.
#[derive(Clone, Debug, Default)]
pub struct Aggregated {
    /// Whether every hook exited with zero. This is about health, not about permission.
    pub success: bool,
    /// The merged output.
    pub final_output: Option<Json>,
    /// Every single output, in plan order.
    pub all_outputs: Vec<Json>,
    /// What prevented a hook from answering at all.
    pub errors: Vec<String>,
    /// The sum of the hooks' times.
    pub total_duration: Duration,
}

impl Aggregated {
    /// The aggregate of no hooks.
    #[must_use]
    pub fn empty() -> Self {
        Self { success: true, ..Self::default() }
    }
}

/// Why the engine itself answered an event that can be denied, whatever its hooks say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A source of the system layer exists and cannot be used. The event is denied.
    SystemUnusable,
    /// A source of another layer cannot be used, and this is what the user wants then: to be asked, or that the event is
    /// denied.
    LoadFailure(OnFailure),
}

impl Refusal {
    /// The code of the diagnostic that comes with it.
    #[must_use]
    pub fn code(self) -> Code {
        match self {
            Self::SystemUnusable => Code::SystemUnusable,
            Self::LoadFailure(_) => Code::LoadFailure,
        }
    }

    /// What it decides.
    #[must_use]
    pub fn decision(self) -> Decision {
        match self {
            Self::SystemUnusable | Self::LoadFailure(OnFailure::Block) => Decision::Deny,
            // One that allows is never made; if it were, asking does no harm.
            Self::LoadFailure(OnFailure::Ask | OnFailure::Allow) => Decision::Ask,
        }
    }
}

/// What a fired event came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What had happened.
    pub event: EventKind,
    /// What the host has to do.
    pub effects: Effects,
    /// The aggregate of the settings-file dialect.
    pub aggregated: Aggregated,
    /// Every hook that was planned, in plan order.
    pub runs: Vec<HookRun>,
    /// Every hook that did not run, and why.
    pub skipped: Skips,
    /// Everything worth saying.
    pub diagnostics: Vec<Diagnostic>,
    /// Why the engine itself answered, when it did.
    pub refusal: Option<Refusal>,
}

impl Outcome {
    /// The outcome of an event that no hook takes part in.
    #[must_use]
    pub fn untouched(event: EventKind) -> Self {
        Self {
            event,
            effects: Effects::default(),
            aggregated: Aggregated::empty(),
            runs: Vec::new(),
            skipped: Skips::default(),
            diagnostics: Vec::new(),
            refusal: None,
        }
    }

    /// Puts what loading noticed before everything else, for those who cannot see the configuration. What the outcome
    /// says already is not said twice.
    pub fn report_loading(&mut self, snapshot: &Snapshot) {
        let new: Vec<Diagnostic> =
            snapshot.diagnostics().iter().filter(|finding| !self.diagnostics.contains(finding)).cloned().collect();
        self.diagnostics.splice(0..0, new);
    }

    /// The outcome of an event whose hooks could not be heard. A gate that was not guarded stays shut.
    #[must_use]
    pub(crate) fn abandoned(event: EventKind) -> Self {
        let mut outcome = Self::untouched(event);
        let message = "the engine was torn down before the hooks of this event had answered";
        outcome.diagnostics.push(Diagnostic::new(Code::HookCancelled, message));
        if event.spec().is_gating() {
            outcome.effects = Effects::deny(message);
        }
        outcome
    }

    /// The outcome of an event that is fired too deep inside hooks of other engines. A gate stays shut, so that the
    /// recursion ends.
    #[must_use]
    pub(crate) fn too_deep(event: EventKind, depth: u32) -> Self {
        let mut outcome = Self::untouched(event);
        let message = format!("hooks are nested {depth} deep; no more are run");
        outcome.diagnostics.push(Diagnostic::new(Code::TooDeep, message.clone()));
        if event.spec().is_gating() {
            outcome.effects = Effects::deny(message);
        }
        outcome
    }

    /// Whether the operation must not happen.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.effects.decision == Some(Decision::Deny)
    }

    /// The runs of one dialect.
    pub fn runs_of(&self, dialect: DialectId) -> impl Iterator<Item = &HookRun> {
        self.runs.iter().filter(move |run| run.hook.dialect == dialect)
    }
}
