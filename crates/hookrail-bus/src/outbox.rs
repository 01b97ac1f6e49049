//! What is on its way to one client, and the end of patience with one that does not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::JoinHandle;

use crate::message::FromServer;
use crate::transport::Sink;

/// Progress reports are dropped when so many messages wait already.
const ROOM_FOR_PROGRESS: usize = 256;

/// The way to one client. Answers are kept in order of arrival and never dropped as long as the client reads.
#[derive(Clone)]
pub(crate) struct Outbox {
    queue: mpsc::UnboundedSender<Letter>,
    waiting: Arc<Waiting>,
    most_bytes: usize,
}

#[derive(Default)]
struct Waiting {
    messages: AtomicUsize,
    bytes: AtomicUsize,
}

struct Letter {
    message: FromServer,
    weight: usize,
    /// The place among the messages in flight, which is free again when the answer has been written.
    _slot: Option<OwnedSemaphorePermit>,
}

/// How writing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Everything was written.
    Flushed,
    /// The client cannot be reached any more.
    Closed,
    /// The client read nothing for too long.
    Stalled,
}

impl Outbox {
    /// Starts to write. The task ends when every outbox is dropped and everything is written, or writing is hopeless.
    pub(crate) fn start(
        mut sink: Box<dyn Sink<FromServer>>,
        most_bytes: usize,
        patience: Duration,
    ) -> (Self, JoinHandle<Ended>) {
        // The queue itself has no bound: answers are bounded by the slots they hold, reports by the room there is.
        let (queue, mut letters) = mpsc::unbounded_channel::<Letter>();
        let waiting = Arc::new(Waiting::default());
        let counted = Arc::clone(&waiting);
        let task = tokio::spawn(async move {
            while let Some(letter) = letters.recv().await {
                let weight = letter.weight;
                match tokio::time::timeout(patience, sink.send(letter.message)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return Ended::Closed,
                    Err(_) => return Ended::Stalled,
                }
                counted.messages.fetch_sub(1, Ordering::Relaxed);
                counted.bytes.fetch_sub(weight, Ordering::Relaxed);
            }
            Ended::Flushed
        });
        (Self { queue, waiting, most_bytes }, task)
    }

    /// Sends an answer. Says whether the client still deserves one: it does not when too much waits for it.
    #[must_use]
    pub(crate) fn answer(&self, message: FromServer, slot: Option<OwnedSemaphorePermit>) -> bool {
        let weight = weight(&message);
        self.waiting.messages.fetch_add(1, Ordering::Relaxed);
        let before = self.waiting.bytes.fetch_add(weight, Ordering::Relaxed);
        // One answer may be of any size; it is the heap behind it that must not grow.
        if before > 0 && before + weight > self.most_bytes {
            return false;
        }
        self.queue.send(Letter { message, weight, _slot: slot }).is_ok()
    }

    /// Sends a progress report, if there is room.
    pub(crate) fn progress(&self, message: FromServer) {
        if self.waiting.messages.load(Ordering::Relaxed) < ROOM_FOR_PROGRESS {
            let _ = self.answer(message, None);
        }
    }

    /// Waits until nothing can be written any more.
    pub(crate) async fn closed(&self) {
        self.queue.closed().await;
    }
}

fn weight(message: &FromServer) -> usize {
    match message {
        FromServer::Response(response) => response.result.as_ref().map_or(256, |report| report.weight()),
        _ => 256,
    }
}
