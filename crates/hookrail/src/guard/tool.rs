//! Tool calls.

use std::future::Future;

use super::Guard;
use super::notes::Notes;
use super::receipt::{Receipt, digest};
use crate::event::EventKind;
use crate::json::{Json, JsonKind, JsonObject};
use crate::outcome::{Decision, Effects, Outcome, Stop};
use crate::payload::ToolResponse;

/// A tool call as the model asked for it.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, an object.
    pub input: Json,
    /// Where the tool comes from, when that is an MCP server.
    pub mcp_context: Option<Json>,
}

impl ToolCall {
    /// Makes a call of a tool that does not come from an MCP server.
    #[must_use]
    pub fn new(id: impl Into<String>, tool: impl Into<String>, input: Json) -> Self {
        Self { id: id.into(), tool: tool.into(), input, mcp_context: None }
    }
}

/// The permission to run one tool once, with exactly this input. Only a guard makes one, after every gating hook has
/// answered, so a host whose tools require one as a parameter cannot run a tool without the hooks.
///
/// ```compile_fail
/// let forged = hookrail::guard::Permit { tool: "write_file".into(), input: hookrail::Json::null() };
/// ```
#[derive(Debug)]
#[must_use = "a permit that is not used means that the tool did not run"]
pub struct Permit {
    tool: String,
    input: Json,
}

impl Permit {
    /// The tool that may run.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The input it must run with.
    #[must_use]
    pub fn input(&self) -> &Json {
        &self.input
    }
}

/// The output of a tool.
#[derive(Clone, Debug)]
pub struct ToolOutput {
    /// What the model reads: text, or a list of parts.
    pub content: Json,
    /// What the user sees.
    pub display: Json,
}

impl ToolOutput {
    /// The same text for the model and the user.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { content: Json::string(text), display: Json::string(text) }
    }

    /// Different things for the model and the user.
    #[must_use]
    pub fn new(content: Json, display: Json) -> Self {
        Self { content, display }
    }
}

/// Why a tool failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolFailure(pub String);

/// How a call ended. Every call ends in exactly one of these ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolEnd {
    /// The tool ran.
    Ran,
    /// The tool ran, or could not be built from a rewritten input, and failed.
    Failed,
    /// Hooks denied the call, or the user refused it. The tool did not run.
    Denied,
}

/// Whether the user sees something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The user sees it.
    Shown,
    /// A hook wants it hidden from the user. The model still sees it.
    Hidden,
}

/// The result of a call.
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// How it ended.
    pub end: ToolEnd,
    /// What the model reads as the tool's result.
    pub content: Json,
    /// What the user sees of it.
    pub display: Json,
    /// Whether the user sees it.
    pub visibility: Visibility,
    /// The input the tool ran with.
    pub input: Json,
    /// What hooks want said or kept.
    pub notes: Notes,
    /// Whether the agent must stop now.
    pub stop: Option<Stop>,
    /// What hooks did.
    pub receipt: Receipt,
}

impl Guard {
    /// Runs a tool call through the hooks: `before-tool`, the user's approval where hooks want it, the tool itself with
    /// a [`Permit`], `after-tool`, and every effect applied. `run` is called at most once, and only when nothing
    /// forbids it.
    pub async fn tool_call<F, R>(&self, call: ToolCall, run: F) -> ToolResult
    where
        F: FnOnce(Permit) -> R,
        R: Future<Output = Result<ToolOutput, ToolFailure>>,
    {
        let mut result = ToolResult::for_input(&call.input);
        let before = self.fire(self.tool_event(EventKind::BeforeTool, &call, &call.input)).await;
        result.add(&before);
        if let Some(input) = before.effects.tool_input.clone() {
            result.input = input;
        }
        if let Some(reason) = self.refusal_of_call(&call, before, &mut result).await {
            return result.denied(&reason);
        }
        // An agent that must stop does not start another tool.
        if let Some(stop) = &result.stop {
            let reason = stop.reason.clone();
            return result.denied(&reason);
        }
        result.receipt.input = Some(digest(&result.input));
        let permit = Permit { tool: call.tool.clone(), input: result.input.clone() };
        let response = match run(permit).await {
            Ok(output) => {
                result.content = output.content;
                result.display = output.display;
                response(&result, None)
            }
            Err(failure) => {
                result.end = ToolEnd::Failed;
                result.content = Json::string(&failure.0);
                result.display = result.content.clone();
                response(&result, Some(&failure))
            }
        };
        let event = self.tool_event(EventKind::AfterTool, &call, &result.input).with("tool_response", response);
        let after = self.fire(event).await;
        result.add(&after);
        result.apply_after(&after.effects);
        result
    }

