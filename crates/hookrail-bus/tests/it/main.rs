//! The bus: in process, on pipes and on sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod bad_input;
mod client;
mod concurrency;
mod contract;
mod drain;
mod limits;
mod load;
mod message_transport;
mod metrics;
mod projects;
mod schemas;
mod socket;
mod support;

hookrail_testkit::start_with_default_signals!();
