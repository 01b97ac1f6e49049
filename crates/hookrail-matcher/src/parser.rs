//! The grammar of ECMA-262 with Annex B, for patterns without flags.

use super::class::UnitSet;
use super::scan::{CaptureGroups, MAX_COUNT, PatternCursor};
use super::syntax::{Quantifier, RegexNode};

/// The deepest nesting of groups.
///
/// Everything that walks the tree recurses, so this limits the stack.
pub(super) const MAX_NESTING: usize = 200;

/// The reason why a pattern has no syntax tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParseError {
    /// The pattern is not valid.
    Syntax {
        /// What is wrong.
        message: &'static str,
        /// The position of the error, in code units.
        position: usize,
    },
    /// The groups of the pattern nest deeper than [`MAX_NESTING`].
    TooDeep,
}

/// Parses a pattern.
pub(super) fn parse(units: &[u16]) -> Result<RegexNode, ParseError> {
    let mut parser =
        PatternParser { cursor: PatternCursor::new(units), groups: CaptureGroups::scan(units), opened: 0, depth: 0 };
    let node = parser.disjunction()?;
    match parser.cursor.peek() {
        None => Ok(node),
        // Only a closing parenthesis ends a disjunction before the pattern ends.
        Some(_) => Err(parser.error("unmatched ')'")),
    }
}

/// The state of the parser.
pub(super) struct PatternParser<'a> {
    pub(super) cursor: PatternCursor<'a>,
    pub(super) groups: CaptureGroups,
    /// The number of capturing groups that have been opened.
    opened: u32,
    depth: usize,
}

impl PatternParser<'_> {
    pub(super) fn error(&self, message: &'static str) -> ParseError {
        ParseError::Syntax { message, position: self.cursor.position() }
    }

    fn disjunction(&mut self) -> Result<RegexNode, ParseError> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(ParseError::TooDeep);
        }
        let first = self.alternative()?;
        let mut alternatives = vec![first];
        while self.cursor.eat("|") {
            alternatives.push(self.alternative()?);
        }
        self.depth -= 1;
        Ok(single_or(alternatives, RegexNode::Alternatives))
    }

    fn alternative(&mut self) -> Result<RegexNode, ParseError> {
        let mut terms = Vec::new();
        while let Some(unit) = self.cursor.peek() {
            if unit == u16::from(b'|') || unit == u16::from(b')') {
                break;
            }
            terms.push(self.term(unit)?);
        }
        Ok(single_or(terms, RegexNode::Sequence))
    }

    fn term(&mut self, unit: u16) -> Result<RegexNode, ParseError> {
        // An assertion is returned at once, because it cannot be quantified: a quantifier after it is the error "nothing to
        // repeat".
        let atom = match u8::try_from(unit) {
            Ok(b'^') => {
                self.cursor.next();
                return Ok(RegexNode::Start);
            }
            Ok(b'$') => {
                self.cursor.next();
                return Ok(RegexNode::End);
            }
            Ok(b'(') => {
                self.cursor.next();
                let mut ahead = self.cursor;
                // Annex B allows a quantifier after a look-ahead, but not after a look-behind.
                if ahead.eat("?<=") || ahead.eat("?<!") {
                    return self.group();
                }
                self.group()?
            }
            Ok(b'.') => {
                self.cursor.next();
                RegexNode::Class(UnitSet::dot())
            }
            Ok(b'[') => {
                self.cursor.next();
                self.class()?
            }
            Ok(b'\\') => {
                self.cursor.next();
                let escape = self.atom_escape()?;
                if let RegexNode::WordBoundary { .. } = escape {
                    return Ok(escape);
                }
                escape
            }
            Ok(b'*' | b'+' | b'?') => return Err(self.error("nothing to repeat")),
            Ok(b'{') if self.at_bounds() => return Err(self.error("nothing to repeat")),
            // Annex B: braces and closing brackets are ordinary characters where they cannot be operators.
            _ => {
                self.cursor.next();
                RegexNode::Unit(unit)
            }
        };
        self.quantified(atom)
    }

    fn at_bounds(&self) -> bool {
        let mut ahead = self.cursor;
        bounds(&mut ahead).is_some()
    }

    /// Parses the rest of a group whose `(` has been read.
    fn group(&mut self) -> Result<RegexNode, ParseError> {
        const LOOKS: [(&str, bool, bool); 4] =
            [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)];
        for (opening, behind, negative) in LOOKS {
            if self.cursor.eat(opening) {
                let body = Box::new(self.group_body()?);
                return Ok(RegexNode::Look { behind, negative, body });
            }
        }
        if self.cursor.eat("?:") {
            return self.group_body();
        }
        self.opened += 1;
        let number = self.opened;
        if self.cursor.eat("?<") {
            let name = self.cursor.group_name();
            let name = name.ok_or_else(|| self.error("invalid capture group name"))?;
            if self.groups.number_of(&name) != Some(number) {
                return Err(self.error("duplicate capture group name"));
            }
        } else if self.cursor.eat("?") {
            return Err(self.error("invalid group"));
        }
        let body = Box::new(self.group_body()?);
        Ok(RegexNode::Capture { number, body })
    }

    fn group_body(&mut self) -> Result<RegexNode, ParseError> {
        let body = self.disjunction()?;
        if self.cursor.eat(")") { Ok(body) } else { Err(self.error("unterminated group")) }
    }

    fn quantified(&mut self, atom: RegexNode) -> Result<RegexNode, ParseError> {
        let (min, max) = if self.cursor.eat("*") {
            (0, None)
        } else if self.cursor.eat("+") {
            (1, None)
        } else if self.cursor.eat("?") {
            (0, Some(1))
        } else if let Some(bounds) = bounds(&mut self.cursor) {
            bounds
        } else {
            return Ok(atom);
        };
        if max.is_some_and(|max| max < min) {
            return Err(self.error("numbers out of order in {} quantifier"));
        }
        let lazy = self.cursor.eat("?");
        Ok(RegexNode::Repeat { body: Box::new(atom), quantifier: Quantifier { min, max, lazy } })
    }
}

