//! What an outcome can ask of an agent, and how each agent is made to do it.
//!
//! This is the answer table: [`Agent::handling`] says for every agent, event and effect how the effect is expressed, and
//! what takes its place if the agent cannot express it. The writers in [`crate::answer`] and the compatibility table in the
//! documents both read it.

use hookrail::EventKind;

use crate::Agent;
use Handling::{AddedAsContext, Denied, DeniedUntilPrompt, Dropped, Honoured, KeptForLater, ReplacesResult};

/// One thing that an outcome can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// A hook said that the operation may happen.
    Allow,
    /// The operation must not happen.
    Deny,
    /// The user must approve the operation.
    Ask,
    /// The agent must stop.
    Stop,
    /// The tool gets another input.
    ToolInput,
    /// The tool's result is replaced.
    ToolOutput,
    /// The prompt is replaced.
    Prompt,
    /// The model gets additional text.
    Context,
    /// The user sees a message.
    SystemMessage,
    /// The operation's output is hidden from the user.
    SuppressOutput,
    /// The model's context is cleared.
    ClearContext,
    /// The request to the model is replaced.
    ModelRequest,
    /// The model's response is replaced.
    ModelResponse,
    /// The model may call other tools.
    ToolConfig,
    /// Messages are added to the conversation.
    Messages,
    /// Entries are added to the session.
    Entries,
    /// An event with a result of its own shape gets one.
    Result,
    /// Whatever the hooks wanted, if they answered after the deadline.
    LateAnswer,
}

impl EffectKind {
    /// Every effect, in the order of the documents.
    pub const ALL: [Self; 18] = [
        Self::Allow,
        Self::Deny,
        Self::Ask,
        Self::Stop,
        Self::ToolInput,
        Self::ToolOutput,
        Self::Prompt,
        Self::Context,
        Self::SystemMessage,
        Self::SuppressOutput,
        Self::ClearContext,
        Self::ModelRequest,
        Self::ModelResponse,
        Self::ToolConfig,
        Self::Messages,
        Self::Entries,
        Self::Result,
        Self::LateAnswer,
    ];

    /// The name in documents and in recorded losses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Stop => "stop",
            Self::ToolInput => "rewrite",
            Self::ToolOutput => "output",
            Self::Prompt => "prompt",
            Self::Context => "context",
            Self::SystemMessage => "system-message",
            Self::SuppressOutput => "suppress-output",
            Self::ClearContext => "clear-context",
            Self::ModelRequest => "model-request",
            Self::ModelResponse => "model-response",
            Self::ToolConfig => "tool-config",
            Self::Messages => "messages",
            Self::Entries => "entries",
            Self::Result => "result",
            Self::LateAnswer => "late-answer",
        }
    }
}

/// How an effect reaches the agent, or what takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Handling {
    /// The agent has a form for it and honours it.
    Honoured,
    /// The operation is denied, with a reason that tells the model what to do instead.
    Denied,
    /// The operation is denied, and so is every gating event until the user sends the next prompt.
    DeniedUntilPrompt,
    /// The text is given to the model as additional context.
    AddedAsContext,
    /// The text is kept and given to the model at the next event that can carry it.
    KeptForLater,
    /// The tool's result is replaced by the reason.
    ReplacesResult,
    /// What was said already cannot be taken back; the text is said after it.
    FollowsResponse,
    /// Nothing takes its place. The loss is recorded.
    Dropped,
}

impl Handling {
    /// The words of the compatibility table.
    #[must_use]
    pub const fn described(self) -> &'static str {
        match self {
            Self::Honoured => "yes",
            Self::Denied => "denied instead, with advice",
            Self::DeniedUntilPrompt => "denied instead, until the next prompt",
            Self::AddedAsContext => "given to the model as context",
            Self::KeptForLater => "kept for the next event that can carry it",
            Self::ReplacesResult => "the reason replaces the result",
            Self::FollowsResponse => "said after the pieces of the response that are shown already",
            Self::Dropped => "not possible; reported",
        }
    }

    /// Whether the agent does what the hook asked for.
    #[must_use]
    pub const fn is_honoured(self) -> bool {
        matches!(self, Self::Honoured)
    }
}

impl Agent {
    /// How an effect of an event is expressed in this agent.
    #[must_use]
    pub fn handling(self, event: EventKind, effect: EffectKind) -> Handling {
        match effect {
            // Said only when a hook said it and the user opted in: it skips the agent's own permission prompt.
            EffectKind::Allow => self.allow(event),
            EffectKind::Deny => self.deny(event),
            EffectKind::Ask => self.ask(event),
            EffectKind::Stop => self.stop(event),
            EffectKind::ToolInput => self.tool_input(),
            EffectKind::ToolOutput => self.tool_output(),
            EffectKind::Prompt => self.prompt(),
            EffectKind::Context => self.context(event),
            EffectKind::SystemMessage => self.system_message(),
            EffectKind::ClearContext => only(self == Self::Gemini && event == EventKind::AgentEnd),
            EffectKind::ModelRequest | EffectKind::ModelResponse | EffectKind::ToolConfig => only(self == Self::Gemini),
            // Codex voids a whole answer that has `suppressOutput`, and no other agent honours it.
            EffectKind::SuppressOutput | EffectKind::Messages | EffectKind::Entries | EffectKind::Result => Dropped,
            // Gating events are denied at the deadline; the end of an answer is not.
            EffectKind::LateAnswer if event.spec().is_gating() && event != EventKind::AgentEnd => {
                if self.deny(event) == DeniedUntilPrompt { DeniedUntilPrompt } else { Denied }
            }
            EffectKind::LateAnswer => Dropped,
        }
    }

