//! The answer to an agent, and the forms in which agents expect it. A form that several agents read has a file here; one that
//! a single agent reads is in the file of that agent.

mod claude;
mod members;
mod plugin;
mod status;

use std::fmt;

use hookrail::{Decision, EventKind, Json, JsonObject};

use crate::loss::Loss;
pub(crate) use claude::{ClaudeForm, QUESTION, claude_members, claude_output};
pub(crate) use members::{Members, denied_question, given_text, permission};
pub(crate) use plugin::PluginForm;
pub(crate) use status::StatusForm;

/// The exit status of the bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerStatus {
    /// 0: the answer is on standard output, or there is none.
    Answered,
    /// 2: denied; the reason is on standard error.
    Denied,
}

impl AnswerStatus {
    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Answered => 0,
            Self::Denied => 2,
        }
    }
}

/// What the bridge gives back to the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The document for standard output.
    pub stdout: Option<Json>,
    /// The text for standard error.
    pub stderr: Option<String>,
    /// The exit status.
    pub status: AnswerStatus,
    /// What the agent is told about the operation, in whatever form; none if it is told nothing.
    pub decision: Option<Decision>,
    /// The effects that the agent cannot carry out as the hooks meant them.
    pub losses: Vec<Loss>,
}

impl Answer {
    /// An answer that changes nothing.
    #[must_use]
    pub fn silent() -> Self {
        Self { stdout: None, stderr: None, status: AnswerStatus::Answered, decision: None, losses: Vec::new() }
    }

    /// An answer with a document on standard output, unless it would say nothing.
    pub(crate) fn of_document(members: &JsonObject) -> Self {
        let stdout = (!members.is_empty()).then(|| members.to_json());
        Self { stdout, ..Self::silent() }
    }

    /// A denial by status 2, which has a text on standard error and nothing else.
    pub(crate) fn of_status(reason: &str) -> Self {
        Self { stderr: Some(reason.to_owned()), status: AnswerStatus::Denied, ..Self::silent() }
    }
}

/// The content of an answer: only effects that the agent's protocol can express.
#[derive(Clone, Debug, Default)]
pub struct AnswerContent {
    /// The operation may happen without the agent's own question.
    pub allow: bool,
    /// Why the operation must not happen.
    pub deny: Option<String>,
    /// What the user is asked.
    pub ask: Option<String>,
    /// Why the agent must stop.
    pub stop: Option<String>,
    /// Additional texts for the model.
    pub context: Vec<String>,
    /// The input that the tool gets, as a whole.
    pub input: Option<Json>,
    /// The text that the model gets as the tool's result.
    pub output: Option<String>,
    /// The prompt that replaces the user's.
    pub prompt: Option<String>,
    /// A message for the user.
    pub system_message: Option<String>,
    /// The model's context is cleared.
    pub clear_context: bool,
    /// The request to the model.
    pub llm_request: Option<Json>,
    /// The response of the model.
    pub llm_response: Option<Json>,
    /// The tools that the model may call.
    pub tool_config: Option<Json>,
}

impl AnswerContent {
    /// What the agent is told about the operation.
    pub(crate) fn decision(&self) -> Option<Decision> {
        match (&self.deny, &self.ask) {
            (Some(_), _) => Some(Decision::Deny),
            (None, Some(_)) => Some(Decision::Ask),
            (None, None) => self.allow.then_some(Decision::Allow),
        }
    }

    pub(crate) fn context_text(&self) -> Option<String> {
        (!self.context.is_empty()).then(|| self.context.join("\n"))
    }
}

/// What forms need to know of the event that is answered.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredEvent<'a> {
    /// The agent's name for it.
    pub name: &'static str,
    /// The neutral event.
    pub kind: EventKind,
    /// The prompt of a prompt event.
    pub prompt: Option<&'a str>,
    /// The tool's result in the agent's own shape.
    pub tool_result: Option<&'a Json>,
    /// The request of an event before a model call.
    pub llm_request: Option<&'a Json>,
}

/// Whether a form can give the model another result of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFit {
    /// As the agent's answer table says.
    AsHandled,
    /// The tool's result has a shape that the form cannot fill: the text is given as context.
    ContextOnly,
    /// The same, and the form also carries the text in a member that the agent may not honour here.
    ContextToo,
}

/// How a reason that takes the place of a tool's result is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopText {
    /// As the result.
    AsResult,
    /// As the result and as context, because the agent may not take the result.
    AsResultAndContext,
}

/// The form in which an agent expects the answer to an event.
pub trait AnswerForm: fmt::Debug + Sync {
    /// Writes an answer.
    fn write(&self, event: &AnsweredEvent<'_>, content: &AnswerContent) -> Answer;

    /// A denial that is no exit status. Without one, status 2 with a text on standard error denies.
    fn denial_document(&self, _kind: EventKind, _reason: &str) -> Option<Json> {
        None
    }

    /// Whether [`write`](Self::write) denies an event by status 2, beside which nothing else can be said.
    fn denies_by_status(&self, _kind: EventKind) -> bool {
        false
    }

    /// Whether the form can give the model this text as the tool's result.
    fn fit_output(&self, _event: &AnsweredEvent<'_>, _text: &str) -> OutputFit {
        OutputFit::AsHandled
    }

    /// How the reason of a stop is given that takes the place of a tool's result.
    fn stop_text(&self) -> StopText {
        StopText::AsResult
    }
}
