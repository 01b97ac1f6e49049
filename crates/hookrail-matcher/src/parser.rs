//! The grammar of ECMA-262 with Annex B, for patterns without flags.

use super::class::UnitSet;
use super::scan::{Cursor, Groups, MAX_COUNT};
use super::syntax::{Node, Quantifier};

/// How deeply groups may nest.
///
/// Everything that walks the tree recurses, so this bounds the stack.
pub(super) const MAX_NESTING: usize = 200;

/// Why a pattern has no syntax tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParseError {
    /// It is not valid.
    Syntax {
        /// What is wrong.
        message: &'static str,
        /// Where, in code units.
        position: usize,
    },
    /// Its groups nest deeper than [`MAX_NESTING`].
    TooDeep,
}

/// Parses a pattern.
pub(super) fn parse(units: &[u16]) -> Result<Node, ParseError> {
    let mut parser = Parser { cursor: Cursor::new(units), groups: Groups::scan(units), opened: 0, depth: 0 };
    let node = parser.disjunction()?;
    match parser.cursor.peek() {
        None => Ok(node),
        // Only a closing parenthesis ends a disjunction before the pattern ends.
        Some(_) => Err(parser.error("unmatched ')'")),
    }
}

/// A pattern on its way to a syntax tree.
pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) groups: Groups,
    /// How many capturing groups have been opened.
    opened: u32,
    depth: usize,
}

impl Parser<'_> {
    pub(super) fn error(&self, message: &'static str) -> ParseError {
        ParseError::Syntax { message, position: self.cursor.position() }
    }

    fn disjunction(&mut self) -> Result<Node, ParseError> {
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
        Ok(single_or(alternatives, Node::Alternatives))
    }

    fn alternative(&mut self) -> Result<Node, ParseError> {
        let mut terms = Vec::new();
        while let Some(unit) = self.cursor.peek() {
            if unit == u16::from(b'|') || unit == u16::from(b')') {
                break;
            }
            terms.push(self.term(unit)?);
        }
        Ok(single_or(terms, Node::Sequence))
    }

    fn term(&mut self, unit: u16) -> Result<Node, ParseError> {
        // An assertion is returned at once: it cannot be quantified, so a
        // quantifier after it is one that has nothing to repeat.
        let atom = match u8::try_from(unit) {
            Ok(b'^') => {
                self.cursor.next();
                return Ok(Node::Start);
            }
            Ok(b'$') => {
                self.cursor.next();
                return Ok(Node::End);
            }
            Ok(b'(') => {
                self.cursor.next();
                let mut ahead = self.cursor;
                // Annex B keeps look-aheads quantifiable, but no look-behinds.
                if ahead.eat("?<=") || ahead.eat("?<!") {
                    return self.group();
                }
                self.group()?
            }
            Ok(b'.') => {
                self.cursor.next();
                Node::Class(UnitSet::dot())
            }
            Ok(b'[') => {
                self.cursor.next();
                self.class()?
            }
            Ok(b'\\') => {
                self.cursor.next();
                let escape = self.atom_escape()?;
                if let Node::WordBoundary { .. } = escape {
                    return Ok(escape);
                }
                escape
            }
            Ok(b'*' | b'+' | b'?') => return Err(self.error("nothing to repeat")),
            Ok(b'{') if self.at_bounds() => return Err(self.error("nothing to repeat")),
            // Annex B: braces and closing brackets stand for themselves where
            // they cannot be anything else.
            _ => {
                self.cursor.next();
                Node::Unit(unit)
            }
        };
        self.quantified(atom)
    }

    fn at_bounds(&self) -> bool {
        let mut ahead = self.cursor;
        bounds(&mut ahead).is_some()
    }

    /// The rest of a group whose `(` has been read.
    fn group(&mut self) -> Result<Node, ParseError> {
        const LOOKS: [(&str, bool, bool); 4] =
            [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)];
        for (opening, behind, negative) in LOOKS {
            if self.cursor.eat(opening) {
                let body = Box::new(self.group_body()?);
                return Ok(Node::Look { behind, negative, body });
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
        Ok(Node::Capture { number, body })
    }

    fn group_body(&mut self) -> Result<Node, ParseError> {
        let body = self.disjunction()?;
        if self.cursor.eat(")") { Ok(body) } else { Err(self.error("unterminated group")) }
    }

    fn quantified(&mut self, atom: Node) -> Result<Node, ParseError> {
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
        Ok(Node::Repeat { body: Box::new(atom), quantifier: Quantifier { min, max, lazy } })
    }
}

/// Reads `{2}`, `{2,}` or `{2,3}`, or nothing.
fn bounds(cursor: &mut Cursor<'_>) -> Option<(u32, Option<u32>)> {
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
    // A bound past counting is no bound.
    Some((min, max.filter(|max| *max < MAX_COUNT)))
}

/// The only node there is, or all of them in a node made by `many`.
fn single_or(mut nodes: Vec<Node>, many: fn(Vec<Node>) -> Node) -> Node {
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

    fn parsed(pattern: &str) -> Result<Node, ParseError> {
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
    fn a_bound_past_counting_is_no_bound() {
        let max = |pattern| match parsed(pattern) {
            Ok(Node::Repeat { quantifier, .. }) => quantifier.max,
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
