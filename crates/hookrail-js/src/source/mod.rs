//! Turns files into code: resolves imports, removes types, and maps places in the code back to places in the file.

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
