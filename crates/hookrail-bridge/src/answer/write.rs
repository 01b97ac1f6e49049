//! Writes an answer in the form of each agent. Everything that reaches a writer is something that its agent honours.

use hookrail::{EventKind, Json, JsonObject};

use super::{Answer, AnswerStatus, Message};
use crate::request::AgentRequest;
use crate::{Agent, AnswerForm};

pub(super) fn answer(request: &AgentRequest, message: &Message) -> Answer {
    let name = request.event.name;
    let kind = request.kind();
    match request.event.form {
        AnswerForm::Claude if request.agent == Agent::Copilot => document(copilot_for_claude(request, kind, message)),
        AnswerForm::Claude => document(claude(request, name, kind, message)),
        AnswerForm::Codex => with_exit_two(request, message, codex(name, kind, message)),
        AnswerForm::Gemini => document(gemini(request, message)),
        AnswerForm::Qwen => with_exit_two(request, message, qwen(name, kind, message)),
        AnswerForm::Copilot => document(copilot(request, kind, message)),
        AnswerForm::Plugin => document(plugin(message)),
    }
}

/// A denial in the forms that have no exit status for it.
pub(super) fn denial(agent: Agent, kind: EventKind, reason: &str) -> Option<Json> {
    let message = Message { deny: Some(reason.to_owned()), ..Message::default() };
    let members = match agent {
        Agent::OpenCode | Agent::Pi => plugin(&message),
        _ => copilot_denial(kind, reason),
    };
    (!members.is_empty()).then(|| members.to_json())
}

fn document(members: JsonObject) -> Answer {
    let stdout = (!members.is_empty()).then(|| members.to_json());
    Answer { stdout, ..Answer::silent() }
}

/// Whether a denial of the event is status 2 with a text on standard error. In Codex and Qwen that is the one form that
/// nothing can void.
pub(super) fn has_exit_two(request: &AgentRequest) -> bool {
    matches!(request.event.form, AnswerForm::Codex | AnswerForm::Qwen)
        && matches!(request.kind(), EventKind::BeforeTool | EventKind::Prompt)
}

fn with_exit_two(request: &AgentRequest, message: &Message, members: JsonObject) -> Answer {
    match &message.deny {
        Some(reason) if has_exit_two(request) => {
            Answer { stderr: Some(reason.clone()), status: AnswerStatus::Denied, ..Answer::silent() }
        }
        _ => document(members),
    }
}

struct Members(JsonObject);

impl Members {
    fn new() -> Self {
        Self(JsonObject::new())
    }

    fn text(mut self, name: &str, text: Option<&str>) -> Self {
        if let Some(text) = text {
            self.0.set(name, Json::string(text));
        }
        self
    }

    fn value(mut self, name: &str, value: Option<Json>) -> Self {
        if let Some(value) = value {
            self.0.set(name, value);
        }
        self
    }

    /// Adds `hookSpecificOutput`, which names its event, unless it would say nothing.
    fn specific(self, event: &str, specific: Self) -> Self {
        if specific.0.is_empty() {
            return self;
        }
        let mut members = Self::new().text("hookEventName", Some(event));
        members.0.merge(&specific.0);
        self.value("hookSpecificOutput", Some(members.0.to_json()))
    }

    fn stop(self, reason: Option<&str>) -> Self {
        match reason {
            Some(_) => self.value("continue", Some(Json::boolean(false))).text("stopReason", reason),
            None => self,
        }
    }
}

fn permission(message: &Message) -> (Option<&'static str>, Option<&str>) {
    match (&message.deny, &message.ask, message.allow) {
        (Some(reason), _, _) => (Some("deny"), Some(reason)),
        (None, Some(question), _) => (Some("ask"), Some(question)),
        (None, None, true) => (Some("allow"), None),
        (None, None, false) => (None, None),
    }
}

fn claude(request: &AgentRequest, name: &str, kind: EventKind, message: &Message) -> JsonObject {
    let members = Members::new().text("systemMessage", message.system_message.as_deref());
    let context = message.context_text();
    let members = match kind {
        EventKind::BeforeTool => {
            let (decision, reason) = permission(message);
            let specific = Members::new()
                .text("permissionDecision", decision)
                .text("permissionDecisionReason", reason)
                .value("updatedInput", message.input.clone())
                .text("additionalContext", context.as_deref());
            members.specific(name, specific)
        }
        EventKind::Prompt | EventKind::AgentEnd => {
            let denied = message.deny.as_ref().map(|_| "block");
            let members = members.text("decision", denied).text("reason", message.deny.as_deref());
            members.specific(name, Members::new().text("additionalContext", context.as_deref()))
        }
        EventKind::AfterTool => {
            let output = message.output.as_deref().and_then(|text| claude_output(request, text));
            let specific =
                Members::new().value("updatedToolOutput", output).text("additionalContext", context.as_deref());
            members.specific(name, specific)
        }
        _ => members.specific(name, Members::new().text("additionalContext", context.as_deref())),
    };
    // At the end of an answer nothing has to be said for the agent to end.
    let stop = message.stop.as_deref().filter(|_| kind != EventKind::SessionEnd);
    members.stop(stop).0
}

