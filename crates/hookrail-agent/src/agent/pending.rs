//! Messages that modules send while the agent is idle: they are drawn, and they can start a turn.

use std::collections::VecDeque;
use std::sync::Mutex;

use hookrail::Json;
use hookrail::guard::Notes;
use hookrail_spawn::lock_mutex;
use tokio::sync::Notify;

use super::{ReferenceAgent, record};
use crate::view::ViewEvent;

/// Messages of modules that are not handled yet.
#[derive(Default)]
pub(super) struct PendingMessages {
    to_draw: Mutex<VecDeque<Json>>,
    follow_ups: Mutex<Vec<Json>>,
    notes: Mutex<Vec<Notes>>,
    drawing: Notify,
    waking: Notify,
}

impl PendingMessages {
    /// Queues a message that its module draws itself.
    pub(super) fn draw(&self, message: Json) {
        lock_mutex(&self.to_draw).push_back(message);
        self.drawing.notify_one();
    }

    /// Keeps a message until the agent has finished its work.
    pub(super) fn follow_up(&self, message: Json) {
        lock_mutex(&self.follow_ups).push(message);
    }

    /// Returns the messages that wait for the end of the agent's work, and forgets them.
    pub(super) fn take_follow_ups(&self) -> Vec<Json> {
        std::mem::take(&mut *lock_mutex(&self.follow_ups))
    }

    /// Keeps what hooks of a notification said until it can be recorded: not between a tool call and its result.
    pub(super) fn keep_notes(&self, notes: Notes) {
        lock_mutex(&self.notes).push(notes);
    }

    /// Returns the notes that wait to be recorded, and forgets them.
    pub(super) fn take_notes(&self) -> Vec<Notes> {
        std::mem::take(&mut *lock_mutex(&self.notes))
    }

    /// Reports that something was added to the conversation.
    pub(super) fn wake(&self) {
        self.waking.notify_one();
    }

    fn first(&self) -> Option<Json> {
        lock_mutex(&self.to_draw).front().cloned()
    }

    fn drop_first(&self) {
        lock_mutex(&self.to_draw).pop_front();
    }
}

impl ReferenceAgent {
    /// Waits until a module has added something to the conversation.
    pub(crate) async fn woken(&self) {
        self.host_state.pending.waking.notified().await;
    }

    /// Draws messages as they come. Never returns.
    pub(crate) async fn draw_messages(&self) {
        loop {
            self.host_state.pending.drawing.notified().await;
            self.draw_waiting_messages().await;
        }
    }

    /// Draws the queued messages. A message stays in the queue until it is drawn, so none is lost if this future is dropped.
    pub(crate) async fn draw_waiting_messages(&self) {
        while let Some(message) = self.host_state.pending.first() {
            let columns = self.view().columns().unwrap_or(80);
            let drawn = self.hooks().render_message(&message, false, columns, self.host()).await;
            self.host_state.pending.drop_first();
            match drawn {
                Some(lines) => {
                    let kind = message.as_object().and_then(|message| message.get("customType")?.as_str());
                    self.view().show(&ViewEvent::Drawn { custom_type: &kind.unwrap_or_default(), lines: &lines });
                }
                None => record::show_message(&self.parts, &message),
            }
        }
    }
}
