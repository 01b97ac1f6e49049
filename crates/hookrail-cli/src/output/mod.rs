//! Writing to standard output: text for people, or one JSON document for programs.

pub(crate) mod journal_warnings;
pub(crate) mod pager;
pub(crate) mod progress;

use std::io::{self, IsTerminal, Write as _};

use hookrail::Json;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::json_text::indented_json;

use crate::render::verbosity;
use crate::render::width;

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

/// Reports why a command failed, on standard error.
pub(crate) fn failure(failure: &Failure) {
    errors(&crate::render::failure::failure(failure));
}

/// Writes errors to standard error.
pub(crate) fn errors(text: &str) {
    let broken = width::of_stderr().map(|columns| width::broken(text, columns));
    // A closed standard error leaves no place where this could be reported.
    let _ = anstream::stderr().lock().write_all(broken.as_deref().unwrap_or(text).as_bytes());
}

/// Writes a document: indented on a terminal, otherwise one line.
pub(crate) fn json(document: &Json) -> Result<()> {
    let mut text = if io::stdout().is_terminal() { indented_json(document.text()) } else { document.text().to_owned() };
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
