//! What a long run holds, look by look, and whether that is more at the end than at the first look.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::holdings::Holdings;
use crate::processes::processes_with_marker;

/// How long nothing may change before the first look is taken. Idle threads end after ten seconds.
const CALM: Duration = Duration::from_secs(12);

/// How long a later look waits for what ends by itself.
const GUARD: Duration = Duration::from_secs(60);

/// How much more memory may be held at the end than at the first look, in bytes that were asked for; and how much more may
/// be resident in the second half than in the first, in KiB.
const HEAP_SLACK: usize = 256 << 10;
const MEMORY_SLACK: u64 = 8 << 10;

/// The looks of one run.
#[derive(Debug)]
pub struct Ledger {
    marker: (String, String),
    folder: Option<PathBuf>,
    looks: Vec<(u64, Look)>,
    waiting: Option<Waiting>,
}

/// What is held at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    holdings: Holdings,
    /// Processes with the run's marker, wherever they have gone.
    marked: usize,
    /// What lies in the run's folder for temporary files.
    files: usize,
    /// Bytes that were asked for and not given back.
    heap: usize,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    calm_since: Instant,
    last: Holdings,
}

impl Ledger {
    /// A ledger for a run whose processes all have `name=value` in their environment.
    #[must_use]
    pub fn new(name: &str, value: &str) -> Self {
        Self { marker: (name.to_owned(), value.to_owned()), folder: None, looks: Vec::new(), waiting: None }
    }

    /// The ledger that also counts what is in a folder.
    #[must_use]
    pub fn with_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Whether it is time to look: before the first look, when nothing has changed for a while; later, when no more is
    /// held than at the first one, or there is no use in waiting any longer. Ask again and again.
    pub fn is_calm(&mut self) -> bool {
        let (now, seen) = (Instant::now(), Holdings { memory: 0, ..Holdings::own() });
        let first = self.looks.first().map(|(_, look)| look.holdings);
        let waiting = self.waiting.get_or_insert(Waiting { since: now, calm_since: now, last: seen });
        if seen != waiting.last {
            (waiting.last, waiting.calm_since) = (seen, now);
        }
        let settled = match first {
            Some(first) => seen.children == 0 && seen.descriptors <= first.descriptors && seen.threads <= first.threads,
            None => waiting.calm_since.elapsed() >= CALM,
        };
        settled || waiting.since.elapsed() >= GUARD
    }

    /// Looks, and says what is held as a row of a table. `heap` is what the allocator has counted.
    pub fn look(&mut self, after: u64, heap: usize) -> String {
        self.waiting = None;
        let files = self.folder.as_ref().and_then(|folder| std::fs::read_dir(folder).ok()).map_or(0, Iterator::count);
        let marked = processes_with_marker(&self.marker.0, &self.marker.1).len();
        let look = Look { holdings: Holdings::own(), marked, files, heap };
        self.looks.push((after, look));
        let Holdings { zombies, descriptors, threads, memory, .. } = look.holdings;
        format!("| {after} | {marked} | {zombies} | {descriptors} | {threads} | {files} | {heap} | {memory} |")
    }

    /// The head of the table.
    #[must_use]
    pub fn head() -> &'static str {
        "| after | processes | zombies | descriptors | threads | temporary files | heap (bytes) | resident (KiB) |\n\
         |---|---|---|---|---|---|---|---|"
    }

    /// What the last look has more than the first one; nothing when all is well.
    #[must_use]
    pub fn left_behind(&self) -> String {
        let (Some((_, first)), Some((_, last))) = (self.looks.first(), self.looks.last()) else {
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
        // An allocator keeps some of what its busiest moment needed, or not; a leak makes the second half worse than the
        // first.
        let (half, rest) = self.looks.split_at(self.looks.len() / 2);
        let most = |looks: &[(u64, Look)]| looks.iter().map(|(_, look)| look.holdings.memory).max().unwrap_or_default();
        compare("most resident memory", most(half).max(before.memory), most(rest), MEMORY_SLACK);
        left
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Holdings, Ledger, Look};

    #[test]
    fn more_at_the_end_than_at_the_beginning_is_told() {
        let mut ledger = Ledger::new("HOOKRAIL_UNSET", "x");
        assert_eq!(ledger.left_behind(), "no measurement\n");
        ledger.looks.push((1, Look { heap: 1000, ..Look::default() }));
        assert_eq!(ledger.left_behind(), "");
        ledger.looks.push((2, Look { heap: 1_000_000, marked: 1, files: 2, ..Look::default() }));
        assert_eq!(
            ledger.left_behind(),
            "processes: 0 at first, 1 at last\ntemporary files: 0 at first, 2 at last\nheap: 1000 at first, 1000000 at last\n"
        );
    }

    #[test]
    fn more_resident_memory_in_the_second_half_is_told_and_a_little_more_is_not() {
        let told = |memory: [u64; 4]| {
            let mut ledger = Ledger::new("HOOKRAIL_UNSET", "x");
            for (number, memory) in (1..).zip(memory) {
                let holdings = Holdings { memory, ..Holdings::default() };
                ledger.looks.push((number, Look { holdings, ..Look::default() }));
            }
            ledger.left_behind()
        };
        assert_eq!(told([10_000, 19_000, 27_000, 12_000]), "");
        assert_eq!(told([10_000, 11_000, 19_193, 11_000]), "most resident memory: 11000 at first, 19193 at last\n");
    }
}
