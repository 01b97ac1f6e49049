//! Text for people: escaped texts, aligned tables, short paths, excerpts with a caret.
//!
//! This module only makes styled text. It loads, decides and runs nothing, and it prints nothing.

pub(crate) mod accesses;
mod capabilities;
pub(crate) mod cases;
pub(crate) mod csv;
pub(crate) mod diagnostic;
pub(crate) mod excerpt;
pub(crate) mod failure;
pub(crate) mod fire;
#[cfg(feature = "fleet")]
pub(crate) mod fleet;
pub(crate) mod foreign_hooks;
pub(crate) mod hooks;
pub(crate) mod import;
pub(crate) mod install;
pub(crate) mod outcome;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod plugins;
pub(crate) mod replay;
mod runs;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod trust;
pub(crate) mod verbosity;
pub(crate) mod width;
