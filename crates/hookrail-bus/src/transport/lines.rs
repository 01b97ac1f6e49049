//! One JSON message per line, over any pair of byte streams.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::reader::{Line, LineReader};
use super::{Closed, Pending, Received, Refusal, Sink, Source, Transport};
use crate::LINE_LIMIT;
use crate::budget::{MessageLimits, Weight};
use crate::error::{BusError, ErrorCode};
use crate::message::Message;

/// How often a probe is asked whether the other side is gone.
const PROBE_EVERY: Duration = Duration::from_millis(50);

/// A line that is sent may have this many bytes even where less may arrive: a refusal must fit.
const SHORTEST_LIMIT: usize = 64 * 1024;

/// Says whether the other side has closed its reading end. A stream's end does not say that: a client that has sent
/// everything may close its writing end and wait for answers.
pub type Probe = Box<dyn Fn() -> bool + Send + Sync>;

/// A connection that carries one message per line.
pub struct Lines<R, W> {
    reader: R,
    writer: W,
    limits: MessageLimits,
    probe: Option<Probe>,
}

impl<R: AsyncRead, W: AsyncWrite> Lines<R, W> {
    /// Lines over two streams.
    #[must_use]
    pub fn new(reader: R, writer: W) -> Self {
        Self { reader, writer, limits: MessageLimits { longest: LINE_LIMIT, budget: None }, probe: None }
    }

    /// The lines with another limit, in bytes. A longer line that arrives is refused; what a server sends is cut to it.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limits.longest = bytes;
        self
    }

    /// The lines with a way to see that the other side is gone.
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
    fn split(self: Box<Self>) -> (Box<dyn Source<In>>, Box<dyn Sink<Out>>) {
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

impl<In: Message, R: AsyncRead + Send + Unpin> Source<In> for Reader<In, R> {
    fn next(&mut self) -> Pending<'_, Received<In>> {
        Box::pin(async {
            loop {
                match self.reader.next().await {
                    Line::Whole(line) => {
                        let is_empty = line.trim_ascii().is_empty();
                        let read = (!is_empty).then(|| In::decode(&line));
                        self.reader.reuse(line);
                        if let Some(read) = read {
                            return read.map_or_else(Received::Refused, Received::Message);
                        }
                    }
                    Line::TooLong(name) => {
                        let message = format!("the line has more than {} bytes", self.reader.limit());
                        return refused(name, BusError::new(ErrorCode::LineTooLong, message));
                    }
                    Line::Unfinished(name) => {
                        let error = BusError::invalid("the line was begun and not finished in time");
                        return refused(name, error);
                    }
                    Line::End => return Received::End,
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

    fn weight(&mut self) -> Weight {
        self.reader.take_weight()
    }
}

fn refused<In>(correlation_id: Option<String>, error: BusError) -> Received<In> {
    Received::Refused(Refusal { correlation_id, error })
}

struct Writer<W> {
    writer: W,
    limit: usize,
    taken: Arc<AtomicU64>,
}

impl<Out: Message, W: AsyncWrite + Send + Unpin> Sink<Out> for Writer<W> {
    fn send(&mut self, message: Out) -> Pending<'_, Result<(), Closed>> {
        let mut line = message.encode(self.limit).into_bytes();
        line.push(b'\n');
        Box::pin(async move {
            let mut rest = line.as_slice();
            while !rest.is_empty() {
                let taken = self.writer.write(rest).await.map_err(|_| Closed)?;
                if taken == 0 {
                    return Err(Closed);
                }
                self.taken.fetch_add(u64::try_from(taken).unwrap_or(u64::MAX), Ordering::Relaxed);
                rest = rest.get(taken..).unwrap_or_default();
            }
            self.writer.flush().await.map_err(|_| Closed)
        })
    }

    fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }

    fn is_text(&self) -> bool {
        true
    }
}
