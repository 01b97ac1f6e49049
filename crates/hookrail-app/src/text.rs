//! Escaping of untrusted text: a hook's reason or a file's content must not move the cursor, change colours or reorder
//! what is read. Long texts are cut, with a mark.

use std::fmt::Write as _;

use hookrail::{Diagnostic, Level};
use hookrail_agent::text::shown;
pub use hookrail_agent::text::{is_hidden, short};

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

/// Escapes the hidden characters of one line of JSON. The JSON keeps its meaning, and a terminal interprets nothing.
pub fn escaped_json(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    for character in line.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Escapes a text that a hook wrote and cuts it to a readable size.
pub fn limited(text: &str) -> String {
    limited_to(text, MAX_LINES, MAX_CHARACTERS)
}

/// Escapes a text that a hook wrote and cuts it to this size.
pub fn limited_to(text: &str, lines: usize, characters: usize) -> String {
    let text = visible(text.trim_end());
    let by_lines: String = text.split_inclusive('\n').take(lines).collect();
    let head: String = by_lines.chars().take(characters).collect();
    let left_off = text.chars().count() - head.chars().count();
    if left_off == 0 { head } else { format!("{}\n… {left_off} more characters", head.trim_end()) }
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