/// Reads `{2}`, `{2,}` or `{2,3}`, or nothing.
fn bounds(cursor: &mut PatternCursor<'_>) -> Option<(u32, Option<u32>)> {
    let mut ahead = *cursor;
    if !ahead.eat("{") {
        return None;
    }
    let min = ahead.decimal()?;
    let max = if ahead.eat(",") { ahead.decimal() } else { Some(min) };
    if !ahead.eat("}") {
        return None;
    }
    *cursor = ahead;
    // JavaScript engines treat a maximum at or above this number as infinite.
    Some((min, max.filter(|max| *max < MAX_COUNT)))
}

/// Returns the only node, or all of them in a node made by `many`.
fn single_or(mut nodes: Vec<RegexNode>, many: fn(Vec<RegexNode>) -> RegexNode) -> RegexNode {
    match nodes.pop() {
        Some(only) if nodes.is_empty() => only,
        last => {
            nodes.extend(last);
            many(nodes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(pattern: &str) -> Result<RegexNode, ParseError> {
        parse(&pattern.encode_utf16().collect::<Vec<_>>())
    }

    #[test]
    fn only_groups_in_groups_count_as_nesting() {
        assert!(parsed(&"(a)".repeat(2 * MAX_NESTING)).is_ok());
        let nested = |depth| format!("{}{}", "(".repeat(depth), ")".repeat(depth));
        assert!(parsed(&nested(MAX_NESTING - 1)).is_ok());
        assert_eq!(parsed(&nested(MAX_NESTING)), Err(ParseError::TooDeep));
    }

    #[test]
    fn a_maximum_that_is_too_large_is_infinite() {
        let max = |pattern| match parsed(pattern) {
            Ok(RegexNode::Repeat { quantifier, .. }) => quantifier.max,
            other => panic!("{other:?}"),
        };
        assert_eq!(max("a{0,2147483646}"), Some(2_147_483_646));
        assert_eq!(max("a{0,2147483647}"), None);
        assert_eq!(max("a{0,99999999999}"), None);
    }

    #[test]
    fn an_error_says_where_it_is() {
        for (pattern, position) in [("ab)", 2), ("a**", 2), ("(ab", 3), ("x{1}{2}", 4), ("😀)", 2), ("a\\", 2)] {
            let Err(ParseError::Syntax { position: found, .. }) = parsed(pattern) else {
                panic!("{pattern}");
            };
            assert_eq!(found, position, "{pattern}");
        }
    }
}
