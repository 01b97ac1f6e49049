//! Words of any text, generously: quotes are taken away, and everything that the caller names divides words.
//!
//! This is for readers that must not miss a word, whatever else the text is. It knows neither substitutions nor structure.

/// A word with what divides it from the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LooseWord {
    /// The word without its quotes; none where two separators stand together.
    pub text: Option<String>,
    /// The separator behind it; none at the end of the text.
    pub separator: Option<char>,
}

/// What a `#` at the beginning of a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comments {
    /// The beginning of a comment, which is left out.
    Skipped,
    /// A character like any other.
    Read,
}

/// Divides a text at separators outside of quotes. A word may be quoted in parts.
///
/// ```
/// use hookrail_shell::{Comments, loose_words};
///
/// let words = loose_words("sh 'a b'.sh;ls", " ;", Comments::Read);
/// let texts: Vec<_> = words.into_iter().filter_map(|word| word.text).collect();
/// assert_eq!(texts, ["sh", "a b.sh", "ls"]);
/// ```
#[must_use]
pub fn loose_words(text: &str, separators: &str, comments: Comments) -> Vec<LooseWord> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quote) {
            (end, Some(begin)) if end == begin => quote = None,
            // A backslash at the end of a line joins it with the next one.
            ('\\', None | Some('"')) => {
                word.get_or_insert_default().extend(characters.next().filter(|next| *next != '\n'));
            }
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() && comments == Comments::Skipped => {
                while characters.next_if(|next| *next != '\n').is_some() {}
            }
            (end, None) if separators.contains(end) => {
                words.push(LooseWord { text: word.take(), separator: Some(end) });
            }
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    words.push(LooseWord { text: word, separator: None });
    words
}
