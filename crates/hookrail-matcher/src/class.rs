//! Sets of UTF-16 code units, which is what an ECMAScript character class is.

/// A set of code units, as sorted ranges with gaps between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnitSet(Vec<(u16, u16)>);

/// `\d`
const DIGITS: &[(u16, u16)] = &[(0x30, 0x39)];

/// `\w`
const WORD: &[(u16, u16)] = &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)];

/// `\s`: ECMAScript's WhiteSpace and LineTerminator.
const SPACES: &[(u16, u16)] = &[
    (0x09, 0x0d),
    (0x20, 0x20),
    (0xa0, 0xa0),
    (0x1680, 0x1680),
    (0x2000, 0x200a),
    (0x2028, 0x2029),
    (0x202f, 0x202f),
    (0x205f, 0x205f),
    (0x3000, 0x3000),
    (0xfeff, 0xfeff),
];

/// The code units that `.` does not match.
const LINE_TERMINATORS: &[(u16, u16)] = &[(0x0a, 0x0a), (0x0d, 0x0d), (0x2028, 0x2029)];

impl UnitSet {
    /// Returns the set of `\d`, `\w`, `\s` or of their capitals, by the letter.
    pub(super) fn from_escape(letter: u16) -> Option<Self> {
        let (lower, ranges) = match u8::try_from(letter).ok()?.to_ascii_lowercase() {
            b'd' => (b'd', DIGITS),
            b'w' => (b'w', WORD),
            b's' => (b's', SPACES),
            _ => return None,
        };
        let set = Self(ranges.to_vec());
        Some(if letter == u16::from(lower) { set } else { set.complement() })
    }

    /// Returns the set of `.`.
    pub(super) fn dot() -> Self {
        Self(LINE_TERMINATORS.to_vec()).complement()
    }

    /// Returns the set of `\w`.
    pub(super) fn word() -> Self {
        Self(WORD.to_vec())
    }

    /// Adds the code units from `first` to `last`, both included.
    pub(super) fn add(&mut self, first: u16, last: u16) {
        self.0.push((first, last));
    }

    /// Adds another set.
    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// Restores the order and the gaps after additions.
    pub(super) fn normalized(mut self) -> Self {
        self.0.sort_unstable();
        let mut merged: Vec<(u16, u16)> = Vec::with_capacity(self.0.len());
        for (first, last) in self.0 {
            match merged.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => merged.push((first, last)),
            }
        }
        Self(merged)
    }

    /// Returns the code units that are not in this normalized set.
    pub(super) fn complement(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        // `None` once a range has reached the last code unit.
        let mut next = Some(0);
        for &(first, last) in &self.0 {
            if let Some(start) = next
                && let Some(end) = first.checked_sub(1)
                && start <= end
            {
                gaps.push((start, end));
            }
            next = last.checked_add(1);
        }
        gaps.extend(next.map(|start| (start, u16::MAX)));
        Self(gaps)
    }

    /// Whether a code unit is in this normalized set.
    pub(super) fn contains(&self, unit: u16) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= unit);
        let range = after.checked_sub(1).and_then(|index| self.0.get(index));
        range.is_some_and(|&(_, last)| unit <= last)
    }

    /// Returns the ranges of this normalized set.
    pub(super) fn ranges(&self) -> &[(u16, u16)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ranges: &[(u16, u16)]) -> UnitSet {
        UnitSet(ranges.to_vec()).normalized()
    }

    #[test]
    fn ranges_that_touch_are_joined() {
        assert_eq!(set(&[(5, 9), (1, 2), (3, 3), (7, 8)]).ranges(), [(1, 3), (5, 9)]);
        assert_eq!(set(&[(0, u16::MAX), (9, u16::MAX)]).ranges(), [(0, u16::MAX)]);
    }

    #[test]
    fn the_complement_of_the_complement_is_the_set() {
        assert_eq!(set(&[]).complement().ranges(), [(0, u16::MAX)]);
        assert_eq!(set(&[(0, u16::MAX)]).complement().ranges(), []);
        assert_eq!(set(&[(1, 2), (5, 5)]).complement().ranges(), [(0, 0), (3, 4), (6, u16::MAX)]);
        for ranges in [DIGITS, WORD, SPACES, LINE_TERMINATORS] {
            assert_eq!(set(ranges).complement().complement().ranges(), ranges);
        }
    }

    #[test]
    fn both_ends_of_a_range_are_in_it() {
        let set = set(&[(3, 5), (9, 9)]);
        let members: Vec<u16> = (0..12).filter(|unit| set.contains(*unit)).collect();
        assert_eq!(members, [3, 4, 5, 9]);
    }

    #[test]
    fn only_class_letters_name_a_set() {
        assert_eq!(UnitSet::from_escape(u16::from(b'd')).unwrap(), set(DIGITS));
        assert_eq!(UnitSet::from_escape(u16::from(b'S')).unwrap(), set(SPACES).complement());
        assert_eq!(UnitSet::from_escape(u16::from(b'a')), None);
        assert_eq!(UnitSet::from_escape(0x0164), None);
    }
}
