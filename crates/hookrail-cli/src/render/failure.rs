//! The text of a failure.

use std::fmt::Write as _;

use hookrail_app::failure::{Excerpt, Failure};
use hookrail_app::text::visible;

use super::diagnostic::excerpt_of;
use crate::render::style::{BAD, HINT, paint};
use crate::render::verbosity;

/// Renders a failure; without its hints with `--quiet`.
pub(crate) fn failure(failure: &Failure) -> String {
    let mut text = format!("{}: {}\n", paint(BAD, "error"), visible(failure.message()));
    match failure.wrong_text() {
        Some(Excerpt::Place { name, text: wrong, offset }) => {
            let _ = writeln!(text, "{}", excerpt_of(name, wrong, *offset));
        }
        Some(Excerpt::Sentences(sentences)) => {
            let _ = writeln!(text, "{}", visible(&sentences.join("\n")));
        }
        None => {}
    }
    for hint in failure.hints().iter().filter(|_| !verbosity::is_quiet()) {
        let _ = writeln!(text, "{}: {}", paint(HINT, "hint"), visible(hint));
    }
    text
}
