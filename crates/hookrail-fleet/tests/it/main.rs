//! Bundles on disk and machines on real NATS servers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod bundles;
mod nats;

hookrail_testkit::start_with_default_signals!();
