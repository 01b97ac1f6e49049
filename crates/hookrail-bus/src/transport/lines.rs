//! One JSON message per line, over any pair of byte streams.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

use super::{Closed, Pending, Received, Refusal, Sink, Source, Transport};
use crate::LINE_LIMIT;
use crate::error::{BusError, ErrorCode};
use crate::wire::{Decode, Encode};

/// How often a probe is asked whether the other side is gone.
const PROBE_EVERY: Duration = Duration::from_millis(50);

/// Says whether the other side has closed its reading end. A stream's end does not say that: a client that has sent
/// everything may close its writing end and wait for answers.
pub type Probe = Box<dyn Fn() -> bool + Send + Sync>;

/// A connection that carries one message per line.
pub struct Lines<R, W> {
    reader: R,
    writer: W,
    limit: usize,
    probe: Option<Probe>,
}

impl<R: AsyncRead, W: AsyncWrite> Lines<R, W> {
    /// Lines over two streams.
    #[must_use]
    pub fn new(reader: R, writer: W) -> Self {
        Self { reader, writer, limit: LINE_LIMIT, probe: None }
    }

    /// The lines with another limit for what arrives, in bytes.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
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
        f.debug_struct("Lines").field("limit", &self.limit).finish_non_exhaustive()
    }
}

// `Decode` and `Encode` are this crate's own, so lines carry its messages and no others.
impl<In, Out, R, W> Transport<In, Out> for Lines<R, W>
where
    In: Decode + Send + 'static,
    Out: Encode + Send + Sync + 'static,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn split(self: Box<Self>) -> (Box<dyn Source<In>>, Box<dyn Sink<Out>>) {
        let Self { reader, writer, limit, probe } = *self;
        let reader =
            LineReader { bytes: BufReader::with_capacity(64 * 1024, reader), line: Vec::new(), limit, skipping: false };
        (Box::new(Reader { reader, probe, message: PhantomData }), Box::new(Writer(writer)))
    }
}

struct Reader<In, R> {
    reader: LineReader<R>,
    probe: Option<Probe>,
    message: PhantomData<fn() -> In>,
}

impl<In: Decode + Send, R: AsyncRead + Send + Unpin> Source<In> for Reader<In, R> {
    fn next(&mut self) -> Pending<'_, Received<In>> {
        Box::pin(async {
            loop {
                match self.reader.next().await {
                    Line::Whole(line) => {
                        let Ok(text) = std::str::from_utf8(&line) else {
                            return Received::Refused(Refusal::new(BusError::invalid("the line is not UTF-8")));
                        };
                        if text.trim().is_empty() {
                            continue;
                        }
                        return In::decode(text).map_or_else(Received::Refused, Received::Message);
                    }
                    Line::TooLong => {
                        let message = format!("the line has more than {} bytes", self.reader.limit);
                        return Received::Refused(Refusal::new(BusError::new(ErrorCode::LineTooLong, message)));
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
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
    End,
}

/// Reads lines and keeps at most one of them. What is over the limit is skipped up to its end.
struct LineReader<R> {
    bytes: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    skipping: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// The next line. All progress is kept in `self`, so the future may be dropped at any time.
    async fn next(&mut self) -> Line {
        loop {
            let chunk = match self.bytes.fill_buf().await {
                Ok(chunk) if !chunk.is_empty() => chunk,
                // A last line without an end is a line; one that was cut off by an error is not.
                Ok(_) if !self.line.is_empty() && !self.skipping => return Line::Whole(std::mem::take(&mut self.line)),
                _ => return Line::End,
            };
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let used = part.len() + usize::from(end.is_some());
            let too_long = self.line.len() + part.len() > self.limit;
            if !self.skipping && !too_long {
                self.line.extend_from_slice(part);
            }
            self.bytes.consume(used);
            let was_skipping = self.skipping;
            self.skipping = (was_skipping || too_long) && end.is_none();
            if too_long && !was_skipping {
                self.line = Vec::new();
                return Line::TooLong;
            }
            if end.is_some() && !was_skipping {
                return Line::Whole(std::mem::take(&mut self.line));
            }
        }
    }
}

struct Writer<W>(W);

impl<Out: Encode + Send + Sync, W: AsyncWrite + Send + Unpin> Sink<Out> for Writer<W> {
    fn send(&mut self, message: Out) -> Pending<'_, Result<(), Closed>> {
        let mut line = message.encode();
        line.push('\n');
        Box::pin(async move {
            self.0.write_all(line.as_bytes()).await.map_err(|_| Closed)?;
            self.0.flush().await.map_err(|_| Closed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], limit: usize) -> Vec<String> {
        // Three bytes at a time, so that every line is put together from pieces.
        let bytes = BufReader::with_capacity(3, text);
        let mut reader = LineReader { bytes, line: Vec::new(), limit, skipping: false };
        let mut found = Vec::new();
        loop {
            match reader.next().await {
                Line::Whole(line) => found.push(String::from_utf8(line).unwrap()),
                Line::TooLong => found.push("(too long)".to_owned()),
                Line::End => return found,
            }
        }
    }

    #[tokio::test]
    async fn lines_are_put_together_and_limited() {
        assert_eq!(lines(b"one\ntwo\n\nlast", 10).await, ["one", "two", "", "last"]);
        assert_eq!(lines(b"12345\n123456\n1\n", 5).await, ["12345", "(too long)", "1"]);
        assert_eq!(lines(b"1234567890123\n1\n", 5).await, ["(too long)", "1"]);
        assert_eq!(lines(b"1234567890", 5).await, ["(too long)"]);
        assert_eq!(lines(b"", 5).await, Vec::<String>::new());
    }
}
