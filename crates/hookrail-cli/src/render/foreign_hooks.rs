//! Lines about hooks that other agents find in their own settings files.

use hookrail::Diagnostic;

use crate::render::style::{HINT, paint};
use crate::render::verbosity;

/// A line for each file with such hooks; nothing with `--quiet`.
pub(crate) fn lines(found: &[Diagnostic]) -> String {
    let found = if verbosity::is_quiet() { &[] } else { found };
    found.iter().map(|diagnostic| format!("{}: {}\n", paint(HINT, "note"), diagnostic.message)).collect()
}

/// [`lines`] for the end of a report, from which an empty line separates them.
pub(crate) fn closing_lines(found: &[Diagnostic]) -> String {
    let lines = lines(found);
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}
