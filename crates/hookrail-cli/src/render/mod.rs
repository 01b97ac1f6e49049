//! Text for people: escaped texts, aligned tables, short paths, excerpts with a caret.
//!
//! This module only makes styled text. It loads, decides and runs nothing, and it prints nothing.

mod capabilities;
pub(crate) mod csv;
pub(crate) mod diagnostic;
pub(crate) mod excerpt;
pub(crate) mod hooks;
pub(crate) mod outcome;
pub(crate) mod path_display;
pub(crate) mod plan;
pub(crate) mod plugins;
mod runs;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod trust;
pub(crate) mod width;

/// Returns a count with its noun, in the plural if needed.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
