//! Events of a real engine, exported to a collector that decodes them, or that is away, silent or full.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod decoded;
mod failing;
mod support;

hookrail_testkit::start_with_default_signals!();
