//! Makes the neutral events of a payload whose agent and event are known.

use std::path::PathBuf;

use hookrail::payload::ToolResponse;
use hookrail::{Event, EventKind, Json, JsonKind, JsonObject};

use super::{AgentRequest, Incoming, RequestError, UnknownName, first_text, known};
use crate::agents::Agent;
use crate::spec::{AgentEvent, PayloadMembers};
use crate::tool_call::AgentToolCall;
use crate::tools;

pub(super) struct Reader<'a> {
    pub(super) agent: Agent,
    pub(super) event: AgentEvent,
    pub(super) members: &'a JsonObject,
    pub(super) incoming: &'a Incoming<'a>,
}

impl Reader<'_> {
    fn text(&self, names: &[&str]) -> Option<String> {
        first_text(self.members, names)
    }

    /// The names of the agent's members.
    fn names(&self) -> &'static PayloadMembers {
        &self.agent.spec().members
    }

    pub(super) fn request(&self) -> Result<AgentRequest, RequestError> {
        let cwd = self.text(&["cwd"]).filter(|cwd| !cwd.is_empty()).map_or_else(|| PathBuf::from("."), PathBuf::from);
        let declared = self.agent.project_variables().iter().find_map(|name| (self.incoming.variable)(name));
        let mut request = AgentRequest {
            agent: self.agent,
            event: self.event,
            session_id: self.text(self.names().session).unwrap_or_default(),
            declared_project: declared.filter(|declared| !declared.is_empty()).map(PathBuf::from),
            cwd,
            events: Vec::new(),
            call: None,
            agent_result: None,
            prompt: None,
            last_piece: None,
            unknown: known::unknown_fields(self.members, self.names().others, self.event.name),
        };
        match self.event.kind {
            EventKind::Prompt if self.text(&["prompt"]).is_none() => return Err(RequestError::NoPrompt),
            EventKind::BeforeTool | EventKind::PermissionRequest | EventKind::AfterTool => {
                self.tool_events(&mut request)?;
            }
            _ => {
                let event = self.fields(self.base(&request), &mut request);
                request.events.push(event);
            }
        }
        Ok(request)
    }

    /// An event with everything that all events have.
    fn base(&self, request: &AgentRequest) -> Event {
        let mut event = Event::new(self.event.kind, &request.cwd).session(&request.session_id);
        if let Some(path) = self.text(self.names().transcript) {
            event = event.transcript(path);
        }
        if let Some(time) = self.text(&["timestamp"]) {
            event = event.at_time(time);
        }
        // Hooks of some dialects are told the mode of the agent, and which prompt the event belongs to. Some agents name the model in
        // every event, some in a few.
        let same = ["agent_id", "agent_type", "permission_mode", "prompt_id"].map(|name| (name, [name]));
        for (field, names) in [("model_id", ["model"])].into_iter().chain(same) {
            if let Some(text) = self.text(&names).filter(|text| !text.is_empty()) {
                event = event.with_text(field, &text);
            }
        }
        event
    }

    fn fields(&self, event: Event, request: &mut AgentRequest) -> Event {
        let text = |names: &[&str]| self.text(names).unwrap_or_default();
        match self.event.kind {
            EventKind::SessionStart => {
                let source = text(&["source"]);
                // Other names for the same: `new`, and `compact`, which LLxprt calls `compress`.
                let neutral = match source.as_str() {
                    "new" | "" => "startup",
                    "compact" => "compress",
                    other => other,
                };
                let launch = !matches!(source.as_str(), "compact" | "clear");
                event.with_text("source", neutral).with("launch", Json::boolean(launch))
            }
            EventKind::SessionEnd => {
                let reason = text(&["reason"]);
                event.with("launch", Json::boolean(reason != "clear")).with_text("reason", &reason)
            }
            EventKind::Prompt => {
                let prompt = text(&["prompt"]);
                request.prompt = Some(prompt.clone());
                let is_made = self.is_machine_made(&prompt);
                let event = event.with_text("prompt", &prompt);
                if is_made { event.with_text("origin", "machine") } else { event }
            }
            EventKind::AgentEnd => {
                let active = self.members.get("stop_hook_active").and_then(Json::as_bool).unwrap_or(false);
                event
                    .with_text("prompt", &text(&["prompt"]))
                    .with_text("prompt_response", &text(&["prompt_response", "last_assistant_message"]))
                    .with("stop_hook_active", Json::boolean(active))
            }
            EventKind::TurnEnd => {
                let same = ["turn_index", "message", "tool_results"].map(|name| (name, name));
                self.copy(self.copy(event, &[("tool_results", "tool_calls")]), &same)
            }
            EventKind::BeforeCompact => {
                let trigger = text(&["trigger"]);
                let same = ["custom_instructions", "preparation", "branch_entries"].map(|name| (name, name));
                self.copy(event.with_text("trigger", &trigger), &same)
            }
            EventKind::AfterCompact => {
                let event = event
                    .with_text("trigger", &text(&["trigger"]))
                    .with_text("summary", &text(&["compact_summary", "summary"]));
                let same = ["compaction_entry", "from_extension"].map(|name| (name, name));
                self.copy(event, &same)
            }
            EventKind::SubagentStart | EventKind::SubagentStop => {
                let names = [("name", text(&["agent_type"])), ("description", text(&["agent_id"]))];
                let agent = names.into_iter().map(|(name, value)| (name.to_owned(), Json::string(&value)));
                event.with("agent", agent.collect::<JsonObject>().to_json()).with_text("outcome", "completed")
            }
            EventKind::Notification => {
                let event = event
                    .with_text("notification_type", &text(&["notification_type", "notificationType"]))
                    .with_text("message", &text(&["message"]));
                let details = self.members.get("details").cloned().unwrap_or_else(Json::empty_object);
                event.with("details", details)
            }
            _ => self.copy(event, &[("llm_request", "llm_request"), ("llm_response", "llm_response")]),
        }
    }

    fn is_machine_made(&self, prompt: &str) -> bool {
        self.agent.spec().machine_made_prompts.iter().any(|mark| prompt.trim_start().starts_with(mark))
    }

    /// Copies fields, under their neutral names. What is null is not there.
    fn copy(&self, event: Event, fields: &[(&str, &str)]) -> Event {
        let given = |own: &str| self.members.get(own).filter(|value| value.kind() != JsonKind::Null);
        fields.iter().fold(event, |event, (neutral, own)| match given(own) {
            Some(value) => event.with(*neutral, value.clone()),
            None => event,
        })
    }

    fn tool_events(&self, request: &mut AgentRequest) -> Result<(), RequestError> {
        let name = self.text(self.names().tool).filter(|name| !name.is_empty());
        let name = name.ok_or(RequestError::NoTool)?;
        let own_input = self.names().input.iter().find_map(|member| self.members.get(member)).cloned();
        let input = self.tool_input(&name, own_input)?;
        let mut base = self.base(request);
        if let Some(id) = self.text(self.names().call_id) {
            base = base.with_text("tool_call_id", &id);
        }
        let server = self.mcp_context().or_else(|| self.named_mcp_tool(&name));
        let is_mcp = server.is_some() || name.starts_with("mcp_");
        if let Some(server) = server {
            base = base.with("mcp_context", server);
        }
        if self.event.kind == EventKind::PermissionRequest {
            let suggested = |own| ("permission_suggestions", own);
            base = self.copy(base, &["permission_suggestions", "permissionSuggestions"].map(suggested));
        }
        if self.event.kind == EventKind::AfterTool {
            let (result, response) = self.tool_response();
            request.agent_result = result;
            base = base.with("tool_response", response.to_json());
        }
        if !is_mcp && !tools::is_known(self.agent, &name) {
            request.unknown.push(UnknownName::Tool(name.clone()));
        }
        let call = AgentToolCall::read(&name, input);
        request.events.push(base.with_text("tool_name", &call.name).with("tool_input", call.input.clone()));
        request.call = Some(call);
        Ok(())
    }

    /// The input of a tool as an object. A tool that is not known here may have none or another shape: an update of the agent
    /// must not stop all work. For a tool that is known, a guard would not see what it looks for.
    fn tool_input(&self, tool: &str, input: Option<Json>) -> Result<Json, RequestError> {
        // Earlier versions of an agent sent the arguments as a JSON text.
        let input = input.map(|input| match input.as_str() {
            Some(text) => Json::parse(&text).ok().filter(|parsed| parsed.as_object().is_some()).unwrap_or(input),
            None => input,
        });
        match input {
            Some(input) if input.as_object().is_some() => Ok(input),
            Some(input) if input.as_str().is_some() && tools::is_patch(self.agent, tool) => Ok(input),
            _ if tools::is_known(self.agent, tool) => Err(RequestError::NoToolInput),
            Some(input) if input.kind() != JsonKind::Null => Ok(input),
            _ => Ok(Json::empty_object()),
        }
    }

    /// The server and the tool in a name that consists of both.
    fn named_mcp_tool(&self, name: &str) -> Option<Json> {
        let is_own = tools::is_known(self.agent, name) || self.agent.tools().names().any(|own| own == name);
        let (server, tool) = name.split_once(self.agent.spec().mcp_separator.filter(|_| !is_own)?)?;
        let names = [("server_name", server), ("tool_name", tool)];
        let is_whole = !server.is_empty() && !tool.is_empty();
        let context = names.map(|(name, text)| (name.to_owned(), Json::string(text)));
        is_whole.then(|| context.into_iter().collect::<JsonObject>().to_json())
    }

    fn mcp_context(&self) -> Option<Json> {
        if let Some(context) = self.members.get("mcp_context") {
            return Some(context.clone());
        }
        let server = self.members.get("mcp_server")?.as_object()?;
        let name = server.get("name")?.clone();
        Some([("server_name".to_owned(), name)].into_iter().collect::<JsonObject>().to_json())
    }

    /// The tool's result in the agent's own shape, and as the neutral field carries it.
    fn tool_response(&self) -> (Option<Json>, ToolResponse) {
        if let Some(error) = self.text(&["error"]) {
            let text = Json::string(&error);
            return (None, ToolResponse::new(text.clone(), text).with_error(&error));
        }
        let Some(own) = self.names().result.iter().find_map(|name| self.members.get(name)) else {
            return (None, ToolResponse::new(Json::string(""), Json::string("")));
        };
        let members = own.as_object();
        let is_neutral = members.as_ref().is_some_and(|members| members.get("llmContent").is_some());
        let response = if is_neutral {
            ToolResponse::read(own)
        } else {
            let text = Json::string(&result_text(own));
            let response = ToolResponse::new(text.clone(), text);
            match members.as_ref().and_then(|members| failure(members, own)) {
                Some(message) => response.with_error(&message),
                None => response,
            }
        };
        (Some(own.clone()), response)
    }
}

