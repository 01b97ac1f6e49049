//! For programs: one JSON object per line on standard output.

use super::output::Output;
use super::{View, ViewEvent};
use crate::text::escaped_json;

/// Shows everything as JSON, one object per line.
#[derive(Debug, Default)]
pub struct HeadlessView {
    output: Output,
}

impl HeadlessView {
    /// Makes a view on this process's standard output.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl View for HeadlessView {
    fn show(&self, shown: &ViewEvent<'_>) {
        let Ok(line) = serde_json::to_string(shown) else { return };
        self.output.write(&format!("{}\n", escaped_json(&line)));
    }

    fn failure(&self) -> Option<String> {
        self.output.failure()
    }
}
