//! A component that a module draws, seen from the host.

use hookrail::{Component, HostFuture};
use tokio::sync::{mpsc, oneshot, watch};

use crate::worker::Message;

/// The host's side of a component: questions go to the module's thread.
pub(crate) struct Remote {
    id: u32,
    to: mpsc::UnboundedSender<Message>,
    state: watch::Receiver<State>,
}

/// What the module says about its component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is shown; the number counts how often it wanted to be drawn again.
    Shown(u64),
    /// It is done.
    Done,
}

impl Remote {
    pub(crate) fn new(id: u32, to: mpsc::UnboundedSender<Message>, state: watch::Receiver<State>) -> Self {
        Self { id, to, state }
    }
}

impl Component for Remote {
    fn render(&self, width: usize) -> HostFuture<'_, Vec<String>> {
        Box::pin(async move {
            let (reply, lines) = oneshot::channel();
            // A module that is gone has nothing to draw.
            let _ = self.to.send(Message::Draw { component: self.id, width, reply });
            lines.await.unwrap_or_default()
        })
    }

    fn key(&self, data: &str) {
        let _ = self.to.send(Message::Key { component: self.id, data: data.to_owned() });
    }

    fn changed(&self) -> HostFuture<'_, bool> {
        let mut state = self.state.clone();
        Box::pin(async move {
            if *state.borrow_and_update() == State::Done {
                return false;
            }
            state.changed().await.is_ok() && *state.borrow() != State::Done
        })
    }
}
