//! Looks for the beginnings of all forms of secrets at once, in one pass over a text.
//!
//! The last two bytes of a beginning say whether one can end at a place of the text; that is seldom so, and only then is the rest
//! compared. An automaton would do the same, but making one takes a process that records a single event longer than all
//! else that it does; this table is made in a few microseconds.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use hookrail::secret_table::{SECRETS, SecretRow};

/// The rows of the table that count in texts.
static ROWS: LazyLock<Vec<&SecretRow>> =
    LazyLock::new(|| SECRETS.iter().filter(|row| row.found_in.has_texts()).collect());

/// What an option of a program begins with.
const OPTIONS: [&str; 3] = [" -", "\t-", "\n-"];

static BEGINNINGS: LazyLock<Beginnings> = LazyLock::new(|| Beginnings::new(all()));

/// The beginnings of the rows, in their order, then those of options.
fn all() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.begins).chain(OPTIONS)
}

/// Every place at which a row that counts in texts, or an option, begins, by where that beginning ends; of those with the same
/// end the longest first. Letters are found in any case.
pub(crate) fn beginnings_in(text: &str) -> BeginningHits<'_> {
    BEGINNINGS.in_text(text)
}

/// A beginning in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BeginningHit {
    index: usize,
    pub(crate) range: Range<usize>,
}

impl BeginningHit {
    /// The row of the table; none if it is an option.
    pub(crate) fn row(&self) -> Option<&'static SecretRow> {
        ROWS.get(self.index).copied()
    }
}

struct Beginning {
    index: usize,
    text: &'static str,
}

/// The kind of a byte: 0, or the number of a byte that is one of the last two of a beginning, in any case.
type ByteClass = u8;

struct Beginnings {
    classes: [ByteClass; 256],
    /// How many classes there are, with 0.
    count: usize,
    /// For each class of the byte before the last, and each of the last, the position in `ending` of those that end so. The first
    /// one is empty.
    pairs: Vec<u8>,
    ending: Vec<Vec<Beginning>>,
}

impl Beginnings {
    fn new(texts: impl Iterator<Item = &'static str>) -> Self {
        let mut by_end: BTreeMap<[u8; 2], Vec<Beginning>> = BTreeMap::new();
        for (index, text) in texts.enumerate() {
            // A test shows that none is shorter.
            if let [.., before, last] = text.as_bytes() {
                let end = [before.to_ascii_lowercase(), last.to_ascii_lowercase()];
                by_end.entry(end).or_default().push(Beginning { index, text });
            }
        }
        let mut classes = [0; 256];
        let mut count: ByteClass = 1;
        for byte in by_end.keys().flatten() {
            let is_new = class_of(&classes, *byte) == 0;
            for same in [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()].into_iter().filter(|_| is_new) {
                classes.get_mut(usize::from(same)).into_iter().for_each(|class| *class = count);
            }
            count += ByteClass::from(is_new);
        }
        let count = usize::from(count);
        let (mut pairs, mut ending) = (vec![0; count * count], vec![Vec::new()]);
        for ([before, last], mut beginnings) in by_end {
            beginnings.sort_by_key(|beginning| (Reverse(beginning.text.len()), beginning.index));
            let place = class_of(&classes, before) * count + class_of(&classes, last);
            if let (Some(pair), Ok(position)) = (pairs.get_mut(place), u8::try_from(ending.len())) {
                *pair = position;
            }
            ending.push(beginnings);
        }
        Self { classes, count, pairs, ending }
    }

    fn in_text<'t>(&'t self, text: &'t str) -> BeginningHits<'t> {
        BeginningHits { table: self, text: text.as_bytes(), at: 0, before: 0, candidates: [].iter() }
    }
}

fn class_of(classes: &[ByteClass; 256], byte: u8) -> usize {
    classes.get(usize::from(byte)).copied().map_or(0, usize::from)
}

/// The beginnings in a text.
pub(crate) struct BeginningHits<'t> {
    table: &'t Beginnings,
    text: &'t [u8],
    /// The place behind the last byte that was looked at.
    at: usize,
    /// The class of that byte.
    before: usize,
    /// The beginnings that may end there.
    candidates: std::slice::Iter<'t, Beginning>,
}

