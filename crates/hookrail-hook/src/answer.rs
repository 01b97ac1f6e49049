//! What a hook answers. An answer has only the methods that have an effect on its event.

use std::fmt::Display;
use std::marker::PhantomData;

use serde_json::{Map, Value, json};

use crate::ability::{
    AddsContext, ChoosesTools, ClearsContext, Denies, GivesResponse, HookEvent, RewritesRequest, RewritesToolInput,
};

/// The answer to an event.
///
/// ```
/// use hookrail_hook::{HookAnswer, BeforeTool, json};
///
/// let answer: HookAnswer<BeforeTool> = HookAnswer::deny("only people deploy");
/// assert_eq!(answer.to_value(), Some(json!({"decision": "deny", "reason": "only people deploy"})));
/// ```
///
/// What an event does not allow does not compile:
///
/// ```compile_fail
/// use hookrail_hook::{HookAnswer, SessionEnd};
///
/// let answer: HookAnswer<SessionEnd> = HookAnswer::deny("stay");
/// ```
#[derive(Debug)]
#[must_use = "an answer has an effect when the handler returns it"]
pub struct HookAnswer<E> {
    members: Map<String, Value>,
    /// The members of `hookSpecificOutput`.
    specific: Map<String, Value>,
    event: PhantomData<fn(E)>,
}

/// What a handler may return: an answer, or an error, which is a failure of the hook.
pub trait Reply<E> {
    /// Returns the answer, or the sentence that says why there is none.
    ///
    /// # Errors
    ///
    /// The handler failed.
    fn into_answer(self) -> Result<HookAnswer<E>, String>;
}

impl<E> Reply<E> for HookAnswer<E> {
    fn into_answer(self) -> Result<HookAnswer<E>, String> {
        Ok(self)
    }
}

impl<E, F: Display> Reply<E> for Result<HookAnswer<E>, F> {
    fn into_answer(self) -> Result<HookAnswer<E>, String> {
        self.map_err(|error| error.to_string())
    }
}

/// Which tools a model may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolMode {
    /// The model decides whether it calls one.
    Auto,
    /// The model must call one.
    Any,
    /// The model may call none.
    None,
}

impl ToolMode {
    const fn name(self) -> &'static str {
        match self {
            Self::Auto => "AUTO",
            Self::Any => "ANY",
            Self::None => "NONE",
        }
    }
}

impl<E> HookAnswer<E> {
    /// No opinion: the hook prints nothing.
    pub fn none() -> Self {
        Self { members: Map::new(), specific: Map::new(), event: PhantomData }
    }

    /// Stops the agent. The reason is for the user.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self::none().with("continue", false).with("stopReason", reason.into())
    }

    /// Adds a message for the conversation and the user.
    pub fn system_message(self, text: impl Into<String>) -> Self {
        self.with("systemMessage", text.into())
    }

    /// Hides the output of the operation from the user.
    pub fn suppress_output(self) -> Self {
        self.with("suppressOutput", true)
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    fn with_specific(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.specific.insert(name.to_owned(), value.into());
        self
    }
}

impl<E: HookEvent> HookAnswer<E> {
    /// Returns the JSON object that the hook prints; none if it has no opinion.
    #[must_use]
    pub fn to_value(&self) -> Option<Value> {
        let mut members = self.members.clone();
        if !self.specific.is_empty() {
            let mut specific = self.specific.clone();
            specific.entry("hookEventName").or_insert_with(|| E::NAME.into());
            members.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
        }
        if members.is_empty() { None } else { Some(Value::Object(members)) }
    }

    /// The same answer, as one to a type of event that stands for several. The name of the event stays in it.
    pub(crate) fn for_wider_event<W>(mut self) -> HookAnswer<W> {
        if !self.specific.is_empty() {
            self = self.with_specific("hookEventName", E::NAME);
        }
        HookAnswer { members: self.members, specific: self.specific, event: PhantomData }
    }
}

impl<E: Denies> HookAnswer<E> {
    /// Denies the operation. The model and the user read the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::none().with("decision", "deny").with("reason", reason.into())
    }

    /// Lets the user decide. Where there is no user, that is a deny.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::none().with("decision", "ask").with("reason", reason.into())
    }

    /// Allows the operation. That lifts neither the deny of another hook nor a question of the agent's own.
    pub fn allow() -> Self {
        Self::none().with("decision", "allow")
    }
}

impl<E: AddsContext> HookAnswer<E> {
    /// Gives the model additional text.
    pub fn context(self, text: impl Into<String>) -> Self {
        self.with_specific("additionalContext", text.into())
    }
}

