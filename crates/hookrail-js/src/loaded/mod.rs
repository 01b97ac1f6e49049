//! The source files of a module that are loaded: their bytes, and how places in the code lead back to them.

mod maps;
mod version;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use hookrail::module::LoadFailure;

pub(crate) use maps::{PlaceMap, SourceMaps};
pub(crate) use version::Version;

/// The source files of a module that have been loaded so far.
#[derive(Default)]
pub(crate) struct LoadedSources {
    /// How many bytes of source there are so far.
    pub(crate) bytes: usize,
    pub(crate) maps: SourceMaps,
    /// The specifiers of all import declarations, each with the file that contains it.
    pub(crate) static_imports: HashSet<(String, String)>,
    /// The files of the module.
    pub(crate) version: Version,
    /// The code of CommonJS modules that are declared and have not run.
    pub(crate) commonjs: HashMap<String, String>,
    /// The modules that `require` may load.
    pub(crate) requirable: HashSet<String>,
    /// Files that were looked for and could not be read.
    pub(crate) missing: Vec<PathBuf>,
    pub(crate) failure: Option<LoadFailure>,
}
