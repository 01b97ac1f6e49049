//! For programs: one JSON object per line on standard output.

use std::io::Write as _;

use super::{Shown, View};
use crate::text::escaped_json;

/// Shows everything as JSON, one object per line.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadlessView;

impl View for HeadlessView {
    fn show(&self, shown: &Shown<'_>) {
        let Ok(line) = serde_json::to_string(shown) else { return };
        let mut stdout = std::io::stdout().lock();
        // Whoever read this is gone; the work goes on and is in the session's file.
        let _ = writeln!(stdout, "{}", escaped_json(&line));
        let _ = stdout.flush();
    }
}
