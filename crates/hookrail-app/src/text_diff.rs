//! The difference between a granted text and the present one, line by line, with hidden characters escaped.

use std::fmt;
use std::io::Read as _;
use std::time::{Duration, Instant};

use hookrail::trust::{Digest, FileChange, FileState, FileTrustStore, GrantedFile};
use similar::{Algorithm, ChangeTag, capture_diff_slices_deadline, group_diff_ops};

use crate::path_display::PathDisplay;
use crate::text::one_line;

/// The number of unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// The size of the largest file that is compared. The store keeps no larger texts.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// How long the shortest difference is looked for. After that, old lines are shown first and then new ones.
const LONGEST_SEARCH: Duration = Duration::from_millis(500);

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
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (old, new) = (lines(before), lines(after));
    let deadline = Instant::now().checked_add(LONGEST_SEARCH);
    let mut rows = Vec::new();
    for group in group_diff_ops(capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline), CONTEXT) {
        if let Some(first) = group.first() {
            let (in_old, in_new) = (first.old_range().start + 1, first.new_range().start + 1);
            rows.push(DiffRow { sign: DiffSign::Place, text: format!("@@ -{in_old} +{in_new} @@") });
        }
        let changes = group.iter().flat_map(|step| step.iter_changes(old.as_slice(), new.as_slice()));
        rows.extend(changes.map(|change| DiffRow::new(sign_of(change.tag()), change.value())));
    }
    rows
}

fn sign_of(tag: ChangeTag) -> DiffSign {
    match tag {
        ChangeTag::Equal => DiffSign::Same,
        ChangeTag::Delete => DiffSign::Removed,
        ChangeTag::Insert => DiffSign::Added,
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
