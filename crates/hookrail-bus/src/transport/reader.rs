//! Reads lines and keeps at most one of them.
//!
//! What is over the limit is skipped up to its end, and only the name of the message is looked for in it.

use std::io::BufRead as _;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::time::{Instant, timeout_at};

use super::Pending;
use crate::budget::{Budget, Reservation, SHORT_LINE, Weight};
use crate::wire::NameScanner;

/// What is read at a time.
const CHUNK: usize = 64 * 1024;

/// The most memory that is kept for the next line.
const MOST_REUSED: usize = 2 * CHUNK;

pub(super) enum Line {
    Whole(Vec<u8>),
    /// It has more bytes than the limit; the name of its message, if the line shows it.
    TooLong(Option<String>),
    /// Nothing more of it came for too long. Nothing is read after this.
    Unfinished(Option<String>),
    End,
}

pub(super) struct LineReader<R> {
    bytes: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    state: State,
    budget: Option<SharedBudget>,
    weight: Weight,
}

#[derive(Debug)]
enum State {
    /// The line is kept.
    Keeping,
    /// The line is too long, and its name is not known yet.
    Naming(NameScanner),
    /// The line was reported as too long.
    Skipping,
    /// The other side did not finish a line.
    GivenUp,
}

/// The reservation for the line that is being read.
struct SharedBudget {
    budget: Budget,
    patience: Duration,
    /// Kept when the future that waits for it is dropped, so that the line does not lose its place in the queue.
    asked: Option<Pending<'static, Reservation>>,
    held: Option<Reservation>,
    /// When the line must have grown, so that a reservation is not held for a client that sends nothing.
    until: Instant,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(reader: R, limit: usize, budget: Option<(Budget, Duration)>) -> Self {
        let budget = budget.map(|(budget, patience)| SharedBudget {
            budget,
            patience,
            asked: None,
            held: None,
            until: Instant::now(),
        });
        let bytes = BufReader::with_capacity(CHUNK, reader);
        Self { bytes, line: Vec::new(), limit, state: State::Keeping, budget, weight: Weight::default() }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// What the line that was read last occupies.
    pub(super) fn take_weight(&mut self) -> Weight {
        std::mem::take(&mut self.weight)
    }

    /// Takes the memory of a line that was read for the next one, unless it is much. Memory that is given back and asked for
    /// again has to be made anew, page by page.
    pub(super) fn reuse(&mut self, mut line: Vec<u8>) {
        if line.capacity() <= MOST_REUSED {
            line.clear();
            self.line = line;
        }
    }

    /// The next line. All progress is kept in `self`, so the future may be dropped at any time.
    pub(super) async fn next(&mut self) -> Line {
        loop {
            if matches!(self.state, State::GivenUp) {
                return Line::End;
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
                    let name = NameScanner::name_in(&self.line);
                    self.forget();
                    self.state = State::GivenUp;
                    return Line::Unfinished(name);
                }
            };
            let end = line_end(chunk);
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let used = part.len() + usize::from(end.is_some());
            let length = self.line.len() + part.len();
            if matches!(self.state, State::Keeping)
                && length > SHORT_LINE
                && let Some(budget) = self.budget.as_mut().filter(|budget| budget.held.is_none())
            {
                // The piece stays in the reader's buffer, so it is found again afterwards.
                budget.hold(self.limit).await;
                continue;
            }
            let line = match &mut self.state {
                State::Keeping if length <= self.limit => {
                    if end.is_some() {
                        self.line.reserve_exact(part.len());
                    }
                    self.line.extend_from_slice(part);
                    end.map(|_| Line::Whole(std::mem::take(&mut self.line)))
                }
                State::Keeping => {
                    let mut scanner = NameScanner::default();
                    let is_named = scanner.scan(&self.line) || scanner.scan(part);
                    self.line = Vec::new();
                    self.state = State::Naming(scanner);
                    (is_named || end.is_some()).then_some(Line::TooLong(None))
                }
                State::Naming(scanner) => (scanner.scan(part) || end.is_some()).then_some(Line::TooLong(None)),
                State::Skipping | State::GivenUp => None,
            };
            self.bytes.consume(used);
            if let Some(line) = self.complete(line, end.is_some()) {
                return line;
            }
        }
    }

