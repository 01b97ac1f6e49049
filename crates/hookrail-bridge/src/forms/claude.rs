//! Claude Code's form, which other agents read too.

use hookrail::{EventKind, Json, JsonObject};

use super::{Answer, AnswerContent, AnswerForm, AnsweredEvent, Members, OutputFit, denied_question, permission};

/// The event at which agents with this form can be answered in the place of their user.
pub(crate) const QUESTION: &str = "PermissionRequest";

#[derive(Debug)]
pub(crate) struct ClaudeForm;

impl AnswerForm for ClaudeForm {
    fn write(&self, event: &AnsweredEvent<'_>, content: &AnswerContent) -> Answer {
        Answer::of_document(&claude_members(event, content))
    }

    fn denial_document(&self, kind: EventKind, reason: &str) -> Option<Json> {
        (kind == EventKind::PermissionRequest).then(|| denied_question(QUESTION, reason))
    }

    fn fit_output(&self, event: &AnsweredEvent<'_>, text: &str) -> OutputFit {
        if claude_output(event, text).is_some() { OutputFit::AsHandled } else { OutputFit::ContextOnly }
    }
}

/// The members of an answer in this form.
pub(crate) fn claude_members(event: &AnsweredEvent<'_>, content: &AnswerContent) -> JsonObject {
    let (name, kind) = (event.name, event.kind);
    let members = Members::new().text("systemMessage", content.system_message.as_deref());
    let context = content.context_text();
    let members = match kind {
        EventKind::BeforeTool => {
            let (decision, reason) = permission(content);
            let specific = Members::new()
                .text("permissionDecision", decision)
                .text("permissionDecisionReason", reason)
                .value("updatedInput", content.input.clone())
                .text("additionalContext", context.as_deref());
            members.specific(name, specific)
        }
        EventKind::PermissionRequest => members.answered_question(name, content),
        EventKind::Prompt | EventKind::AgentEnd => members.block(content).context(name, content),
        EventKind::AfterTool => {
            let output = content.output.as_deref().and_then(|text| claude_output(event, text));
            let specific =
                Members::new().value("updatedToolOutput", output).text("additionalContext", context.as_deref());
            members.specific(name, specific)
        }
        _ => members.context(name, content),
    };
    // At the end of an answer nothing has to be said for the agent to end.
    let stop = content.stop.as_deref().filter(|_| kind != EventKind::SessionEnd);
    members.stop(stop).0
}

/// A replaced result in the shape that the tool itself has. Claude Code ignores any other shape without a word.
pub(crate) fn claude_output(event: &AnsweredEvent<'_>, text: &str) -> Option<Json> {
    let result = event.tool_result?;
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
