//! Turns files into code: resolves imports, removes types, and maps places in the code back to places in the file.

mod api_use;
mod commonjs;
mod loader;
mod mistakes;
mod resolve;
mod transpile;
mod virtuals;

pub(crate) use commonjs::{load_required, resolve_required};
pub(crate) use loader::{FileLoader, FileResolver};
pub use mistakes::{MistakeKind, ModuleMistake, find_module_mistakes, find_script_mistakes};
pub use transpile::check_script_syntax;
#[cfg(test)]
pub(crate) use virtuals::prelude_sources;
pub(crate) use virtuals::script;
