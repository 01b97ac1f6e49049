//! The records that the page can show: a short row of each in memory, its line in a temporary file.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use aho_corasick::AhoCorasick;
use tokio::sync::watch;

use crate::JournalLines;
use crate::row::row_of;
use crate::spool::Spool;

/// How often the follower looks for new lines.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// How many lines the follower adds before it tells readers.
const PART: usize = 2_000;

/// How many blocks the kept records are divided into. The oldest block is removed as a whole.
const BLOCKS: usize = 8;

/// The records, each with a number that counts from zero in the order of arrival.
#[derive(Debug)]
pub(crate) struct Feed {
    kept: Mutex<Kept>,
    /// The number of the next record, for readers that wait for it.
    count: watch::Sender<u64>,
    last: usize,
}

#[derive(Debug, Default)]
struct Kept {
    blocks: VecDeque<Block>,
    next: u64,
}

#[derive(Debug)]
struct Block {
    first: u64,
    rows: Vec<Box<str>>,
    lines: Spool,
}

impl Block {
    /// The number behind its last record.
    fn end(&self) -> u64 {
        self.first + self.rows.len() as u64
    }
}

/// What a search has found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SearchResult {
    pub(crate) found: Vec<u64>,
    /// The records before this number were looked at.
    pub(crate) end: u64,
}

/// A part of the rows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RowPage {
    /// A JSON array.
    pub(crate) rows: String,
    /// The number of the first row that is kept.
    pub(crate) first: u64,
    /// The number from which the next part begins.
    pub(crate) next: u64,
    /// The number that the next record will get.
    pub(crate) end: u64,
}

impl Feed {
    pub(crate) fn new(last: usize) -> Self {
        Self { kept: Mutex::default(), count: watch::Sender::new(0), last }
    }

    /// How many records are served.
    pub(crate) fn last(&self) -> usize {
        self.last
    }

    /// Adds a line, or what is said about a line that cannot be read. Readers are told by [`Feed::announce`].
    pub(crate) fn push(&self, line: &Result<String, String>) {
        let mut kept = self.kept();
        let number = kept.next;
        let most = self.last.div_ceil(BLOCKS);
        if kept.blocks.back().is_none_or(|block| block.rows.len() >= most) {
            kept.blocks.push_back(Block { first: number, rows: Vec::new(), lines: Spool::default() });
        }
        if kept.blocks.len() > BLOCKS + 1 {
            kept.blocks.pop_front();
        }
        if let Some(block) = kept.blocks.back_mut() {
            let row = match block.lines.push(line.as_deref().unwrap_or("null")) {
                Ok(()) => row_of(number, line),
                // The disk may be full; the page says so in the place of the record.
                Err(error) => row_of(number, &Err(format!("the record cannot be kept: {error}"))),
            };
            block.rows.push(row.into_boxed_str());
        }
        kept.next = number + 1;
    }

    /// Wakes readers that wait for records.
    pub(crate) fn announce(&self) {
        let next = self.kept().next;
        self.count.send_if_modified(|count| std::mem::replace(count, next) != next);
    }

    /// Reports the number of the next record whenever it changes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    /// At most this many rows, from that number on.
    pub(crate) fn rows(&self, from: u64, most: usize) -> RowPage {
        let kept = self.kept();
        let first = self.first(&kept);
        let mut next = from.max(first);
        let mut rows = String::from("[");
        let mut left = most;
        for block in &kept.blocks {
            let skip = usize::try_from(next.saturating_sub(block.first)).unwrap_or(usize::MAX);
            for row in block.rows.iter().skip(skip).take(left) {
                if rows.len() > 1 {
                    rows.push(',');
                }
                rows.push_str(row);
                left -= 1;
                next += 1;
            }
        }
        rows.push(']');
        RowPage { rows, first, next, end: kept.next }
    }

    /// The line of a record, if a record of that number is still kept.
    pub(crate) fn line(&self, number: u64) -> io::Result<Option<String>> {
        let mut kept = self.kept();
        if number < self.first(&kept) {
            return Ok(None);
        }
        let Some(block) = kept.blocks.iter_mut().rev().find(|block| block.first <= number) else { return Ok(None) };
        match usize::try_from(number - block.first) {
            Ok(index) => block.lines.line(index),
            Err(_) => Ok(None),
        }
    }

    /// The numbers of the records that contain a text anywhere, from that number on, without regard to the case of ASCII
    /// letters.
    pub(crate) fn search(&self, text: &str, from: u64) -> io::Result<SearchResult> {
        // The lines are JSON, in which a quotation mark has another form.
        let quoted = serde_json::to_string(text).unwrap_or_default();
        let needle = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
        let finder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build([needle])
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let (from, end) = {
            let kept = self.kept();
            (from.max(self.first(&kept)), kept.next)
        };
        let mut found = Vec::new();
        let mut next = from;
        // One block at a time, so that records are added and read in between. What is added meanwhile is left to the next
        // search, so that every record before the end was looked at.
        while next < end {
            let mut kept = self.kept();
            let Some(block) = kept.blocks.iter_mut().find(|block| block.end() > next) else { break };
            let first = block.first;
            block.lines.for_each(|index, line| {
                let number = first + index as u64;
                if (next..end).contains(&number) && finder.is_match(line) {
                    found.push(number);
                }
            })?;
            next = block.end();
        }
        Ok(SearchResult { found, end })
    }

