//! Sub-agents: agents inside of the agent, with their own conversation and model, and the same hooks.
//!
//! Session events do not fire for a sub-agent; its start and stop events do.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hookrail::guard::{Permit, ToolFailure, ToolOutput};
use hookrail::{EventKind, Json, Stop};
use hookrail_spawn::lock_mutex;

use super::host::SubAgentIdentity;
use super::{ReferenceAgent, TurnEnd};
use crate::message::{number, object};
use crate::session::Session;
use crate::tool;

impl ReferenceAgent {
    pub(super) async fn run_task(&self, permit: Permit) -> Result<ToolOutput, ToolFailure> {
        let Some(known) = tool::find(tool::TASK) else { return Err(ToolFailure("there is no such tool".to_owned())) };
        let arguments = known.check(permit.input())?;
        let text = |name: &str| arguments.get(name).and_then(Json::as_str).unwrap_or_default();
        let (name, description, prompt) = (text("agent"), text("description"), text("prompt"));
        let Some(model) = self.model.for_agent(&name) else {
            return Err(ToolFailure(format!("there is no sub-agent `{name}`")));
        };
        let named = [("name", Json::string(&name)), ("description", Json::string(&description))];
        let [first, second] = named.clone();
        let about = object([first, second, ("prompt", Json::string(&prompt))]);
        self.fire_event(EventKind::SubagentStart, &[("agent", about)]).await;
        let began = Instant::now();
        let session = Session::in_memory(self.session().id());
        let count = self.sub_agents.fetch_add(1, Ordering::Relaxed) + 1;
        let id = match &self.identity {
            Some(outer) => format!("{}-{count}", outer.id),
            None => format!("{}-agent-{count}", self.session().id()),
        };
        let identity = SubAgentIdentity { id, kind: name.clone() };
        let mut inner = Self::with_session(Arc::clone(&self.parts), model, session, self.depth + 1, Some(identity));
        inner.inside = Arc::clone(&self.inside);
        inner.configuration = Arc::clone(&self.configuration);
        let inside = || lock_mutex(&self.inside);
        inside().push(inner.guard());
        let end = self.run_inside(&inner, &prompt).await;
        inside().pop();
        let outcome = match &end {
            TurnEnd::Answered(_) => "completed",
            TurnEnd::Cancelled => "aborted",
            TurnEnd::Denied(_)
            | TurnEnd::Stopped(_)
            | TurnEnd::Capped(_)
            | TurnEnd::Failed(_)
            | TurnEnd::SignedOut(_)
            | TurnEnd::OutputLost(_) => "failed",
        };
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let used = lock_mutex(&inner.usage).to_json();
        let fields = [
            ("agent", object(named)),
            ("duration_ms", number(took)),
            ("outcome", Json::string(outcome)),
            ("token_usage", used),
        ];
        self.fire_event(EventKind::SubagentStop, &fields).await;
        match end {
            TurnEnd::Answered(text) => Ok(ToolOutput::text(&text)),
            TurnEnd::Stopped(reason) => {
                // A stop ends the whole agent, also if a hook of a sub-agent asked for it.
                self.request_stop(Stop { reason: reason.clone() });
                Err(ToolFailure(format!("the sub-agent was stopped: {reason}")))
            }
            TurnEnd::Denied(reason) => Err(ToolFailure(format!("the prompt of the sub-agent was denied: {reason}"))),
            TurnEnd::Cancelled => Err(ToolFailure("the sub-agent was interrupted by the user".to_owned())),
            TurnEnd::Capped(why) | TurnEnd::Failed(why) | TurnEnd::SignedOut(why) | TurnEnd::OutputLost(why) => {
                Err(ToolFailure(format!("the sub-agent failed: {why}")))
            }
        }
    }

    /// Runs the sub-agent. An interrupt of this agent interrupts it too.
    async fn run_inside(&self, inner: &ReferenceAgent, prompt: &str) -> TurnEnd {
        let token = self.token();
        // A sub-agent can start sub-agents, so the future contains itself and must be boxed.
        let mut work = Box::pin(inner.prompt(prompt));
        let first = tokio::select! {
            end = &mut work => Some(end),
            () = token.cancelled() => None,
        };
        match first {
            Some(end) => end,
            None => {
                inner.interrupt_all();
                work.await
            }
        }
    }
}
