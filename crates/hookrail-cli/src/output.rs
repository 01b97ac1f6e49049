//! Writing to standard output: text for people, or one JSON document for programs.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};

use hookrail::Json;

use crate::errors::{Failure, Result};
use crate::render::text::is_hidden;
use crate::render::width;
use crate::verbosity;

/// Whether anything reads standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Present,
    Gone,
}

/// Writes text for people. Styles are removed if standard output is not a terminal; on a terminal, lines that are too wide
/// for it are broken between words.
pub(crate) fn text(text: &str) -> Result<()> {
    text_to_reader(text).map(|_| ())
}

/// [`text`] for a command that does not end by itself and has to notice that its reader has.
pub(crate) fn text_to_reader(text: &str) -> Result<Reader> {
    match width::of_stdout() {
        Some(columns) => write_text(&width::broken(text, columns)),
        None => write_text(text),
    }
}

/// Writes text whose lines are not broken: documents that are copied from, and scripts.
pub(crate) fn verbatim(text: &str) -> Result<()> {
    write_text(text).map(|_| ())
}

fn write_text(text: &str) -> Result<Reader> {
    let mut stdout = anstream::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    let is_gone = written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
    ignore_closed_pipe(written)?;
    Ok(if is_gone { Reader::Gone } else { Reader::Present })
}

/// Writes warnings to standard error, after the result has been written; nothing with `--quiet`.
pub(crate) fn warnings(text: &str) {
    if !verbosity::is_quiet() {
        errors(text);
    }
}

/// Writes errors to standard error.
pub(crate) fn errors(text: &str) {
    let broken = width::of_stderr().map(|columns| width::broken(text, columns));
    // A closed standard error leaves no place where this could be reported.
    let _ = anstream::stderr().lock().write_all(broken.as_deref().unwrap_or(text).as_bytes());
}

/// Writes a document: indented on a terminal, otherwise one line.
pub(crate) fn json(document: &Json) -> Result<()> {
    let mut text = if io::stdout().is_terminal() { indented(document.text()) } else { document.text().to_owned() };
    text.push('\n');
    let mut stdout = io::stdout().lock();
    ignore_closed_pipe(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Turns every error into a failure, except a closed pipe: a reader such as `head` has then read what it needs.
fn ignore_closed_pipe(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output cannot be written: {error}"))
                .hint("check that the disk or pipe it goes to can take it"))
        }
        _ => Ok(()),
    }
}

/// Adds line breaks and indentation to compact JSON. It works on the text, so that every number stays as it was
/// written. Characters that a terminal would interpret are escaped.
pub(crate) fn indented(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut characters = compact.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(character) = characters.next() {
        match character {
            '\\' if in_string => {
                out.push(character);
                out.extend(characters.next());
            }
            '"' => {
                in_string = !in_string;
                out.push(character);
            }
            _ if in_string && is_hidden(character) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ if in_string => out.push(character),
            '{' | '[' => {
                out.push(character);
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(character);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn numbers_and_strings_survive_and_empty_things_stay_on_their_line() {
        let text = indented(r#"{"a":[1.0,12345678901234567890],"b":{},"c":"x:,{\"}","d":[]}"#);
        insta::assert_snapshot!(text, @r#"
        {
          "a": [
            1.0,
            12345678901234567890
          ],
          "b": {},
          "c": "x:,{\"}",
          "d": []
        }
        "#);
    }

    #[test]
    fn what_a_terminal_would_act_on_is_escaped() {
        assert_eq!(indented("\"a\u{9b}b\u{202e}\""), r#""a\u009bb\u202e""#);
    }
}
