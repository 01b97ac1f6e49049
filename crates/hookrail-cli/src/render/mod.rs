//! What people see: texts made harmless, aligned tables, short paths, excerpts with a caret.
//!
//! Nothing here loads, decides or runs anything, and nothing here writes: it makes text with styles in it.

mod capabilities;
pub(crate) mod diagnostic;
pub(crate) mod excerpt;
pub(crate) mod hooks;
pub(crate) mod outcome;
pub(crate) mod places;
pub(crate) mod plan;
pub(crate) mod plugins;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod trust;

/// A count with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
