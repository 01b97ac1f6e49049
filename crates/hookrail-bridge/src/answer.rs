//! Makes one answer from the results of the hooks, in the form that the agent honours.
//!
//! [`Answer::compose`] looks every effect up in the answer table ([`Agent::handling`]). An effect that the agent can express
//! goes to the form of the event as it is; any other is turned into what the table says, and recorded as a [`Loss`].

mod compose;

use std::time::Duration;

use hookrail::{Asker, Decision, Effects, EventKind};

use crate::agents::Agent;
use crate::effect::{EffectKind, Handling};
pub use crate::forms::{Answer, AnswerStatus};
use crate::loss::Loss;
use crate::request::{AgentRequest, Pass, RefusedRequest};
use crate::session::{BridgeSession, StopReach};
use crate::spec::AgentEvent;
use compose::Composer;

/// The result of the hooks for one event of a request.
#[derive(Clone, Debug, Default)]
pub struct EventResult {
    /// What the host has to do.
    pub effects: Effects,
    /// The hook that denied, for the model.
    pub denied_by: Option<String>,
    /// Who requires approval, if the decision is to ask.
    pub asked_by: Option<Asker>,
}

/// The options that the user chose when installing the bridge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerOptions {
    /// Whether an `allow` of a hook may skip the agent's own permission prompt.
    pub allow: AllowPolicy,
    /// Whether a user can answer a question.
    pub attendance: Attendance,
}

/// What an `allow` of a hook does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllowPolicy {
    /// Nothing: the agent asks as it would without hooks.
    #[default]
    KeepsPrompt,
    /// The agent does not ask.
    SkipsPrompt,
}

/// Whether a user is at the agent's terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Attendance {
    /// It is not known. An agent without a terminal may end the whole run at a question.
    #[default]
    Unknown,
    /// A user can be asked.
    Attended,
}

/// What an error of the bridge itself does to a gating event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// The operation is denied.
    #[default]
    Block,
    /// The operation happens, with a warning.
    Allow,
}

/// Why the hooks are not waited for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lateness {
    /// The deadline of the bridge, which has this length, is reached.
    Deadline(Duration),
    /// The agent or the user ends the bridge with this signal.
    Signal(&'static str),
}

impl Answer {
    /// Denies in the one form that denies tools in all agents: status 2 with a text on standard error. An agent that loses the
    /// text, or does not block prompts by it, gets the document that its form has for a denial.
    ///
    /// The end of an answer is not denied: that would make the agent continue, and if the bridge fails at every end, an agent
    /// without a limit would never stop.
    #[must_use]
    pub fn denial(event: Option<AgentEvent>, reason: &str) -> Self {
        let kind = event.map_or(EventKind::BeforeTool, |event| event.kind);
        let stderr = Some(reason.to_owned());
        if kind == EventKind::AgentEnd {
            return Self { stderr, ..Self::silent() };
        }
        let stdout = event.and_then(|event| event.form.denial_document(kind, reason));
        let status = if stdout.is_some() { AnswerStatus::Answered } else { AnswerStatus::Denied };
        Self { stdout, stderr, status, decision: Some(Decision::Deny), losses: Vec::new() }
    }

    /// The answer to a payload that cannot be used.
    #[must_use]
    pub fn refusal(refused: &RefusedRequest, on_error: OnError) -> Self {
        Self::failure(refused.agent, refused.event, &refused.error.to_string(), on_error)
    }

    /// The answer if the bridge itself fails. An event that is not known may be a gating one.
    #[must_use]
    pub fn failure(agent: Agent, event: Option<AgentEvent>, what: &str, on_error: OnError) -> Self {
        let text = format!("hookrail: {what}; run `hookrail doctor {agent}`");
        let is_gating = event.is_none_or(|event| event.kind.spec().is_gating());
        match on_error {
            OnError::Block if is_gating => Self::denial(event, &text),
            OnError::Block | OnError::Allow => Self { stderr: Some(text), ..Self::silent() },
        }
    }

    /// The answer when the bridge can wait no longer. What the hooks wanted is not known, which is a loss.
    #[must_use]
    pub fn late(agent: Agent, event: AgentEvent, lateness: Lateness) -> Self {
        let handling = agent.handling(event.kind, EffectKind::LateAnswer);
        let instead = match (handling, event.kind) {
            (Handling::Denied | Handling::DeniedUntilPrompt, _) => "the operation is denied",
            (_, EventKind::AgentEnd) => "the agent may end its answer",
            _ => "the agent continues without them",
        };
        let why = match lateness {
            Lateness::Deadline(limit) => format!("within {} s", limit.as_secs_f32()),
            Lateness::Signal(signal) => format!("before {signal} ended the wait for them"),
        };
        let text = format!("hookrail: the hooks did not answer {why}; {instead}");
        let loss = Loss { event: event.kind, effect: EffectKind::LateAnswer, handling };
        let answer = match handling {
            Handling::Denied | Handling::DeniedUntilPrompt => Self::denial(Some(event), &text),
            Handling::Honoured
            | Handling::AddedAsContext
            | Handling::KeptForLater
            | Handling::ReplacesResult
            | Handling::FollowsResponse
            | Handling::Dropped => Self { stderr: Some(text), ..Self::silent() },
        };
        Self { losses: vec![loss], ..answer }
    }

    /// The answer to what is not fired. An event that this version does not know passes, because an update of the agent must
    /// not stop all work, but a message says so.
    #[must_use]
    pub fn passed(agent: Agent, pass: &Pass) -> Self {
        let stderr = match pass {
            Pass::UnknownEvent { name } => {
                let title = agent.title();
                Some(format!("hookrail: this version does not know the event {name:?} of {title}; no hook was asked"))
            }
            Pass::EmptyPrompt | Pass::PieceOfResponse(_) | Pass::RepeatedEvent => None,
        };
        Self { stderr, ..Self::silent() }
    }

    /// The answer that a pending stop demands, if it does: gating events are denied without asking any hook.
    #[must_use]
    pub fn while_stopped(request: &AgentRequest, session: &mut BridgeSession) -> Option<Self> {
        let stop = session.stop.clone()?;
        match request.kind() {
            EventKind::Prompt => {
                session.stop = None;
                (stop.reach == StopReach::NextPrompt).then(|| {
                    session.stop_after_denied_prompt(request, &stop.reason);
                    Self::denial(Some(request.event), &stop_reason(&stop.reason))
                })
            }
            // The agent must stop, so no hook may keep it from ending.
            EventKind::AgentEnd => Some(Self::silent()),
            kind if kind.spec().is_gating() => Some(Self::denial(Some(request.event), &stop_reason(&stop.reason))),
            _ => None,
        }
    }

    /// Makes the answer. `results` has one item for each event of the request, in order.
    #[must_use]
    pub fn compose(
        request: &AgentRequest,
        results: &[EventResult],
        options: AnswerOptions,
        session: &mut BridgeSession,
    ) -> Self {
        Composer::new(request, options, session).compose(results)
    }
}

fn stop_reason(reason: &str) -> String {
    format!("a hook stopped the agent: {reason}")
}
