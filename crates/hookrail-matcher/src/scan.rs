//! Reads a pattern code unit by code unit, and collects the groups that the parser must
//! know in advance.

use std::sync::LazyLock;

use regex::Regex;

/// The largest number in a pattern. Larger ones are replaced by it, as in JavaScript engines.
pub(super) const MAX_COUNT: u32 = i32::MAX.unsigned_abs();

/// A position in a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatternCursor<'a> {
    units: &'a [u16],
    position: usize,
}

impl<'a> PatternCursor<'a> {
    pub(super) fn new(units: &'a [u16]) -> Self {
        Self { units, position: 0 }
    }

    /// Returns the number of code units before the cursor.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn peek(&self) -> Option<u16> {
        self.units.get(self.position).copied()
    }

    /// Returns the next code unit if it is below 256. All operators are ASCII.
    pub(super) fn peek_ascii(&self) -> Option<u8> {
        self.peek().and_then(|unit| u8::try_from(unit).ok())
    }

    pub(super) fn next(&mut self) -> Option<u16> {
        let unit = self.peek()?;
        self.position += 1;
        Some(unit)
    }

    /// Moves past `text` if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let mut ahead = *self;
        if text.bytes().all(|byte| ahead.next() == Some(byte.into())) {
            *self = ahead;
            true
        } else {
            false
        }
    }

    /// Reads the decimal digits that come next, if any; the value stops at
    /// [`MAX_COUNT`].
    pub(super) fn decimal(&mut self) -> Option<u32> {
        let mut value: Option<u32> = None;
        while let Some(digit) = self.peek_ascii().and_then(|c| char::from(c).to_digit(10)) {
            self.position += 1;
            let sum = value.unwrap_or(0).saturating_mul(10).saturating_add(digit);
            value = Some(sum.min(MAX_COUNT));
        }
        value
    }

    /// Reads exactly `count` hexadecimal digits, or nothing.
    pub(super) fn hex(&mut self, count: usize) -> Option<u16> {
        let mut ahead = *self;
        let mut value = 0;
        for _ in 0..count {
            let digit = char::from(u8::try_from(ahead.next()?).ok()?).to_digit(16)?;
            value = value * 16 + u16::try_from(digit).ok()?;
        }
        *self = ahead;
        Some(value)
    }

    /// Reads the name of a group and the `>` after it; the cursor is after the `<`.
    ///
    /// Only in names does a pattern without the `u` flag consist of characters instead of code units.
    pub(super) fn group_name(&mut self) -> Option<String> {
        let mut ahead = *self;
        let mut name = String::new();
        while !ahead.eat(">") {
            name.push(ahead.name_character()?);
        }
        if !is_identifier(&name) {
            return None;
        }
        *self = ahead;
        Some(name)
    }

    fn name_character(&mut self) -> Option<char> {
        let escaped = self.eat("\\u");
        if escaped && self.eat("{") {
            return self.braced_character();
        }
        let first = if escaped { self.hex(4) } else { self.next() }?;
        if !(0xd800..=0xdbff).contains(&first) {
            return char::from_u32(first.into());
        }
        let second = if escaped { self.eat("\\u").then(|| self.hex(4)).flatten() } else { self.next() }?;
        char::decode_utf16([first, second]).next()?.ok()
    }

    fn braced_character(&mut self) -> Option<char> {
        let mut value: u32 = 0;
        let mut digits = 0;
        while !self.eat("}") {
            let digit = char::from(u8::try_from(self.next()?).ok()?).to_digit(16)?;
            value = value.checked_mul(16)?.checked_add(digit)?;
            digits += 1;
        }
        char::from_u32(value).filter(|_| digits > 0)
    }
}

/// Whether the text is an ECMAScript IdentifierName.
fn is_identifier(name: &str) -> bool {
    static IDENTIFIER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\A[\p{ID_Start}$_][\p{ID_Continue}$\x{200c}\x{200d}]*\z").ok());
    let ascii = |c: char| c.is_ascii_alphanumeric() || c == '$' || c == '_';
    if name.chars().all(ascii) {
        // Avoids the large Unicode tables for nearly every pattern.
        return name.starts_with(|c: char| !c.is_ascii_digit());
    }
    IDENTIFIER.as_ref().is_some_and(|identifier| identifier.is_match(name))
}