/// A replaced result in the shape that the tool itself has. Claude Code ignores any other shape without a word.
pub(super) fn claude_output(request: &AgentRequest, text: &str) -> Option<Json> {
    let result = request.agent_result.as_ref()?;
    if let Some(parts) = result.as_array() {
        let is_text = |part: &Json| part.as_object().is_some_and(|part| part.get("text").is_some());
        return parts.iter().all(is_text).then(|| text_parts(text));
    }
    let mut members = result.as_object()?;
    if members.get("stdout").is_some() {
        members.set("stdout", Json::string(text));
        members.set("stderr", Json::string(""));
        return Some(members.to_json());
    }
    let mut file = members.get("file").and_then(Json::as_object)?;
    file.get("content")?;
    file.set("content", Json::string(text));
    members.set("file", file.to_json());
    Some(members.to_json())
}

fn text_parts(text: &str) -> Json {
    let part = Members::new().text("type", Some("text")).text("text", Some(text)).0.to_json();
    Json::of(&[part]).unwrap_or_else(|_| Json::null())
}

/// The text that replaces a result. An agent that gets an empty one gives the model the original.
fn given_text(output: &str) -> &str {
    if output.trim().is_empty() { "a hook replaced this result by an empty text" } else { output }
}

/// Codex voids an answer with one member too many, so that each event gets exactly what it knows.
fn codex(name: &str, kind: EventKind, message: &Message) -> JsonObject {
    let context = message.context_text();
    let members = Members::new().text("systemMessage", message.system_message.as_deref());
    match kind {
        EventKind::BeforeTool => {
            // A rewrite counts only beside `allow`, and `allow` only beside a rewrite.
            let allow = message.input.as_ref().map(|_| "allow");
            let specific = Members::new()
                .text("permissionDecision", allow)
                .value("updatedInput", message.input.clone())
                .text("additionalContext", context.as_deref());
            members.specific(name, specific).0
        }
        EventKind::AfterTool => {
            let output = message.output.as_deref().map(given_text);
            let members = members.text("decision", output.map(|_| "block")).text("reason", output);
            members.specific(name, Members::new().text("additionalContext", context.as_deref())).0
        }
        EventKind::AgentEnd => {
            let denied = message.deny.as_ref().map(|_| "block");
            let members = members.text("decision", denied).text("reason", message.deny.as_deref());
            members.stop(message.stop.as_deref()).0
        }
        EventKind::Prompt | EventKind::SessionStart => {
            let members = members.specific(name, Members::new().text("additionalContext", context.as_deref()));
            members.stop(message.stop.as_deref()).0
        }
        _ => members.0,
    }
}

fn gemini(request: &AgentRequest, message: &Message) -> JsonObject {
    let (name, kind) = (request.event.name, request.kind());
    let (decision, reason) = permission(message);
    // The dialog shows the message, not the reason.
    let shown: Vec<&str> = [&message.system_message, &message.ask].into_iter().flatten().map(String::as_str).collect();
    let members = Members::new().text("systemMessage", (!shown.is_empty()).then(|| shown.join("\n")).as_deref());
    let context = message.context_text();
    let members = match (kind, &message.output) {
        // A replaced result takes its context along: beside a decision the agent drops it.
        (EventKind::AfterTool, Some(output)) => {
            let output = given_text(output);
            let text = context.map_or_else(|| output.to_owned(), |context| format!("{output}\n\n{context}"));
            members.text("decision", Some("deny")).text("reason", Some(&text))
        }
        (EventKind::BeforeModel, None) if message.llm_response.is_some() && decision.is_none() => {
            // Without a decision beside it a response does not keep the model from being called.
            let members = members.text("decision", Some("deny")).text("reason", Some("a hook answered for the model"));
            members.specific(name, Members::new().value("llm_response", message.llm_response.clone()))
        }
        _ => {
            let specific = Members::new()
                .value("tool_input", message.input.clone())
                .text("additionalContext", context.as_deref())
                .value(
                    "llm_request",
                    message.llm_request.as_ref().and_then(|changed| changed_request(request, changed)),
                )
                .value("llm_response", message.llm_response.clone())
                .value("toolConfig", message.tool_config.clone())
                .value("clearContext", message.clear_context.then(|| Json::boolean(true)));
            members.text("decision", decision).text("reason", reason).specific(name, specific)
        }
    };
    members.stop(message.stop.as_deref()).0
}

/// The members of a request to the model that differ from those of the payload. A member that is sent replaces the agent's
/// own: the messages of a payload have no tool calls, and those of the agent would be lost.
fn changed_request(request: &AgentRequest, changed: &Json) -> Option<Json> {
    let original = request.events.first().and_then(|event| event.field("llm_request")?.as_object()).unwrap_or_default();
    let Some(members) = changed.as_object() else { return Some(changed.clone()) };
    let differs = |name: &str, value: &Json| original.get(name).is_none_or(|original| !original.same_as(value));
    let members = members.iter().filter(|(name, value)| differs(name, value));
    let members: JsonObject = members.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    (!members.is_empty()).then(|| members.to_json())
}

