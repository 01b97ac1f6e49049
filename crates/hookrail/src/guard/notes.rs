//! What hooks want said or kept, whatever they were asked about.

use crate::json::Json;
use crate::outcome::Effects;

/// What hooks want in the conversation and in the session.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Messages for the conversation and the user.
    pub system_messages: Vec<String>,
    /// Messages modules want in the conversation.
    pub messages: Vec<Json>,
    /// Entries modules want in the session.
    pub entries: Vec<Json>,
}

impl Notes {
    pub(super) fn from_effects(effects: &Effects) -> Self {
        let mut notes = Self::default();
        notes.add(effects);
        notes
    }

    pub(super) fn add(&mut self, effects: &Effects) {
        // Destructured, so that a new effect does not compile before it is handled: every guard calls this. The guard of the
        // operation applies the effects that are ignored here.
        let Effects {
            system_message,
            messages,
            entries,
            decision: _,
            reason: _,
            stop: _,
            suppress_output: _,
            clear_context: _,
            additional_context: _,
            tool_input: _,
            tool_output: _,
            prompt: _,
            llm_request: _,
            llm_response: _,
            tool_config: _,
            result: _,
        } = effects;
        self.system_messages.extend(system_message.clone());
        self.messages.extend(messages.iter().cloned());
        self.entries.extend(entries.iter().cloned());
    }
}