    fn deny(self, event: EventKind) -> Handling {
        match (event, self) {
            // An extension of pi cannot keep a prompt from the model, but the calls that follow from it can be denied.
            (EventKind::Prompt, Self::Pi) => DeniedUntilPrompt,
            (EventKind::BeforeCompact, Self::Pi) => Honoured,
            // An extension or a plugin only hears of the end.
            (EventKind::AgentEnd, Self::OpenCode | Self::Pi) => Dropped,
            (EventKind::BeforeTool | EventKind::Prompt | EventKind::AgentEnd | EventKind::BeforeModel, _) => Honoured,
            // A deny after the tool cannot undo it, and forwarded as it is it would replace the result in Codex and
            // Gemini.
            (EventKind::AfterTool, _) => AddedAsContext,
            _ => Dropped,
        }
    }

    fn allow(self, event: EventKind) -> Handling {
        only(event == EventKind::BeforeTool && matches!(self, Self::Claude | Self::Copilot))
    }

    fn ask(self, event: EventKind) -> Handling {
        match (self, event) {
            // Without a terminal these three deny by themselves.
            (Self::Claude | Self::Qwen | Self::Copilot, EventKind::BeforeTool) => Honoured,
            // Codex ignores a question and runs the tool; Gemini without a terminal ends the whole run, silently. No agent
            // can ask at another event. Where a denial has no form, nothing can take the place of the question.
            _ => match self.deny(event) {
                Honoured => Denied,
                DeniedUntilPrompt => DeniedUntilPrompt,
                _ => Dropped,
            },
        }
    }

    fn stop(self, event: EventKind) -> Handling {
        match (event, self) {
            (EventKind::BeforeTool, Self::Claude | Self::Gemini) => Honoured,
            (EventKind::AfterTool, Self::Claude | Self::Gemini) => Honoured,
            (EventKind::AfterTool, Self::Codex | Self::Qwen | Self::Copilot) => ReplacesResult,
            (EventKind::Prompt, Self::Claude | Self::Codex | Self::Gemini | Self::Qwen) => Honoured,
            (EventKind::SessionStart, Self::Codex) => Honoured,
            // The agent ends here anyway; not denying the end is all that is asked for.
            (EventKind::AgentEnd | EventKind::SessionEnd, _) => Honoured,
            (EventKind::BeforeModel | EventKind::AfterModel | EventKind::ToolSelection, Self::Gemini) => Honoured,
            _ => DeniedUntilPrompt,
        }
    }

    fn tool_input(self) -> Handling {
        match self {
            Self::Claude | Self::Codex | Self::Gemini | Self::Copilot | Self::OpenCode | Self::Pi => Honoured,
            // No form of a rewrite is honoured: the tool would run with its original input.
            Self::Qwen => Denied,
        }
    }

    fn tool_output(self) -> Handling {
        match self {
            // Claude needs the shape of the tool; where that is unknown the writer falls back to context.
            Self::Claude | Self::Codex | Self::Gemini | Self::Copilot | Self::OpenCode | Self::Pi => Honoured,
            Self::Qwen => AddedAsContext,
        }
    }

    fn prompt(self) -> Handling {
        match self {
            Self::Copilot | Self::OpenCode => Honoured,
            Self::Claude | Self::Codex | Self::Gemini | Self::Qwen | Self::Pi => AddedAsContext,
        }
    }

    fn context(self, event: EventKind) -> Handling {
        match event {
            EventKind::AfterTool | EventKind::Prompt => Honoured,
            EventKind::SessionStart if !matches!(self, Self::OpenCode | Self::Pi) => Honoured,
            EventKind::BeforeTool if matches!(self, Self::Claude | Self::Codex) => Honoured,
            EventKind::SessionEnd => Dropped,
            // At the end of an answer Claude would go on because of a context, which only a deny may ask for.
            _ => KeptForLater,
        }
    }

    fn system_message(self) -> Handling {
        match self {
            Self::Claude | Self::Codex | Self::Gemini => Honoured,
            Self::Qwen | Self::Copilot | Self::OpenCode | Self::Pi => Dropped,
        }
    }
}

fn only(honoured: bool) -> Handling {
    if honoured { Honoured } else { Dropped }
}
