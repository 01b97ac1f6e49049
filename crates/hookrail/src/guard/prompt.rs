//! Prompts, and the end of the agent's work on one.

use std::sync::atomic::Ordering;

use super::Guard;
use super::approval::Operation;
use super::notes::Notes;
use super::receipt::Receipt;
use crate::event::EventKind;
use crate::json::Json;
use crate::outcome::Stop;

/// How hooks decided about a prompt.
#[derive(Clone, Debug)]
pub enum PromptEnd {
    /// It is sent to the model, with what hooks added.
    Accepted {
        /// The prompt to send.
        prompt: String,
        /// What hooks want said or kept.
        notes: Notes,
        /// Why the agent must stop although the prompt is accepted, if a hook demands that.
        stop: Option<Stop>,
        /// What hooks did.
        receipt: Receipt,
    },
    /// It never reaches a model, now or later. This assistant message replaces it in the conversation.
    Denied {
        /// What the assistant says.
        message: String,
        /// What hooks want said or kept.
        notes: Notes,
        /// Why the agent must stop too, if a hook demands that.
        stop: Option<Stop>,
        /// What hooks did.
        receipt: Receipt,
    },
}

/// What the agent does after its answer.
#[derive(Clone, Debug)]
pub enum AgentEnd {
    /// It is done.
    Done {
        /// Why, when a hook stopped it.
        stop: Option<Stop>,
        /// Whether the model's context must be cleared.
        clear_context: bool,
        /// What hooks want said or kept.
        notes: Notes,
        /// What hooks did.
        receipt: Receipt,
    },
    /// It continues to work: a hook denied the end, and the message begins a new turn.
    SentBack {
        /// The message.
        message: String,
        /// Whether the model's context must be cleared first.
        clear_context: bool,
        /// What hooks want said or kept.
        notes: Notes,
        /// What hooks did.
        receipt: Receipt,
    },
    /// It is done although a hook denied the end, because hooks had done so too often in a row.
    Capped {
        /// The message that would have begun the new turn.
        message: String,
        /// What hooks want said or kept.
        notes: Notes,
        /// What hooks did.
        receipt: Receipt,
    },
}

impl Guard {
    /// Asks hooks about a prompt. The host calls this before it uses the prompt.
    pub async fn prompt(&self, prompt: &str) -> PromptEnd {
        self.sent_back.store(0, Ordering::Relaxed);
        let outcome = self.fire(self.event(EventKind::Prompt).with_text("prompt", prompt)).await;
        let receipt = Receipt::from_outcome(&outcome);
        let notes = Notes::from_effects(&outcome.effects);
        let shown = outcome.effects.prompt.clone().unwrap_or_else(|| prompt.to_owned());
        let refused = self.refusal_reason(Operation::named("prompt"), &Json::string(&shown), &outcome).await;
        let stop = outcome.effects.stop;
        match refused {
            Some(message) => PromptEnd::Denied { message, notes, stop, receipt },
            None => PromptEnd::Accepted { prompt: shown, notes, stop, receipt },
        }
    }

    /// Asks hooks about the agent's answer. The reason of a deny begins a new turn, at whose end `stop_hook_active` is true.
    /// The number of such turns in a row has a limit, because a hook that always denies would never let the agent end.
    ///
    /// `messages` is the conversation since the prompt.
    pub async fn agent_end(&self, prompt: &str, response: &str, messages: Json) -> AgentEnd {
        let times = self.sent_back.load(Ordering::Relaxed);
        let event = self
            .event(EventKind::AgentEnd)
            .with_text("prompt", prompt)
            .with_text("prompt_response", response)
            .with("messages", messages)
            .with("stop_hook_active", Json::boolean(times > 0));
        let outcome = self.fire(event).await;
        let receipt = Receipt::from_outcome(&outcome);
        let effects = outcome.effects;
        let clear_context = effects.clear_context;
        let notes = Notes::from_effects(&effects);
        if !matches!(effects.decision, Some(crate::outcome::Decision::Deny)) || effects.stop.is_some() {
            self.sent_back.store(0, Ordering::Relaxed);
            return AgentEnd::Done { stop: effects.stop, clear_context, notes, receipt };
        }
        let message = effects.reason.unwrap_or_else(|| "a hook wants the agent to continue".to_owned());
        if times >= self.max_times_sent_back {
            self.sent_back.store(0, Ordering::Relaxed);
            return AgentEnd::Capped { message, notes, receipt };
        }
        self.sent_back.store(times + 1, Ordering::Relaxed);
        AgentEnd::SentBack { message, clear_context, notes, receipt }
    }
}
