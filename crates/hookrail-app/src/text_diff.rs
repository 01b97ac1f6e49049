//! The difference between a granted text and the present one, line by line, with hidden characters escaped.

use std::fmt;
use std::io::Read as _;

use crate::path_display::PathDisplay;
use crate::text::one_line;
use hookrail::trust::{Digest, FileChange, FileState, FileTrustStore, GrantedFile};

/// The number of unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// The size of the largest file that is compared. The store keeps no larger texts.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// The highest number of pairs of lines that are compared. For more, all old lines are shown first and then all new ones.
const MAX_PAIRS: usize = 4_000_000;

/// The texts of granted files, from the store and from the project.
pub struct GrantedTexts<'s> {
    store: Option<&'s FileTrustStore>,
    places: &'s PathDisplay,
}

impl<'s> GrantedTexts<'s> {
    pub fn new(store: Option<&'s FileTrustStore>, places: &'s PathDisplay) -> Self {
        Self { store, places }
    }

    /// Returns the difference of a file; none if one of the texts is not known. A file that a link of the project leads to
    /// outside of the project is not shown.
    pub fn difference_of(&self, file: &FileChange) -> Option<Vec<DiffRow>> {
        if self.places.leads_outside(&file.path) {
            return None;
        }
        let (FileState::Holds(before), FileState::Holds(after)) = (&file.before, &file.after) else { return None };
        let granted = GrantedFile::new(&file.path, before);
        let before = self.store?.granted_text(&granted)?;
        Some(difference(&before, &present_text(file, after)?))
    }
}

/// Reads a file; none if it no longer has this digest.
fn present_text(file: &FileChange, digest: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let opened = std::fs::symlink_metadata(file.path.canonicalize().ok()?).ok().filter(std::fs::Metadata::is_file);
    opened.and_then(|_| std::fs::File::open(&file.path).ok())?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let is_known = bytes.len() as u64 <= MAX_FILE_BYTES && Digest::of(&bytes).hex() == digest;
    if is_known { String::from_utf8(bytes).ok() } else { None }
}

/// The kind of a row of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffSign {
    Same,
    Removed,
    Added,
    /// The row names the lines at which the rows below begin.
    Place,
}

/// A row of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffRow {
    pub sign: DiffSign,
    text: String,
}

impl DiffRow {
    fn new(sign: DiffSign, line: &str) -> Self {
        let (text, end) = match line.strip_suffix('\n') {
            Some(text) => (text, ""),
            None => (line, "  (no newline at the end of the file)"),
        };
        Self { sign, text: format!("{}{end}", one_line(text)) }
    }
}

impl fmt::Display for DiffRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.sign {
            DiffSign::Same => " ",
            DiffSign::Removed => "-",
            DiffSign::Added => "+",
            DiffSign::Place => "",
        };
        write!(f, "{sign}{}", self.text)
    }
}

/// Returns the rows that differ, with some around them, as `diff -u` shows them.
pub fn difference(before: &str, after: &str) -> Vec<DiffRow> {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(before), lines(after));
    let steps = steps(&old, &new);
    let is_near = |at: usize| {
        let around = at.saturating_sub(CONTEXT)..(at + CONTEXT + 1).min(steps.len());
        steps.get(around).is_some_and(|near| near.iter().any(|(sign, _)| *sign != DiffSign::Same))
    };
    let mut rows = Vec::new();
    let (mut in_old, mut in_new, mut last) = (1, 1, None);
    for (at, (sign, line)) in steps.iter().enumerate() {
        if is_near(at) {
            if last.is_none_or(|last| last + 1 != at) {
                rows.push(DiffRow { sign: DiffSign::Place, text: format!("@@ -{in_old} +{in_new} @@") });
            }
            rows.push(DiffRow::new(*sign, line));
            last = Some(at);
        }
        in_old += usize::from(*sign != DiffSign::Added);
        in_new += usize::from(*sign != DiffSign::Removed);
    }
    rows
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns every line of both texts in order, with its sign.
fn steps<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(DiffSign, &'t str)> {
    let same_at_start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (head, old) = old.split_at(same_at_start);
    let (_, new) = new.split_at(same_at_start);
    let same_at_end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, tail) = old.split_at(old.len() - same_at_end);
    let (new, _) = new.split_at(new.len() - same_at_end);
    let mut steps: Vec<_> = head.iter().map(|line| (DiffSign::Same, *line)).collect();
    steps.extend(common_subsequence_steps(old, new));
    steps.extend(tail.iter().map(|line| (DiffSign::Same, *line)));
    steps
}

/// Returns the lines of two texts that begin and end differently, by their longest common subsequence unless they are too
/// long.
fn common_subsequence_steps<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(DiffSign, &'t str)> {
    let width = new.len() + 1;
    if old.len().saturating_mul(width) > MAX_PAIRS {
        let removed = old.iter().map(|line| (DiffSign::Removed, *line));
        return removed.chain(new.iter().map(|line| (DiffSign::Added, *line))).collect();
    }
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    let length = |lengths: &[u32], row: usize, column: usize| lengths.get(row * width + column).copied().unwrap_or(0);
    for (row, old) in old.iter().enumerate().rev() {
        for (column, new) in new.iter().enumerate().rev() {
            let best = if old == new {
                length(&lengths, row + 1, column + 1) + 1
            } else {
                length(&lengths, row + 1, column).max(length(&lengths, row, column + 1))
            };
            if let Some(place) = lengths.get_mut(row * width + column) {
                *place = best;
            }
        }
    }
    let (mut row, mut column, mut steps) = (0, 0, Vec::new());
    loop {
        match (old.get(row), new.get(column)) {
            (Some(line), Some(other)) if line == other => {
                steps.push((DiffSign::Same, *line));
                (row, column) = (row + 1, column + 1);
            }
            (Some(line), other)
                if other.is_none() || length(&lengths, row + 1, column) >= length(&lengths, row, column + 1) =>
            {
                steps.push((DiffSign::Removed, *line));
                row += 1;
            }
            (_, Some(line)) => {
                steps.push((DiffSign::Added, *line));
                column += 1;
            }
            (_, None) => return steps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::difference;

    fn shown(before: &str, after: &str) -> String {
        difference(before, after).iter().map(|row| format!("{row}\n")).collect()
    }

    #[test]
    fn changed_lines_are_shown_with_those_around_them() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let after = before.replace("6\n", "six\n").replace("12\n", "12");
        assert_eq!(
            shown(before, &after),
            "@@ -3 +3 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n 10\n 11\n-12\n+12  (no newline at the end of the file)\n"
        );
        assert_eq!(shown(before, before), "");
        assert_eq!(shown("", "a\n"), "@@ -1 +1 @@\n+a\n");
        assert_eq!(shown("a\nb\nc\n", "b\nc\nd\n"), "@@ -1 +1 @@\n-a\n b\n c\n+d\n");
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(shown("a\n", "a\u{200b}\r\n"), "@@ -1 +1 @@\n-a\n+a\\u{200b}\\r\n");
    }

    #[test]
    fn very_different_texts_are_shown_one_after_the_other() {
        let before = "x\n".repeat(3_000);
        let after = "y\n".repeat(3_000);
        assert_eq!(difference(&before, &after).len(), 6_001);
    }
}
