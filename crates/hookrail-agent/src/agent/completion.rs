//! A model call that a module asks for. It goes through the guard like every other call.

use hookrail::{HostError, Json, JsonObject};

use super::ReferenceAgent;
use super::compact::DiscardingStream;
use crate::clock;
use crate::message::{ModelReply, list, number, text_message};
use crate::shape;

impl ReferenceAgent {
    /// Makes the model call of a module: `context` has `systemPrompt` and `messages`.
    pub(super) async fn complete(&self, asked: &Json) -> Result<Json, HostError> {
        let asked = asked.as_object().unwrap_or_default();
        let context = asked.get("context").and_then(Json::as_object).unwrap_or_default();
        let messages = context.get("messages").and_then(Json::as_array).unwrap_or_default();
        let contents: Vec<Json> = messages.iter().map(shape::own).collect();
        let mut request = JsonObject::new();
        request.set("model", Json::string(self.model.name()));
        request.set("purpose", Json::string("module"));
        request.set("contents", list(&contents));
        if let Some(system) = context.get("systemPrompt").and_then(Json::as_str) {
            request.set("systemInstruction", text_message("system", &system));
        }
        let guard = self.guard();
        let called = guard.model_call_beside(request.to_json(), |permit| async move {
            self.model.respond(&permit, &mut DiscardingStream).await
        });
        let result = called.await.map_err(|error| HostError::new(error.to_string()))?;
        self.keep_receipt("model-call", &result.receipt);
        self.take_notes(&result.notes);
        // The response of a stopped call is the reason of the stop, which the model did not say.
        if let Some(stop) = result.stop {
            let why = format!("a hook stopped the agent: {}", stop.reason);
            self.request_stop(stop);
            return Err(HostError::new(why));
        }
        let reply = ModelReply::read(&result.response, "call");
        if let (Some(reason), true) = (&result.reason, reply.is_empty()) {
            return Err(HostError::new(reason.clone()));
        }
        let message = shape::messages(&reply.message).into_iter().next();
        let mut message = message.and_then(|message| message.as_object()).unwrap_or_default();
        shape::set_origin(&mut message, self.model.name(), reply.usage.to_module_json());
        message.set("timestamp", number(clock::now()));
        Ok(message.to_json())
    }
}