fn qwen(name: &str, kind: EventKind, message: &Message) -> JsonObject {
    let context = message.context_text();
    let members = Members::new();
    match kind {
        EventKind::BeforeTool => {
            let (decision, reason) = permission(message);
            let specific = Members::new().text("permissionDecision", decision).text("permissionDecisionReason", reason);
            members.specific(name, specific).0
        }
        // A stop after a tool does not end the turn here, but the reason becomes the result, the whole result.
        EventKind::AfterTool => match &message.output {
            Some(output) => {
                let text = context.map_or_else(|| output.clone(), |context| format!("{output}\n\n{context}"));
                members.stop(Some(&text)).0
            }
            None => members.specific(name, Members::new().text("additionalContext", context.as_deref())).0,
        },
        EventKind::AgentEnd => {
            let denied = message.deny.as_ref().map(|_| "block");
            members.text("decision", denied).text("reason", message.deny.as_deref()).0
        }
        EventKind::Prompt | EventKind::SessionStart => {
            let members = members.specific(name, Members::new().text("additionalContext", context.as_deref()));
            members.stop(message.stop.as_deref().filter(|_| kind == EventKind::Prompt)).0
        }
        _ => members.0,
    }
}

fn copilot_denial(kind: EventKind, reason: &str) -> JsonObject {
    let members = Members::new();
    match kind {
        EventKind::Prompt | EventKind::AgentEnd => {
            members.text("decision", Some("block")).text("reason", Some(reason)).0
        }
        _ => members.text("permissionDecision", Some("deny")).text("permissionDecisionReason", Some(reason)).0,
    }
}

fn copilot(request: &AgentRequest, kind: EventKind, message: &Message) -> JsonObject {
    if let Some(reason) = &message.deny {
        return copilot_denial(kind, reason);
    }
    let context = message.context_text();
    let members = Members::new();
    match kind {
        EventKind::BeforeTool => {
            let (decision, reason) = permission(message);
            let members = members.text("permissionDecision", decision).text("permissionDecisionReason", reason);
            members.value("modifiedArgs", message.input.clone()).0
        }
        EventKind::AfterTool => {
            let result = message.output.as_deref().map(|text| {
                let result = Members::new().text("resultType", Some(&copilot_result_type(request)));
                result.text("textResultForLlm", Some(given_text(text))).0.to_json()
            });
            members.text("additionalContext", context.as_deref()).value("modifiedResult", result).0
        }
        // The prompt is the only way in for context.
        EventKind::Prompt => {
            let prompt = message.prompt.as_deref().or(request.prompt.as_deref()).unwrap_or_default();
            let added: Vec<&str> =
                message.context.iter().map(String::as_str).filter(|text| !prompt.contains(text)).collect();
            let text = match (added.is_empty(), &message.prompt) {
                (true, None) => None,
                (true, Some(prompt)) => Some(prompt.clone()),
                (false, _) => Some(format!("{prompt}\n\n{}", added.join("\n"))),
            };
            members.text("modifiedPrompt", text.as_deref()).0
        }
        EventKind::SessionStart => members.text("additionalContext", context.as_deref()).0,
        _ => members.0,
    }
}

/// How the tool ended. A replaced text does not change that.
fn copilot_result_type(request: &AgentRequest) -> String {
    let result = request.agent_result.as_ref().and_then(Json::as_object);
    let named = result.and_then(|result| result.get("resultType").or_else(|| result.get("result_type"))?.as_str());
    // The event of a tool that failed has an error in the place of a result.
    named.unwrap_or_else(|| if request.agent_result.is_some() { "success" } else { "failure" }.to_owned())
}

/// Copilot's answer to an event with Claude Code's name. It reads its own members too, and for prompts nothing else.
fn copilot_for_claude(request: &AgentRequest, kind: EventKind, message: &Message) -> JsonObject {
    let claude = claude(request, request.event.name, kind, message);
    match kind {
        // Claude Code's form of a question is not known to be honoured, and Copilot's own is.
        EventKind::BeforeTool => {
            let (decision, reason) = permission(message);
            let members = Members::new().text("permissionDecision", decision).text("permissionDecisionReason", reason);
            let mut members = members.0;
            members.merge(&claude);
            members
        }
        EventKind::Prompt | EventKind::AgentEnd => copilot(request, kind, message),
        _ => {
            let mut members = copilot(request, kind, message);
            members.merge(&claude);
            members
        }
    }
}

/// The form that the generated plugin files read.
fn plugin(message: &Message) -> JsonObject {
    Members::new()
        .text("deny", message.deny.as_deref())
        .text("ask", message.ask.as_deref())
        .text("stop", message.stop.as_deref())
        .value("input", message.input.clone())
        .text("output", message.output.as_deref())
        .text("prompt", message.prompt.as_deref())
        .text("context", message.context_text().as_deref())
        .0
}
