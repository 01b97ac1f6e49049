//! One JSON message per line, over any pair of byte streams.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::reader::{LineReader, ReadLine};
use super::{ConnectionClosed, MessageSink, MessageSource, Pending, Received, Transport};
use crate::budget::{MessageLimits, MessageWeight};
use crate::error::{BusError, ErrorCode, MessageRefusal};
use crate::message::Message;
use crate::wire::LINE_LIMIT;

/// How often the probe is called.
const PROBE_EVERY: Duration = Duration::from_millis(50);

/// The lowest limit for lines that are sent, even if the limit for lines that arrive is lower: a refusal must fit.
const SHORTEST_LIMIT: usize = 64 * 1024;

/// Returns whether the other side has closed its reading end. The end of the stream does not show that: a client that has
/// sent everything may close its writing end and wait for answers.
pub type Probe = Box<dyn Fn() -> bool + Send + Sync>;

/// A connection that carries one message per line.
pub struct Lines<R, W> {
    reader: R,
    writer: W,
    limits: MessageLimits,
    probe: Option<Probe>,
}

impl<R: AsyncRead, W: AsyncWrite> Lines<R, W> {
    /// Creates a connection over two streams.
    #[must_use]
    pub fn new(reader: R, writer: W) -> Self {
        Self { reader, writer, limits: MessageLimits { longest: LINE_LIMIT, budget: None }, probe: None }
    }

    /// Sets the longest line in bytes. A longer line that arrives is refused; an answer that a server sends is cut to it.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limits.longest = bytes;
        self
    }

    /// Sets the function that checks whether the other side is gone.
    #[must_use]
    pub fn probe(mut self, probe: Probe) -> Self {
        self.probe = Some(probe);
        self
    }
}

impl<R, W> fmt::Debug for Lines<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl<In, Out, R, W> Transport<In, Out> for Lines<R, W>
where
    In: Message,
    Out: Message,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn split(self: Box<Self>) -> (Box<dyn MessageSource<In>>, Box<dyn MessageSink<Out>>) {
        let Self { reader, writer, limits: MessageLimits { longest, budget }, probe } = *self;
        let reader = LineReader::new(reader, longest, budget);
        let writer = Writer { writer, limit: longest.max(SHORTEST_LIMIT), taken: Arc::default() };
        (Box::new(Reader { reader, probe, message: PhantomData }), Box::new(writer))
    }

    fn set_limits(&mut self, limits: MessageLimits) {
        self.limits = limits;
    }
}

struct Reader<In, R> {
    reader: LineReader<R>,
    probe: Option<Probe>,
    message: PhantomData<fn() -> In>,
}

impl<In: Message, R: AsyncRead + Send + Unpin> MessageSource<In> for Reader<In, R> {
    fn next(&mut self) -> Pending<'_, Received<In>> {
        Box::pin(async {
            loop {
                match self.reader.next().await {
                    ReadLine::Whole(line) => {
                        let is_empty = line.trim_ascii().is_empty();
                        let read = (!is_empty).then(|| In::decode(&line));
                        self.reader.reuse(line);
                        if let Some(read) = read {
                            return read.map_or_else(Received::Refused, Received::Message);
                        }
                    }
                    ReadLine::TooLong(name) => {
                        let message = format!("the line has more than {} bytes", self.reader.limit());
                        return refused(name, BusError::new(ErrorCode::LineTooLong, message));
                    }
                    ReadLine::Unfinished(name) => {
                        let error = BusError::invalid("the rest of the line did not arrive in time");
                        return refused(name, error);
                    }
                    ReadLine::End => return Received::End,
                }
            }
        })
    }

    fn gone(&mut self) -> Pending<'_, ()> {
        Box::pin(async {
            let Some(probe) = &self.probe else { return std::future::pending().await };
            while !probe() {
                tokio::time::sleep(PROBE_EVERY).await;
            }
        })
    }

    fn weight(&mut self) -> MessageWeight {
        self.reader.take_weight()
    }
}

fn refused<In>(correlation_id: Option<String>, error: BusError) -> Received<In> {
    Received::Refused(MessageRefusal { correlation_id, error })
}

struct Writer<W> {
    writer: W,
    limit: usize,
    taken: Arc<AtomicU64>,
}

impl<Out: Message, W: AsyncWrite + Send + Unpin> MessageSink<Out> for Writer<W> {
    fn send(&mut self, message: Out) -> Pending<'_, Result<(), ConnectionClosed>> {
        let mut line = message.encode(self.limit).into_bytes();
        line.push(b'\n');
        Box::pin(async move {
            let mut rest = line.as_slice();
            while !rest.is_empty() {
                let taken = self.writer.write(rest).await.map_err(|_| ConnectionClosed)?;
                if taken == 0 {
                    return Err(ConnectionClosed);
                }
                self.taken.fetch_add(u64::try_from(taken).unwrap_or(u64::MAX), Ordering::Relaxed);
                rest = rest.get(taken..).unwrap_or_default();
            }
            self.writer.flush().await.map_err(|_| ConnectionClosed)
        })
    }

    fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }

    fn is_text(&self) -> bool {
        true
    }
}
