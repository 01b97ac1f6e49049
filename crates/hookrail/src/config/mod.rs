//! Configuration files as data with positions: JSON with comments and trailing commas, read safely, with the line
//! and column of everything.
//!
//! Nothing here knows what a file means.

pub(crate) mod diagnostic;
mod file;
mod json_hints;
mod path;
mod positions;
mod real_path;
pub(crate) mod source;
mod sources;
mod suggest;
mod toml_document;
pub(crate) mod user_folders;

pub use file::{ReadProblem, read_file};
pub(crate) use file::{is_inside, lies_in, not_roots_alone, read_within, same_place};
pub(crate) use hookrail_spawn::FileStamp;
pub(crate) use json_hints::explain_json_error;
pub use json_hints::explain_syntax;
pub use path::without_dots;
pub(crate) use positions::{Document, Key, Node, Shape};
pub(crate) use real_path::{RealPaths, real_path};
pub(crate) use sources::{
    Entry, EntryKind, LoadMode, Parsed, ProjectSource, Source, SourceId, SourceReader, SourceReport, SourceState,
    SourceStore, Usability, is_absence, kept_finding, list_entries, with_links,
};
pub use sources::{KeptReason, KeptSource, UnusableSource, is_want_of_resources};
pub use suggest::nearest;
