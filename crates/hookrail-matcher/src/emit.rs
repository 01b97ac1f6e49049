//! Writes a syntax tree in the syntax of the `regex` crate.
//!
//! Every character that could be an operator is escaped, so that no operator of that crate which ECMAScript does not have can
//! take effect.

use std::fmt::Write as _;

use super::class::UnitSet;
use super::syntax::{Quantifier, RegexNode};
use super::types::MatchScope;

/// Writes a pattern; returns `None` if it has look-around or back-references.
pub(super) fn emit(root: &RegexNode, scope: MatchScope) -> Option<String> {
    let mut emitter = Emitter::default();
    match scope {
        MatchScope::Anywhere => emitter.node(root)?,
        MatchScope::Whole => {
            emitter.text.push_str(r"\A");
            emitter.group(root)?;
            emitter.text.push_str(r"\z");
        }
    }
    Some(emitter.text)
}

/// Returns the character for a code unit: the code unit itself, or a private-use
/// character for a surrogate.
///
/// This is unambiguous: a subject that itself has such a private-use character has it as two surrogates, because the
/// character is outside the basic plane.
pub(super) fn character_for(unit: u16) -> char {
    let unit = u32::from(unit);
    char::from_u32(unit).or_else(|| char::from_u32(0x10_0000 + unit)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[derive(Default)]
struct Emitter {
    text: String,
}

impl Emitter {
    fn node(&mut self, node: &RegexNode) -> Option<()> {
        match node {
            RegexNode::Unit(unit) => self.unit(*unit),
            RegexNode::Class(set) => self.class(set),
            RegexNode::Start => self.text.push_str(r"\A"),
            RegexNode::End => self.text.push_str(r"\z"),
            // The word characters of ECMAScript without flags are ASCII.
            RegexNode::WordBoundary { inverted: false } => self.text.push_str(r"(?-u:\b)"),
            RegexNode::WordBoundary { inverted: true } => self.text.push_str(r"(?-u:\B)"),
            RegexNode::Look { .. } | RegexNode::BackReference(_) => return None,
            RegexNode::Capture { body, .. } => self.group(body)?,
            RegexNode::Repeat { body, quantifier } => self.repeat(body, *quantifier)?,
            RegexNode::Sequence(terms) => terms.iter().try_for_each(|term| self.node(term))?,
            RegexNode::Alternatives(alternatives) => self.alternatives(alternatives)?,
        }
        Some(())
    }

    /// Writes a group. Without back-references it does not matter whether it captures.
    fn group(&mut self, body: &RegexNode) -> Option<()> {
        self.text.push_str("(?:");
        self.node(body)?;
        self.text.push(')');
        Some(())
    }

    fn alternatives(&mut self, alternatives: &[RegexNode]) -> Option<()> {
        let mut separator = "(?:";
        for alternative in alternatives {
            self.text.push_str(separator);
            self.node(alternative)?;
            separator = "|";
        }
        self.text.push(')');
        Some(())
    }

    /// Writes a repetition. Whether it is lazy does not change whether there is a match.
    fn repeat(&mut self, body: &RegexNode, quantifier: Quantifier) -> Option<()> {
        self.group(body)?;
        match (quantifier.min, quantifier.max) {
            (0, None) => self.text.push('*'),
            (1, None) => self.text.push('+'),
            (0, Some(1)) => self.text.push('?'),
            (min, None) => self.write(format_args!("{{{min},}}")),
            (min, Some(max)) => self.write(format_args!("{{{min},{max}}}")),
        }
        Some(())
    }

    fn unit(&mut self, unit: u16) {
        let character = character_for(unit);
        if character.is_ascii_alphanumeric() {
            self.text.push(character);
        } else {
            self.write(format_args!(r"\x{{{:x}}}", u32::from(character)));
        }
    }

    fn class(&mut self, set: &UnitSet) {
        if set.ranges().is_empty() {
            // The `regex` crate reads `[]` as the beginning of a class that has `]` as a member.
            return self.text.push_str(r"[^\x{0}-\x{10ffff}]");
        }
        self.text.push('[');
        for &(first, last) in set.ranges() {
            // The characters for surrogates are not between those of the other code units, so a range is written in up
            // to three parts.
            for (low, high) in [(0, 0xd7ff), (0xd800, 0xdfff), (0xe000, 0xffff)] {
                let (first, last) = (first.max(low), last.min(high));
                if first <= last {
                    self.unit(first);
                    self.text.push('-');
                    self.unit(last);
                }
            }
        }
        self.text.push(']');
    }

    fn write(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(arguments);
    }
}

#[cfg(test)]
mod tests {
    use super::super::parser::parse;
    use super::*;

    fn emitted(pattern: &str) -> Option<String> {
        let units: Vec<u16> = pattern.encode_utf16().collect();
        emit(&parse(&units).unwrap(), MatchScope::Anywhere)
    }

    #[track_caller]
    fn check(pattern: &str, expected: &str) {
        assert_eq!(emitted(pattern).as_deref(), Some(expected));
    }

    #[test]
    fn what_could_be_an_operator_is_escaped() {
        check("a&b", r"a\x{26}b");
        check("[a&&b]", r"[\x{26}-\x{26}a-b]");
        check("]{", r"\x{5d}\x{7b}");
        check("^(a|b)+?$", r"\A(?:(?:(?:a|b)))+\z");
    }

    #[test]
    fn surrogates_become_private_use_characters() {
        check("😀", r"\x{10d83d}\x{10de00}");
        check(r"[\ud7ff-\ue000]", r"[\x{d7ff}-\x{d7ff}\x{10d800}-\x{10dfff}\x{e000}-\x{e000}]");
    }

    #[test]
    fn classes_may_be_empty_or_full() {
        check("[]", r"[^\x{0}-\x{10ffff}]");
        check("[^]", r"[\x{0}-\x{d7ff}\x{10d800}-\x{10dfff}\x{e000}-\x{ffff}]");
    }

    #[test]
    fn look_around_and_references_are_not_linear() {
        for pattern in ["a(?=b)", "(?<!a)b", r"(a)\1", "(?:x(?!y))*"] {
            assert_eq!(emitted(pattern), None, "{pattern}");
        }
    }
}
