//! Bundles from the publisher to the machine, with hostile archives, sources and files in between.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod archive;
mod install;
mod minisign;
mod sources;
mod support;
