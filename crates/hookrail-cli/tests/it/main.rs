//! The program `hookrail`, as its users meet it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

#[cfg(feature = "fleet")]
mod ask;
mod attacks;
mod cli;
mod conformance;
mod documentation;
#[cfg(feature = "fleet")]
mod fleet;
mod made_parts;
mod misbehaviour;
mod mistakes;
mod plugins_guide;
mod rust_hooks;
mod serve;
#[cfg(feature = "otel")]
mod telemetry;

hookrail_testkit::start_with_default_signals!();