    pub(super) fn tool_event(&self, kind: EventKind, call: &ToolCall, input: &Json) -> crate::event::Event {
        let event = self
            .event(kind)
            .with_text("tool_name", &call.tool)
            .with_text("tool_call_id", &call.id)
            .with("tool_input", input.clone());
        let event = match &self.sub_agent {
            Some(agent) => event.with_text("agent_id", &agent.id).with_text("agent_type", &agent.kind),
            None => event,
        };
        match &call.mcp_context {
            Some(context) => event.with("mcp_context", context.clone()),
            None => event,
        }
    }
}

/// The tool's result as hooks receive it.
fn response(result: &ToolResult, failure: Option<&ToolFailure>) -> Json {
    let response = ToolResponse::new(result.content.clone(), result.display.clone());
    match failure {
        Some(failure) => response.with_error(&failure.0).to_json(),
        None => response.to_json(),
    }
}

impl ToolResult {
    fn for_input(input: &Json) -> Self {
        Self {
            end: ToolEnd::Ran,
            content: Json::string(""),
            display: Json::string(""),
            visibility: Visibility::Shown,
            input: input.clone(),
            notes: Notes::default(),
            stop: None,
            receipt: Receipt::default(),
        }
    }

    /// A denied call gives an error result, so that the model learns why.
    fn denied(mut self, reason: &str) -> Self {
        self.end = ToolEnd::Denied;
        self.content = Json::string(reason);
        self.display = self.content.clone();
        self.receipt.decision = Some(Decision::Deny);
        self
    }

    /// Adds the parts of an outcome that are applied in the same way for every event.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        self.receipt.add(outcome);
        self.notes.add(&outcome.effects);
        if self.stop.is_none() {
            self.stop.clone_from(&outcome.effects.stop);
        }
    }

    fn apply_after(&mut self, effects: &Effects) {
        if let Some(output) = &effects.tool_output {
            self.replace_output(output);
        }
        if let Some(context) = &effects.additional_context {
            self.content = with_context(&self.content, context);
        }
        if effects.suppress_output {
            self.visibility = Visibility::Hidden;
        }
    }

    /// A replacement is text, or an object with `content` and `details`.
    fn replace_output(&mut self, output: &Json) {
        let Some(object) = output.as_object() else {
            self.content = output.clone();
            self.display = output.clone();
            return;
        };
        if let Some(content) = object.get("content") {
            self.content = content.clone();
        }
        if let Some(details) = object.get("details") {
            self.display = details.clone();
        }
    }
}

/// Returns the content with text added for the model. Content that is not text keeps its parts and gets one more.
fn with_context(content: &Json, context: &str) -> Json {
    let part = || [("text", Json::string(context))].into_iter().collect::<JsonObject>().to_json();
    match (content.as_str(), content.as_array()) {
        (Some(text), _) if text.is_empty() => Json::string(context),
        (Some(text), _) => Json::string(&format!("{text}\n\n{context}")),
        (None, Some(mut parts)) => {
            parts.push(part());
            Json::of(&parts).unwrap_or_else(|_| content.clone())
        }
        (None, None) if content.kind() == JsonKind::Null => Json::string(context),
        (None, None) => Json::of(&[content.clone(), part()]).unwrap_or_else(|_| content.clone()),
    }
}
