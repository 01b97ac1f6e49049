//! Modules on the embedded engine.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod capabilities;
mod common;
mod delays;
mod documented;
mod examples;
mod here;
mod host;
mod last_good;
mod late_handlers;
mod misbehaviour;
mod module_api;
mod network;
mod packages;
mod poisoned;
mod processes;
mod types;

hookrail_testkit::start_with_default_signals!();
