//! Measures the resources that a long run holds, and whether it holds more at the end than at the first measurement.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::holdings::Holdings;
use crate::processes::processes_with_marker;

/// How long nothing may change before the first measurement. Idle threads end after ten seconds.
const CALM: Duration = Duration::from_secs(12);

/// How long a later measurement waits for processes and threads that end by themselves.
const GUARD: Duration = Duration::from_secs(60);

/// How much more memory may be allocated at the end than at the first measurement, in bytes; and how much more may be
/// resident in the second half than in the first, in KiB.
const HEAP_SLACK: usize = 256 << 10;
const MEMORY_SLACK: u64 = 8 << 10;

/// The measurements of one run.
#[derive(Debug)]
pub struct SoakLedger {
    marker: (String, String),
    folder: Option<PathBuf>,
    measurements: Vec<(u64, Measurement)>,
    waiting: Option<CalmWait>,
}

/// The resources at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Measurement {
    holdings: Holdings,
    /// Processes with the run's marker, in any group or session.
    marked: usize,
    /// Files in the run's folder for temporary files.
    files: usize,
    /// Bytes that are allocated.
    heap: usize,
}

#[derive(Debug)]
struct CalmWait {
    since: Instant,
    calm_since: Instant,
    last: Holdings,
}

impl SoakLedger {
    /// Creates a ledger for a run whose processes all have `name=value` in their environment.
    #[must_use]
    pub fn new(name: &str, value: &str) -> Self {
        Self { marker: (name.to_owned(), value.to_owned()), folder: None, measurements: Vec::new(), waiting: None }
    }

    /// Makes the ledger count the files in a folder too.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Whether it is time to measure: before the first measurement, when nothing has changed for a while; later, when no
    /// more is held than at the first one, or after a hang guard. Call it repeatedly.
    pub fn is_calm(&mut self) -> bool {
        let (now, seen) = (Instant::now(), Holdings { memory: 0, ..Holdings::of_this_process() });
        let first = self.measurements.first().map(|(_, measured)| measured.holdings);
        let waiting = self.waiting.get_or_insert(CalmWait { since: now, calm_since: now, last: seen });
        if seen != waiting.last {
            (waiting.last, waiting.calm_since) = (seen, now);
        }
        let settled = match first {
            Some(first) => seen.children == 0 && seen.descriptors <= first.descriptors && seen.threads <= first.threads,
            None => waiting.calm_since.elapsed() >= CALM,
        };
        settled || waiting.since.elapsed() >= GUARD
    }

    /// Measures, and returns the result as a row of a table. `heap` is the number of allocated bytes.
    pub fn measure(&mut self, after: u64, heap: usize) -> String {
        self.waiting = None;
        let files = self.folder.as_ref().and_then(|folder| std::fs::read_dir(folder).ok()).map_or(0, Iterator::count);
        let marked = processes_with_marker(&self.marker.0, &self.marker.1).len();
        let measured = Measurement { holdings: Holdings::of_this_process(), marked, files, heap };
        self.measurements.push((after, measured));
        let Holdings { zombies, descriptors, threads, memory, .. } = measured.holdings;
        format!("| {after} | {marked} | {zombies} | {descriptors} | {threads} | {files} | {heap} | {memory} |")
    }

    /// Returns the head of the table.
    #[must_use]
    pub fn head() -> &'static str {
        "| after | processes | zombies | descriptors | threads | temporary files | heap (bytes) | resident (KiB) |\n\
         |---|---|---|---|---|---|---|---|"
    }

    /// Returns what the last measurement has more than the first one; empty if nothing leaked.
    #[must_use]
    pub fn left_behind(&self) -> String {
        let (Some((_, first)), Some((_, last))) = (self.measurements.first(), self.measurements.last()) else {
            return "no measurement\n".to_owned();
        };
        let mut left = String::new();
        let mut compare = |what: &str, first: u64, last: u64, slack: u64| {
            if last > first + slack {
                let _ = writeln!(left, "{what}: {first} at first, {last} at last");
            }
        };
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let (before, after) = (first.holdings, last.holdings);
        compare("processes", 0, number(last.marked), 0);
        compare("children", 0, number(after.children), 0);
        compare("descriptors", number(before.descriptors), number(after.descriptors), 0);
        compare("threads", number(before.threads), number(after.threads), 0);
        compare("temporary files", 0, number(last.files), 0);
        compare("heap", number(first.heap), number(last.heap), number(HEAP_SLACK));
        // An allocator may keep memory of its busiest moment. A leak shows as more memory in the second half than in the
        // first.
        let (half, rest) = self.measurements.split_at(self.measurements.len() / 2);
        let most = |measurements: &[(u64, Measurement)]| {
            measurements.iter().map(|(_, measured)| measured.holdings.memory).max().unwrap_or_default()
        };
        compare("most resident memory", most(half).max(before.memory), most(rest), MEMORY_SLACK);
        left
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Holdings, Measurement, SoakLedger};

    #[test]
    fn more_at_the_end_than_at_the_beginning_is_told() {
        let mut ledger = SoakLedger::new("HOOKRAIL_UNSET", "x");
        assert_eq!(ledger.left_behind(), "no measurement\n");
        ledger.measurements.push((1, Measurement { heap: 1000, ..Measurement::default() }));
        assert_eq!(ledger.left_behind(), "");
        ledger.measurements.push((2, Measurement { heap: 1_000_000, marked: 1, files: 2, ..Measurement::default() }));
        assert_eq!(
            ledger.left_behind(),
            "processes: 0 at first, 1 at last\ntemporary files: 0 at first, 2 at last\nheap: 1000 at first, 1000000 at last\n"
        );
    }

    #[test]
    fn more_resident_memory_in_the_second_half_is_told_and_a_little_more_is_not() {
        let told = |memory: [u64; 4]| {
            let mut ledger = SoakLedger::new("HOOKRAIL_UNSET", "x");
            for (number, memory) in (1..).zip(memory) {
                let holdings = Holdings { memory, ..Holdings::default() };
                ledger.measurements.push((number, Measurement { holdings, ..Measurement::default() }));
            }
            ledger.left_behind()
        };
        assert_eq!(told([10_000, 19_000, 27_000, 12_000]), "");
        assert_eq!(told([10_000, 11_000, 19_193, 11_000]), "most resident memory: 11000 at first, 19193 at last\n");
    }
}
