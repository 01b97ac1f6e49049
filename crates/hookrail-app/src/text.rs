//! Escaping of untrusted text: a hook's reason or a file's content must not move the cursor, change colours or reorder
//! what is read. Long texts are cut, with a mark.

use hookrail::{Diagnostic, Level};
use hookrail_agent::text::{beginning, shown};
pub use hookrail_agent::text::{escaped_json, is_hidden, short};

/// The highest number of lines shown of a text that a hook wrote.
const MAX_LINES: usize = 20;
/// The highest number of characters shown of a text that a hook wrote.
const MAX_CHARACTERS: usize = 2_000;

/// Escapes all hidden characters but line breaks.
pub fn visible(text: &str) -> String {
    shown(text, |character| character == '\n')
}

/// Escapes all hidden characters, so that the text is on one line.
pub fn one_line(text: &str) -> String {
    shown(text, |_| false)
}

/// Escapes a text that a hook wrote and cuts it to a readable size.
pub fn limited(text: &str) -> String {
    limited_to(text, MAX_LINES, MAX_CHARACTERS)
}

/// Escapes a text that a hook wrote and cuts it to this size.
pub fn limited_to(text: &str, lines: usize, characters: usize) -> String {
    beginning(&visible(text.trim_end()), lines, characters)
}

/// Returns a count with its noun, in the plural if needed.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Counts the diagnostics of each level, in words; none if there are no diagnostics.
pub fn count_by_level(diagnostics: &[Diagnostic]) -> Option<String> {
    let counts: Vec<String> = [Level::Error, Level::Warning, Level::Note]
        .into_iter()
        .map(|level| (diagnostics.iter().filter(|diagnostic| diagnostic.level == level).count(), level))
        .filter(|(count, _)| *count > 0)
        .map(|(count, level)| counted(count, level.name()))
        .collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}

/// Indents all lines of a text but the first.
pub fn hanging(text: &str, indent: usize) -> String {
    text.replace('\n', &format!("\n{:indent$}", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_acts_on_is_left() {
        assert_eq!(visible("a\u{1b}[31mb\nc\u{7}\r\u{9b}\u{202e}"), "a\\x1b[31mb\nc\\x07\\r\\u{9b}\\u{202e}");
        assert_eq!(one_line("a\nb\tc"), "a\\nb\\tc");
        assert!(
            !(0..=0x10_ffff)
                .filter_map(char::from_u32)
                .any(|c| visible(&c.to_string()).chars().any(|shown| { shown != '\n' && shown.is_control() }))
        );
    }

    #[test]
    fn a_cut_is_marked() {
        assert_eq!(short("abcdef", 4), "abc…");
        assert_eq!(short("abcd", 4), "abcd");
        assert_eq!(limited("short\n"), "short");
        assert!(limited(&"x".repeat(2_100)).ends_with("\n… 100 more characters"));
        assert!(limited(&"x\n".repeat(30)).ends_with("\n… 19 more characters"));
    }
}
