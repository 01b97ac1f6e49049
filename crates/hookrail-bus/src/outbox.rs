//! What is on its way to one client, and the end of patience with one that does not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::JoinHandle;

use crate::message::FromServer;
use crate::transport::{Closed, Sink};

/// Progress reports are dropped when so many messages wait already.
const ROOM_FOR_PROGRESS: usize = 256;

/// How many times within its patience it is looked whether a client has taken something.
const LOOKS: u32 = 8;

/// The way to one client. Answers are kept in order of arrival and never dropped as long as the client reads.
#[derive(Clone)]
pub(crate) struct Outbox {
    queue: mpsc::UnboundedSender<Letter>,
    waiting: Arc<Waiting>,
    most_bytes: usize,
    is_text: bool,
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
    /// The client took not one byte for too long.
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
        let is_text = sink.is_text();
        let task = tokio::spawn(async move {
            while let Some(letter) = letters.recv().await {
                let weight = letter.weight;
                match send(sink.as_mut(), letter.message, patience).await {
                    Ok(Ok(())) => {}
                    Ok(Err(Closed)) => return Ended::Closed,
                    Err(Stalled) => return Ended::Stalled,
                }
                counted.messages.fetch_sub(1, Ordering::Relaxed);
                counted.bytes.fetch_sub(weight, Ordering::Relaxed);
            }
            Ended::Flushed
        });
        (Self { queue, waiting, most_bytes, is_text }, task)
    }

    /// Sends an answer. Says whether the client still deserves one: it does not when too much waits for it.
    #[must_use]
    pub(crate) fn answer(&self, mut message: FromServer, slot: Option<OwnedSemaphorePermit>) -> bool {
        if self.is_text
            && let FromServer::Response(response) = &mut message
            && let Ok(report) = &mut response.result
        {
            // Here, not when it is written: what is cut shall not wait either.
            report.cut_run_outputs();
        }
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

/// The client has taken nothing for too long.
struct Stalled;

/// Sends a message for as long as the client takes some of it now and then.
async fn send(
    sink: &mut dyn Sink<FromServer>,
    message: FromServer,
    patience: Duration,
) -> Result<Result<(), Closed>, Stalled> {
    let progress: Arc<AtomicU64> = sink.progress();
    let mut sending = sink.send(message);
    let (mut taken, mut looks) = (progress.load(Ordering::Relaxed), 0);
    loop {
        if let Ok(sent) = tokio::time::timeout(patience / LOOKS, &mut sending).await {
            return Ok(sent);
        }
        let now = progress.load(Ordering::Relaxed);
        looks = if now == taken { looks + 1 } else { 0 };
        taken = now;
        if looks == LOOKS {
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
