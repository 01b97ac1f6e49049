//! Tests of shell lines.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

mod corpus;
mod limits;
mod metamorphic;
mod structure;
mod verdicts;
mod words;
