//! Sequences in braces.

/// A sequence in braces, such as `{1..9}` or `{a..e}`. Its words are made when they are asked for: a short text may have very many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    first: i64,
    /// How many words follow the first one.
    more: i64,
    step: i64,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Letter,
    /// A number with at least so many characters.
    Number(usize),
}

impl Sequence {
    /// Reads `1..3` or `a..e`, with a step if there is one.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut parts = text.split("..");
        let (first, last) = (parts.next()?, parts.next()?);
        let step = match parts.next() {
            Some(step) => step.parse::<i64>().ok()?,
            None => 1,
        };
        if parts.next().is_some() {
            return None;
        }
        let letter = |text: &str| text.chars().next().filter(|letter| text.len() == 1 && letter.is_ascii_alphabetic());
        let is_padded = first.starts_with('0') || last.starts_with('0');
        let (from, to, form) = match (first.parse::<i64>(), last.parse::<i64>()) {
            (Ok(from), Ok(to)) => (from, to, Form::Number(if is_padded { first.len().max(last.len()) } else { 0 })),
            _ => (i64::from(u32::from(letter(first)?)), i64::from(u32::from(letter(last)?)), Form::Letter),
        };
        let step = step.checked_abs()?.max(1);
        let more = to.checked_sub(from)?.checked_abs()? / step;
        Some(Self { first: from, more, step: if to >= from { step } else { -step }, form })
    }

    /// Whether one of the words begins with a dash.
    #[cfg(feature = "syntax")]
    pub(crate) fn has_dash(&self) -> bool {
        self.first < 0 || self.first.saturating_add(self.more.saturating_mul(self.step)) < 0
    }

    /// Returns the words.
    #[cfg(feature = "syntax")]
    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        let Self { first, more, step, form } = *self;
        (0..=more).map(move |index| {
            let value = first.saturating_add(index.saturating_mul(step));
            match form {
                Form::Number(width) => format!("{value:0width$}"),
                Form::Letter => {
                    u32::try_from(value).ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
                }
            }
        })
    }
}
