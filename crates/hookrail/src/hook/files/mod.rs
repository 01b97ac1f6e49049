//! The files that a hook runs: those that its command names, what their interpreters import, and what modules import.

pub(crate) mod command;
pub(crate) mod imports;
mod interpreter;
mod node_imports;
mod program_file;
mod siblings;
mod sourced;
