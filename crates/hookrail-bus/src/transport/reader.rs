//! Reads lines and keeps at most one of them in memory.
//!
//! A line over the limit is skipped to its end, and only searched for its correlation id.

use std::io::BufRead as _;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::time::{Instant, timeout_at};

use super::Pending;
use crate::budget::{MessageWeight, QueueBudget, Reservation, SHORT_LINE};
use crate::correlation_id::CorrelationIdScanner;

/// The size of one read in bytes.
const CHUNK: usize = 64 * 1024;

/// The most memory that is kept for the next line.
const MOST_REUSED: usize = 2 * CHUNK;

pub(super) enum ReadLine {
    Whole(Vec<u8>),
    /// The line has more bytes than the limit; the correlation id, if the line shows one.
    TooLong(Option<String>),
    /// The rest of the line did not arrive in time. Nothing is read after this.
    Unfinished(Option<String>),
    End,
}

pub(super) struct LineReader<R> {
    bytes: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    state: LineState,
    budget: Option<SharedBudget>,
    weight: MessageWeight,
}

#[derive(Debug)]
enum LineState {
    /// The line is kept.
    Keeping,
    /// The line is too long, and its correlation id is not known yet.
    Naming(CorrelationIdScanner),
    /// The line was reported as too long.
    Skipping,
    /// The other side did not finish a line.
    GivenUp,
}

/// The reservation for the line that is being read.
struct SharedBudget {
    budget: QueueBudget,
    patience: Duration,
    /// Kept if the future that waits for it is dropped, so that the line does not lose its place in the queue.
    asked: Option<Pending<'static, Reservation>>,
    held: Option<Reservation>,
    /// The deadline for the next bytes of the line, so that a client that sends nothing does not keep a reservation.
    until: Instant,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(reader: R, limit: usize, budget: Option<(QueueBudget, Duration)>) -> Self {
        let budget = budget.map(|(budget, patience)| SharedBudget {
            budget,
            patience,
            asked: None,
            held: None,
            until: Instant::now(),
        });
        let bytes = BufReader::with_capacity(CHUNK, reader);
        Self { bytes, line: Vec::new(), limit, state: LineState::Keeping, budget, weight: MessageWeight::default() }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the memory that the last line occupies.
    pub(super) fn take_weight(&mut self) -> MessageWeight {
        std::mem::take(&mut self.weight)
    }

    /// Keeps the memory of a line for the next one, unless it is large. Memory that is freed and allocated again has to be
    /// mapped again, page by page.
    pub(super) fn reuse(&mut self, mut line: Vec<u8>) {
        if line.capacity() <= MOST_REUSED {
            line.clear();
            self.line = line;
        }
    }

    /// Returns the next line. All progress is kept in `self`, so the future may be dropped at any time.
    pub(super) async fn next(&mut self) -> ReadLine {
        loop {
            if matches!(self.state, LineState::GivenUp) {
                return ReadLine::End;
            }
            let until = self.budget.as_ref().filter(|budget| budget.held.is_some()).map(|budget| budget.until);
            let filled = match until {
                Some(until) => timeout_at(until, self.bytes.fill_buf()).await,
                None => Ok(self.bytes.fill_buf().await),
            };
            let chunk = match filled {
                Ok(Ok(chunk)) if !chunk.is_empty() => chunk,
                Ok(ended) => {
                    let is_whole = ended.is_ok();
                    return self.last(is_whole);
                }
                Err(_late) => {
                    let name = CorrelationIdScanner::id_in(&self.line);
                    self.forget();
                    self.state = LineState::GivenUp;
                    return ReadLine::Unfinished(name);
                }
            };
            let end = line_end(chunk);
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let used = part.len() + usize::from(end.is_some());
            let length = self.line.len() + part.len();
            if matches!(self.state, LineState::Keeping)
                && length > SHORT_LINE
                && let Some(budget) = self.budget.as_mut().filter(|budget| budget.held.is_none())
            {
                // Nothing was consumed, so the same chunk is read again afterwards.
                budget.hold(self.limit).await;
                continue;
            }
            let line = match &mut self.state {
                LineState::Keeping if length <= self.limit => {
                    if end.is_some() {
                        self.line.reserve_exact(part.len());
                    }
                    self.line.extend_from_slice(part);
                    end.map(|_| ReadLine::Whole(std::mem::take(&mut self.line)))
                }
                LineState::Keeping => {
                    let mut scanner = CorrelationIdScanner::default();
                    let is_named = scanner.scan(&self.line) || scanner.scan(part);
                    self.line = Vec::new();
                    self.state = LineState::Naming(scanner);
                    (is_named || end.is_some()).then_some(ReadLine::TooLong(None))
                }
                LineState::Naming(scanner) => (scanner.scan(part) || end.is_some()).then_some(ReadLine::TooLong(None)),
                LineState::Skipping | LineState::GivenUp => None,
            };
            self.bytes.consume(used);
            if let Some(line) = self.complete(line, end.is_some()) {
                return line;
            }
        }
    }

    /// Updates the state after a piece of a line; returns the line if it is complete or must be reported.
    fn complete(&mut self, line: Option<ReadLine>, is_end: bool) -> Option<ReadLine> {
        if let Some(budget) = &mut self.budget {
            budget.until = Instant::now() + budget.patience;
        }
        let line = match line {
            Some(ReadLine::TooLong(_)) => {
                self.forget();
                let LineState::Naming(scanner) = std::mem::replace(&mut self.state, LineState::Skipping) else {
                    return None;
                };
                Some(ReadLine::TooLong(scanner.into_id()))
            }
            Some(ReadLine::Whole(line)) => {
                self.weight = MessageWeight { bytes: line.len(), reservation: None };
                if let Some(mut held) = self.budget.as_mut().and_then(|budget| budget.held.take()) {
                    held.shrink(line.len());
                    self.weight.reservation = Some(held);
                }
                Some(ReadLine::Whole(line))
            }
            other => other,
        };
        if is_end {
            self.state = LineState::Keeping;
        }
        line
    }

    /// Handles the end of the stream. A last line without a line end is valid, unless an error cut it off.
    fn last(&mut self, is_whole: bool) -> ReadLine {
        let line = match &self.state {
            LineState::Keeping if is_whole && !self.line.is_empty() => {
                Some(ReadLine::Whole(std::mem::take(&mut self.line)))
            }
            LineState::Naming(_) => Some(ReadLine::TooLong(None)),
            LineState::Keeping | LineState::Skipping | LineState::GivenUp => None,
        };
        self.complete(line, false).unwrap_or_else(|| {
            self.forget();
            ReadLine::End
        })
    }

    fn forget(&mut self) {
        self.line = Vec::new();
        if let Some(budget) = &mut self.budget {
            (budget.asked, budget.held) = (None, None);
        }
    }
}

/// Returns where the line in a chunk ends. The standard library searches many bytes at a time; a loop here would take longer
/// for a long line than reading it.
fn line_end(mut chunk: &[u8]) -> Option<usize> {
    let whole = chunk;
    let skipped = chunk.skip_until(b'\n').unwrap_or_default();
    whole.get(..skipped)?.strip_suffix(b"\n").map(<[u8]>::len)
}

impl SharedBudget {
    /// Waits for the reservation of the line that is being read.
    async fn hold(&mut self, limit: usize) {
        let held = self.asked.get_or_insert_with(|| self.budget.reserve(limit)).await;
        self.asked = None;
        self.held = Some(held);
        self.until = Instant::now() + self.patience;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], limit: usize) -> Vec<String> {
        let mut reader = LineReader::new(text, limit, None);
        // Three bytes at a time, so that every line is put together from pieces.
        reader.bytes = BufReader::with_capacity(3, text);
        let mut found = Vec::new();
        loop {
            match reader.next().await {
                ReadLine::Whole(line) => found.push(String::from_utf8(line).unwrap()),
                ReadLine::TooLong(name) => found.push(format!("(too long: {})", name.as_deref().unwrap_or("?"))),
                ReadLine::Unfinished(_) => found.push("(unfinished)".to_owned()),
                ReadLine::End => return found,
            }
        }
    }

