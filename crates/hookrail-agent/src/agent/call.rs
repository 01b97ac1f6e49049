//! One logical model call through the guard: retries happen inside it, stream rules and overflow are handled around it.

use std::ops::ControlFlow;
use std::sync::Arc;

use hookrail::guard::{ModelEnd, ModelPermit, ModelResult, Visibility};
use hookrail::{EventKind, Json, JsonObject, Stop};
use hookrail_spawn::lock_mutex;

use super::{CompactionCause, MAX_DEPTH, ReferenceAgent, TurnEnd};
use crate::message::{ModelReply, list, number, text_message, tokens};
use crate::model::{ModelError, ResponseStream};
use crate::tool;
use crate::view::{View, ViewEvent};

/// How a model call ended.
pub(super) enum CallEnd {
    Answered(ModelAnswer),
    Ended(TurnEnd),
}

/// A model's answer.
pub(super) struct ModelAnswer {
    pub(super) reply: ModelReply,
    pub(super) stop: Option<Stop>,
    /// The tools that the request offered after hooks changed it.
    pub(super) offered: Vec<String>,
}

/// The reason why a call has no response.
enum CallError {
    Model(ModelError),
    /// The response matched these rules, by their index.
    Rules(Vec<usize>),
    Cancelled,
}

impl ReferenceAgent {
    /// Asks the model for the next step, and shows its answer unless a hook hides it.
    pub(super) async fn call_model(&self) -> CallEnd {
        let mut compacted = false;
        loop {
            if let Some(end) = self.obstacle() {
                return CallEnd::Ended(end);
            }
            let guard = self.guard();
            let messages = list(&self.session().messages());
            let called =
                guard.model_call_with_messages(self.request(), messages, |permit| self.call_with_retries(permit));
            let result = match called.await {
                Ok(result) => result,
                Err(CallError::Rules(rules)) => {
                    self.follow_rules(&rules).await;
                    continue;
                }
                Err(CallError::Model(ModelError::Overflow(_))) if !compacted => {
                    compacted = true;
                    match self.compact(CompactionCause::Overflow, None).await.stop() {
                        None => continue,
                        Some(stop) => return CallEnd::Ended(TurnEnd::Stopped(stop.reason)),
                    }
                }
                Err(CallError::Cancelled) => return CallEnd::Ended(TurnEnd::Cancelled),
                Err(CallError::Model(ModelError::SignedOut(why))) => return CallEnd::Ended(TurnEnd::SignedOut(why)),
                Err(CallError::Model(error)) => {
                    return CallEnd::Ended(TurnEnd::Failed(format!("the model failed: {error}")));
                }
            };
            return CallEnd::Answered(self.take_answer(result));
        }
    }

    fn take_answer(&self, result: ModelResult) -> ModelAnswer {
        self.keep_receipt("model-call", &result.receipt);
        let number = self.calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        let reply = ModelReply::read(&result.response, &format!("call-{number}"));
        if let Some(reason) = &result.reason {
            let by = self.hook_names(&result.receipt.denied_by());
            let by: Vec<&str> = by.iter().map(String::as_str).collect();
            self.view().show(&ViewEvent::ModelBlocked { reason, by: &by });
        }
        let text = (result.visibility == Visibility::Shown).then_some(reply.text.as_str());
        let from = if result.end == ModelEnd::Answered { "model" } else { "hook" };
        // A stop is shown by the caller, not as an answer.
        if result.stop.is_none() {
            self.view().show(&ViewEvent::Answer { text, from });
        }
        self.take_notes(&result.notes);
        ModelAnswer { reply, stop: result.stop, offered: tool::offered_names(&result.request) }
    }

    /// Builds the request, before hooks see it.
    fn request(&self) -> Json {
        let contents = self.session().contents();
        let mut request = JsonObject::new();
        request.set("model", Json::string(self.model.name()));
        request.set("contents", list(&contents));
        request.set("systemInstruction", text_message("system", &self.parts.settings.instruction));
        request.set("tools", tool::declarations(|tool| tool.name != tool::TASK || self.depth < MAX_DEPTH));
        request.to_json()
    }

    /// Returns the part of the model's window that the next request takes, from 0 to 1.
    pub(super) fn fullness(&self) -> f64 {
        let used = tokens(&self.request());
        #[expect(clippy::cast_precision_loss, reason = "a part of one need not be exact")]
        let part = used as f64 / self.model.context_window().max(1) as f64;
        part
    }

