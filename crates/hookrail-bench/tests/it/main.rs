//! The measuring program and the page of its figures.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod allocations;
mod bare_spawn;
mod document;

hookrail_testkit::start_with_default_signals!();