impl Iterator for BeginningHits<'_> {
    type Item = BeginningHit;

    fn next(&mut self) -> Option<BeginningHit> {
        loop {
            for Beginning { index, text } in self.candidates.by_ref() {
                let range = self.at.checked_sub(text.len()).map(|start| start..self.at);
                let found = range.filter(|range| {
                    self.text.get(range.clone()).is_some_and(|part| part.eq_ignore_ascii_case(text.as_bytes()))
                });
                if let Some(range) = found {
                    return Some(BeginningHit { index: *index, range });
                }
            }
            let last = class_of(&self.table.classes, *self.text.get(self.at)?);
            self.at += 1;
            let pair = self.table.pairs.get(self.before * self.table.count + last).copied().unwrap_or(0);
            self.before = last;
            if pair != 0 {
                self.candidates =
                    self.table.ending.get(usize::from(pair)).map(Vec::as_slice).unwrap_or_default().iter();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
    use proptest::prelude::*;

    use super::*;

    /// What an automaton finds.
    fn expected(automaton: &AhoCorasick, text: &str) -> Vec<BeginningHit> {
        let hits = automaton.find_overlapping_iter(text);
        hits.map(|hit| BeginningHit { index: hit.pattern().as_usize(), range: hit.range() }).collect()
    }

    fn automaton() -> AhoCorasick {
        AhoCorasickBuilder::new().ascii_case_insensitive(true).build(all()).unwrap()
    }

    #[test]
    fn every_beginning_is_in_the_table() {
        assert!(all().all(|begins| begins.len() >= 2), "one that is shorter is not found");
        assert_eq!(BEGINNINGS.ending.iter().map(Vec::len).sum::<usize>(), all().count());
        assert!(BEGINNINGS.ending.len() <= usize::from(u8::MAX), "a pair names a place with one byte");
        for (index, begins) in all().enumerate() {
            for text in [begins.to_owned(), begins.to_ascii_uppercase(), format!("é{begins}é"), begins.repeat(2)] {
                assert!(beginnings_in(&text).any(|hit| hit.index == index), "{text}");
                assert_eq!(beginnings_in(&text).collect::<Vec<_>>(), expected(&automaton(), &text), "{text}");
            }
        }
        assert_eq!(beginnings_in("nothing here").count(), 0);
        assert_eq!(beginnings_in("").count(), 0);
    }

    #[test]
    fn every_row_of_the_table_has_an_example() {
        let examples = include_str!("../tests/it/secret_forms.json").to_ascii_lowercase();
        // A name is compared by its letters and digits.
        let letters: String = examples.chars().filter(char::is_ascii_alphanumeric).collect();
        for row in ROWS.iter() {
            let begins = row.begins.to_ascii_lowercase();
            let is_shown = examples.contains(&begins) || row.form.name_in_text().is_some() && letters.contains(&begins);
            assert!(is_shown, "`{begins}` has no example");
        }
    }

    #[test]
    fn the_examples_have_the_beginnings_that_an_automaton_finds() {
        let examples = include_str!("../tests/it/secret_forms.json");
        let found: Vec<BeginningHit> = beginnings_in(examples).collect();
        assert!(found.len() > 100);
        assert_eq!(found, expected(&automaton(), examples));
    }

    proptest! {
        #[test]
        fn any_text_has_the_beginnings_that_an_automaton_finds(
            parts in proptest::collection::vec((0..all().count(), 0..12_usize, ".{0,3}"), 0..12)
        ) {
            let piece = |(index, length, other): &(usize, usize, String)| {
                let begins: String = all().nth(*index).unwrap().chars().take(*length).collect();
                if length % 3 == 0 { format!("{}{other}", begins.to_ascii_uppercase()) } else { format!("{begins}{other}") }
            };
            let text: String = parts.iter().map(piece).collect();
            prop_assert_eq!(beginnings_in(&text).collect::<Vec<_>>(), expected(&automaton(), &text));
        }
    }
}
