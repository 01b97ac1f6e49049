//! Configuration files as data with positions: JSON with comments and trailing commas, read safely, with the line
//! and column of everything.
//!
//! Nothing here knows what a file means.

mod document;
mod file;
mod path;
mod suggest;

pub(crate) use document::{Document, Key, Node, Shape};
pub(crate) use file::same_place;
pub use file::{ReadProblem, read_file};
pub use path::without_dots;
pub use suggest::nearest;