impl<E: RewritesToolInput> HookAnswer<E> {
    /// Replaces the arguments of the tool. Give all of them: outside of a sequential group what is missing is gone.
    pub fn tool_input(self, input: Map<String, Value>) -> Self {
        self.with_specific("tool_input", input)
    }
}

impl<E: RewritesRequest> HookAnswer<E> {
    /// Replaces these members of the request to the model; the others stay.
    pub fn llm_request(self, request: Map<String, Value>) -> Self {
        self.with_specific("llm_request", request)
    }
}

impl<E: GivesResponse> HookAnswer<E> {
    /// Gives a text in place of the model's response.
    pub fn response_text(self, text: impl Into<String>) -> Self {
        self.with_specific("llm_response", json!({ "text": text.into() }))
    }

    /// Gives a response in place of the model's, with `text` or `candidates`.
    pub fn llm_response(self, response: Map<String, Value>) -> Self {
        self.with_specific("llm_response", response)
    }
}

impl<E: ChoosesTools> HookAnswer<E> {
    /// Limits the tools that the model may call. Without names the mode is for all tools.
    pub fn tools<N: Into<String>>(self, mode: ToolMode, names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let config = match names.is_empty() {
            true => json!({ "mode": mode.name() }),
            false => json!({ "mode": mode.name(), "allowedFunctionNames": names }),
        };
        self.with_specific("toolConfig", config)
    }
}

impl<E: ClearsContext> HookAnswer<E> {
    /// Clears the conversation.
    pub fn clear_context(self) -> Self {
        self.with_specific("clearContext", true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{AfterAgent, AfterModel, AfterTool, AnyEvent, BeforeModel, BeforeTool, BeforeToolSelection};

    #[test]
    fn no_opinion_is_no_output() {
        assert_eq!(HookAnswer::<BeforeTool>::none().to_value(), None);
    }

    #[test]
    fn each_method_writes_its_member() {
        let input = Map::from_iter([("path".to_owned(), json!("a"))]);
        let rewritten: HookAnswer<BeforeTool> = HookAnswer::allow().tool_input(input.clone()).system_message("m");
        let expected = json!({
            "decision": "allow", "systemMessage": "m",
            "hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"path": "a"}},
        });
        assert_eq!(rewritten.to_value(), Some(expected));
        let stopped: HookAnswer<AfterTool> = HookAnswer::stop("enough").suppress_output().context("c");
        let expected = json!({
            "continue": false, "stopReason": "enough", "suppressOutput": true,
            "hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "c"},
        });
        assert_eq!(stopped.to_value(), Some(expected));
        let specific = |value: Option<Value>| value.and_then(|value| value.get("hookSpecificOutput").cloned());
        let tools: HookAnswer<BeforeToolSelection> = HookAnswer::none().tools(ToolMode::Any, ["read_file"]);
        let expected = json!({"mode": "ANY", "allowedFunctionNames": ["read_file"]});
        assert_eq!(specific(tools.to_value()).and_then(|value| value.get("toolConfig").cloned()), Some(expected));
        let none: HookAnswer<BeforeToolSelection> = HookAnswer::none().tools(ToolMode::None, [""; 0]);
        let expected = Some(json!({"hookEventName": "BeforeToolSelection", "toolConfig": {"mode": "NONE"}}));
        assert_eq!(specific(none.to_value()), expected);
        let response: HookAnswer<AfterModel> = HookAnswer::none().response_text("t");
        let expected = Some(json!({"hookEventName": "AfterModel", "llm_response": {"text": "t"}}));
        assert_eq!(specific(response.to_value()), expected);
        let request: HookAnswer<BeforeModel> = HookAnswer::none().llm_request(input);
        let expected = Some(json!({"hookEventName": "BeforeModel", "llm_request": {"path": "a"}}));
        assert_eq!(specific(request.to_value()), expected);
        let cleared: HookAnswer<AfterAgent> = HookAnswer::deny("again").clear_context();
        let expected = Some(json!({"hookEventName": "AfterAgent", "clearContext": true}));
        assert_eq!(specific(cleared.to_value()), expected);
    }

    #[test]
    fn an_answer_keeps_the_name_of_its_event() {
        let answer: HookAnswer<AnyEvent> = HookAnswer::<AfterTool>::none().context("c").into();
        let expected = json!({"hookSpecificOutput": {"hookEventName": "AfterTool", "additionalContext": "c"}});
        assert_eq!(answer.to_value(), Some(expected));
    }
}
