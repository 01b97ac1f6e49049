//! An event as the bridge of an agent fires and answers it, for `--agent`. Nothing is recorded, and no state is kept.

use crate::failure::{Failure, Result};
use hookrail::{Builder, Decision, Event, Json, JsonObject, Outcome};
use hookrail_bridge::{
    Agent, AgentRequest, Answer, AnswerOptions, BridgeSession, Incoming, Loss, NoisyEvents, Reading, request,
};
use serde_json::json;

use crate::bridge::{event_input, event_result};

/// Returns the builder of a host that calls its tools by the names of the agent whose payload was given. Unlike with [`host_of`](crate::project::host_of),
/// hooks that the agent runs itself take part: the agent is not there.
pub fn sent_by(builder: Builder, sender: Option<Agent>) -> Builder {
    sender.map(Agent::tools).into_iter().fold(builder, Builder::host_tools)
}

/// Returns the request that the bridge would make of this event.
pub fn request_of(agent: Agent, event: &Event) -> Result<AgentRequest> {
    let (title, kind) = (agent.title(), event.kind());
    let not_fired = || {
        Failure::new(format!("{title} does not fire {kind}, so its bridge is never asked about it"))
            .hint(format!("omit `--agent`, or see `hookrail explain {kind} --agent {agent}`"))
    };
    let name = agent.event_name(kind).ok_or_else(not_fired)?;
    let payload = event_input(event);
    let incoming = Incoming {
        agent,
        event: Some(name),
        payload: payload.text().as_bytes(),
        variable: &|_| None,
        noisy: NoisyEvents::Fired,
    };
    match request::read(&incoming) {
        Ok(Reading::Fire(request)) => Ok(*request),
        Ok(Reading::Pass(pass)) => Err(Failure::new(format!("the bridge of {title} fires nothing for this: {pass:?}"))
            .hint("give the event another text")),
        Err(refused) => Err(Failure::new(format!("the bridge of {title} refuses this: {}", refused.error))
            .hint("gating events are denied then")),
    }
}

/// What the agent is told about the events of a request.
pub struct ToldAgent {
    agent: Agent,
    losses: Vec<Loss>,
}

/// Lays what the agent is told over the outcome: what it cannot be made to do may become a denial.
pub fn tell(request: &AgentRequest, outcomes: &[Outcome], outcome: &mut Outcome) -> ToldAgent {
    let results: Vec<_> = outcomes.iter().map(event_result).collect();
    let answer = Answer::compose(request, &results, AnswerOptions::default(), &mut BridgeSession::default());
    if answer.decision > outcome.effects.decision && answer.decision == Some(Decision::Deny) {
        let lost: Vec<String> =
            answer.losses.iter().map(|loss| format!("{}: {}", loss.name(), loss.handling.described())).collect();
        outcome.effects.decision = Some(Decision::Deny);
        let reason = outcome.effects.reason.take().into_iter().chain(lost).collect::<Vec<_>>();
        outcome.effects.reason = Some(reason.join("; "));
    }
    ToldAgent { agent: request.agent, losses: answer.losses }
}

impl ToldAgent {
    /// Adds what is lost to the document of the outcome.
    pub fn add_to(&self, document: &Json) -> Json {
        let mut members: JsonObject = document.as_object().unwrap_or_default();
        let losses = self.losses.iter().map(|loss| json!({"what": loss.name(), "detail": loss.handling.described()}));
        members.set("agent", Json::string(self.agent.name()));
        members.set("losses", Json::from(json!(losses.collect::<Vec<_>>())));
        members.to_json()
    }

    /// Describes what is lost, for people.
    pub fn report(&self) -> String {
        let title = self.agent.title();
        let line = |loss: &Loss| format!("{title} cannot honour {}: {}\n", loss.name(), loss.handling.described());
        self.losses.iter().map(line).collect()
    }
}
