//! The documents under `docs/` are true: every script, settings file, command, table and example in them is executed
//! with the binary of this build.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

#[path = "docs/mod.rs"]
mod docs;
