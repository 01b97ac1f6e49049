//! The form in which a denial is status 2 with a text on standard error, the one form that nothing can void.

use hookrail::{EventKind, Json};

use super::{Answer, AnswerContent, AnswerForm, AnsweredEvent, Members, QUESTION, denied_question};

/// Everything but a denial is a document, whose members each agent has of its own.
#[derive(Debug)]
pub(crate) struct StatusForm {
    pub(crate) members: fn(&AnsweredEvent<'_>, &AnswerContent) -> Members,
}

impl AnswerForm for StatusForm {
    fn write(&self, event: &AnsweredEvent<'_>, content: &AnswerContent) -> Answer {
        match &content.deny {
            Some(reason) if self.denies_by_status(event.kind) => Answer::of_status(reason),
            Some(_) | None => Answer::of_document(&(self.members)(event, content).0),
        }
    }

    fn denial_document(&self, kind: EventKind, reason: &str) -> Option<Json> {
        (kind == EventKind::PermissionRequest).then(|| denied_question(QUESTION, reason))
    }

    fn denies_by_status(&self, kind: EventKind) -> bool {
        matches!(kind, EventKind::BeforeTool | EventKind::Prompt)
    }
}
