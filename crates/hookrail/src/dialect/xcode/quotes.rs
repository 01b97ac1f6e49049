//! How a value is written into a shell command, in the quotes that it stands in.
//!
//! A plain value cannot be anything but text to a shell, so it is written into the command itself. Any other value is
//! passed in the environment, and the command gets a reference to it.

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// The environment variable that holds it for the command.
    pub(super) variable: String,
    pub(super) text: String,
}

impl Value {
    /// Whether no shell and no language gives any of the value's characters a meaning inside of its quotes.
    pub(super) fn is_plain(&self) -> bool {
        self.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte))
    }

    /// Whether the value is blanks alone, of which neither a shell nor the original makes a word.
    pub(super) fn is_blank(&self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte == b' ' || byte == b'\t')
    }

    /// Whether arithmetic can do nothing with the value but count. It evaluates the name of a variable, and whatever that
    /// variable holds.
    pub(super) fn is_number(&self) -> bool {
        let digits = self.text.strip_prefix('-').unwrap_or(&self.text);
        digits.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// The quotes something stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Double,
    Single,
    /// `$'…'`
    Escaped,
    /// The body of a here-document.
    Document,
}

impl Quotes {
    /// Whether the shell takes everything in them for text.
    pub(super) fn is_single(self) -> bool {
        matches!(self, Self::Single | Self::Escaped)
    }

    /// A plain value as it is written. Without quotes a word such as `if`, `A=b` or `2` before `>` would be syntax.
    pub(super) fn plain(self, value: &str) -> String {
        let is_word_of_syntax = value.contains('=') || value.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match self {
            Self::None if is_word_of_syntax && !value.is_empty() => format!("'{value}'"),
            Self::None | Self::Double | Self::Single | Self::Escaped | Self::Document => value.to_owned(),
        }
    }

    /// A reference that gives the whole value as one word, whatever is in it.
    #[cfg(not(windows))]
    pub(super) fn reference(self, variable: &str) -> String {
        match self {
            Self::None => format!("\"${{{variable}}}\""),
            Self::Double | Self::Document => format!("${{{variable}}}"),
            Self::Single => format!("'\"${{{variable}}}\"'"),
            Self::Escaped => format!("'\"${{{variable}}}\"$'"),
        }
    }

    /// A reference in the words of the shell that is used on Windows.
    #[cfg(windows)]
    pub(super) fn reference(self, variable: &str) -> String {
        format!("${{env:{variable}}}")
    }

    /// Text that reaches the program as it is.
    pub(super) fn verbatim(self, content: &str, in_expansion: bool) -> String {
        match self {
            Self::None => format!("'${{{content}}}'"),
            // The brace must not end the expansion it stands in.
            Self::Double | Self::Document if in_expansion => format!("\\${{{content}\\}}"),
            Self::Double | Self::Document => format!("\\${{{content}}}"),
            Self::Single | Self::Escaped => format!("${{{content}}}"),
        }
    }
}
