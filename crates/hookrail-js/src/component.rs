//! A component that a module draws, as the host sees it.

use std::sync::atomic::{AtomicU64, Ordering};

use hookrail::host::{Component, HostFuture};
use hookrail::process::RawEnd;
use tokio::sync::{mpsc, oneshot, watch};

use crate::message::WorkerMessage;

/// The host's handle of a component. Requests go to the module's thread.
pub(crate) struct RemoteComponent {
    id: u32,
    to: mpsc::UnboundedSender<WorkerMessage>,
    state: watch::Receiver<ComponentState>,
    /// The number of the state that was drawn last.
    drawn: AtomicU64,
}

/// What the module reports about its component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComponentState {
    /// It is shown. The number counts the requests to draw it again.
    Shown(u64),
    /// It is done.
    Done,
}

impl RemoteComponent {
    pub(crate) fn new(
        id: u32,
        to: mpsc::UnboundedSender<WorkerMessage>,
        state: watch::Receiver<ComponentState>,
    ) -> Self {
        Self { id, to, state, drawn: AtomicU64::new(0) }
    }
}

impl Component for RemoteComponent {
    fn render(&self, width: usize) -> HostFuture<'_, Vec<String>> {
        Box::pin(async move {
            let (reply, lines) = oneshot::channel();
            // A module that has ended has nothing to draw.
            let _ = self.to.send(WorkerMessage::Draw { component: self.id, width, reply });
            let drawn = lines.await.ok().and_then(|returned| match returned.how {
                RawEnd::Returned(lines) => lines,
                _ => returned.partial,
            });
            drawn.and_then(|lines| lines.decode()).unwrap_or_default()
        })
    }

    fn key(&self, data: &str) {
        let _ = self.to.send(WorkerMessage::Key { component: self.id, data: data.to_owned() });
    }

    fn changed(&self) -> HostFuture<'_, bool> {
        let mut state = self.state.clone();
        Box::pin(async move {
            let drawn = self.drawn.load(Ordering::Relaxed);
            let news = state.wait_for(|state| *state != ComponentState::Shown(drawn)).await;
            match news.map(|state| *state) {
                Ok(ComponentState::Shown(count)) => {
                    self.drawn.store(count, Ordering::Relaxed);
                    true
                }
                // A module that has ended has no open component.
                Ok(ComponentState::Done) | Err(_) => false,
            }
        })
    }
}
