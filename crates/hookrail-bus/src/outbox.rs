//! The queue of messages to one client, and the end of the connection if the client does not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::JoinHandle;

use crate::message::FromServer;
use crate::transport::{ConnectionClosed, MessageSink};

/// The number of waiting messages at which progress reports are dropped.
const ROOM_FOR_PROGRESS: usize = 256;

/// The number of checks within the patience whether a client has read something.
const CHECKS: u32 = 8;

/// The queue of messages to one client. Answers are sent in order and never dropped as long as the client reads.
#[derive(Clone)]
pub(crate) struct Outbox {
    queue: mpsc::UnboundedSender<QueuedMessage>,
    waiting: Arc<QueuedTotals>,
    most_bytes: usize,
    is_text: bool,
}

#[derive(Default)]
struct QueuedTotals {
    messages: AtomicUsize,
    bytes: AtomicUsize,
}

struct QueuedMessage {
    message: FromServer,
    weight: usize,
    /// The slot of the message that this answers. It is released when the answer has been written.
    _slot: Option<OwnedSemaphorePermit>,
}

/// How writing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriterEnd {
    /// Everything was written.
    Flushed,
    /// The client cannot be reached any more.
    Closed,
    /// The client has not read a single byte for too long.
    Stalled,
}

impl Outbox {
    /// Starts a task that writes. It ends when every outbox is dropped and everything is written, or when writing fails.
    pub(crate) fn start(
        mut sink: Box<dyn MessageSink<FromServer>>,
        most_bytes: usize,
        patience: Duration,
    ) -> (Self, JoinHandle<WriterEnd>) {
        // The queue itself has no limit: the number of answers is limited by their slots, and that of progress reports by
        // `ROOM_FOR_PROGRESS`.
        let (queue, mut letters) = mpsc::unbounded_channel::<QueuedMessage>();
        let waiting = Arc::new(QueuedTotals::default());
        let counted = Arc::clone(&waiting);
        let is_text = sink.is_text();
        let task = tokio::spawn(async move {
            while let Some(letter) = letters.recv().await {
                let weight = letter.weight;
                match send(sink.as_mut(), letter.message, patience).await {
                    Ok(Ok(())) => {}
                    Ok(Err(ConnectionClosed)) => return WriterEnd::Closed,
                    Err(Stalled) => return WriterEnd::Stalled,
                }
                counted.messages.fetch_sub(1, Ordering::Relaxed);
                counted.bytes.fetch_sub(weight, Ordering::Relaxed);
            }
            WriterEnd::Flushed
        });
        (Self { queue, waiting, most_bytes, is_text }, task)
    }

    /// Queues an answer. Returns `false` if too much already waits for the client, which must then be disconnected.
    #[must_use]
    pub(crate) fn answer(&self, mut message: FromServer, slot: Option<OwnedSemaphorePermit>) -> bool {
        if self.is_text
            && let FromServer::Response(response) = &mut message
            && let Ok(report) = &mut response.result
        {
            // Cut before it is queued and not when it is written, so that the memory is not occupied meanwhile.
            report.cut_run_outputs();
        }
        let weight = weight(&message);
        self.waiting.messages.fetch_add(1, Ordering::Relaxed);
        let before = self.waiting.bytes.fetch_add(weight, Ordering::Relaxed);
        // A single answer may have any size. The limit applies to the answers that wait behind others.
        if before > 0 && before + weight > self.most_bytes {
            return false;
        }
        self.queue.send(QueuedMessage { message, weight, _slot: slot }).is_ok()
    }

    /// Queues a progress report, if there is room.
    pub(crate) fn progress(&self, message: FromServer) {
        if self.waiting.messages.load(Ordering::Relaxed) < ROOM_FOR_PROGRESS {
            let _ = self.answer(message, None);
        }
    }

    /// Waits until the writer has ended.
    pub(crate) async fn closed(&self) {
        self.queue.closed().await;
    }
}

/// The client has read nothing for too long.
struct Stalled;

/// Sends a message, as long as the client reads some of it within each patience. A slow client is not a stalled one.
async fn send(
    sink: &mut dyn MessageSink<FromServer>,
    message: FromServer,
    patience: Duration,
) -> Result<Result<(), ConnectionClosed>, Stalled> {
    let progress: Arc<AtomicU64> = sink.progress();
    let mut sending = sink.send(message);
    let (mut taken, mut checks) = (progress.load(Ordering::Relaxed), 0);
    loop {
        if let Ok(sent) = tokio::time::timeout(patience / CHECKS, &mut sending).await {
            return Ok(sent);
        }
        let now = progress.load(Ordering::Relaxed);
        checks = if now == taken { checks + 1 } else { 0 };
        taken = now;
        if checks == CHECKS {
            return Err(Stalled);
        }
    }
}

fn weight(message: &FromServer) -> usize {
    match message {
        FromServer::Response(response) => response.result.as_ref().map_or(256, |report| report.weight()),
        FromServer::Welcome(_)
        | FromServer::Cancelled(_)
        | FromServer::Lifecycle(_)
        | FromServer::Pong(_)
        | FromServer::Reloaded(_) => 256,
    }
}
