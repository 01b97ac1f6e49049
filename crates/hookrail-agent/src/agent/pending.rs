//! What modules bring while nobody waits for it: messages to be drawn, and reasons to go back to work.

use std::collections::VecDeque;
use std::sync::Mutex;

use hookrail::Json;
use hookrail_spawn::lock;
use tokio::sync::Notify;

use super::{Agent, record};
use crate::view::Shown;

/// What is new.
#[derive(Default)]
pub(super) struct News {
    to_draw: Mutex<VecDeque<Json>>,
    drawing: Notify,
    waking: Notify,
}

impl News {
    /// A module wants to draw this message itself.
    pub(super) fn draw(&self, message: Json) {
        lock(&self.to_draw).push_back(message);
        self.drawing.notify_one();
    }

    /// Something was put into the conversation.
    pub(super) fn wake(&self) {
        self.waking.notify_one();
    }

    fn first(&self) -> Option<Json> {
        lock(&self.to_draw).front().cloned()
    }

    fn drop_first(&self) {
        lock(&self.to_draw).pop_front();
    }
}

impl Agent {
    /// Waits until a module has put something into the conversation.
    pub(crate) async fn woken(&self) {
        self.me.news.waking.notified().await;
    }

    /// Draws messages as they come, for ever.
    pub(crate) async fn draw_messages(&self) {
        loop {
            self.me.news.drawing.notified().await;
            self.draw_waiting_messages().await;
        }
    }

    /// Draws the messages that wait for it. One that was not shown yet stays where it is, so none is lost when this
    /// is not waited for.
    pub(crate) async fn draw_waiting_messages(&self) {
        while let Some(message) = self.me.news.first() {
            let columns = self.view().columns().unwrap_or(80);
            let drawn = self.hooks().render_message(&message, false, columns, self.host()).await;
            self.me.news.drop_first();
            match drawn {
                Some(lines) => {
                    let kind = message.as_object().and_then(|message| message.get("customType")?.as_str());
                    self.view().show(&Shown::Drawn { custom_type: &kind.unwrap_or_default(), lines: &lines });
                }
                None => record::show_message(&self.parts, &message),
            }
        }
    }
}
