//! The form that generated plugin files read.

use hookrail::{EventKind, Json, JsonObject};

use super::{Answer, AnswerContent, AnswerForm, AnsweredEvent, Members};

#[derive(Debug)]
pub(crate) struct PluginForm;

impl AnswerForm for PluginForm {
    fn write(&self, _event: &AnsweredEvent<'_>, content: &AnswerContent) -> Answer {
        Answer::of_document(&members(content))
    }

    fn denial_document(&self, _kind: EventKind, reason: &str) -> Option<Json> {
        let content = AnswerContent { deny: Some(reason.to_owned()), ..AnswerContent::default() };
        Some(members(&content).to_json())
    }
}

fn members(content: &AnswerContent) -> JsonObject {
    Members::new()
        .text("deny", content.deny.as_deref())
        .text("ask", content.ask.as_deref())
        .text("stop", content.stop.as_deref())
        .value("input", content.input.clone())
        .text("output", content.output.as_deref())
        .text("prompt", content.prompt.as_deref())
        .text("context", content.context_text().as_deref())
        .0
}
