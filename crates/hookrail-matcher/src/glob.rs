//! Anchored globs in which `*` stands for any text, including none.

/// A glob, split at its stars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Glob {
    prefix: Box<str>,
    /// The non-empty pieces between the first and the last star.
    middle: Box<[Box<str>]>,
    suffix: Box<str>,
}

impl Glob {
    /// Reads `pattern` as a glob, or says it does not have the shape of one.
    ///
    /// A star right after a dot is how regular expressions say "anything", so
    /// at least one star elsewhere is what tells a glob from `mcp__.*`.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let mut previous = None;
        let mut free_star = false;
        for byte in pattern.bytes() {
            match byte {
                b'*' => free_star |= previous != Some(b'.'),
                b'_' | b'.' | b':' | b'/' | b'-' => {}
                _ if byte.is_ascii_alphanumeric() => {}
                _ => return None,
            }
            previous = Some(byte);
        }
        if !free_star {
            return None;
        }
        let (prefix, rest) = pattern.split_once('*')?;
        // With a single star there is no rest to split, and what follows the
        // star is the suffix.
        let (middle, suffix) = rest.rsplit_once('*').unwrap_or(("", rest));
        Some(Self {
            prefix: prefix.into(),
            middle: middle.split('*').filter(|piece| !piece.is_empty()).map(Box::from).collect(),
            suffix: suffix.into(),
        })
    }

    /// The same as a regular expression.
    pub(super) fn to_regex(&self) -> String {
        // Of the characters a glob is made of only the dot means anything there.
        let plain = |piece: &str| piece.replace('.', r"\.");
        let mut text = format!(r"(?s)\A{}", plain(&self.prefix));
        for piece in &self.middle {
            text.push_str(".*");
            text.push_str(&plain(piece));
        }
        format!(r"{text}.*{}\z", plain(&self.suffix))
    }

    /// Whether the whole subject has the shape of the glob.
    pub(super) fn matches(&self, subject: &str) -> bool {
        // Prefix and suffix are cut off in turn, so they cannot share text.
        let Some(mut rest) = subject.strip_prefix(&*self.prefix).and_then(|rest| rest.strip_suffix(&*self.suffix))
        else {
            return false;
        };
        // Taking each piece where it first occurs leaves the most text for the
        // pieces after it, so there is never a reason to go back.
        for piece in &self.middle {
            let Some((_, after)) = rest.split_once(&**piece) else {
                return false;
            };
            rest = after;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_star_that_does_not_follow_a_dot_makes_a_glob() {
        for glob in ["write_*", "*", "**", "a.*b*", "mcp__*__x", "*.rs", ".**"] {
            assert!(Glob::parse(glob).is_some(), "{glob}");
        }
        for other in ["", "write", "mcp__.*", ".*", "a.*b.*", "(a)*", "a*|b", "a b*", "é*"] {
            assert!(Glob::parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_glob_covers_the_whole_subject() {
        let test = |glob: &str, subject: &str| Glob::parse(glob).unwrap().matches(subject);
        assert!(test("write_*", "write_file"));
        assert!(test("write_*", "write_"));
        assert!(!test("write_*", "rewrite_file"));
        assert!(test("*_file", "write_file"));
        assert!(!test("*_file", "write_files"));
        assert!(test("a*b*c", "a-b-b-c"));
        assert!(!test("a*b*c", "a-c-b"));
        assert!(test("a.b*", "a.bc"), "a dot stands for itself");
        assert!(!test("a.b*", "axbc"));
    }

    #[test]
    fn prefix_and_suffix_do_not_overlap() {
        let glob = Glob::parse("ab*ba").unwrap();
        assert!(!glob.matches("aba"));
        assert!(glob.matches("abba"));
    }
}