    #[tokio::test]
    async fn lines_are_put_together_and_limited() {
        assert_eq!(lines(b"one\ntwo\n\nlast", 10).await, ["one", "two", "", "last"]);
        assert_eq!(lines(b"12345\n123456\n1\n", 5).await, ["12345", "(too long: ?)", "1"]);
        assert_eq!(lines(b"1234567890123\n1\n", 5).await, ["(too long: ?)", "1"]);
        assert_eq!(lines(b"1234567890", 5).await, ["(too long: ?)"]);
        assert_eq!(lines(b"", 5).await, Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_keeps_its_name_wherever_it_stands() {
        let early = br#"{"payload":{"correlationId":"early","input":"xxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}"#;
        let late = br#"{"payload":{"input":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","correlationId":"late"}}"#;
        for limit in [5, 40, 70] {
            let text = [early.as_slice(), b"\n", late, b"\nnext\n", late].concat();
            assert_eq!(
                lines(&text, limit).await,
                ["(too long: early)", "(too long: late)", "next", "(too long: late)"],
                "{limit}"
            );
        }
    }

    #[tokio::test]
    async fn a_long_line_waits_for_its_reservation_and_gives_it_back_when_nothing_comes() {
        let budget = QueueBudget::new(4 * SHORT_LINE);
        let patience = Duration::from_millis(100);
        let mut all = budget.reserve(4 * SHORT_LINE).await;
        let (mut near, far) = tokio::io::duplex(16 * SHORT_LINE);
        let mut reader = LineReader::new(far, 3 * SHORT_LINE, Some((budget.clone(), patience)));
        let text = format!("{}\n", "x".repeat(2 * SHORT_LINE));
        tokio::io::AsyncWriteExt::write_all(&mut near, text.as_bytes()).await.unwrap();
        assert!(tokio::time::timeout(patience * 2, reader.next()).await.is_err(), "there is no room yet");
        all.shrink(0);
        let ReadLine::Whole(line) = reader.next().await else { panic!("a line") };
        assert_eq!(line.len(), 2 * SHORT_LINE);
        let weight = reader.take_weight();
        assert!(weight.bytes == 2 * SHORT_LINE && weight.reservation.is_some());
        drop(weight);
        // Half a line, and nothing more.
        let half = format!("{{\"payload\":{{\"correlationId\":\"c\",\"input\":\"{}", "x".repeat(2 * SHORT_LINE));
        tokio::io::AsyncWriteExt::write_all(&mut near, half.as_bytes()).await.unwrap();
        let ReadLine::Unfinished(name) = reader.next().await else { panic!("it waits for the rest") };
        assert_eq!(name.as_deref(), Some("c"));
        assert!(matches!(reader.next().await, ReadLine::End));
        drop(budget.reserve(4 * SHORT_LINE).await);
    }
}
