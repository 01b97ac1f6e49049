//! Combines replacements of one result. A patch is one call with one result, and hooks are asked about each of its files: each
//! of them may remove something else from the same text.

/// What the model gets if replacements cannot be combined.
const WITHHELD: &str = "hooks replaced this result in ways that cannot be combined, so it is withheld";

/// More comparisons than this are not made: the agent waits.
const MAX_COMPARISONS: usize = 4_000_000;

/// A text with the changes of two replacements of it. A word of the original is kept if both keep it, and what either adds is
/// added. What one of them removes does not come back through the other.
pub(super) fn combined(original: &str, first: &str, second: &str) -> String {
    if first == second {
        return first.to_owned();
    }
    let words = words(original);
    let edits = Edit::between(&words, first).zip(Edit::between(&words, second));
    let text = edits.and_then(|(one, other)| {
        let text = one.with(&other, &words);
        let is_back =
            |edit: &Edit, own: &str| edit.removed(&words).iter().any(|run| text.contains(run) && !own.contains(run));
        (!is_back(&one, first) && !is_back(&other, second)).then_some(text)
    });
    text.unwrap_or_else(|| WITHHELD.to_owned())
}

/// How a text differs from the original, word by word.
struct Edit {
    /// Whether each word of the original is kept.
    kept: Vec<bool>,
    /// What is added before each word of the original, and at its end.
    added: Vec<String>,
}

impl Edit {
    /// The smallest edit that makes the new text. Nothing if the texts are too long to compare.
    fn between(old: &[&str], text: &str) -> Option<Self> {
        let new = words(text);
        if old.len().saturating_mul(new.len()) > MAX_COMPARISONS {
            return None;
        }
        let common = common_lengths(old, &new);
        let length = |i: usize, j: usize| common.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
        let mut edit = Self { kept: vec![false; old.len()], added: vec![String::new(); old.len() + 1] };
        let (mut i, mut j, mut after_kept) = (0, 0, 0);
        loop {
            match (old.get(i), new.get(j)) {
                (None, None) => return Some(edit),
                (Some(word), Some(same)) if word == same => {
                    edit.kept.iter_mut().skip(i).take(1).for_each(|kept| *kept = true);
                    (i, j) = (i + 1, j + 1);
                    after_kept = i;
                }
                (word, Some(added)) if word.is_none() || length(i, j + 1) >= length(i + 1, j) => {
                    edit.added.iter_mut().skip(after_kept).take(1).for_each(|text| text.push_str(added));
                    j += 1;
                }
                (Some(_), _) | (None, Some(_)) => i += 1,
            }
        }
    }

    fn with(&self, other: &Self, words: &[&str]) -> String {
        let mut text = String::new();
        for (index, (own, others)) in self.added.iter().zip(&other.added).enumerate() {
            text.push_str(own);
            if own != others {
                text.push_str(if own.is_empty() || others.is_empty() { "" } else { " " });
                text.push_str(others);
            }
            let is_kept = |edit: &Self| edit.kept.get(index).copied().unwrap_or(false);
            if is_kept(self) && is_kept(other) {
                text.push_str(words.get(index).copied().unwrap_or_default());
            }
        }
        text
    }

    /// The pieces of the original that are not kept.
    fn removed(&self, words: &[&str]) -> Vec<String> {
        let mut runs = vec![String::new()];
        for (word, kept) in words.iter().zip(&self.kept) {
            match runs.last_mut() {
                Some(run) if !kept => run.push_str(word),
                _ => runs.push(String::new()),
            }
        }
        runs.retain(|run| !run.trim().is_empty());
        runs
    }
}

/// The length of the longest common sequence of the words from each position on.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut rows = vec![vec![0; new.len() + 1]];
    for word in old.iter().rev() {
        let below = rows.last().map_or(&[][..], Vec::as_slice);
        let mut row = vec![0];
        for (column, other) in new.iter().enumerate().rev() {
            let at = |column: usize| below.get(column).copied().unwrap_or(0);
            let longest =
                if word == other { at(column + 1) + 1 } else { at(column).max(row.last().copied().unwrap_or(0)) };
            row.push(longest);
        }
        row.reverse();
        rows.push(row);
    }
    rows.reverse();
    rows
}

/// The words of a text, and each character between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match rest.find(|character: char| !character.is_alphanumeric()) {
            Some(0) => first.len_utf8(),
            Some(length) => length,
            None => rest.len(),
        };
        let (head, tail) = rest.split_at(length);
        words.push(head);
        rest = tail;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_replacement_removes_what_it_removes() {
        let original = "Updated SECRET-a and SECRET-b";
        for (first, second, expected) in [
            ("Updated [redacted] and SECRET-b", "Updated SECRET-a and [redacted]", "Updated [redacted] and [redacted]"),
            ("Updated [1] and SECRET-b", "Updated [2] and SECRET-b", "Updated [1] [2] and SECRET-b"),
            (original, "Updated SECRET-a and [redacted]", "Updated SECRET-a and [redacted]"),
            ("REPLACED", "Updated SECRET-a and [redacted]", "REPLACED[redacted]"),
            ("one", "two", "one two"),
            ("same", "same", "same"),
            ("", "Updated SECRET-a and [redacted]", "[redacted]"),
            (
                "Updated [redacted] and SECRET-b\n",
                "note: Updated SECRET-a and SECRET-b",
                "note: Updated [redacted] and SECRET-b\n",
            ),
        ] {
            assert_eq!(combined(original, first, second), expected);
            assert!(!combined(original, second, first).contains("SECRET-a") || first.contains("SECRET-a"), "{first}");
        }
    }

    #[test]
    fn what_one_hook_removes_does_not_come_back_through_another() {
        let doubled = "Updated SECRET-b: SECRET-a and SECRET-b";
        let text = combined("Updated SECRET-a and SECRET-b", doubled, "Updated SECRET-a and [redacted]");
        assert_eq!(text, WITHHELD);
        let long = "word ".repeat(3000);
        assert_eq!(combined(&long, &format!("{long}a"), &format!("{long}b")), WITHHELD);
    }
}
