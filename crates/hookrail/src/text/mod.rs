//! Texts whatever they are about: names of values, digests, lines of a log, what hides in a text, what is secret in one.

pub(crate) mod digest;
pub(crate) mod invisible_chars;
pub(crate) mod log;
pub(crate) mod names;
pub mod secret_table;
