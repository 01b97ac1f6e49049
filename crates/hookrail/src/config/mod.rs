//! Configuration files as data with positions: JSON with comments and trailing commas, read safely, with the line
//! and column of everything.
//!
//! Nothing here knows what a file means.

pub(crate) mod diagnostic;
mod file;
mod folder;
mod json_hints;
mod path;
mod positions;
mod real_path;
pub(crate) mod source;
mod source_state;
mod sources;
mod suggest;
mod toml_document;
pub(crate) mod user_folders;

pub use file::{ReadProblem, is_want_of_resources, read_file};
pub(crate) use file::{is_absence, is_inside, lies_in, not_roots_alone, read_within, same_place};
pub(crate) use folder::{Entry, EntryKind, list_entries, with_links};
pub(crate) use hookrail_spawn::FileStamp;
pub(crate) use json_hints::explain_json_error;
pub use json_hints::explain_syntax;
pub use path::without_dots;
pub use positions::{Document, PlacedKey, PlacedValue, SyntaxFault, ValueShape};
pub(crate) use real_path::{RealPaths, real_path};
pub use source_state::KeptReason;
pub(crate) use source_state::{SourceState, kept_finding, wait_until_stable};
pub use sources::{KeptSource, UnusableSource};
pub(crate) use sources::{
    LoadMode, Parsed, ProjectSource, Source, SourceId, SourceReader, SourceReport, SourceStore, Usability,
};
pub use suggest::{nearest, one_of};