    /// The number of the first record that is served. Whole blocks are removed, so the oldest block may hold older ones.
    fn first(&self, kept: &Kept) -> u64 {
        let oldest = kept.blocks.front().map_or(kept.next, |block| block.first);
        oldest.max(kept.next.saturating_sub(self.last as u64))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What a panicking reader left is whole: every change is made after everything that can fail.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the follower when it is dropped.
#[derive(Debug)]
pub(crate) struct Follower(#[expect(dead_code, reason = "dropping it tells the thread")] mpsc::Sender<()>);

/// Adds all lines, and then those that are appended, on a thread of its own.
pub(crate) fn follow(mut lines: JournalLines, feed: &Arc<Feed>) -> io::Result<Follower> {
    let (alive, ended) = mpsc::channel::<()>();
    let feed = Arc::clone(feed);
    let is_over = move |wait: Duration| !matches!(ended.recv_timeout(wait), Err(mpsc::RecvTimeoutError::Timeout));
    let body = move || {
        loop {
            // In parts, so that the page shows the first records while the others are being read.
            let mut part = 0;
            for line in lines.by_ref().take(PART) {
                feed.push(&line);
                part += 1;
            }
            feed.announce();
            let wait = if part == PART { Duration::ZERO } else { LOOK_INTERVAL };
            if is_over(wait) {
                return;
            }
        }
    };
    std::thread::Builder::new().name("hookrail-inspect".to_owned()).spawn(body)?;
    Ok(Follower(alive))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed_with(count: u64, last: usize) -> Feed {
        let feed = Feed::new(last);
        for number in 0..count {
            let line = format!(r#"{{"seq":{number},"kind":"fired","input":{{"text":"say \"N{number}\""}}}}"#);
            feed.push(&Ok(line));
        }
        feed
    }

    #[test]
    fn rows_come_in_parts_and_lines_by_number() {
        let feed = feed_with(100, 1_000);
        let page = feed.rows(0, 60);
        assert_eq!((page.first, page.next, page.end), (0, 60, 100));
        let rest = feed.rows(page.next, 60);
        assert_eq!((rest.next, rest.end), (100, 100));
        assert!(rest.rows.starts_with(r#"[{"n":60,"#), "{}", rest.rows);
        assert!(feed.line(77).unwrap().unwrap().contains(r#""seq":77"#));
        assert_eq!(feed.line(100).unwrap(), None);
    }

    #[test]
    fn exactly_the_last_records_are_served() {
        for last in [1_u64, 3, 8, 10, 80, 81] {
            let feed = feed_with(1_000, usize::try_from(last).unwrap());
            let page = feed.rows(0, 10_000);
            assert_eq!((page.end - page.first, page.next), (last, 1_000), "{last}");
            assert_eq!(page.rows.matches(r#""n":"#).count() as u64, last, "{last}");
            assert_eq!(feed.line(999 - last).unwrap(), None, "{last}");
            assert!(feed.line(1_000 - last).unwrap().is_some(), "{last}");
            assert_eq!(feed.search("say", 0).unwrap().found, Vec::from_iter(1_000 - last..1_000), "{last}");
        }
    }

    #[test]
    fn a_search_looks_into_every_field_and_ignores_case() {
        let feed = feed_with(100, 1_000);
        assert_eq!(feed.search("say \"n42\"", 0).unwrap(), SearchResult { found: vec![42], end: 100 });
        assert_eq!(feed.search("nothing like it", 0).unwrap().found, [0; 0]);
    }

    #[test]
    fn a_search_goes_on_where_the_one_before_it_ended() {
        let feed = feed_with(10, 1_000);
        let before = feed.search("say", 8).unwrap();
        assert_eq!(before, SearchResult { found: vec![8, 9], end: 10 });
        feed.push(&Ok(r#"{"seq":10,"kind":"fired","session":"say"}"#.to_owned()));
        assert_eq!(feed.search("say", before.end).unwrap(), SearchResult { found: vec![10], end: 11 });
    }

    #[test]
    fn a_line_that_cannot_be_read_has_a_row() {
        let feed = Feed::new(10);
        feed.push(&Err("2026-11-16:7: no record".to_owned()));
        feed.push(&Ok("not json".to_owned()));
        let rows = feed.rows(0, 10).rows;
        assert_eq!(rows.matches(r#""kind":"unreadable""#).count(), 2, "{rows}");
    }
}
