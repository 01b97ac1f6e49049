//! Turning files into code: finding what an import means, stripping types, and finding the way back from a place in
//! the code to a place in the file.

mod loader;
mod maps;
mod resolve;
mod transpile;
mod version;
mod virtuals;

pub(crate) use loader::{FileLoader, FileResolver};
pub(crate) use maps::SourceMaps;
pub(crate) use version::Version;
#[cfg(test)]
pub(crate) use virtuals::prelude_sources;
pub(crate) use virtuals::script;
