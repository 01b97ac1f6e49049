//! Real children, well behaved and not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod endings;
mod in_time;
mod parked;
mod sandbox;
mod sandbox_calls;
mod starting;
mod streams;
mod support;

hookrail_testkit::start_with_default_signals!();