/// The message of a result that says that the tool failed.
fn failure(members: &JsonObject, result: &Json) -> Option<String> {
    if members.get("isError").and_then(Json::as_bool) == Some(true) {
        return Some(result_text(result));
    }
    let kind = members.get("resultType").or_else(|| members.get("result_type"))?.as_str()?;
    (kind != "success").then_some(kind)
}

/// The text of a result in the shape of any agent: what a hook that reads results looks for.
fn result_text(result: &Json) -> String {
    if let Some(text) = result.as_str() {
        return text;
    }
    if let Some(parts) = result.as_array() {
        return parts_text(&parts);
    }
    let Some(members) = result.as_object() else { return result.text().to_owned() };
    let text = |name: &str| members.get(name).and_then(Json::as_str);
    if let Some(text) = text("textResultForLlm").or_else(|| text("text_result_for_llm")) {
        return text;
    }
    if let Some(stdout) = text("stdout") {
        let stderr = text("stderr").filter(|stderr| !stderr.is_empty());
        return stderr.map_or(stdout.clone(), |stderr| format!("{stdout}\n{stderr}"));
    }
    if let Some(parts) = members.get("content").and_then(Json::as_array) {
        return parts_text(&parts);
    }
    let file = members.get("file").and_then(Json::as_object);
    if let Some(content) = file.and_then(|file| file.get("content")?.as_str()) {
        return content;
    }
    result.text().to_owned()
}

fn parts_text(parts: &[Json]) -> String {
    let text = |part: &Json| part.as_object().and_then(|part| part.get("text")?.as_str());
    parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}
