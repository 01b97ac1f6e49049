//! Texts of strangers, made harmless: a hook's reason or a file's content must not move the cursor, change colours
//! or reorder what is read. Long texts are cut, and say so.

use std::fmt::Write as _;

use hookrail_agent::text::shown;
pub(crate) use hookrail_agent::text::{is_hidden, short};

/// The limits for a text that a hook wrote.
const LINES: usize = 20;
const CHARACTERS: usize = 2_000;

/// The text with everything hidden written out; line breaks stay.
pub(crate) fn visible(text: &str) -> String {
    shown(text, |character| character == '\n')
}

/// The text on one line, with everything hidden written out.
pub(crate) fn one_line(text: &str) -> String {
    shown(text, |_| false)
}

/// JSON on one line in which everything hidden is escaped, so that it means the same and a terminal does nothing with it.
pub(crate) fn escaped_json(line: &str) -> String {
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

/// A text of several lines that a hook wrote, visible and cut to a size that can be read.
pub(crate) fn limited(text: &str) -> String {
    let text = visible(text.trim_end());
    let by_lines: String = text.split_inclusive('\n').take(LINES).collect();
    let head: String = by_lines.chars().take(CHARACTERS).collect();
    let left_off = text.chars().count() - head.chars().count();
    if left_off == 0 { head } else { format!("{}\n… {left_off} more characters", head.trim_end()) }
}

/// The text with all lines but the first moved to the right.
pub(crate) fn hanging(text: &str, indent: usize) -> String {
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
