//! What an outcome can ask of an agent, and what becomes of it. Each agent has its own answer table, which says how it handles
//! every effect of every event: see [`Agent::handling`](crate::Agent::handling).

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

    /// Honoured under a condition, and otherwise dropped.
    #[must_use]
    pub const fn honoured_if(condition: bool) -> Self {
        if condition { Self::Honoured } else { Self::Dropped }
    }

    /// Whether the agent does what the hook asked for.
    #[must_use]
    pub const fn is_honoured(self) -> bool {
        matches!(self, Self::Honoured)
    }
}
