//! Escapes and character classes, where Annex B differs most from the main grammar.

use super::class::UnitSet;
use super::parser::{ParseError, PatternParser};
use super::syntax::RegexNode;

/// One member of a character class.
enum ClassAtom {
    Unit(u16),
    Set(UnitSet),
}

impl PatternParser<'_> {
    /// Parses an escape outside a class, after its backslash.
    pub(super) fn atom_escape(&mut self) -> Result<RegexNode, ParseError> {
        let Some(unit) = self.cursor.peek() else {
            return Err(self.error("\\ at end of pattern"));
        };
        if let Some(set) = UnitSet::from_escape(unit) {
            self.cursor.next();
            return Ok(RegexNode::Class(set));
        }
        match u8::try_from(unit) {
            Ok(letter @ (b'b' | b'B')) => {
                self.cursor.next();
                let inverted = letter == b'B';
                Ok(RegexNode::WordBoundary { inverted })
            }
            Ok(b'1'..=b'9') => {
                let mut ahead = self.cursor;
                // Annex B: a number that is higher than the number of groups is a legacy octal escape, or a plain digit.
                match ahead.decimal() {
                    Some(number) if number <= self.groups.count => {
                        self.cursor = ahead;
                        Ok(RegexNode::BackReference(number))
                    }
                    _ => self.character_escape(false).map(RegexNode::Unit),
                }
            }
            Ok(b'k') if self.groups.any_named => {
                self.cursor.next();
                let name = self.cursor.eat("<").then(|| self.cursor.group_name());
                let name = name.flatten().ok_or_else(|| self.error("invalid named reference"))?;
                let number = self.groups.number_of(&name);
                number
                    .map(RegexNode::BackReference)
                    .ok_or_else(|| self.error("reference to a capture group that does not exist"))
            }
            _ => self.character_escape(false).map(RegexNode::Unit),
        }
    }

    /// Parses an escape for one code unit, after its backslash.
    fn character_escape(&mut self, in_class: bool) -> Result<u16, ParseError> {
        let before = self.cursor;
        let Some(unit) = self.cursor.next() else {
            return Err(self.error("\\ at end of pattern"));
        };
        let Ok(letter) = u8::try_from(unit) else {
            return Ok(unit);
        };
        Ok(match letter {
            b'f' => 0x0c,
            b'n' => 0x0a,
            b'r' => 0x0d,
            b't' => 0x09,
            b'v' => 0x0b,
            b'0'..=b'7' => self.octal(letter),
            b'x' => self.cursor.hex(2).unwrap_or(unit),
            b'u' => self.cursor.hex(4).unwrap_or(unit),
            b'c' => match self.cursor.peek_ascii() {
                Some(control) if is_control_letter(control, in_class) => {
                    self.cursor.next();
                    u16::from(control & 0x1f)
                }
                // Annex B: without a control letter the backslash is an ordinary character, and the `c` is parsed again
                // as the next one.
                _ => {
                    self.cursor = before;
                    u16::from(b'\\')
                }
            },
            b'k' if self.groups.any_named => return Err(self.error("invalid escape")),
            _ => unit,
        })
    }

    /// Parses a legacy octal escape of up to three digits and a value below 256, after
    /// its first digit.
    fn octal(&mut self, first: u8) -> u16 {
        let mut value = u16::from(first - b'0');
        for _ in 0..2 {
            if value < 0o40
                && let Some(digit @ b'0'..=b'7') = self.cursor.peek_ascii()
            {
                self.cursor.next();
                value = value * 8 + u16::from(digit - b'0');
            }
        }
        value
    }

    /// Parses the rest of a class whose `[` has been read.
    pub(super) fn class(&mut self) -> Result<RegexNode, ParseError> {
        let inverted = self.cursor.eat("^");
        let mut set = UnitSet::default();
        while !self.cursor.eat("]") {
            let first = self.class_atom()?;
            let mut ahead = self.cursor;
            // A dash before the closing bracket is an ordinary member.
            if !ahead.eat("-") || ahead.peek_ascii() == Some(b']') {
                first.add_to(&mut set);
                continue;
            }
            self.cursor = ahead;
            match (first, self.class_atom()?) {
                (ClassAtom::Unit(first), ClassAtom::Unit(last)) if first <= last => {
                    set.add(first, last);
                }
                (ClassAtom::Unit(_), ClassAtom::Unit(_)) => {
                    return Err(self.error("range out of order in character class"));
                }
                // Annex B: with a set on either side the dash is a member.
                (first, last) => {
                    first.add_to(&mut set);
                    ClassAtom::Unit(u16::from(b'-')).add_to(&mut set);
                    last.add_to(&mut set);
                }
            }
        }
        let set = set.normalized();
        Ok(RegexNode::Class(if inverted { set.complement() } else { set }))
    }

    fn class_atom(&mut self) -> Result<ClassAtom, ParseError> {
        let Some(unit) = self.cursor.next() else {
            return Err(self.error("unterminated character class"));
        };
        if unit != u16::from(b'\\') {
            return Ok(ClassAtom::Unit(unit));
        }
        if let Some(set) = self.cursor.peek().and_then(UnitSet::from_escape) {
            self.cursor.next();
            return Ok(ClassAtom::Set(set));
        }
        if self.cursor.eat("b") {
            return Ok(ClassAtom::Unit(0x08));
        }
        self.character_escape(true).map(ClassAtom::Unit)
    }
}

impl ClassAtom {
    fn add_to(&self, set: &mut UnitSet) {
        match self {
            Self::Unit(unit) => set.add(*unit, *unit),
            Self::Set(other) => set.extend(other),
        }
    }
}

/// Whether `\c` with this character is a control escape. Annex B also allows digits and `_` inside a class.
fn is_control_letter(character: u8, in_class: bool) -> bool {
    character.is_ascii_alphabetic() || in_class && (character.is_ascii_digit() || character == b'_')
}
