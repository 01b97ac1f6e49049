//! Escaping of untrusted text: no output of a hook, a model or a file can move the cursor, change colours or reorder what
//! is read.

use std::fmt::Write as _;
use std::path::Path;

use hookrail::Diagnostic;
pub use hookrail::trust::is_hidden;
use unicode_width::UnicodeWidthChar as _;

/// The highest number of lines shown of a text.
const MAX_LINES: usize = 12;
/// The highest number of characters shown of a text.
const MAX_CHARACTERS: usize = 1_500;

/// Escapes all hidden characters but line breaks and tabs.
pub(crate) fn visible(text: &str) -> String {
    shown(text, |character| matches!(character, '\n' | '\t'))
}

/// Characters that join others or keep them together. They are shown in texts that hooks write for their user: without them
/// the parts of a sign fall apart, and they can hide nothing there.
fn is_joining(character: char) -> bool {
    matches!(character, '\u{fe0f}' | '\u{200d}' | '\u{a0}' | '\u{202f}')
}

/// Escapes all hidden characters of a text for the user but line breaks, tabs and those that join others.
pub(crate) fn readable(text: &str) -> String {
    shown(text, |character| matches!(character, '\n' | '\t') || is_joining(character))
}

/// Returns the text on one line of at most `most` characters, with hidden characters escaped. A cut is marked with `…`.
#[must_use]
pub fn short(text: &str, most: usize) -> String {
    let line = shown(text, |_| false);
    if line.chars().count() <= most {
        return line;
    }
    let head: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{head}…")
}

/// Returns one line of at most `columns` columns, with `…` at its end if it was cut. Colours are kept; everything else that a
/// terminal would interpret is escaped.
pub(crate) fn cut_to_width(line: &str, columns: usize) -> String {
    if coloured(line, usize::MAX) == coloured(line, columns) {
        return coloured(line, columns);
    }
    format!("{}…", coloured(line, columns.saturating_sub(1)))
}

/// Returns the beginning of a line that takes at most `columns` columns. Colours are kept; everything else that a terminal
/// would interpret is escaped.
pub(crate) fn coloured(line: &str, columns: usize) -> String {
    let (mut out, mut used, mut is_coloured) = (String::with_capacity(line.len()), 0, false);
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        if let Some(length) = colour_sequence(rest) {
            let (sequence, after) = rest.split_at(length);
            out.push_str(sequence);
            is_coloured = true;
            rest = after;
            continue;
        }
        let (one, after) = rest.split_at(character.len_utf8());
        let written = if character == '\t' { "   ".to_owned() } else { shown(one, is_joining) };
        let width: usize = written.chars().filter_map(unicode_width::UnicodeWidthChar::width).sum();
        if used + width > columns {
            break;
        }
        used += width;
        out.push_str(&written);
        rest = after;
    }
    if is_coloured {
        out.push_str("\u{1b}[0m");
    }
    out
}

/// Returns the length of the colour sequence at the beginning of a text.
fn colour_sequence(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let length = parameters.find(|character: char| !(character.is_ascii_digit() || matches!(character, ';' | ':')))?;
    parameters.get(length..)?.starts_with('m').then_some(length + 3)
}

/// Returns the number of columns that a character takes.
pub(crate) fn width(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// Escapes a text and cuts it to a readable size.
pub(crate) fn limited(text: &str) -> String {
    beginning(&readable(text.trim_end()), MAX_LINES, MAX_CHARACTERS)
}

/// Returns the beginning of an escaped text: so many lines and characters. It says how much is left off.
#[must_use]
pub fn beginning(text: &str, lines: usize, characters: usize) -> String {
    let head: String = text.split_inclusive('\n').take(lines).flat_map(str::chars).take(characters).collect();
    let left_off = text.chars().count() - head.chars().count();
    if left_off == 0 { head } else { format!("{}\n… {left_off} more characters", head.trim_end()) }
}

/// Escapes every character of JSON that a terminal would interpret. The JSON keeps its meaning.
#[must_use]
pub fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// Escapes all hidden characters of a text but those that `kept` accepts.
pub fn shown(text: &str, kept: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if kept(character) || !is_hidden(character) => out.push(character),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if character.is_ascii() => {
                let _ = write!(out, "\\x{:02x}", u32::from(character));
            }
            _ => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
        }
    }
    out
}

/// Returns the name of a hook as it is shown: its label, where the label of a module, which is its absolute path, is made
/// relative to the project or to the home directory.
pub(crate) fn hook_name(label: &str, project: &Path) -> String {
    let path = Path::new(label);
    if let Ok(inside) = path.strip_prefix(project) {
        return inside.display().to_string();
    }
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from).filter(|home| home.is_absolute());
    match home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(inside) => format!("~/{}", inside.display()),
        None => label.to_owned(),
    }
}

/// Returns the sentence of a finding with its place.
pub(crate) fn finding_text(finding: &Diagnostic, project: &Path) -> String {
    let place = finding.location.as_ref().map(|place| format!(" ({}:{})", place.file.display(), place.line));
    // A module's label is its path. In a sentence about a hook the project's part of it is noise.
    let message = finding.message.replace(&format!("hook `{}/", project.display()), "hook `");
    format!("{message}{}", place.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_all_that_is_kept() {
        assert_eq!(coloured("a\u{1b}[1;31mb\u{1b}[2Jc", 20), "a\u{1b}[1;31mb\\x1b[2Jc\u{1b}[0m");
        assert_eq!(coloured("\u{1b}]0;title\u{7}", 40), "\\x1b]0;title\\x07");
        assert_eq!(coloured("日本語", 5), "日本");
        assert_eq!(coloured("\u{1b}[31mabc", 2), "\u{1b}[31mab\u{1b}[0m");
    }

    #[test]
    fn nothing_a_terminal_acts_on_is_left() {
        assert_eq!(visible("a\u{1b}[31mb\nc\u{7}\r\u{9b}\u{202e}"), "a\\x1b[31mb\nc\\x07\\r\\u{9b}\\u{202e}");
        assert_eq!(short("a\nb", 10), "a\\nb");
        assert_eq!(short("abcdef", 4), "abc…");
        let json = serde_json::to_string("\u{7f}\u{9b}\u{e0001}x").unwrap();
        assert_eq!(escaped_json(&json), "\"\\u007f\\u009b\\udb40\\udc01x\"");
        assert_eq!(serde_json::from_str::<String>(&escaped_json(&json)).unwrap(), "\u{7f}\u{9b}\u{e0001}x");
    }
}
