//! What hooks want said or kept, whatever they were asked about.

use crate::json::Json;
use crate::outcome::Effects;

/// What hooks want in the conversation and in the session.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Notes {
    /// Messages for the conversation and the user.
    pub system_messages: Vec<String>,
    /// Messages modules want in the conversation.
    pub messages: Vec<Json>,
    /// Entries modules want in the session.
    pub entries: Vec<Json>,
}

impl Notes {
    pub(super) fn of(effects: &Effects) -> Self {
        let mut notes = Self::default();
        notes.add(effects);
        notes
    }

    pub(super) fn add(&mut self, effects: &Effects) {
        self.system_messages.extend(effects.system_message.clone());
        self.messages.extend(effects.messages.iter().cloned());
        self.entries.extend(effects.entries.iter().cloned());
    }

    pub(super) fn append(&mut self, other: Notes) {
        self.system_messages.extend(other.system_messages);
        self.messages.extend(other.messages);
        self.entries.extend(other.entries);
    }
}