    /// Makes the call and retries transient failures. Hooks run once for all tries together.
    async fn call_with_retries(&self, permit: ModelPermit) -> Result<Json, CallError> {
        let most = self.parts.settings.most_retries;
        let mut tried = 0;
        loop {
            let ended = self.call_once(&permit).await;
            let again = match &ended {
                Err(CallError::Model(ModelError::Transient(why))) if tried < most => Some(why.clone()),
                _ => None,
            };
            let Some(why) = again else {
                if tried > 0 {
                    self.retried(tried, &ended).await;
                }
                return ended;
            };
            tried += 1;
            let delay = self.parts.settings.retry_delay * 2_u32.saturating_pow(tried - 1);
            let fields = [
                ("attempt", number(u64::from(tried))),
                ("max_attempts", number(u64::from(most))),
                ("delay_ms", number(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX))),
                ("error_message", Json::string(&why)),
            ];
            self.fire_event(EventKind::AutoRetryStart, &fields).await;
            self.view().show(&ViewEvent::Note { text: &format!("the model call failed and is retried: {why}") });
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                () = cancelled(self.token()) => return Err(CallError::Cancelled),
            }
        }
    }

    async fn retried(&self, tried: u32, ended: &Result<Json, CallError>) {
        let mut fields = vec![("success", Json::boolean(ended.is_ok())), ("attempt", number(u64::from(tried)))];
        if let Err(CallError::Model(error)) = ended {
            fields.push(("final_error", Json::string(&error.to_string())));
        }
        self.fire_event(EventKind::AutoRetryEnd, &fields).await;
    }

    async fn call_once(&self, permit: &ModelPermit) -> Result<Json, CallError> {
        let shown = permit.may_stream().then(|| Arc::clone(&self.parts.view));
        let mut stream = RuleWatchingStream { shown, agent: self, text: String::new(), matched: Vec::new() };
        let responded = tokio::select! {
            responded = self.model.respond(permit, &mut stream) => responded,
            () = cancelled(self.token()) => return Err(CallError::Cancelled),
        };
        match responded {
            Err(ModelError::Interrupted) => Err(CallError::Rules(stream.matched)),
            other => other.map_err(CallError::Model),
        }
    }

    /// Tells hooks and the model which rules a response matched. Each rule acts once.
    async fn follow_rules(&self, rules: &[usize]) {
        let rules: Vec<_> = rules.iter().filter_map(|at| Some((*at, self.parts.settings.rules.get(*at)?))).collect();
        let told: Vec<Json> = rules.iter().map(|(_, rule)| rule.to_json()).collect();
        self.fire_event(EventKind::RuleTriggered, &[("rules", list(&told))]).await;
        for (at, rule) in rules {
            lock_mutex(&self.used_rules).push(at);
            let text = format!("the rule `{}` interrupted the response; the model is asked again", rule.name);
            self.view().show(&ViewEvent::Note { text: &text });
            self.keep_system(&rule.message);
        }
    }

    /// Returns the rules that a text matches and that have not acted yet.
    fn matching_rules(&self, text: &str) -> Vec<usize> {
        let used = lock_mutex(&self.used_rules);
        let rules = self.parts.settings.rules.iter().enumerate();
        rules.filter(|(at, rule)| !used.contains(at) && rule.matches(text)).map(|(at, _)| at).collect()
    }
}

/// A response stream that stops at the first matching rule, and is shown if no hook can still change the response.
struct RuleWatchingStream<'a> {
    shown: Option<Arc<dyn View>>,
    agent: &'a ReferenceAgent,
    text: String,
    matched: Vec<usize>,
}

impl ResponseStream for RuleWatchingStream<'_> {
    fn text(&mut self, text: &str) -> ControlFlow<()> {
        self.text.push_str(text);
        self.matched = self.agent.matching_rules(&self.text);
        if !self.matched.is_empty() {
            return ControlFlow::Break(());
        }
        if let Some(view) = &self.shown {
            view.show(&ViewEvent::Text { text });
        }
        ControlFlow::Continue(())
    }
}

pub(super) async fn cancelled(token: hookrail_spawn::CancelToken) {
    token.cancelled().await;
}
