//! The width of the terminal, and breaking lines so that they fit into it.
//!
//! Text that goes to a file or a pipe is never broken: programs read it line by line.

use std::io::IsTerminal;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The narrowest terminal for which lines are broken. On a narrower one the terminal breaks them better.
const NARROWEST: usize = 20;

/// Returns the number of columns of the terminal behind standard output; none if it is not a terminal.
pub(crate) fn of_stdout() -> Option<usize> {
    of_terminal(&std::io::stdout())
}

/// Returns the number of columns of the terminal behind standard error; none if it is not a terminal.
pub(crate) fn of_stderr() -> Option<usize> {
    of_terminal(&std::io::stderr())
}

/// Returns the number of rows of the terminal behind standard output; none if it is not a terminal, or says none.
pub(crate) fn rows_of_stdout() -> Option<usize> {
    let stdout = std::io::stdout();
    #[cfg(unix)]
    let asked = || rustix::termios::tcgetwinsize(&stdout).ok().map(|size| usize::from(size.ws_row));
    #[cfg(not(unix))]
    let asked = || None;
    stdout.is_terminal().then(|| named("LINES").or_else(asked)).flatten().filter(|rows| *rows > 0)
}

#[cfg(unix)]
fn of_terminal(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    let asked = || rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col));
    stream.is_terminal().then(|| named("COLUMNS").or_else(asked)).flatten().filter(|columns| *columns >= NARROWEST)
}

#[cfg(not(unix))]
fn of_terminal(stream: &impl IsTerminal) -> Option<usize> {
    stream.is_terminal().then(|| named("COLUMNS")).flatten().filter(|columns| *columns >= NARROWEST)
}

/// The size that the user names: `COLUMNS` and `LINES` are what other programs follow too.
fn named(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok().filter(|size| *size > 0)
}

/// Breaks every line that is too wide, at spaces. Lines of source excerpts stay whole, because a mark below them points at
/// a column.
pub(crate) fn broken(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if display_width(line) <= width || is_excerpt(line) {
            out.push_str(line);
        } else {
            break_line(&mut out, line, width);
        }
        out.push_str(end);
    }
    out
}

/// Breaks a text without styles into pieces, of which the first begins in the column `used` and the others in the column
/// `indent`. It is broken between words, behind a slash or a dash, or anywhere if there is neither.
pub(crate) fn pieces(text: &str, width: usize, used: usize, indent: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut rest, mut room) = (text, width.saturating_sub(used));
    while rest.width() > room {
        let mut wide = 0;
        // The end of what fits, and of the last part of it that can stand alone.
        let (mut end, mut good) = (0, 0);
        for (at, character) in rest.char_indices() {
            wide += character.width().unwrap_or(0);
            if wide > room.max(1) && end > 0 {
                break;
            }
            end = at + character.len_utf8();
            if matches!(character, '/' | '-' | '_' | ' ' | '|' | ',') {
                good = end;
            }
        }
        let (piece, after) = rest.split_at(if good > 0 { good } else { end });
        pieces.push(piece.trim_end());
        rest = after;
        room = width.saturating_sub(indent);
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// Returns the width of a line on a terminal, without the sequences that change its style.
pub(crate) fn display_width(line: &str) -> usize {
    if line.contains('\u{1b}') { plain(line).width() } else { line.width() }
}

/// Returns a line without the sequences that change its style.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => characters.by_ref().take_while(|next| !next.is_ascii_alphabetic()).for_each(drop),
            _ => out.push(character),
        }
    }
    out
}

fn is_excerpt(line: &str) -> bool {
    plain(line).trim_start().trim_start_matches(|digit: char| digit.is_ascii_digit()).trim_start().starts_with('|')
}

/// Returns where the lines below a broken line begin: below its second column, or a little to the right of its beginning.
fn hanging_indent(line: &str, width: usize) -> usize {
    let text = plain(line);
    let words = text.trim_start();
    let begin = text.width() - words.width();
    let column = words.find("  ").map(|gap| {
        let rest = words.get(gap..).unwrap_or_default();
        begin + words.width() - rest.trim_start().width()
    });
    column.filter(|column| *column <= width / 2).unwrap_or((begin + 2).min(width / 2))
}

fn break_line(out: &mut String, line: &str, width: usize) {
    let indent = " ".repeat(hanging_indent(line, width));
    // The width of the line so far, and of the spaces before the next word.
    let (mut used, mut gap) = (0, 0);
    for word in line.split_inclusive(' ') {
        let (word, space) = word.strip_suffix(' ').map_or((word, 0), |word| (word, 1));
        let wide = display_width(word);
        if used > 0 && wide > 0 && used + gap + wide > width {
            out.push('\n');
            out.push_str(&indent);
            out.push_str(word);
            used = indent.len() + wide;
        } else {
            // Spaces are kept only between words of one line.
            out.extend(std::iter::repeat_n(' ', if wide > 0 { gap } else { 0 }));
            out.push_str(word);
            used += if wide > 0 { gap + wide } else { 0 };
        }
        gap = if wide > 0 { space } else { gap + space };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_hang_below_their_second_column() {
        assert_eq!(
            broken("  reason  one two three four\nshort\n", 20),
            "  reason  one two\n          three four\nshort\n"
        );
        assert_eq!(broken("hint: run the command again", 20), "hint: run the\n  command again");
        assert_eq!(broken("/a/very/long/path/without/spaces here", 20), "/a/very/long/path/without/spaces\n  here");
    }

    #[test]
    fn styles_take_no_room_and_excerpts_stay_whole() {
        let styled = "\u{1b}[1mbold words\u{1b}[0m that are there";
        assert_eq!(display_width(styled), 25);
        assert_eq!(broken(styled, 25), styled);
        assert_eq!(broken(styled, 16), "\u{1b}[1mbold words\u{1b}[0m that\n  are there");
        let excerpt = "12 | \"command\": \"a long line of a file\"";
        assert_eq!(broken(excerpt, 20), excerpt);
    }
}