    /// The state after a piece of a line, and the line if there is something to report.
    fn complete(&mut self, line: Option<Line>, is_end: bool) -> Option<Line> {
        if let Some(budget) = &mut self.budget {
            budget.until = Instant::now() + budget.patience;
        }
        let line = match line {
            Some(Line::TooLong(_)) => {
                self.forget();
                let State::Naming(scanner) = std::mem::replace(&mut self.state, State::Skipping) else { return None };
                Some(Line::TooLong(scanner.into_name()))
            }
            Some(Line::Whole(line)) => {
                self.weight = Weight { bytes: line.len(), reservation: None };
                if let Some(mut held) = self.budget.as_mut().and_then(|budget| budget.held.take()) {
                    held.shrink(line.len());
                    self.weight.reservation = Some(held);
                }
                Some(Line::Whole(line))
            }
            other => other,
        };
        if is_end {
            self.state = State::Keeping;
        }
        line
    }

    /// A last line without an end is a line; one that was cut off by an error is not.
    fn last(&mut self, is_whole: bool) -> Line {
        let line = match &self.state {
            State::Keeping if is_whole && !self.line.is_empty() => Some(Line::Whole(std::mem::take(&mut self.line))),
            State::Naming(_) => Some(Line::TooLong(None)),
            State::Keeping | State::Skipping | State::GivenUp => None,
        };
        self.complete(line, false).unwrap_or_else(|| {
            self.forget();
            Line::End
        })
    }

    fn forget(&mut self) {
        self.line = Vec::new();
        if let Some(budget) = &mut self.budget {
            (budget.asked, budget.held) = (None, None);
        }
    }
}

/// Where the line in a chunk ends. The readers of the standard library look at many bytes at a time; a loop here would
/// take longer for a long line than reading it does.
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
                Line::Whole(line) => found.push(String::from_utf8(line).unwrap()),
                Line::TooLong(name) => found.push(format!("(too long: {})", name.as_deref().unwrap_or("?"))),
                Line::Unfinished(_) => found.push("(unfinished)".to_owned()),
                Line::End => return found,
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
        let budget = Budget::new(4 * SHORT_LINE);
        let patience = Duration::from_millis(100);
        let mut all = budget.reserve(4 * SHORT_LINE).await;
        let (mut near, far) = tokio::io::duplex(16 * SHORT_LINE);
        let mut reader = LineReader::new(far, 3 * SHORT_LINE, Some((budget.clone(), patience)));
        let text = format!("{}\n", "x".repeat(2 * SHORT_LINE));
        tokio::io::AsyncWriteExt::write_all(&mut near, text.as_bytes()).await.unwrap();
        assert!(tokio::time::timeout(patience * 2, reader.next()).await.is_err(), "there is no room yet");
        all.shrink(0);
        let Line::Whole(line) = reader.next().await else { panic!("a line") };
        assert_eq!(line.len(), 2 * SHORT_LINE);
        let weight = reader.take_weight();
        assert!(weight.bytes == 2 * SHORT_LINE && weight.reservation.is_some());
        drop(weight);
        // Half a line, and nothing more.
        let half = format!("{{\"payload\":{{\"correlationId\":\"c\",\"input\":\"{}", "x".repeat(2 * SHORT_LINE));
        tokio::io::AsyncWriteExt::write_all(&mut near, half.as_bytes()).await.unwrap();
        let Line::Unfinished(name) = reader.next().await else { panic!("it waits for the rest") };
        assert_eq!(name.as_deref(), Some("c"));
        assert!(matches!(reader.next().await, Line::End));
        drop(budget.reserve(4 * SHORT_LINE).await);
    }
}
