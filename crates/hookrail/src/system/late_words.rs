//! What detached hooks say after their events: text for the model at the next prompt, or at the end of an answer, with which the
//! agent then goes on.

use std::sync::Mutex;

use hookrail_spawn::lock_mutex;

use crate::dialect::snapshot::Snapshot;
use crate::event::{Event, EventKind};
use crate::outcome::{Decision, Effects, Outcome, join};
use crate::text::log::log;
use crate::trust::session_facts::{FactKind, LONGEST_SUBJECT, SessionFacts};

/// The oldest texts are dropped when there are more: a session may never have another prompt.
const MOST_KEPT: usize = 64;

/// The texts that no model has heard yet.
#[derive(Debug, Default)]
pub(super) struct LateWords {
    /// Where sessions are remembered, for the processes that fire their later events.
    facts: Option<SessionFacts>,
    /// The texts where none are, with their sessions.
    kept: Mutex<Vec<(String, String)>>,
}

impl LateWords {
    pub(super) fn new(facts: Option<SessionFacts>) -> Self {
        Self { facts, kept: Mutex::default() }
    }

    /// Keeps what a hook said in a session.
    pub(super) fn add(&self, session: &str, text: &str) {
        let text = text.get(..text.floor_char_boundary(LONGEST_SUBJECT)).unwrap_or_default();
        match self.facts.as_ref().filter(|_| !session.is_empty()) {
            Some(facts) => {
                if let Err(error) = facts.change(session, |facts| facts.add(FactKind::Said, text)) {
                    log!(debug, target: "hookrail::runner", %error, "what a hook said later is lost");
                }
            }
            None => {
                let mut kept = lock_mutex(&self.kept);
                kept.push((session.to_owned(), text.to_owned()));
                let over = kept.len().saturating_sub(MOST_KEPT);
                kept.drain(..over);
            }
        }
    }

    fn take(&self, session: &str) -> Vec<String> {
        let Some(facts) = self.facts.as_ref().filter(|_| !session.is_empty()) else {
            let mut kept = lock_mutex(&self.kept);
            let (taken, left): (Vec<_>, Vec<_>) =
                std::mem::take(&mut *kept).into_iter().partition(|(of, _)| of == session);
            *kept = left;
            return taken.into_iter().map(|(_, text)| text).collect();
        };
        let mut taken = Vec::new();
        match facts.change(session, |facts| taken = facts.take(FactKind::Said)) {
            Ok(()) => taken,
            // It is still there, and would be heard twice.
            Err(_) => Vec::new(),
        }
    }

    /// Adds what was said since the last such event to the outcome of one that can carry it.
    pub(super) fn deliver(&self, snapshot: &Snapshot, event: &Event, outcome: &mut Outcome) {
        let is_turn = matches!(event.kind(), EventKind::Prompt | EventKind::AgentEnd);
        let Effects { decision, stop, .. } = &outcome.effects;
        // No model hears anything after a prompt that is refused, or after the agent has stopped.
        let is_refused = event.kind() == EventKind::Prompt && *decision > Some(Decision::Allow);
        if !is_turn || !snapshot.has_later_words() || is_refused || stop.is_some() {
            return;
        }
        let texts = self.take(event.session_id());
        if texts.is_empty() {
            return;
        }
        let text = texts.join("\n");
        if event.kind() == EventKind::AgentEnd {
            outcome.effects.absorb(Effects::deny(text));
            return;
        }
        let prompt = outcome.effects.prompt.take().or_else(|| event.text("prompt")).unwrap_or_default();
        outcome.effects.prompt = Some(format!("{prompt}\n\n{text}"));
        join(&mut outcome.effects.additional_context, Some(text), "\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_heard_once_in_its_session() {
        let folder = tempfile::tempdir().unwrap();
        let facts = SessionFacts::new(folder.path(), std::path::Path::new("/p"));
        for words in [LateWords::default(), LateWords::new(Some(facts))] {
            words.add("s", "one");
            words.add("s", "two");
            words.add("other", "three");
            words.add("", "four");
            words.add("long", &"ä".repeat(LONGEST_SUBJECT));
            assert_eq!(words.take("s"), ["one", "two"]);
            assert!(words.take("s").is_empty());
            assert_eq!((words.take("other"), words.take("")), (vec!["three".to_owned()], vec!["four".to_owned()]));
            assert_eq!(words.take("long").concat().len(), LONGEST_SUBJECT);
        }
    }
}
