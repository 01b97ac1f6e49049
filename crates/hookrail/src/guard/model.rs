//! Model calls.

use std::future::Future;

use super::Guard;
use super::approval::Operation;
use super::model_tools::restrict;
use super::notes::Notes;
use super::receipt::{Receipt, digest};
use super::tool::Visibility;
use crate::event::EventKind;
use crate::json::Json;
use crate::outcome::{Outcome, Stop};
use crate::payload::{ModelResponse, request_with_changes, response_with_changes};
use crate::tools::offered_tools;

/// The permission to call a model once, with exactly this request. Only a guard makes one. Retries of the same logical
/// call over the network happen inside and do not fire hooks again.
///
/// ```compile_fail
/// let forged = hookrail::guard::ModelPermit { request: hookrail::Json::null() };
/// ```
#[derive(Debug)]
#[must_use = "a permit that is not used means that the model was not called"]
pub struct ModelPermit {
    request: Json,
    may_stream: bool,
}

impl ModelPermit {
    /// The request to send.
    #[must_use]
    pub fn request(&self) -> &Json {
        &self.request
    }

    /// Whether parts of the response may be shown before it is complete: only when no hook hides it already, and none
    /// could still want to change or hide it.
    #[must_use]
    pub fn may_stream(&self) -> bool {
        self.may_stream
    }
}

/// Where a response comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelEnd {
    /// The model answered.
    Answered,
    /// A hook answered in its place; the model was not called.
    Synthetic,
    /// Hooks denied the call, or the agent had to stop before the call; the model was not called.
    NotCalled,
}

/// The result of a model call.
#[derive(Clone, Debug)]
pub struct ModelResult {
    /// Where the response comes from.
    pub end: ModelEnd,
    /// The response to work with: in the host's own shape, or, where a hook made it, with `text` and `candidates`.
    pub response: Json,
    /// The request as hooks left it: the tools in it are those that the model may call.
    pub request: Json,
    /// Whether the user sees it.
    pub visibility: Visibility,
    /// Why the model was not called.
    pub reason: Option<String>,
    /// What hooks want said or kept.
    pub notes: Notes,
    /// Whether the agent must stop now.
    pub stop: Option<Stop>,
    /// What hooks did.
    pub receipt: Receipt,
}

impl Guard {
    /// Runs a model call through the hooks: `tool-selection` if the request has tools, `before-model`, the call itself with a [`ModelPermit`],
    /// `after-model`, and every effect applied. What hooks rewrite is sent and never stored.
    ///
    /// # Errors
    /// The error of the call itself, as `call` gave it.
    pub async fn model_call<F, R, E>(&self, request: Json, call: F) -> Result<ModelResult, E>
    where
        F: FnOnce(ModelPermit) -> R,
        R: Future<Output = Result<Json, E>>,
    {
        self.model_call_of(request, ModelTurn::Conversation(None), call).await
    }

    /// Like [`Guard::model_call`], for a request beside the conversation, such as the one for a summary. The `context`
    /// handlers of modules are not asked, because they shape the conversation.
    ///
    /// # Errors
    /// The error of the call itself, as `call` gave it.
    pub async fn model_call_beside<F, R, E>(&self, request: Json, call: F) -> Result<ModelResult, E>
    where
        F: FnOnce(ModelPermit) -> R,
        R: Future<Output = Result<Json, E>>,
    {
        self.model_call_of(request, ModelTurn::Beside, call).await
    }

    /// Like [`Guard::model_call`], for a host that knows more about its conversation than the request says: `messages` is the
    /// conversation in the shape of modules, with times, models and usage. Modules see that list in the place of the messages of
    /// the request, and their changes are applied to the request.
    ///
    /// # Errors
    /// The error of the call itself, as `call` gave it.
    pub async fn model_call_with_messages<F, R, E>(
        &self,
        request: Json,
        messages: Json,
        call: F,
    ) -> Result<ModelResult, E>
    where
        F: FnOnce(ModelPermit) -> R,
        R: Future<Output = Result<Json, E>>,
    {
        self.model_call_of(request, ModelTurn::Conversation(Some(messages)), call).await
    }