/// The capturing groups of a pattern.
///
/// A reference may precede its group, and the meaning of `\1` and `\k` depends
/// on which groups there are, so they are collected first.
#[derive(Clone, Debug, Default)]
pub(super) struct CaptureGroups {
    /// The number of capturing groups.
    pub(super) count: u32,
    /// The names, with the number of the first group that has each.
    names: Vec<(String, u32)>,
    /// Whether there is anything that looks like a named group.
    pub(super) any_named: bool,
}

impl CaptureGroups {
    /// Collects the groups of a pattern, which need not be valid.
    pub(super) fn scan(units: &[u16]) -> Self {
        let mut groups = Self::default();
        let mut cursor = PatternCursor::new(units);
        let mut in_class = false;
        while let Some(unit) = cursor.next() {
            match u8::try_from(unit) {
                Ok(b'\\') => {
                    cursor.next();
                }
                Ok(b'[') => in_class = true,
                Ok(b']') => in_class = false,
                Ok(b'(') if !in_class => groups.open(&mut cursor),
                _ => {}
            }
        }
        groups
    }

    /// Returns the number of the group with this name.
    pub(super) fn number_of(&self, name: &str) -> Option<u32> {
        let found = self.names.iter().find(|(known, _)| known == name);
        found.map(|(_, number)| *number)
    }

    /// Adds a group whose `(` has just been read.
    fn open(&mut self, cursor: &mut PatternCursor<'_>) {
        let mut ahead = *cursor;
        if !ahead.eat("?") {
            self.count += 1;
        } else if ahead.eat("<") && !matches!(ahead.peek_ascii(), Some(b'=' | b'!')) {
            self.count += 1;
            self.any_named = true;
            if let Some(name) = ahead.group_name() {
                // `number_of` finds the first group with a name, so the parser can recognize a duplicate.
                self.names.push((name, self.count));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(pattern: &str) -> CaptureGroups {
        CaptureGroups::scan(&pattern.encode_utf16().collect::<Vec<_>>())
    }

    fn name(text: &str) -> Option<String> {
        PatternCursor::new(&text.encode_utf16().collect::<Vec<_>>()).group_name()
    }

    #[test]
    fn only_capturing_groups_are_counted() {
        assert_eq!(scan(r"(a)(?:b)(?=c)(?!d)(?<=e)(?<!f)(?<n>g)").count, 2);
        assert_eq!(scan(r"[(](\()\[(]").count, 2);
        assert_eq!(scan(r"(?<n>g)").number_of("n"), Some(1));
        assert_eq!(scan(r"(a)(?<n>g)(?<n>h)").number_of("n"), Some(2));
        assert!(scan("(?<").any_named);
        assert!(!scan("(?<=a)").any_named);
    }

    #[test]
    fn names_are_identifiers() {
        assert_eq!(name("a1>").as_deref(), Some("a1"));
        assert_eq!(name(r"\u0061\u{62}>").as_deref(), Some("ab"));
        assert_eq!(name("$é𝒜>").as_deref(), Some("$é𝒜"));
        assert_eq!(name(r"\ud835\udc9c>").as_deref(), Some("𝒜"));
        for bad in [">", "1a>", "a", "a-b>", r"\u>", r"\u{}>", r"\ud835>", r"\u{110000}>"] {
            assert_eq!(name(bad), None, "{bad}");
        }
    }

    #[test]
    fn numbers_stop_growing() {
        let units: Vec<u16> = "99999999999999x".encode_utf16().collect();
        let mut cursor = PatternCursor::new(&units);
        assert_eq!(cursor.decimal(), Some(MAX_COUNT));
        assert_eq!(cursor.peek_ascii(), Some(b'x'));
        assert_eq!(cursor.decimal(), None);
    }
}
