//! A connection inside one process, over channels. Messages are passed as values: nothing is serialised.

use tokio::sync::{mpsc, watch};

use super::{ConnectionClosed, MessageSink, MessageSource, Pending, Received, Transport};

/// The number of messages that wait in one direction before the sender has to wait.
const CAPACITY: usize = 64;

/// One end of a connection inside this process.
#[derive(Debug)]
pub struct Channel<In, Out> {
    incoming: mpsc::Receiver<In>,
    outgoing: mpsc::Sender<Out>,
    /// Held only to be dropped: the other end watches it.
    alive: watch::Sender<()>,
    other: watch::Receiver<()>,
}

/// Creates both ends of a connection: one that receives `A` and sends `B`, and one that receives `B` and sends `A`.
#[must_use]
pub fn channel<A, B>() -> (Channel<A, B>, Channel<B, A>) {
    let (send_a, receive_a) = mpsc::channel(CAPACITY);
    let (send_b, receive_b) = mpsc::channel(CAPACITY);
    let (one, watch_one) = watch::channel(());
    let (two, watch_two) = watch::channel(());
    (
        Channel { incoming: receive_a, outgoing: send_b, alive: one, other: watch_two },
        Channel { incoming: receive_b, outgoing: send_a, alive: two, other: watch_one },
    )
}

impl<In: Send + 'static, Out: Send + 'static> Transport<In, Out> for Channel<In, Out> {
    fn split(self: Box<Self>) -> (Box<dyn MessageSource<In>>, Box<dyn MessageSink<Out>>) {
        let Self { incoming, outgoing, alive, other } = *self;
        (Box::new(Receiver { incoming, other, _alive: alive }), Box::new(Sender(outgoing)))
    }
}

struct Receiver<In> {
    incoming: mpsc::Receiver<In>,
    other: watch::Receiver<()>,
    _alive: watch::Sender<()>,
}

impl<In: Send> MessageSource<In> for Receiver<In> {
    fn next(&mut self) -> Pending<'_, Received<In>> {
        Box::pin(async { self.incoming.recv().await.map_or(Received::End, Received::Message) })
    }

    fn gone(&mut self) -> Pending<'_, ()> {
        // Nothing is ever sent here, so the only change is that the other end is dropped.
        Box::pin(async { while self.other.changed().await.is_ok() {} })
    }
}

struct Sender<Out>(mpsc::Sender<Out>);

impl<Out: Send> MessageSink<Out> for Sender<Out> {
    fn send(&mut self, message: Out) -> Pending<'_, Result<(), ConnectionClosed>> {
        Box::pin(async { self.0.send(message).await.map_err(|_| ConnectionClosed) })
    }
}