    async fn model_call_of<F, R, E>(&self, request: Json, turn: ModelTurn, call: F) -> Result<ModelResult, E>
    where
        F: FnOnce(ModelPermit) -> R,
        R: Future<Output = Result<Json, E>>,
    {
        let mut result = ModelResult::new(request.clone());
        // A request without tools has nothing to select.
        let request = if offered_tools(&request).is_empty() {
            request
        } else {
            let selection = self.fire(self.event(EventKind::ToolSelection).with("llm_request", request.clone())).await;
            result.add(&selection);
            match &selection.effects.tool_config {
                Some(config) => restrict(&request, config),
                None => request,
            }
        };
        result.request = request.clone();
        // An agent that must stop calls no model, so nothing is asked about a request that is never sent.
        if result.stop.is_some() {
            return Ok(result.not_called(None, None));
        }
        let event = self.event(EventKind::BeforeModel).with("llm_request", request.clone());
        let event = match turn {
            ModelTurn::Conversation(None) => event,
            ModelTurn::Conversation(Some(messages)) => event.with("messages", messages),
            ModelTurn::Beside => event.with("conversation_turn", Json::boolean(false)),
        };
        let before = self.fire(event).await;
        result.add(&before);
        let request = match &before.effects.llm_request {
            Some(changed) => request_with_changes(changed, &request),
            None => request,
        };
        result.request = request.clone();
        let operation = Operation { name: "model call", denied: "a hook denied this model call" };
        if let Some(reason) = self.refusal_reason(operation, &request, &before).await {
            return Ok(result.not_called(before.effects.llm_response.as_ref(), Some(reason)));
        }
        if before.effects.llm_response.is_some() || result.stop.is_some() {
            return Ok(result.not_called(before.effects.llm_response.as_ref(), None));
        }
        result.receipt.input = Some(digest(&request));
        let may_stream = self.may_stream() && result.visibility == Visibility::Shown;
        let response = call(ModelPermit { request: request.clone(), may_stream }).await?;
        let event =
            self.event(EventKind::AfterModel).with("llm_request", request).with("llm_response", response.clone());
        let after = self.fire(event).await;
        result.add(&after);
        result.response = match &after.effects.llm_response {
            Some(changed) => response_with_changes(changed, &response),
            None => response,
        };
        // A stop after the response leaves nothing to act on but the reason.
        if let Some(stop) = &after.effects.stop {
            result.response = ModelResponse::of_text(&stop.reason).to_json();
        }
        Ok(result)
    }
}

/// What a model call is to the conversation.
enum ModelTurn {
    /// It continues it. The host may list the messages in the shape of modules.
    Conversation(Option<Json>),
    /// It has no part in it.
    Beside,
}

impl ModelResult {
    fn new(request: Json) -> Self {
        Self {
            end: ModelEnd::Answered,
            response: Json::null(),
            request,
            visibility: Visibility::Shown,
            reason: None,
            notes: Notes::default(),
            stop: None,
            receipt: Receipt::default(),
        }
    }

    /// Adds the parts of an outcome that are applied in the same way for every event.
    fn add(&mut self, outcome: &Outcome) {
        let effects = &outcome.effects;
        self.receipt.add(outcome);
        self.notes.add(effects);
        if effects.suppress_output {
            self.visibility = Visibility::Hidden;
        }
        if self.stop.is_none() {
            self.stop.clone_from(&effects.stop);
        }
    }

    /// A blocked call gives the response the hook brought, or one that says nothing.
    fn not_called(mut self, response: Option<&Json>, reason: Option<String>) -> Self {
        self.end = if response.is_some() { ModelEnd::Synthetic } else { ModelEnd::NotCalled };
        self.response = match (response, &self.stop) {
            (Some(response), _) => response.clone(),
            (None, Some(stop)) => ModelResponse::of_text(&stop.reason).to_json(),
            (None, None) => ModelResponse::of_text("").to_json(),
        };
        self.reason = reason;
        self
    }
}
