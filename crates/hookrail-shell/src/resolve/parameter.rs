//! What `${x%…}` and its relatives make of a known value.

use super::value::{ANY, BRACKET, ONE};

/// Whether a pattern matches a whole text.
pub(crate) fn matches_pattern(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    matches(&pattern, &text)
}

/// Matches with one place to come back to, so that the time is bounded by the product of the lengths.
fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut index) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(at) {
            Some(&ANY) => {
                again = Some((at + 1, index));
                at += 1;
                continue;
            }
            None if index == text.len() => return true,
            None => None,
            Some(&ONE) => text.get(index).map(|_| 1),
            Some(&BRACKET) => text.get(index).and_then(|letter| bracket(pattern.get(at..)?, *letter)),
            Some(letter) => (text.get(index) == Some(letter)).then_some(1),
        };
        match (step, again) {
            (Some(length), _) => {
                at += length;
                index += 1;
            }
            (None, Some((pattern_at, from))) if from < text.len() => {
                again = Some((pattern_at, from + 1));
                at = pattern_at;
                index = from + 1;
            }
            (None, _) => return false,
        }
    }
}

/// Returns the length of a bracket expression that matches a letter.
fn bracket(pattern: &[char], letter: char) -> Option<usize> {
    let close = pattern.iter().skip(2).position(|other| *other == ']')? + 2;
    let mut inside = pattern.get(1..close)?;
    let negated = matches!(inside.first(), Some('!' | '^'));
    if negated {
        inside = inside.get(1..)?;
    }
    let mut found = false;
    let mut index = 0;
    while let Some(first) = inside.get(index) {
        match (inside.get(index + 1), inside.get(index + 2)) {
            (Some('-'), Some(last)) => {
                found |= (*first..=*last).contains(&letter);
                index += 3;
            }
            _ => {
                found |= *first == letter;
                index += 1;
            }
        }
    }
    (found != negated).then_some(close + 1)
}

/// Whether a pattern has more than letters.
pub(crate) fn has_marks(pattern: &str) -> bool {
    pattern.contains([ANY, ONE, BRACKET])
}

/// `${x#p}` and `${x%p}`.
pub(crate) fn remove(text: &str, pattern: &str, suffix: bool, longest: bool) -> String {
    if !has_marks(pattern) {
        let kept = if suffix { text.strip_suffix(pattern) } else { text.strip_prefix(pattern) };
        return kept.unwrap_or(text).to_owned();
    }
    let mut cuts: Vec<usize> = text.char_indices().map(|(index, _)| index).chain([text.len()]).collect();
    // The shortest removed part first, unless the longest one is wanted.
    if suffix != longest {
        cuts.reverse();
    }
    for cut in cuts {
        let (head, tail) = text.split_at_checked(cut).unwrap_or((text, ""));
        let (removed, kept) = if suffix { (tail, head) } else { (head, tail) };
        if matches_pattern(pattern, removed) {
            return kept.to_owned();
        }
    }
    text.to_owned()
}

/// `${x/p/w}`.
pub(crate) fn replace(text: &str, pattern: &str, with: &str, all: bool) -> String {
    let (pattern, at_start, at_end) = match pattern.chars().next() {
        Some('#') if !all => (pattern.get(1..).unwrap_or_default(), true, false),
        Some('%') if !all => (pattern.get(1..).unwrap_or_default(), false, true),
        _ => (pattern, false, false),
    };
    if pattern.is_empty() {
        return text.to_owned();
    }
    if !has_marks(pattern) && !at_start && !at_end {
        return if all { text.replace(pattern, with) } else { text.replacen(pattern, with, 1) };
    }
    let mut out = String::new();
    let mut rest = text;
    let mut is_done = false;
    while !rest.is_empty() {
        let ends = rest.char_indices().map(|(index, _)| index).skip(1).chain([rest.len()]).collect::<Vec<_>>();
        let is_start = rest.len() == text.len();
        let found = ends.into_iter().rev().find(|end| {
            !is_done
                && (!at_start || is_start)
                && (!at_end || *end == rest.len())
                && matches_pattern(pattern, rest.get(..*end).unwrap_or_default())
        });
        let step = match found {
            Some(end) => {
                out.push_str(with);
                is_done = !all;
                end
            }
            None => {
                let letter = rest.chars().next().map_or(rest.len(), char::len_utf8);
                out.push_str(rest.get(..letter).unwrap_or_default());
                letter
            }
        };
        rest = rest.get(step..).unwrap_or_default();
    }
    out
}

/// `${x:from:length}`.
pub(crate) fn substring(text: &str, from: i64, length: Option<i64>) -> String {
    let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let from = if from < 0 { (count + from).max(0) } else { from.min(count) };
    let end = match length {
        None => count,
        Some(length) if length < 0 => (count + length).max(from),
        Some(length) => from.saturating_add(length).min(count),
    };
    let skip = usize::try_from(from).unwrap_or_default();
    let take = usize::try_from(end - from).unwrap_or_default();
    text.chars().skip(skip).take(take).collect()
}

/// `${x^}`, `${x,}` and their doubles.
pub(crate) fn change_case(text: &str, upper: bool, all: bool) -> String {
    let change = |letter: char| if upper { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
    text.chars().enumerate().map(|(index, letter)| if all || index == 0 { change(letter) } else { letter }).collect()
}
